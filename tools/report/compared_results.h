#pragma once

#include <warpmat/tables/form.h>
#include <warpmat/tables/label.h>

#include <cstdint>

namespace warpmat {

/// How many results of this form on an H200 the sweeps of docs/evidence.md have compared with the emulator's; 0 for what sm_90 has not got.
std::uint64_t compared_results(const Form& form);

/// How many results stand behind `label` of a form: those that this project or others compared with the hardware; 0 where it rests on text.
std::uint64_t results_behind(Label label, const Form& form);

/// Of wgmma, all types together: the sweeps of docs/evidence.md.
inline constexpr std::uint64_t compared_results_of_wgmma = 2'426'471'424;

/// Of a form that is `replayed`: what others published of its formats on one GPU (docs/evidence.md).
inline constexpr std::uint64_t published_results = 1'000;

}  // namespace warpmat

#pragma once

#include <warpmat/forms.h>

#include <cstdint>

namespace warpmat {

/// The number of results of this form on an H200 that the sweeps of lab/notebook/2026-11-22-sweeps.md have compared with the emulator's; 0
/// if sm_90 lacks the form.
std::uint64_t compared_results(const Form& form);

/// The number of results behind `label` of a form, compared with the hardware by this project or by others; 0 if the label rests on text.
std::uint64_t results_behind(Label label, const Form& form);

/// All types of wgmma together: the sweeps of lab/notebook/2026-11-22-sweeps.md.
inline constexpr std::uint64_t compared_results_of_wgmma = 2'426'471'424;

/// Of a form that is `replayed`: what others published of its formats on one GPU (docs/reference/evidence.md).
inline constexpr std::uint64_t published_results = 1'000;

}  // namespace warpmat

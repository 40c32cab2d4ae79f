#pragma once

#include <cstdint>

#include <warpmat/machine/observers.h>
#include <warpmat/ptx/program/machine_code.h>

namespace warpmat::machine {

class WarpState;

/// Whether observers want to know of nothing that machine code does by itself.
bool observe_nothing(const Observers& observers);

/// CodeContext::plain_bytes.
const std::uint16_t* plain_bytes_of(WarpState& warp);

/// CodeContext::execute.
code::Helped execute_for_code(code::CodeContext& context, std::uint32_t number, std::uint32_t ahead);

}  // namespace warpmat::machine

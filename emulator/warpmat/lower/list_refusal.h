#pragma once

#include <string>

#include <warpmat/ptx/catalogue/catalogue.h>

namespace warpmat::code {

/// Why a list of statements does not have the instruction that `match` spells, as one sentence; empty if it has it.
std::string list_refusal(const catalogue::Match& match);

}  // namespace warpmat::code

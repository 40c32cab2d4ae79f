#pragma once

#include <string_view>

#include <warpmat/ptx/catalogue/catalogue.h>
#include <warpmat/scalar/kernel.h>

namespace warpmat::catalogue {

/// Whether `match` is a video instruction. Its operands d, a and b may have a selector after the register, "%r2.h1"; those of vmad may have
/// a minus before it.
bool is_video(const Match& match);

/// The modifiers from a video instruction's qualifiers: types, the second operation, and default selectors.
scalar::Video video_modifiers(const Match& match);

/// Sets the selector of d (operand 0), a (1) or b (2), given without its dot: "b0", "h1", "h10", "b3210". Returns false if the instruction
/// has no such selector there.
bool set_selector(scalar::Video& video, const Match& match, int operand, std::string_view selector);

/// Sets vmad's minus before a, b or c (1, 2, 3). Returns false where it is not allowed: it would make the result of two unsigned numbers
/// signed.
bool negate_operand(scalar::Video& video, const Match& match, int operand);

}  // namespace warpmat::catalogue

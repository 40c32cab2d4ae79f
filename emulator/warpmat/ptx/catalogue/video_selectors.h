#pragma once

#include <string_view>

#include <warpmat/ptx/catalogue/catalogue.h>
#include <warpmat/scalar/kernel.h>

namespace warpmat::catalogue {

/// Whether `match` is a video instruction: its operands d, a and b may have a selector behind the register, "%r2.h1", and those of vmad a
/// minus before it.
bool is_video(const Match& match);

/// What a video instruction's qualifiers alone say: types, the second operation, every selector as when it is left out.
scalar::Video video_modifiers(const Match& match);

/// Takes the selector of d (operand 0), a (1) or b (2), without its dot: "b0", "h1", "h10", "b3210". False where the instruction has no
/// such selector there.
bool set_selector(scalar::Video& video, const Match& match, int operand, std::string_view selector);

/// vmad's minus before a, b or c (1, 2, 3). False where it may not stand: a result of two unsigned numbers becomes signed by it.
bool negate_operand(scalar::Video& video, const Match& match, int operand);

}  // namespace warpmat::catalogue

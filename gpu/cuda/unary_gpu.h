#pragma once

#include <memory>
#include <string>

#include "gpu/runners/unary_function.h"

namespace warpmat {

/// What the machine's first GPU answers. To be used by the thread that opened it; several may be open. Throws NoGpu, or std::runtime_error
/// with the assembler's complaint.
std::unique_ptr<UnaryFunction> open_unary_gpu(const std::string& opcode, const Target& target);

}  // namespace warpmat

#pragma once

#include <memory>
#include <string>

#include "gpu/runners/unary_function.h"

namespace warpmat {

/// Answers of the machine's first GPU. Only the thread that opened it may use it; several may be open. Throws NoGpu, or std::runtime_error
/// with the assembler's message.
std::unique_ptr<UnaryFunction> open_unary_gpu(const std::string& opcode, const Target& target);

}  // namespace warpmat

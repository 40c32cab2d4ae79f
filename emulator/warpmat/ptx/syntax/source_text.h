#pragma once

#include <string>

#include <warpmat/ptx/syntax/module.h>

namespace warpmat::syntax {

/// The source line of a statement: "gemm.cu:12", and of inlined functions the calls up to the kernel: "hopper.cuh:145 in wgmma, inlined at
/// gemm.cu:45". Of the first place and of another file's the path is as the compiler wrote it. Empty where the statement has no .loc.
[[nodiscard]] std::string source_text(const Module& module, const Statement& statement);

}  // namespace warpmat::syntax

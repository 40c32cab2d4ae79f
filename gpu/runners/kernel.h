#pragma once

#include <string>

#include <warpmat/program.h>

namespace warpmat {

/// A program as a kernel that the driver can assemble: one .entry, which a block of 32 threads runs for each warp.
///
/// Its statements are those of print(), except that the program's shared variables become places in one array, because the assembler might
/// place separate variables elsewhere than the program's layout does. Before the statements each lane loads its registers and the warp's
/// shared memory; after them it stores both. Parameters, in order:
///
///   .u64  registers     global memory [warps][named words][32 lanes] of 32-bit words; 16-bit registers use the low half of one,
///                       whose upper half becomes 0
///   .u64  shared        global memory [warps][shared_stride]
///   .u32  shared_bytes  shared_stride: a multiple of `shared_granularity`, at least the program's bytes; the launch's dynamic shared
///                       memory
///   .u64  base          the first lane writes the address at which shared memory begins here
struct WrappedProgram {
  static constexpr std::uint32_t shared_granularity = 128;

  std::string name;  ///< of the .entry
  std::string text;
};

WrappedProgram make_kernel(const Program& program, PtxVersion version);

/// The oldest version of PTX that has the program's target and all its statements.
PtxVersion required_version(const Program& program);

/// The text of the line that an assembler's log names: "'mma.sync… {d0…};': error   : Feature …"; the log itself if it names none.
std::string explain_log(const std::string& text, const std::string& log);

}  // namespace warpmat

#pragma once

#include <cstddef>

#include <warpmat/cuda/registration.h>
#include <warpmat/cuda/stream.h>

namespace warpmat::cuda {

constexpr unsigned most_portable_cluster = 8, most_cluster = 16;  ///< blocks of a cluster; the second with the attribute for it

/// A launch as a program asks for it.
struct Request {
  Function* function = nullptr;
  GridSize grid{}, block{}, cluster{1, 1, 1};
  std::size_t shared_bytes = 0;
  Stream* stream = nullptr;
  bool cooperative = false;  ///< all blocks run together: grid.sync()
};

/// Throws ApiError for what is no attribute of a launch or a stream (cudaLaunchAttributeID), and for one whose numbers are none: a window's
/// part of hits is from 0 to 1.
void check_attribute(int id, const void* value);
/// Adds an attribute of a launch. Throws ApiError with cudaErrorNotSupported for one that changes results and is not supported.
void apply(const LaunchAttribute& attribute, Request& request);

/// Blocks that fit on a processor by threads, blocks and shared memory. Registers are not known, so a GPU may fit fewer.
int active_blocks(const Device& device, const code::Program& program, int block_threads, std::size_t shared_bytes);

/// The node that launches a kernel with a pointer to each argument, whose bytes it copies. Throws ApiError where the launch is not
/// possible.
GraphNode kernel_node(Context& context, const Request& request, void** arguments);
/// Launches the kernel, or records it where the stream captures. Throws ApiError where the launch is not possible.
void launch_kernel(Context& context, const Request& request, void** arguments);
/// Other settings hold for those that come.
void forget_launches(Context& context);

}  // namespace warpmat::cuda

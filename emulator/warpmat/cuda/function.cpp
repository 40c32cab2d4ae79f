// What programs ask about kernels and set on them.

#include <algorithm>

#include <fmt/core.h>

#include <warpmat/cuda/launch.h>
#include <warpmat/lower/resolve.h>
#include <warpmat/machine/internals.h>
#include <warpmat/tables/hardware.h>

namespace warpmat::cuda {
namespace {

constexpr int usual_registers = 32;  // no ptxas has assigned any

int register_count(const code::Program& program) {
  return program.limits.registers != 0 ? static_cast<int>(program.limits.registers) : usual_registers;
}

FunctionAttributes attributes_of(const Function& function, const code::Program& program) {
  FunctionAttributes attributes{};
  attributes.sharedSizeBytes = program.shared_bytes;
  for (const code::Variable& variable : program.module_variables)
    if (variable.space == Space::constant) attributes.constSizeBytes += variable.bytes;
  attributes.localSizeBytes = program.functions.front().local_bytes;
  attributes.maxThreadsPerBlock = static_cast<int>(most_threads(program.limits));
  attributes.numRegs = register_count(program);
  attributes.ptxVersion = attributes.binaryVersion = program.target->number;
  attributes.maxDynamicSharedSizeBytes =
      std::min(function.on_gpu().dynamic_shared_bytes, std::max(0, (48 << 10) - static_cast<int>(program.shared_bytes)));
  if (function.on_gpu().dynamic_shared_bytes > 48 << 10) attributes.maxDynamicSharedSizeBytes = function.on_gpu().dynamic_shared_bytes;
  attributes.preferredShmemCarveout = -1;
  const std::int64_t* const cluster = program.limits.required_cluster;
  attributes.clusterDimMustBeSet = cluster[0] > 0 ? 1 : 0;
  attributes.requiredClusterWidth = static_cast<int>(cluster[0]);
  attributes.requiredClusterHeight = static_cast<int>(cluster[1]);
  attributes.requiredClusterDepth = static_cast<int>(cluster[2]);
  attributes.nonPortableClusterSizeAllowed = function.on_gpu().non_portable_cluster ? 1 : 0;
  return attributes;
}

const code::Program& program_of(Context& context, const void* handle) {
  const Function& function = function_of(handle);
  return program_of(function.module->kernel(context, function.name));
}

/// cudaFuncAttribute.
enum Settable : int { dynamic_shared_bytes = 8, carveout = 9, non_portable_cluster = 14, scheduling_policy = 15 };

void set_attribute(Context& context, Function& function, int attribute, int value) {
  switch (attribute) {
    case dynamic_shared_bytes: {
      const code::Program& program = program_of(function.module->kernel(context, function.name));
      require(value >= 0 && program.shared_bytes + static_cast<std::uint64_t>(value) <= context.device.shared_per_block);
      function.on_gpu().dynamic_shared_bytes = value;
      break;
    }
    case carveout: require(value >= -1 && value <= 100); break;
    case non_portable_cluster: function.on_gpu().non_portable_cluster = value != 0; break;
    case scheduling_policy: require(value >= 0 && value <= 2); break;
    case 10:
    case 11:
    case 12:
    case 13: throw ApiError(cudaErrorNotSupported, fmt::format("attribute {} of a kernel is not supported", attribute));
    default: throw ApiError(cudaErrorInvalidValue);
  }
}

}  // namespace

int active_blocks(const Device& device, const code::Program& program, int block_threads, std::size_t shared_bytes) {
  require(block_threads > 0);
  if (block_threads > most_threads(program.limits) || shared_bytes > device.shared_per_processor) return 0;
  const int warps = (block_threads + 31) / 32;
  int blocks = std::min(device.threads_per_processor / (32 * warps), device.blocks_per_processor);
  const std::uint64_t reserved = hardware_traits(device.number).reserved_shared;
  const std::uint64_t shared = program.dynamic_offset + shared_bytes + reserved;
  if (shared > reserved) blocks = std::min(blocks, static_cast<int>(device.shared_per_processor / shared));
  return blocks;
}

WARPMAT_CUDA_API Error cudaFuncGetAttributes(FunctionAttributes* attributes, const void* function) {
  return call(__func__, [&](Context& context) {
    require(attributes != nullptr);
    *attributes = attributes_of(function_of(function), program_of(context, function));
  });
}

WARPMAT_CUDA_API Error cudaFuncSetAttribute(const void* function, int attribute, int value) {
  return call(__func__, [&](Context& context) { set_attribute(context, function_of(function), attribute, value); });
}

WARPMAT_CUDA_API Error cudaFuncSetCacheConfig(const void* function, int config) {
  return call(__func__, [&](Context&) {
    function_of(function);
    require(config >= 0 && config <= 3);
  });
}

WARPMAT_CUDA_API Error cudaFuncGetName(const char** name, const void* function) {
  return call(__func__, [&](Context&) {
    require(name != nullptr);
    *name = function_of(function).name.c_str();
  });
}

WARPMAT_CUDA_API Error cudaFuncGetParamInfo(const void* function, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  return call(__func__, [&](Context& context) {
    const code::Program& program = program_of(context, function);
    require(index < program.parameters.size());
    if (offset != nullptr) *offset = program.parameters[index].offset;
    if (bytes != nullptr) *bytes = program.parameters[index].bytes;
  });
}

WARPMAT_CUDA_API Error cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int block_threads,
                                                                              std::size_t shared_bytes, unsigned flags) {
  return call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [&](Context& context) {
    require(blocks != nullptr && flags <= 1);  // cudaOccupancyDisableCachingOverride
    *blocks = active_blocks(context.device, program_of(context, function), block_threads, shared_bytes);
  });
}

WARPMAT_CUDA_API Error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int block_threads,
                                                                     std::size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_threads, shared_bytes, 0);
}

/// Clusters that run at a time, if the processors are as one: a GPU's are in groups, so it may run fewer.
WARPMAT_CUDA_API Error cudaOccupancyMaxActiveClusters(int* clusters, const void* function, const LaunchConfiguration* config) {
  return call(__func__, [&](Context& context) {
    require(clusters != nullptr && config != nullptr && (config->numAttrs == 0 || config->attrs != nullptr));
    Request request{.function = &function_of(function)};
    for (unsigned i = 0; i < config->numAttrs; ++i) apply(config->attrs[i], request);
    const GridSize block = config->blockDim, size = request.cluster;
    const CheckedSize threads = CheckedSize(block.x) * block.y * block.z, of_cluster = CheckedSize(size.x) * size.y * size.z;
    require(threads.fits(max_block_threads), cudaErrorInvalidConfiguration);
    require(of_cluster.fits(most_cluster) && !of_cluster.fits(0), cudaErrorInvalidClusterSize);
    const int blocks =
        active_blocks(context.device, program_of(context, function), static_cast<int>(*threads.value()), config->dynamicSmemBytes);
    *clusters = blocks * context.device.processors / static_cast<int>(*of_cluster.value());
  });
}

WARPMAT_CUDA_API Error cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* handle, const LaunchConfiguration* config) {
  return call(__func__, [&](Context&) {
    require(blocks != nullptr && config != nullptr);
    *blocks = function_of(handle).on_gpu().non_portable_cluster ? most_cluster : most_portable_cluster;
  });
}

WARPMAT_CUDA_API Error cudaFuncSetSharedMemConfig(const void* function, int config) {
  return call(__func__, [&](Context&) {
    function_of(function);
    require(config >= 0 && config <= 2);
  });
}

WARPMAT_CUDA_API Error cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* function, int blocks, int block_threads) {
  return call(__func__, [&](Context& context) {
    require(bytes != nullptr && blocks > 0 && block_threads > 0);
    const std::uint64_t used = program_of(context, function).shared_bytes + hardware_traits(context.device.number).reserved_shared;
    const std::uint64_t each = context.device.shared_per_processor / static_cast<std::uint64_t>(blocks);
    *bytes = each > used ? std::min<std::uint64_t>(each - used, context.device.shared_per_block) : 0;
  });
}

}  // namespace warpmat::cuda

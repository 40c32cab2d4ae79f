// The driver: modules, libraries, the linker, kernels and their launches.

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include <warpmat/cuda/driver.h>
#include <warpmat/cuda/fatbinary.h>
#include <warpmat/cuda/launch.h>
#include <warpmat/cuda/mapped.h>
#include <warpmat/cuda/per_thread.h>
#include <warpmat/cuda/waiting.h>
#include <warpmat/ir/code.h>
#include <warpmat/machine/internals.h>
#include <warpmat/ptx/syntax/link.h>

namespace warpmat::cuda {

extern "C" {
Error cudaFuncGetName(const char** name, const void* function);
Error cudaFuncGetParamInfo(const void* function, std::size_t index, std::size_t* offset, std::size_t* bytes);
Error cudaFuncSetSharedMemConfig(const void* function, int config);
Error cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int block_threads, std::size_t shared_bytes,
                                                             unsigned flags);
Error cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* function, int blocks, int block_threads);
Error cudaOccupancyMaxActiveClusters(int* clusters, const void* function, const LaunchConfiguration* config);
Error cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* function, const LaunchConfiguration* config);
}
namespace {

/// The options in the last line of PTX that the stand-in for ptxas has passed on (programs/ptxas); empty where there is no such line.
std::string told_options(std::string_view text) {
  constexpr std::string_view before = "\n// ptxas options:";
  while (text.ends_with('\n')) text.remove_suffix(1);
  const std::size_t last = text.rfind('\n');
  return last != std::string_view::npos && text.substr(last).starts_with(before) ? std::string(text.substr(last + before.size())) : "";
}

/// What an image that cuModuleLoadData takes holds. No more than is mapped is read, whatever the image says.
DeviceCode code_of(const void* image) {
  const std::uint64_t mapped = mapped_bytes(image);
  require(mapped >= sizeof(std::uint32_t), cudaErrorInvalidKernelImage);
  const Target& target = *context().settings.target;
  switch (image_kind(image)) {
    case ImageKind::wrapper: return wrapper_code(image, target);
    case ImageKind::fatbinary: return device_code(read_fatbinary(image), target);
    case ImageKind::machine_code: throw ApiError(cudaErrorNoKernelImageForDevice, "the module is machine code (a cubin): warpmat runs PTX");
    case ImageKind::ptx: break;
  }
  const auto* const text = static_cast<const char*>(image);
  DeviceCode code{.text = {text, ::strnlen(text, mapped)}};
  code.options = told_options(code.text);
  return code;
}

DeviceModule* load(Context& state, const void* image, Owner owner) {
  require(image != nullptr);
  auto made = share_fresh<DeviceModule>([code = code_of(image)](const Target&) { return code; });
  made->module(state);
  return add_module(std::move(made), owner);
}

void load_into(DeviceModule** module, Context& state, const void* image, Owner owner = current_owner()) {
  require(module != nullptr);
  try {
    *module = load(state, image, owner);
  } catch (const FatbinaryError& e) {
    throw ApiError(cudaErrorNoKernelImageForDevice, e.what());
  }
}

/// The contents of a file that cuModuleLoad takes: PTX or a fatbinary. A device, which may have no end, is none.
std::string image_in(const char* file) {
  require(file != nullptr);
  std::ifstream in(file, std::ios::binary);
  require(in.good(), cudaErrorFileNotFound);
  std::error_code none;
  const std::uintmax_t bytes = std::filesystem::file_size(file, none);
  require(!none && bytes >= sizeof(std::uint32_t), cudaErrorInvalidKernelImage);
  if (bytes > most_text_bytes)
    throw ApiError(cudaErrorInvalidKernelImage, fmt::format("{} is larger than {} bytes", file, most_text_bytes));
  std::string image(bytes, '\0');
  image.resize(static_cast<std::size_t>(in.read(image.data(), static_cast<std::streamsize>(bytes)).gcount()));
  require(image.size() >= sizeof(std::uint32_t), cudaErrorInvalidKernelImage);
  const ImageKind kind = image_kind(image.data());
  const bool whole = image.size() >= fatbinary_header_bytes && fatbinary_bytes(image.data()) <= image.size();
  require(kind != ImageKind::wrapper && (kind != ImageKind::fatbinary || whole), cudaErrorInvalidKernelImage);
  return image;
}

Function* find_function(Context& state, DeviceModule& module, const char* name) {
  require(name != nullptr);
  for (const std::string& entry : module.module(state).entries())
    if (entry == name) return &function_in(module, name);
  throw ApiError(cudaErrorSymbolNotFound);
}

/// CUDA's device runtime, libcudadevrt.a, as far as modules link it in: the functions of cooperative groups that Numba's kernels call. What
/// kernels launch with is in the machine (code::SystemFunction). A grid's blocks meet as in cooperative_groups.h of the toolkit: the word
/// at the workspace's offset 4 counts arrivals, and its highest bit changes with the last one.
constexpr std::string_view device_runtime = R"(
.version 6.0
.target sm_70
.address_size 64
.visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope) {
  .reg .b32 %high, %low; .reg .b64 %workspace;
  mov.u32 %high, %envreg1; mov.u32 %low, %envreg2;
  mov.b64 %workspace, {%low, %high};
  st.param.b64 [handle], %workspace;
  ret;
}
.visible .func (.param .b32 status) cudaCGSynchronize(.param .b64 handle, .param .b32 flags) {
  .reg .b64 %workspace; .reg .b32 %x, %y, %z, %first, %blocks, %adds, %before, %now; .reg .pred %waits, %is_first;
  ld.param.b64 %workspace, [handle];
  barrier.sync 0;
  mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %z, %tid.z;
  or.b32 %x, %x, %y; or.b32 %x, %x, %z; setp.ne.u32 %waits, %x, 0;
  @%waits bra MET;
  mov.u32 %x, %nctaid.x; mov.u32 %y, %nctaid.y; mov.u32 %z, %nctaid.z;
  mul.lo.u32 %blocks, %x, %y; mul.lo.u32 %blocks, %blocks, %z;
  mov.u32 %x, %ctaid.x; mov.u32 %y, %ctaid.y; mov.u32 %z, %ctaid.z;
  or.b32 %first, %x, %y; or.b32 %first, %first, %z; setp.eq.u32 %is_first, %first, 0;
  sub.u32 %adds, 0x80000001, %blocks; selp.u32 %adds, %adds, 1, %is_first;
  membar.gl;
  atom.add.u32 %before, [%workspace+4], %adds;
  WAIT: ld.volatile.u32 %now, [%workspace+4];
  xor.b32 %now, %now, %before; setp.ge.s32 %waits, %now, 0;
  @%waits bra WAIT;
  membar.gl;
  MET: barrier.sync 0;
  st.param.b32 [status], 0;
  ret;
}
)";

/// Whether the bytes are CUDA's device runtime: an archive of this object.
bool is_device_runtime(std::string_view library) {
  constexpr std::string_view first_bytes = "!<arch>\n", member = "cuda_device_runtime";
  return library.starts_with(first_bytes) && library.find(member) != std::string_view::npos;
}

/// PTX that cuLinkAddData was given, and what cuLinkComplete made of it.
struct LinkState {
  std::vector<std::string> texts = {};
  std::string linked = {};
};

struct Links {
  Handles<LinkState> made;
  void leave(Context&, Owner owner) { made.drop(owner); }
};

Handles<LinkState>& links() {
  return context().part<Links>().made;
}

/// CUlaunchConfig.
struct DriverLaunchConfiguration {
  GridSize grid, block;
  unsigned shared_bytes;
  Stream* stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

/// A pointer to each argument in a buffer of arguments that is described by CU_LAUNCH_PARAM_BUFFER_POINTER and _SIZE.
std::vector<void*> arguments_in(const code::Program& program, void** extra) {
  constexpr std::uintptr_t buffer_pointer = 1, buffer_size = 2;
  std::uint8_t* buffer = nullptr;
  std::size_t bytes = 0;
  for (; *extra != nullptr; extra += 2) {
    const auto what = reinterpret_cast<std::uintptr_t>(*extra);
    require(extra[1] != nullptr && (what == buffer_pointer || what == buffer_size));
    if (what == buffer_pointer) buffer = static_cast<std::uint8_t*>(extra[1]);
    if (what == buffer_size) std::memcpy(&bytes, extra[1], sizeof bytes);
  }
  std::vector<void*> pointers;
  for (const code::Parameter& parameter : program.parameters) {
    require(buffer != nullptr && parameter.offset + parameter.bytes <= bytes);
    pointers.push_back(buffer + parameter.offset);
  }
  return pointers;
}

/// Launches `handle` as `request` says, whose function is filled in here.
int launch(Function* handle, Request request, std::span<const LaunchAttribute> attributes, void** arguments, void** extra) {
  return in_context([&] {
    return enqueue("cuLaunchKernel", [&](Context& state) {
      request.function = &function_of(handle);
      for (const LaunchAttribute& attribute : attributes) apply(attribute, request);
      if (extra == nullptr) return launch_kernel(state, request, arguments);
      require(arguments == nullptr);
      launch_kernel(state, request,
                    arguments_in(program_of(request.function->module->kernel(state, request.function->name)), extra).data());
    });
  });
}

int attribute_of(const FunctionAttributes& all, int number) {
  switch (number) {
    case 0: return all.maxThreadsPerBlock;
    case 1: return static_cast<int>(all.sharedSizeBytes);
    case 2: return static_cast<int>(all.constSizeBytes);
    case 3: return static_cast<int>(all.localSizeBytes);
    case 4: return all.numRegs;
    case 5: return all.ptxVersion;
    case 6: return all.binaryVersion;
    case 7: return all.cacheModeCA;
    case 8: return all.maxDynamicSharedSizeBytes;
    case 9: return all.preferredShmemCarveout;
    case 10: return all.clusterDimMustBeSet;
    case 11: return all.requiredClusterWidth;
    case 12: return all.requiredClusterHeight;
    case 13: return all.requiredClusterDepth;
    case 14: return all.nonPortableClusterSizeAllowed;
    case 15: return all.clusterSchedulingPolicyPreference;
    default: throw ApiError(cudaErrorInvalidValue);
  }
}

}  // namespace

WARPMAT_CUDA_API int cuModuleLoad(DeviceModule** module, const char* file) {
  return in_context([&] { return call("cuModuleLoad", [&](Context& state) { load_into(module, state, image_in(file).c_str()); }); });
}

WARPMAT_CUDA_API int cuModuleLoadData(DeviceModule** module, const void* image) {
  return in_context([&] { return call("cuModuleLoadData", [&](Context& state) { load_into(module, state, image); }); });
}

WARPMAT_CUDA_API int cuModuleLoadDataEx(DeviceModule** module, const void* image, unsigned, void*, void**) {
  return cuModuleLoadData(module, image);
}

WARPMAT_CUDA_API int cuModuleLoadFatBinary(DeviceModule** module, const void* image) {
  return cuModuleLoadData(module, image);
}

WARPMAT_CUDA_API int cuModuleUnload(DeviceModule* module) {
  return in_context([&] {
    return call("cuModuleUnload", [&](Context& state) {
      finish(state);
      unload_module(state, module);
    });
  });
}

WARPMAT_CUDA_API int cuModuleGetFunction(Function** function, DeviceModule* module, const char* name) {
  return in_context([&] {
    return call("cuModuleGetFunction", [&](Context& state) {
      require(function != nullptr);
      *function = find_function(state, module_of(module), name);
    });
  });
}

WARPMAT_CUDA_API int cuModuleGetGlobal_v2(DeviceAddress* address, std::size_t* bytes, DeviceModule* module, const char* name) {
  return in_context([&] {
    return call("cuModuleGetGlobal", [&](Context& state) {
      require(name != nullptr);
      const AsOwner as(owner_of_module(module_of(module)));
      const std::uint64_t size = module_of(module).variable_bytes(state, name);
      if (address != nullptr) *address = module_of(module).variable(state, name);
      if (bytes != nullptr) *bytes = size;
    });
  });
}

WARPMAT_CUDA_API int cuModuleGetLoadingMode(int* mode) {
  return after_init([&] {
    if (mode == nullptr) return cudaErrorInvalidValue;
    *mode = 2;  // lazily
    return cudaSuccess;
  });
}

WARPMAT_CUDA_API int cuLibraryLoadData(DeviceModule** library, const void* image, void*, void**, unsigned, void*, void**, unsigned) {
  return in_context([&] { return call("cuLibraryLoadData", [&](Context& state) { load_into(library, state, image, no_owner); }); });
}

WARPMAT_CUDA_API int cuLibraryLoadFromFile(DeviceModule** library, const char* file, void*, void**, unsigned, void*, void**, unsigned) {
  return in_context(
      [&] { return call("cuLibraryLoadFromFile", [&](Context& state) { load_into(library, state, image_in(file).c_str(), no_owner); }); });
}

WARPMAT_CUDA_API int cuLibraryUnload(DeviceModule* library) {
  return cuModuleUnload(library);
}

WARPMAT_CUDA_API int cuLibraryGetModule(DeviceModule** module, DeviceModule* library) {
  return in_context([&] {
    return call("cuLibraryGetModule", [&](Context&) {
      require(module != nullptr);
      *module = &module_of(library);
    });
  });
}

WARPMAT_CUDA_API int cuLibraryGetKernel(Function** kernel, DeviceModule* library, const char* name) {
  return cuModuleGetFunction(kernel, library, name);
}

WARPMAT_CUDA_API int cuKernelGetFunction(Function** function, Function* kernel) {
  return in_context([&] {
    return call("cuKernelGetFunction", [&](Context&) {
      require(function != nullptr);
      *function = &function_of(kernel);
    });
  });
}

WARPMAT_CUDA_API int cuLinkCreate_v2(unsigned, void*, void**, LinkState** state) {
  return in_context([&] {
    return call("cuLinkCreate", [&](Context&) {
      require(state != nullptr);
      *state = links().make();
    });
  });
}

WARPMAT_CUDA_API int cuLinkAddData_v2(LinkState* state, int type, void* data, std::size_t bytes, const char*, unsigned, void*, void**) {
  constexpr int ptx = 1, library = 4;
  return in_context([&] {
    return call("cuLinkAddData", [&](Context&) {
      LinkState& link = links().at(state);
      require(mapped_bytes(data) >= std::max<std::size_t>(bytes, 1));
      const std::string_view given(static_cast<const char*>(data), bytes);
      const bool is_runtime = type == library && is_device_runtime(given);
      if (type != ptx && !is_runtime)
        throw ApiError(cudaErrorNotSupported, "a link of anything but PTX and CUDA's device runtime is not supported");
      link.texts.emplace_back(is_runtime ? device_runtime : given.substr(0, given.find('\0')));
    });
  });
}

/// The linked image is a text, which lives as long as the state.
WARPMAT_CUDA_API int cuLinkComplete(LinkState* state, void** image, std::size_t* bytes) {
  return in_context([&] {
    return call("cuLinkComplete", [&](Context&) {
      LinkState& link = links().at(state);
      require(image != nullptr && bytes != nullptr && !link.texts.empty());
      try {
        link.linked = syntax::link_modules(link.texts);
      } catch (const syntax::LinkError& e) {
        throw ApiError(cudaErrorInvalidPtx, e.what());
      }
      *image = link.linked.data();
      *bytes = link.linked.size();
    });
  });
}

WARPMAT_CUDA_API int cuLinkDestroy(LinkState* state) {
  return in_context(
      [&] { return call("cuLinkDestroy", [&](Context&) { require(links().take(state) != nullptr, cudaErrorInvalidResourceHandle); }); });
}

WARPMAT_CUDA_API int cuFuncGetAttribute(int* value, int attribute, Function* function) {
  return in_context([&] {
    return call("cuFuncGetAttribute", [&](Context&) {
      require(value != nullptr);
      FunctionAttributes all;
      const Error error = cudaFuncGetAttributes(&all, function);
      require(error == cudaSuccess, error);
      *value = attribute_of(all, attribute);
    });
  });
}

WARPMAT_CUDA_API int cuFuncSetAttribute(Function* function, int attribute, int value) {
  return in_context([&] { return cudaFuncSetAttribute(function, attribute, value); });
}

WARPMAT_CUDA_API int cuFuncSetCacheConfig(Function* function, int config) {
  return in_context([&] { return cudaFuncSetCacheConfig(function, config); });
}

WARPMAT_CUDA_API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function* function, int block_threads,
                                                                 std::size_t shared_bytes) {
  return in_context([&] { return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_threads, shared_bytes); });
}

/// The block size with most threads on a processor, the largest of several, as the toolkit's cuda_runtime.h finds it.
WARPMAT_CUDA_API int cuOccupancyMaxPotentialBlockSizeWithFlags(int* blocks, int* block_threads, Function* function,
                                                               std::size_t (*shared_of)(int), std::size_t shared_bytes, int most,
                                                               unsigned flags) {
  return in_context([&] {
    return call("cuOccupancyMaxPotentialBlockSize", [&](Context& context) {
      require(blocks != nullptr && block_threads != nullptr && most >= 0 && flags <= 1);
      FunctionAttributes attributes;
      const Error error = cudaFuncGetAttributes(&attributes, function);
      require(error == cudaSuccess, error);
      const Function& known = function_of(function);
      const Kernel kernel = known.module->kernel(context, known.name);  // stays, though `shared_of` may unload its module
      const code::Program& program = program_of(kernel);
      const int limit = most == 0 ? attributes.maxThreadsPerBlock : std::min(most, attributes.maxThreadsPerBlock);
      int best = -1;
      for (int aligned = (limit + 31) / 32 * 32; aligned > 0; aligned -= 32) {
        const int threads = std::min(limit, aligned);
        const int active = active_blocks(context.device, program, threads, shared_of != nullptr ? shared_of(threads) : shared_bytes);
        if (active * threads <= best) continue;
        best = active * threads;
        *block_threads = threads;
        *blocks = active * context.device.processors;
        if (best == context.device.threads_per_processor) break;
      }
    });
  });
}

WARPMAT_CUDA_API int cuOccupancyMaxPotentialBlockSize(int* blocks, int* block_threads, Function* function, std::size_t (*shared_of)(int),
                                                      std::size_t shared_bytes, int most) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(blocks, block_threads, function, shared_of, shared_bytes, most, 0);
}

WARPMAT_CUDA_API int cuLaunchKernel(Function* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                    unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream* stream, void** arguments,
                                    void** extra) {
  return launch(function,
                {.grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z}, .shared_bytes = shared_bytes, .stream = stream},
                {}, arguments, extra);
}

WARPMAT_CUDA_API int cuLaunchCooperativeKernel(Function* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                               unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream* stream,
                                               void** arguments) {
  return launch(function,
                {.grid = {grid_x, grid_y, grid_z},
                 .block = {block_x, block_y, block_z},
                 .shared_bytes = shared_bytes,
                 .stream = stream,
                 .cooperative = true},
                {}, arguments, nullptr);
}

WARPMAT_CUDA_API int cuLaunchKernelEx(const DriverLaunchConfiguration* config, Function* function, void** arguments, void** extra) {
  if (config == nullptr || (config->attributes == nullptr && config->attribute_count != 0)) return cudaErrorInvalidValue;
  return launch(function, {.grid = config->grid, .block = config->block, .shared_bytes = config->shared_bytes, .stream = config->stream},
                {config->attributes, config->attribute_count}, arguments, extra);
}

WARPMAT_CUDA_API int cuFuncGetName(const char** name, const void* function) {
  return in_context([&] { return cudaFuncGetName(name, function); });
}

WARPMAT_CUDA_API int cuFuncGetParamInfo(const void* function, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  return in_context([&] { return cudaFuncGetParamInfo(function, index, offset, bytes); });
}

WARPMAT_CUDA_API int cuFuncSetSharedMemConfig(const void* function, int config) {
  return in_context([&] { return cudaFuncSetSharedMemConfig(function, config); });
}

WARPMAT_CUDA_API int cuKernelGetName(const char** name, const void* kernel) {
  return in_context([&] { return cudaFuncGetName(name, kernel); });
}

WARPMAT_CUDA_API int cuKernelGetParamInfo(const void* kernel, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  return in_context([&] { return cudaFuncGetParamInfo(kernel, index, offset, bytes); });
}

WARPMAT_CUDA_API int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int block_threads,
                                                                          std::size_t shared_bytes, unsigned flags) {
  return in_context(
      [&] { return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_threads, shared_bytes, flags); });
}

WARPMAT_CUDA_API int cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* function, int blocks, int block_threads) {
  return in_context([&] { return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, block_threads); });
}

WARPMAT_CUDA_API int cuFuncGetModule(DeviceModule** module, Function* function) {
  return in_context([&] {
    return call("cuFuncGetModule", [&](Context&) {
      require(module != nullptr);
      *module = function_of(function).module.get();
    });
  });
}

WARPMAT_CUDA_API int cuKernelGetLibrary(DeviceModule** library, Function* kernel) {
  return cuFuncGetModule(library, kernel);
}

/// Kernels are resolved when they are first needed, which programs cannot tell from loading.
WARPMAT_CUDA_API int cuFuncIsLoaded(int* state, Function* function) {
  return in_context([&] {
    return call("cuFuncIsLoaded", [&](Context&) {
      constexpr int loaded = 1;
      function_of(function);
      require(state != nullptr);
      *state = loaded;
    });
  });
}

WARPMAT_CUDA_API int cuFuncLoad(Function* function) {
  return in_context([&] { return call("cuFuncLoad", [&](Context&) { function_of(function); }); });
}

WARPMAT_CUDA_API int cuKernelGetAttribute(int* value, int attribute, Function* kernel, int device) {
  return device == 0 ? cuFuncGetAttribute(value, attribute, kernel) : static_cast<int>(cudaErrorInvalidDevice);
}

WARPMAT_CUDA_API int cuKernelSetAttribute(int attribute, int value, Function* kernel, int device) {
  return device == 0 ? cuFuncSetAttribute(kernel, attribute, value) : static_cast<int>(cudaErrorInvalidDevice);
}

WARPMAT_CUDA_API int cuKernelSetCacheConfig(Function* kernel, int config, int device) {
  return device == 0 ? cuFuncSetCacheConfig(kernel, config) : static_cast<int>(cudaErrorInvalidDevice);
}

WARPMAT_CUDA_API int cuModuleGetFunctionCount(unsigned* count, DeviceModule* module) {
  return in_context([&] {
    return call("cuModuleGetFunctionCount", [&](Context& state) {
      require(count != nullptr);
      *count = static_cast<unsigned>(module_of(module).module(state).entries().size());
    });
  });
}

WARPMAT_CUDA_API int cuModuleEnumerateFunctions(Function** functions, unsigned count, DeviceModule* module) {
  return in_context([&] {
    return call("cuModuleEnumerateFunctions", [&](Context& state) {
      const std::vector<std::string> entries = module_of(module).module(state).entries();
      require(functions != nullptr || count == 0);
      for (std::size_t i = 0; i < std::min<std::size_t>(count, entries.size()); ++i)
        functions[i] = &function_in(module_of(module), entries[i]);
    });
  });
}

WARPMAT_CUDA_API int cuLibraryGetKernelCount(unsigned* count, DeviceModule* library) {
  return cuModuleGetFunctionCount(count, library);
}

WARPMAT_CUDA_API int cuLibraryEnumerateKernels(Function** kernels, unsigned count, DeviceModule* library) {
  return cuModuleEnumerateFunctions(kernels, count, library);
}

WARPMAT_CUDA_API int cuLibraryGetGlobal(DeviceAddress* address, std::size_t* bytes, DeviceModule* library, const char* name) {
  return cuModuleGetGlobal_v2(address, bytes, library, name);
}

/// DriverLaunchConfiguration as the runtime's.
LaunchConfiguration of_runtime(const DriverLaunchConfiguration& config) {
  return {.gridDim = config.grid,
          .blockDim = config.block,
          .dynamicSmemBytes = config.shared_bytes,
          .stream = config.stream,
          .attrs = config.attributes,
          .numAttrs = config.attribute_count};
}

WARPMAT_CUDA_API int cuOccupancyMaxActiveClusters(int* clusters, Function* function, const DriverLaunchConfiguration* config) {
  return in_context([&] {
    if (config == nullptr) return cudaErrorInvalidValue;
    const LaunchConfiguration same = of_runtime(*config);
    return cudaOccupancyMaxActiveClusters(clusters, function, &same);
  });
}

WARPMAT_CUDA_API int cuOccupancyMaxPotentialClusterSize(int* blocks, Function* function, const DriverLaunchConfiguration* config) {
  return in_context([&] {
    if (config == nullptr) return cudaErrorInvalidValue;
    const LaunchConfiguration same = of_runtime(*config);
    return cudaOccupancyMaxPotentialClusterSize(blocks, function, &same);
  });
}

WARPMAT_CUDA_PER_THREAD(cuLaunchKernel, ptsz)
WARPMAT_CUDA_PER_THREAD(cuLaunchCooperativeKernel, ptsz)
WARPMAT_CUDA_PER_THREAD(cuLaunchKernelEx, ptsz)

}  // namespace warpmat::cuda

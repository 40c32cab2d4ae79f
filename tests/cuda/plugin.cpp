// A plug-in with a kernel, as nvcc makes it: what it registers when it is opened is gone when it is closed. It has no runtime of its own:
// it uses that of the program which opens it, by the functions that the program gives it.

#include <string>

#include "cuda/host_code.h"

namespace {

const char* const module_text = R"(
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 launches = 0;
.visible .entry count(.param .u64 to) {
  .reg .u64 %address; .reg .u32 %old;
  ld.global.u32 %old, [launches];
  add.u32 %old, %old, 1;
  st.global.u32 [launches], %old;
  ld.param.u64 %address, [to];
  st.global.u32 [%address], %old;
  ret;
}
)";

/// What the plug-in needs of the runtime.
struct Runtime {
  void** (*register_module)(void*);
  void (*register_function)(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
  void (*register_end)(void**);
  void (*unregister_module)(void**);
  int (*launch)(const void*, warpmat::cuda::GridSize, warpmat::cuda::GridSize, void**, std::size_t, void*);
};

Runtime runtime{};
void** module = nullptr;
char stub;

host_code::Wrapper wrapper;
std::string fatbinary;

__attribute__((destructor)) void closed() {
  if (module != nullptr) runtime.unregister_module(module);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void opened(const Runtime& of_program) {
  runtime = of_program;
  fatbinary = host_code::fatbinary_of(module_text);
  wrapper.data = fatbinary.data();
  module = runtime.register_module(&wrapper);
  runtime.register_function(module, &stub, nullptr, "count", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  runtime.register_end(module);
}

/// Launches a kernel that stores how often it was launched since the plug-in was opened. Returns the launch's code.
extern "C" __attribute__((visibility("default"))) int launch(void* to) {
  void* arguments[] = {&to};
  return runtime.launch(&stub, {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr);
}

// A client that loads libcuda.so.1, launches eight blocks, and unloads it: unload_program LIBRARY [one]. With `one` it runs on one core
// alone.

#include <dlfcn.h>
#include <sched.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

const char* const text = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry nothing() {
  ret;
}
)";

void* library = nullptr;

template <typename... Arguments>
void call(const char* name, Arguments... arguments) {
  void* const function = dlsym(library, name);
  const int error = function == nullptr ? -1 : reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
  if (error == 0) return;
  std::printf("%s: error %d\n", name, error);
  std::exit(1);
}

void run_on_one_core() {
  cpu_set_t cores, one;
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) std::exit(2);
  std::size_t first = 0;
  while (!CPU_ISSET(first, &cores)) ++first;
  CPU_SET(first, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) std::exit(2);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  if (count > 2) run_on_one_core();
  library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 2;
  void *context = nullptr, *module = nullptr, *function = nullptr;
  call("cuInit", 0u);
  call("cuDevicePrimaryCtxRetain", &context, 0);
  call("cuCtxSetCurrent", context);
  call("cuModuleLoadData", &module, text);
  call("cuModuleGetFunction", &function, module, "nothing");
  void** const none = nullptr;
  const unsigned one = 1, blocks = 8, bytes = 0;
  void* const stream = nullptr;
  for (int i = 0; i < 50; ++i) call("cuLaunchKernel", function, blocks, one, one, one, one, one, bytes, stream, none, none);
  call("cuCtxSynchronize");
  dlclose(library);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // what runs in the library would end here
  std::printf("ended\n");
}

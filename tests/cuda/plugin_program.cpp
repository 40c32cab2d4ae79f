// Opens both runtimes in one process, and closes and opens a plug-in with a kernel 200 times: by turns it uses the one runtime and the
// other. Arguments: libcudart.so.12, libcudart.so.13, the plug-in. It prints how many rounds were as they should be.

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {

constexpr const char* names[] = {"__cudaRegisterFatBinary", "__cudaRegisterFunction", "__cudaRegisterFatBinaryEnd",
                                 "__cudaUnregisterFatBinary", "cudaLaunchKernel"};

template <typename Function>
Function function(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

/// Two launches of a plug-in that was opened anew: its variable counts from its start.
bool round_is_right(void* runtime, const char* path, std::uint32_t* memory) {
  void* functions[5];
  for (std::size_t i = 0; i < 5; ++i) functions[i] = dlsym(runtime, names[i]);
  void* const plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) return false;
  function<void (*)(void**)>(plugin, "opened")(functions);
  const auto launch = function<int (*)(void*)>(plugin, "launch");
  const bool launched = launch(memory) == 0 && launch(memory) == 0;
  dlclose(plugin);
  return launched && function<int (*)()>(runtime, "cudaDeviceSynchronize")() == 0 && *memory == 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  void* const runtimes[] = {dlopen(argv[1], RTLD_NOW | RTLD_LOCAL), dlopen(argv[2], RTLD_NOW | RTLD_LOCAL)};
  if (runtimes[0] == nullptr || runtimes[1] == nullptr) return static_cast<void>(std::puts(dlerror())), 2;
  void* memory = nullptr;
  int versions[2] = {}, right = 0;
  function<int (*)(void**, std::size_t, unsigned)>(runtimes[0], "cudaMallocManaged")(&memory, 4, 1);
  for (int i = 0; i < 2; ++i) function<int (*)(int*)>(runtimes[i], "cudaRuntimeGetVersion")(&versions[i]);
  for (int i = 0; i < 200; ++i) right += round_is_right(runtimes[i % 2], argv[3], static_cast<std::uint32_t*>(memory)) ? 1 : 0;
  const int freed = function<int (*)(void*)>(runtimes[1], "cudaFree")(memory);
  std::printf("%d and %d: %d of 200, freed: %d\n", versions[0] / 1000, versions[1] / 1000, right, freed);
}

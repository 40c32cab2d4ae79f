// plugin_host FIRST SECOND: loads two plug-ins whose libraries compute with 25 and 20 bits, in both orders and with both kinds of symbol
// scope. Each must compute with its own, and go away when it is closed.

#include "../mma.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace {

[[noreturn]] void fail(const char* what, const char* detail) {
  std::fprintf(stderr, "%s: %s\n", what, detail);
  std::exit(1);
}

struct Plugin {
  const char* path;
  std::uint32_t expected;
  void* handle = nullptr;

  void open(int scope) {
    handle = dlopen(path, RTLD_NOW | scope);
    if (handle == nullptr) fail("dlopen", dlerror());
  }

  void compute() const {
    const auto sum = reinterpret_cast<std::uint32_t (*)(int)>(dlsym(handle, "plugin_sum"));
    if (sum == nullptr) fail("dlsym", dlerror());
    for (const int reference : {0, 1})
      if (sum(reference) != expected) fail("this plug-in computes with the arithmetic of the other", path);
  }

  void close() const {
    if (dlclose(handle) != 0) fail("dlclose", dlerror());
    if (dlopen(path, RTLD_NOW | RTLD_NOLOAD) != nullptr) fail("this plug-in stays after dlclose", path);
  }
};

void load_both(Plugin first, Plugin second, int scope) {
  first.open(scope);
  first.compute();
  second.open(scope);
  second.compute();
  first.compute();
  second.close();
  first.compute();
  first.close();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const Plugin of_25_bits{argv[1], package::sum_of_25_bits}, of_20_bits{argv[2], package::sum_of_20_bits};
  for (const int scope : {RTLD_LOCAL, RTLD_GLOBAL}) {
    load_both(of_25_bits, of_20_bits, scope);
    load_both(of_20_bits, of_25_bits, scope);
  }
  return 0;
}

// Calls every function of the runtime and the driver with one hostile value in the place of each of its parameters: null, a handle of
// nothing, a number outside of its enumeration, unknown flags, no device, sizes that wrap. The others are valid, and the pointers lead to
// memory that holds zeros, or addresses of itself. Each function has a child process. It prints which calls ended the process, and which
// succeeded with a number that is none.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "by_name.h"

namespace {

using by_name::Argument;
using by_name::call;
using by_name::library;
using by_name::Word;
using by_name::word_of;

struct Row {
  const char *name, *parameters;  ///< letters: tests/cuda/signatures.py
};

constexpr Row rows[] = {
#define WARPMAT_SIGNATURE(name, parameters) {#name, parameters},
#include "signatures.inc"
#undef WARPMAT_SIGNATURE
    // what nvcc's code calls, from the toolkit's crt/host_runtime.h
    {"__cudaGetKernel", "pf"},
    {"__cudaLaunchKernel", "f33pzs"},
    {"__cudaPopCallConfiguration", "pppp"},
    {"__cudaInitModule", "p"},
    {"__cudaRegisterFatBinary", "p"},
    {"__cudaRegisterFatBinaryEnd", "p"},
    {"__cudaRegisterFunction", "ppppipppp"},
    {"__cudaRegisterManagedVar", "ppppizii"},
    {"__cudaRegisterVar", "ppppizii"},
    {"__cudaUnregisterFatBinary", "p"},
};

const char* const module_text = R"(
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 total = 5;
.visible .entry nothing() { ret; }
)";

void no_function(void*) {}

Argument words(std::vector<Word> all) {
  return Argument(std::move(all));
}

Argument on_stack(std::vector<Word> all) {
  return Argument(std::move(all), true);
}

/// A valid value for each letter.
struct Valid {
  static constexpr std::size_t bytes = 1 << 16;
  void *memory = nullptr, *stream = nullptr, *event = nullptr, *graph = nullptr, *node = nullptr, *executable = nullptr, *array = nullptr,
       *mipmap = nullptr, *pool = nullptr, *function = nullptr, *module = nullptr, *link = nullptr, *context = nullptr;
  Word texture = 0, physical = 0;
  std::size_t count = 2;  ///< of places for what a call lists

  Valid() {
    struct {
      int x = 32, y = 0, z = 0, w = 0, kind = 2;
    } const format;
    call("cuInit", {0u});
    call("cuDevicePrimaryCtxRetain", {&context, 0});
    call("cuCtxSetCurrent", {context});
    call("cudaMallocManaged", {&memory, bytes, 1u});
    call("cudaStreamCreate", {&stream});
    call("cudaEventCreate", {&event});
    call("cudaGraphCreate", {&graph, 0u});
    call("cudaGraphAddEmptyNode", {&node, graph, nullptr, std::size_t{0}});
    call("cudaGraphInstantiate", {&executable, graph, Word{0}});
    call("cudaMallocArray", {&array, &format, std::size_t{16}, std::size_t{16}, 0u});
    call("cuDeviceGetDefaultMemPool", {&pool, 0});
    call("cuModuleLoadData", {&module, module_text});
    call("cuModuleGetFunction", {&function, module, "nothing"});
    call("cuLinkCreate_v2", {0u, nullptr, nullptr, &link});
    call("cudaMallocMipmappedArray", {&mipmap, &format, on_stack({16, 16, 0}), 2, 0});
    struct {
      int type = 0, pad = 0;
      void* array = nullptr;
      char others[128] = {};
    } resource;
    resource.array = array;
    call("cudaCreateSurfaceObject", {&texture, &resource});
    struct {
      int type = 1, handles = 0, location[2] = {1, 0};
      char others[24] = {};
    } const properties;
    call("cuMemCreate", {&physical, std::size_t{2} << 20, &properties, Word{0}});
  }

  Argument of(char letter) const {
    switch (letter) {
      case 'p':
      case 'd': return word_of(memory);
      case 's': return word_of(stream);
      case 'e': return word_of(event);
      case 'g': return word_of(graph);
      case 'n': return word_of(node);
      case 'x': return word_of(executable);
      case 'a': return word_of(array);
      case 'm': return word_of(mipmap);
      case 'o': return word_of(pool);
      case 'f': return word_of(function);
      case 'l': return word_of(module);
      case 'k': return word_of(link);
      case 'c': return word_of(context);
      case 't': return texture;
      case 'r': return physical;
      case 'q': return word_of(&count);
      case 'z':
      case 'i':
      case 'E': return 1;
      case 'G':
      case 'H':
      case 'v': return 0;
      case 'F': return reinterpret_cast<std::uintptr_t>(no_function);
      case '3': return words({Word{1} << 32 | 1, 1});
      case 'L': return 1;
      case 'X': return on_stack({4, 1, 1});
      case 'P': return on_stack({word_of(memory), 64, 64, 4});
      case 'I': return on_stack({0, 0, 0, 0, 0, 0, 0, 0});
      default: std::printf("no such letter: %c\n", letter); return 0;
    }
  }
};

constexpr Word most = ~Word{0}, half = Word{1} << 63;

/// What is passed in the place of a valid value.
std::vector<Argument> hostile(char letter) {
  switch (letter) {
    case 'E': return {0xffffffff, 0x80000000, 0x7fffffff, 99999};
    case 'G': return {0xffffffff, 0x80000000};
    case 'H': return {most, half};
    case 'v': return {0xffffffff, 1, 0x7fffffff, 0x80000000};
    case 'i': return {0, 0xffffffff, 0x80000000, 0x7fffffff};
    case 'z': return {0, most, half, most / 8 + 1, Word{1} << 40};
    case '3': return {words({0, 0}), words({most, 0xffffffff}), words({half | 0x80000000, 0x80000000})};
    case 'L': return {most, Word{7} << 32 | 99, 0};
    case 'X': return {on_stack({0, 0, 0}), on_stack({most, most, most}), on_stack({half, 2, 2})};
    case 'P': return {on_stack({0, 0, 0, 0}), on_stack({0, most, most, most}), on_stack({16, half, 1, 2})};
    case 'I': return {on_stack({most, most, most, most, most, most, most, most})};
    case 'p':
    case 'q':
    case 'F': return {0};
    default: return {0, 16, most, 0x2000'0000'0000, 0x5000'0000'0000};  // handles and device addresses
  }
}

bool is_number_of_few(char letter) {
  return letter == 'E' || letter == 'G' || letter == 'H' || letter == 'v';
}

/// What the child does, for its parent to read when it has ended.
struct Shared {
  char now[256];
  int accepted;
};

void fill_memory(Valid& valid, bool of_itself) {
  valid.count = 2;
  Word* const words = static_cast<Word*>(valid.memory);
  for (std::size_t i = 0; i < Valid::bytes / sizeof(Word); ++i) words[i] = of_itself ? word_of(valid.memory) : 0;
}

void call_all(const Row& row, Valid& valid, Shared& shared) {
  void* const function = dlsym(library(), row.name);
  const std::string_view letters = row.parameters;
  std::vector<Argument> arguments;
  for (const char letter : letters) arguments.push_back(valid.of(letter));
  for (const bool of_itself : {false, true})
    for (std::size_t i = 0; i < letters.size(); ++i)
      for (const Argument& value : hostile(letters[i])) {
        std::vector<Argument> changed = arguments;
        changed[i] = value;
        fill_memory(valid, of_itself);
        std::snprintf(shared.now, sizeof shared.now, "%s, parameter %zu (%c) %#llx, %s", row.name, i + 1, letters[i],
                      static_cast<unsigned long long>(value.words[0]), of_itself ? "addresses in memory" : "zeros in memory");
        const int code = static_cast<int>(by_name::call_words(function, changed));
        if (code != 0 || !is_number_of_few(letters[i])) continue;
        ++shared.accepted;
        std::printf("accepted: %s\n", shared.now);
      }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  library() = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
  if (library() == nullptr) return static_cast<void>(std::puts(dlerror())), 2;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  auto& shared = *static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  Valid valid;
  int functions = 0, ended = 0;
  std::vector<std::pair<std::string, const char*>> all;
  for (const Row& row : rows)
    for (const char* const stream : {"", "_ptsz", "_ptds"}) all.emplace_back(std::string(row.name) + stream, row.parameters);
  for (const auto& [name, parameters] : all) {
    const Row row{name.c_str(), parameters};
    if (argc > 2 && name != argv[2]) continue;
    if (dlsym(library(), row.name) == nullptr) continue;
    ++functions;
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      call_all(row, valid, shared);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ended += status != 0 ? 1 : 0;
    if (WIFSIGNALED(status))
      std::printf("ended: %s: signal %d\n", shared.now, WTERMSIG(status));
    else if (status != 0)
      std::printf("ended: %s: status %d\n", shared.now, WEXITSTATUS(status));
  }
  std::printf("%d functions, %d ended, %d accepted\n", functions, ended, shared.accepted);
}

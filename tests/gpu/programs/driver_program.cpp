// A program of the driver's interface, as clients load it that have no header of CUDA: driver_program WHAT... runs the parts that are
// named, in their order. It prints what it computed.

#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

const char* const text = R"(
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 calls = 3;
.const .align 4 .u32 factor = 5;
.global .align 1 .b8 line[8] = {37, 117, 32, 37, 117, 10, 0, 0};
.extern .func (.param .b32 status) vprintf (.param .b64 format, .param .b64 arguments);

.visible .entry _Z5scalePjj(.param .u64 numbers, .param .u32 count) {
  .reg .u64 %address; .reg .u32 %i, %n, %x, %f; .reg .pred %outside, %first;
  ld.param.u64 %address, [numbers];
  ld.param.u32 %n, [count];
  mov.u32 %i, %tid.x;
  setp.ge.u32 %outside, %i, %n;
  @%outside ret;
  setp.eq.u32 %first, %i, 0;
  @%first atom.global.add.u32 %x, [calls], 1;
  mad.wide.u32 %address, %i, 4, %address;
  ld.const.u32 %f, [factor];
  ld.global.u32 %x, [%address];
  mul.lo.u32 %x, %x, %f;
  st.global.u32 [%address], %x;
  ret;
}

.visible .entry _Z7productPfPKj(.param .u64 d, .param .u64 words) {
  .reg .u64 %d, %words; .reg .u32 %lane; .reg .b32 %a<4>, %b<2>; .reg .f32 %c<4>;
  ld.param.u64 %d, [d];
  ld.param.u64 %words, [words];
  mov.u32 %lane, %tid.x;
  mad.wide.u32 %words, %lane, 32, %words;
  mad.wide.u32 %d, %lane, 16, %d;
  ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%words];
  ld.global.v2.b32 {%b0, %b1}, [%words+16];
  ld.global.v4.f32 {%c0, %c1, %c2, %c3}, [%d];
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};
  st.global.v4.f32 [%d], {%c0, %c1, %c2, %c3};
  ret;
}

.visible .entry sum(.param .u64 total) {
  .reg .u64 %total; .reg .u32 %i; .reg .f32 %x, %old;
  ld.param.u64 %total, [total];
  mov.u32 %i, %ctaid.x;
  cvt.rn.f32.u32 %x, %i;
  div.rn.f32 %x, 0f3f800000, %x;
  mov.u32 %i, %tid.x;
  add.rn.f32 %x, %x, 0f3dcccccd;
  atom.global.add.f32 %old, [%total], %x;
  st.global.f32 [%total+4], %old;
  ret;
}

.visible .entry say() {
  .local .align 8 .b8 words[8];
  .reg .u64 %at, %format; .reg .u32 %x, %status;
  mov.u32 %x, %tid.x;
  st.local.u32 [words], %x;
  mov.u32 %x, %ctaid.x;
  st.local.u32 [words+4], %x;
  mov.u64 %at, words;
  cvta.local.u64 %at, %at;
  mov.u64 %format, line;
  cvta.global.u64 %format, %format;
  {
    .param .b64 p0; .param .b64 p1; .param .b32 r;
    st.param.b64 [p0], %format;
    st.param.b64 [p1], %at;
    call.uni (r), vprintf, (p0, p1);
    ld.param.b32 %status, [r];
  }
  ret;
}

.visible .entry endless() {
  .reg .b32 %small, %smaller; .reg .f32 %c<4>; .reg .pred %cut;
  mov.b32 %small, 0x0c000c00;
  mov.b32 %smaller, 0x08000800;
  mov.f32 %c0, 0f3f800000;
again:
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%c0, %c1, %c2, %c3}, {%small, %small, %small, %small}, {%smaller, %smaller},
                                                    {%c0, %c0, %c0, %c0};
  setp.eq.f32 %cut, %c0, 0f3f800000;
  @%cut bra again;
  ret;
}

.visible .entry sparse(.param .u64 sums) {
  .reg .u64 %sums; .reg .u32 %lane; .reg .b32 %one, %zero; .reg .f32 %c<4>;
  ld.param.u64 %sums, [sums];
  mov.u32 %lane, %tid.x;
  mad.wide.u32 %sums, %lane, 16, %sums;
  mov.b32 %one, 0x3c003c00;
  mov.b32 %zero, 0;
  mov.f32 %c0, 0f00000000;
  mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%c0, %c1, %c2, %c3}, {%one, %one, %one, %one},
      {%one, %one, %one, %one}, {%c0, %c0, %c0, %c0}, %zero, 0x0;
  st.global.v4.f32 [%sums], {%c0, %c1, %c2, %c3};
  ret;
}

.visible .entry beyond(.param .u64 numbers) {
  .reg .u64 %address; .reg .u32 %x;
  ld.param.u64 %address, [numbers];
  ld.global.u32 %x, [%address+1048576];
  st.global.u32 [%address], %x;
  ret;
}
)";

void* driver() {
  static void* const handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return handle;
  std::fprintf(stderr, "%s\n", dlerror());
  std::exit(2);
}

/// Calls a function of the driver, by cuGetProcAddress, and ends the program where it fails.
template <typename... Arguments>
void call(const char* name, Arguments... arguments) {
  using Find = int (*)(const char*, void**, int, std::uint64_t, int*);
  const auto find = reinterpret_cast<Find>(dlsym(driver(), "cuGetProcAddress_v2"));
  void* function = nullptr;
  int status = 9;
  int result = find == nullptr ? -1 : find(name, &function, 12080, 0, &status);
  if (result == 0) result = reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
  if (result == 0) return;
  std::fprintf(stderr, "%s returns %d\n", name, result);
  std::exit(3);
}

std::uint64_t buffer(const std::vector<std::uint32_t>& words) {
  std::uint64_t address = 0;
  call("cuMemAlloc", &address, 4 * words.size());
  call("cuMemcpyHtoD", address, static_cast<const void*>(words.data()), 4 * words.size());
  return address;
}

void launch(void* function, unsigned blocks, unsigned threads, std::vector<void*> arguments) {
  call("cuLaunchKernel", function, blocks, 1u, 1u, threads, 1u, 1u, 0u, static_cast<void*>(nullptr), arguments.data(),
       static_cast<void**>(nullptr));
}

void* function(void* module, const char* name) {
  void* found = nullptr;
  call("cuModuleGetFunction", &found, module, name);
  return found;
}

void print(std::uint64_t address, std::size_t count) {
  std::vector<std::uint32_t> words(count);
  call("cuMemcpyDtoH", static_cast<void*>(words.data()), address, 4 * count);
  for (const std::uint32_t word : words) std::printf("%08x ", word);
  std::printf("\n");
  std::fflush(stdout);
}

void scale(void* module) {
  std::uint64_t numbers = buffer({1, 2, 3, 4, 5, 6}), unused = buffer({7});
  unsigned count = 5;
  launch(function(module, "_Z5scalePjj"), 1, 32, {&numbers, &count});
  print(numbers, 6);
  call("cuMemFree", unused);
}

/// The same by the library's functions, which a runtime calls.
void library(void*) {
  void *loaded = nullptr, *kernel = nullptr;
  call("cuLibraryLoadData", &loaded, static_cast<const void*>(text), static_cast<int*>(nullptr), static_cast<void**>(nullptr), 0u,
       static_cast<int*>(nullptr), static_cast<void**>(nullptr), 0u);
  call("cuLibraryGetKernel", &kernel, loaded, "_Z5scalePjj");
  std::uint64_t numbers = buffer({1, 2, 3, 4});
  unsigned count = 4;
  launch(kernel, 1, 32, {&numbers, &count});
  print(numbers, 4);
}

/// One row of A times one column of B whose sum needs a bit that A100's matrix unit cuts off and H100's keeps.
void product(void* module) {
  std::vector<std::uint32_t> words(32 * 8), sums(32 * 4);
  std::uint32_t state = 1;
  for (std::uint32_t& word : words) {
    state = state * 1664525 + 1013904223;
    word = (state & 0x83ff83ff) | ((state >> 7 & 0x0f0f) % 0x0f0f + 0x30303030);
  }
  for (std::uint32_t& sum : sums) sum = 0x3f800001;
  std::uint64_t a = buffer(words), d = buffer(sums);
  launch(function(module, "_Z7productPfPKj"), 1, 32, {&d, &a});
  print(d, 8);
}

void sum(void* module) {
  std::uint64_t total = buffer({0, 0});
  launch(function(module, "sum"), 64, 64, {&total});
}

void say(void* module) {
  std::printf("before\n");
  launch(function(module, "say"), 2, 2, {});
  call("cuCtxSynchronize");
  std::printf("after\n");
}

void beyond(void* module) {
  std::uint64_t numbers = buffer({1, 2});
  launch(function(module, "beyond"), 1, 1, {&numbers});
}

/// Ends where matrix units keep 2^-25 beside 1, as H100's do, and A100's do not.
void endless(void* module) {
  launch(function(module, "endless"), 1, 32, {});
}

/// Sparse A with the metadata code 0, which the ISA leaves undefined.
void sparse(void* module) {
  std::uint64_t sums = buffer(std::vector<std::uint32_t>(128));
  launch(function(module, "sparse"), 1, 32, {&sums});
  print(sums, 2);
}

/// Ctrl-C: the process that waits for this one gets the signal too.
void interrupt(void*) {
  kill(getppid(), SIGINT);
  kill(getpid(), SIGKILL);
}

void many(void* module) {
  std::uint64_t numbers = buffer(std::vector<std::uint32_t>(40'000, 3));
  unsigned count = 32;
  for (int i = 0; i < 10; ++i) launch(function(module, "_Z5scalePjj"), 1, 32, {&numbers, &count});
  print(numbers, 2);
}

}  // namespace

int main(int argc, char** argv) {
  constexpr struct {
    const char* name;
    void (*run)(void*);
  } parts[] = {{"scale", scale},   {"library", library}, {"product", product}, {"sum", sum},       {"say", say},
               {"beyond", beyond}, {"many", many},       {"endless", endless}, {"sparse", sparse}, {"interrupt", interrupt}};
  void *context = nullptr, *module = nullptr;
  call("cuInit", 0u);
  call("cuDevicePrimaryCtxRetain", &context, 0);
  call("cuCtxSetCurrent", context);
  call("cuModuleLoadData", &module, static_cast<const void*>(text));
  for (int i = 1; i < argc; ++i)
    for (const auto& part : parts)
      if (std::strcmp(part.name, argv[i]) == 0) part.run(module);
}

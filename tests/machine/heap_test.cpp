
#include <warpmat/machine/device_heap.h>

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::heap_test {
namespace {

const std::string declared = R"(
.extern .func (.param .b64 result) malloc (.param .b64 bytes);
.extern .func free (.param .b64 address);
)";

/// %l1 = malloc(%l0).
const std::string allocate = R"({
    .param .b64 bytes; .param .b64 result;
    st.param.b64 [bytes], %l0;
    call.uni (result), malloc, (bytes);
    ld.param.b64 %l1, [result];
})";

/// free(%l1).
const std::string release = "{ .param .b64 address; st.param.b64 [address], %l1; call.uni free, (address); }\n";

TEST_CASE("the heap gives parts that do not overlap, and joins those that are free again", "[machine][heap]") {
  DeviceHeap heap(0x1000, 256);
  std::vector<std::uint64_t> parts;
  for (int i = 0; i < 4; ++i) parts.push_back(heap.allocate(50));
  CHECK(parts == std::vector<std::uint64_t>{0x1000, 0x1040, 0x1080, 0x10c0});
  CHECK(heap.allocate(1) == 0);
  CHECK(heap.free(parts[2]));
  CHECK(heap.free(parts[0]));
  CHECK_FALSE(heap.free(parts[0]));
  CHECK_FALSE(heap.free(parts[1] + 16));
  CHECK(heap.free(0));
  CHECK(heap.allocate(128) == 0);
  CHECK(heap.free(parts[1]));
  CHECK(heap.allocate(192) == 0);  // there would be no byte behind it that belongs to no part
  CHECK(heap.allocate(191) == 0x1000);
  CHECK(heap.allocate(0) == 0);
  CHECK(heap.free(parts[3]));
  CHECK(heap.allocate(0) == 0x10c0);
  CHECK(heap.allocate(~std::uint64_t{0}) == 0);
}

TEST_CASE("a part of the heap that is free again gets another owner last", "[machine][heap]") {
  DeviceHeap heap(0x1000, 128);
  const std::uint64_t first = heap.allocate(4);
  CHECK(heap.free(first));
  for (int i = 1; i < 8; ++i) CHECK(heap.allocate(4) == 0x1000u + 16u * static_cast<unsigned>(i));
  CHECK(heap.describe(first) == "0 bytes into 4 bytes that malloc() gave at 0x1000, which were freed");
  CHECK(heap.allocate(4) == first);
  CHECK(heap.describe(first + 5) == "1 bytes beyond the end of 4 bytes that malloc() gave at 0x1000");
  CHECK(heap.parts().size() == 8);
  CHECK(heap.live().missing() == 128 - 8 * 4);
}

TEST_CASE("an access that leaves its part of the heap is reported", "[machine][heap]") {
  const auto trap = [](const std::string& use) {
    return trap_of(word_kernel("mov.u64 %l0, 40;" + allocate + use, "sm_90", declared), {1});
  };
  const std::string freed = release;
  struct Case {
    std::string bad, good, word;
  };
  const Case cases[] = {
      {"st.u32 [%l1+40], %i;", "st.u32 [%l1+36], %i;", "0 bytes beyond the end of 40 bytes"},
      {"st.global.u32 [%l1+-4], %i;", "st.global.u32 [%l1], %i;", "4 bytes before buffer"},
      {"ld.u64 %l2, [%l1+40];", "ld.u64 %l2, [%l1+32];", "0 bytes beyond the end of 40 bytes"},
      {"atom.add.u32 %r1, [%l1+44], 1;", "atom.add.u32 %r1, [%l1+4], 1;", "4 bytes beyond the end of 40 bytes"},
      {freed + "ld.u32 %r1, [%l1+8];", "ld.u32 %r1, [%l1+8];" + freed, "8 bytes into 40 bytes"},
      {freed + freed, freed, "free already"},
      {freed + "mov.u64 %l0, 40;" + allocate + "sub.u64 %l1, %l1, 48; ld.u32 %r1, [%l1];",
       freed + "mov.u64 %l0, 40;" + allocate + "ld.u32 %r1, [%l1];", "freed"},
      {"add.u64 %l1, %l1, 16;" + freed, freed, "16 bytes into 40 bytes"},
  };
  for (const Case& one : cases) {
    INFO(one.bad);
    CHECK_THAT(trap(one.bad), ContainsSubstring(one.word));
    CHECK(trap(one.good) == "no trap");
  }
}

TEST_CASE("threads get memory of their own by malloc, the same for every number of jobs", "[machine][heap]") {
  const Module module = word_kernel("mov.u64 %l0, 40;" + allocate + R"(
    st.u32 [%l1+36], %i;
    ld.u32 %r1, [%l1+36];
    cvt.u32.u64 %d, %l1;
    setp.ne.u32 %p1, %r1, %i;
    @%p1 mov.u32 %d, 0;
)",
                                    "sm_90", declared);
  const auto found = words_of(module, {8}, {64}, {.jobs = 1});
  CHECK(std::set<std::uint32_t>(found.begin(), found.end()).size() == 512);
  CHECK(std::ranges::none_of(found, [](std::uint32_t address) { return address == 0 || address % 16 != 0; }));
  CHECK(words_of(module, {8}, {64}, {.jobs = 3}) == found);
}

TEST_CASE("memory of the heap is there for the next launch; what is too large gives null; a wrong free is reported", "[machine][heap]") {
  const std::string begin = "ld.param.u64 %out, [out]; mov.u64 %l0, 100;", registers = ".reg .b64 %l<4>, %out; .reg .b32 %r<4>;";
  const Module module =
      module_of(".param .u64 out", registers + begin + allocate + "st.u32 [%l1], 17; st.global.u64 [%out], %l1; ret;", "sm_90", declared);
  const Module reader = module_of(".param .u64 out",
                                  registers + begin + "ld.global.u64 %l1, [%out]; ld.u32 %r1, [%l1]; st.global.u32 [%out+8], %r1;" +
                                      release + "mov.u64 %l0, 8000000;" + allocate + "st.global.u64 [%out+16], %l1; ret;",
                                  "sm_90", declared);
  DeviceMemory memory;
  memory.set_heap_bytes(1 << 20);
  const std::uint64_t out = memory.allocate(std::vector<std::uint64_t>{0, 0, 1}, "out");
  launch(Kernel(module, "k"), {{1}, {1}}, memory, {out});
  CHECK_THROWS_AS(memory.set_heap_bytes(2 << 20), std::logic_error);
  launch(Kernel(reader, "k"), {{1}, {1}}, memory, {out});
  const auto words = memory.read<std::uint64_t>(out, 3);
  CHECK(words[1] == 17);
  CHECK(words[2] == 0);
  CHECK_THAT(trap_of(word_kernel("mov.u64 %l0, 8;" + allocate + "add.u64 %l1, %l1, 16;" + release, "sm_90", declared), {1}),
             ContainsSubstring("free() of an address that malloc() has not given"));
}

}  // namespace
}  // namespace warpmat::heap_test

#include <warpmat/warp.h>

#include "test.h"

namespace warpmat::shared_memory_test {
namespace {

/// The Trap that `action` raises; the test fails where it raises none.
Trap trap_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Trap& trap) {
    return trap;
  }
  FAIL("no trap");
  return {Trap::Kind::misuse, std::nullopt, 0, 0, ""};
}

TEST_CASE("shared memory gives the bytes at an address, and writes reach them") {
  std::vector<std::uint8_t> bytes(64);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  SharedMemory memory(bytes);
  CHECK(memory.size() == 64);
  for (const std::size_t size : {1u, 2u, 4u, 8u, 16u, 32u, 64u})
    for (std::uint64_t address = 0; address < 64; address += size) {
      const auto found = memory.at(0, address, size, "row");
      CHECK(found.size() == size);
      CHECK(found.data() == memory.bytes().data() + address);
      CHECK(found.front() == address);
    }
  memory.at(3, 48, 16, "row")[1] = 0xAB;
  CHECK(std::as_const(memory).bytes()[49] == 0xAB);
  CHECK(std::as_const(memory).at(3, 49, 1, "byte").front() == 0xAB);
}

TEST_CASE("new shared memory is zero") {
  const SharedMemory memory(100);
  CHECK(memory.size() == 100);
  CHECK(std::ranges::all_of(memory.bytes(), [](std::uint8_t byte) { return byte == 0; }));
}

TEST_CASE("an access is trapped exactly when it is misaligned or leaves the memory") {
  // 40 bytes: the third row of 16 starts inside and ends outside.
  SharedMemory memory(40);
  constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  struct Row {
    std::uint64_t address;
    std::size_t size;
    const char* wrong;  ///< part of the reason; nullptr where nothing is
  };
  constexpr Row rows[] = {
      {0, 16, nullptr},
      {16, 16, nullptr},
      {32, 16, "leaves"},
      {32, 8, nullptr},
      {36, 4, nullptr},
      {39, 1, nullptr},
      {40, 1, "leaves"},
      {40, 8, "leaves"},
      {48, 16, "leaves"},
      {8, 16, "aligned"},
      {1, 16, "aligned"},
      {15, 16, "aligned"},
      {34, 4, "aligned"},
      {35, 2, "aligned"},
      {0xFFFF'FFF0, 16, "leaves"},    // the last row of a 32-bit space
      {0x1'0000'0000, 16, "leaves"},  // 2^32 is not 0
      {largest - 15, 16, "leaves"},   // address + size is 0 modulo 2^64
      {largest - 7, 8, "leaves"},
      {largest, 1, "leaves"},
      {largest, 16, "aligned"},
      {std::uint64_t{1} << 63, 16, "leaves"},
  };
  for (const Row& r : rows) {
    CAPTURE(r.address, r.size);
    if (r.wrong == nullptr) {
      CHECK_NOTHROW(memory.at(1, r.address, r.size, "row"));
      CHECK_NOTHROW(std::as_const(memory).at(1, r.address, r.size, "row"));
      continue;
    }
    for (const bool constant : {false, true}) {
      const Trap trap = trap_of([&] {
        if (constant) std::as_const(memory).at(17, r.address, r.size, "row");
        if (!constant) memory.at(17, r.address, r.size, "row");
      });
      CHECK(trap.site.lane == 17);
      CHECK(trap.address == r.address);
      CHECK(trap.reason.find(r.wrong) != std::string::npos);
      CHECK(trap.reason.find("the row") != std::string::npos);
    }
  }
}

TEST_CASE("a memory with a base begins there, and lower addresses are outside") {
  SharedMemory memory(64, 0x400);
  CHECK(memory.base() == 0x400);
  CHECK(memory.size() == 64);
  for (const std::uint64_t address : {0x400u, 0x410u, 0x430u})
    CHECK(memory.at(0, address, 16, "row").data() == memory.bytes().data() + (address - 0x400));
  for (const std::uint64_t address : {0x0u, 0x10u, 0x3F0u, 0x440u, 0xFFFF'FFF0u}) {
    CAPTURE(address);
    const Trap trap = trap_of([&] { memory.at(9, address, 16, "row"); });
    CHECK(trap.address == address);
    CHECK(trap.reason == "the row of 16 bytes leaves the shared memory of 64 bytes from 0x400 on");
  }
  // Addresses are aligned, not their distances from the base.
  const SharedMemory odd(64, 0x408);
  CHECK_NOTHROW(odd.at(0, 0x410, 16, "row"));
  CHECK(trap_of([&] { odd.at(0, 0x408, 16, "row"); }).reason == "the row must be 16-byte aligned");
}

TEST_CASE("nothing fits into no memory") {
  SharedMemory memory;
  CHECK(memory.size() == 0);
  CHECK_THROWS_AS(memory.at(0, 0, 1, "byte"), Trap);
  CHECK_THROWS_AS(memory.at(0, 0, 16, "row"), Trap);
}

TEST_CASE("a trap says where, which lane, which address and what would be right") {
  SharedMemory memory(64);
  CHECK(std::string(trap_of([&] { memory.at(5, 0x1c, 16, "row"); }).what()) == "lane 5, address 0x1c: the row must be 16-byte aligned");
  CHECK(std::string(trap_of([&] { memory.at(31, 64, 4, "word"); }).what()) ==
        "lane 31, address 0x40: the word of 4 bytes leaves the shared memory of 64 bytes");
  const Trap trap(Trap::Kind::undefined, std::nullopt, 2, 64, "it is wrong", "line 7");
  CHECK(std::string(trap.what()) == "line 7: lane 2, address 0x40: it is wrong");
  CHECK(std::string(trap.at("case 3").what()) == "case 3: lane 2, address 0x40: it is wrong");
  CHECK(trap.at("case 3").kind == Trap::Kind::undefined);
  CHECK(std::string(trap.because("it is late").what()) == "line 7: lane 2, address 0x40: it is late");
  CHECK(trap.because("it is late").reason == "it is late");
}

}  // namespace
}  // namespace warpmat::shared_memory_test

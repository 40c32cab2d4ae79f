// What a launch holds beyond its buffers, and what it leaves for the next one: "Memory of a launch" in docs/performance.md.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#if defined(__GLIBC__)
#define WARPMAT_MEASURES_HEAP __GLIBC_PREREQ(2, 33)  // mallinfo2
#else
#define WARPMAT_MEASURES_HEAP 0
#endif

#if WARPMAT_MEASURES_HEAP
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <warpmat/machine/internals.h>
#include <warpmat/machine/spare_storage.h>
#include <warpmat/observer.h>
#include <warpmat/ptx/program/code.h>

#include "catch.h"
#include "machine/kernel.h"
#include "sanitizers.h"

namespace warpmat::launch_memory_test {

using machine::SpareStorage;

TEST_CASE("Memory of a block is given to the next one, if it is large enough", "[machine][memory_of_launch]") {
  SpareStorage spare;
  SpareStorage::Piece piece = spare.take(1000);
  CHECK(piece.size == 1000);
  const std::uint8_t* const place = piece.bytes.get();
  spare.give(std::move(piece));
  SpareStorage::Piece again = spare.take(600);
  CHECK(again.bytes.get() == place);
  CHECK(again.size == 1000);
  spare.give(std::move(again));
  CHECK(spare.take(2000).size == 2000);
}

TEST_CASE("What is kept for later blocks is bounded in number and in bytes", "[machine][memory_of_launch]") {
  const auto kept = [](std::size_t pieces, std::size_t bytes) {
    SpareStorage spare;
    for (std::size_t i = 0; i < pieces; ++i) spare.give({std::make_unique_for_overwrite<std::uint8_t[]>(bytes), bytes});
    std::size_t found = 0;
    while (spare.take(1).size == bytes) ++found;
    return found;
  };
  CHECK(kept(3, 100) == 3);
  CHECK(kept(40, 100) == SpareStorage::most_pieces);
  CHECK(kept(9, SpareStorage::most_bytes / 4) == 4);
  CHECK(kept(1, SpareStorage::most_bytes + 1) == 0);
}

TEST_CASE("What one thread has left another takes before it asks for more", "[machine][memory_of_launch]") {
  SpareStorage spare;
  SpareStorage::Piece piece = spare.take(1000);
  const std::uint8_t* const place = piece.bytes.get();
  std::thread([&] { spare.give(std::move(piece)); }).join();
  CHECK(spare.take(1000).bytes.get() == place);
}

#if WARPMAT_MEASURES_HEAP && !WARPMAT_SANITIZED && !WARPMAT_THREAD_SANITIZED  // sanitizers have another allocator
namespace {

/// Bytes that malloc has given.
std::size_t heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/// Notes the most bytes of the heap at the beginning and end of each block.
class HeapPeak {
 public:
  std::unique_ptr<machine::Observer> observer() { return std::make_unique<Sampler>(*this); }
  std::size_t bytes() const { return most_; }

 private:
  class Sampler : public machine::Observer {
   public:
    explicit Sampler(HeapPeak& peak) : peak_(peak) {}
    void block_begins(const machine::BlockEvent&) override { peak_.note(); }
    void block_ends(const machine::BlockEvent&) override { peak_.note(); }

   private:
    HeapPeak& peak_;
  };

  void note() {
    const std::size_t now = heap_bytes();
    for (std::size_t most = most_; most < now && !most_.compare_exchange_weak(most, now);) {
    }
  }

  std::atomic<std::size_t> most_ = 0;
};

constexpr std::size_t warps = 32, shared_bytes = 40 << 10;

/// A kernel with many registers and shared memory; with `ordered` its clusters have an order.
Module large_kernel(bool ordered) {
  std::string body = ".shared .align 16 .b8 buffer[" + std::to_string(shared_bytes) + "]; .reg .b64 %w<40>; st.shared.u32 [buffer], %i;";
  for (int i = 0; i < 40; ++i) body += "mul.wide.u32 %w" + std::to_string(i) + ", %i, " + std::to_string(i) + ";";
  for (int i = 0; i < 40; ++i) body += "cvt.u32.u64 %r1, %w" + std::to_string(i) + "; add.u32 %d, %d, %r1;";
  return word_kernel(body + (ordered ? "red.global.add.f32 [%out], 0f00000000;" : ""));
}

/// The most that the heap holds in a launch of 64 blocks, beyond what it held before.
std::size_t memory_of_launch(const Kernel& kernel, DeviceMemory& memory, std::uint64_t out, int jobs) {
  HeapPeak peak;
  LaunchOptions options{.jobs = jobs};
  options.observer_of_cluster = [&](std::uint64_t) { return peak.observer(); };
  const std::size_t before = heap_bytes();
  launch(kernel, {{64}, {32 * warps}}, memory, {out}, options);
  REQUIRE(peak.bytes() > before);
  return peak.bytes() - before;
}

}  // namespace

TEST_CASE("A child that is forked while another thread launches can launch", "[machine][memory_of_launch]") {
  constexpr std::uint32_t blocks = 20000;
  constexpr int children = 200;
  constexpr unsigned patience_seconds = 20;  // of a child that hangs, also on a busy machine
  const Module module = word_kernel("mov.u32 %d, %i;");
  const Kernel kernel(module, "k");
  const auto launch_blocks = [&](std::uint32_t count) {
    DeviceMemory memory;
    const std::uint64_t out = memory.allocate(std::uint64_t{4} * count * 32);
    launch(kernel, {{count}, {32}}, memory, {out});
  };
  launch_blocks(1);
  std::atomic<bool> stop = false;
  std::thread other([&] {
    while (!stop) launch_blocks(blocks);
  });
  int failed = 0;
  for (int i = 0; i < children && failed == 0; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(patience_seconds);
      launch_blocks(1);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    failed += status != 0;
  }
  stop = true;
  other.join();
  CHECK(failed == 0);
}

TEST_CASE("A launch holds what its blocks need, and the next one gets it", "[machine][memory_of_launch]") {
  constexpr std::size_t of_launch = 64 << 10;  // indices of threads, parameters, what small allocations keep
  for (const bool ordered : {false, true})
    for (const int jobs : {1, 3}) {
      CAPTURE(ordered, jobs);
      const Kernel kernel(large_kernel(ordered), "k");
      REQUIRE(program_of(kernel).orders_clusters == ordered);
      const std::size_t registers = program_of(kernel).functions[0].frame_bytes;
      REQUIRE(registers > std::size_t{40} * 256);
      const std::size_t block = (2 << 10) + warps * ((1 << 10) + registers) + shared_bytes + shared_bytes / 8;
      const auto blocks = static_cast<std::size_t>(ordered ? 4 * jobs : jobs);
      DeviceMemory memory;
      const std::uint64_t out = memory.allocate(std::uint64_t{4} * 64 * 32 * warps);
      for (int i = 0; i < 8; ++i) CHECK(memory_of_launch(kernel, memory, out, jobs) <= blocks * block + of_launch);
      if (jobs == 1) CHECK(memory_of_launch(kernel, memory, out, jobs) < of_launch);
    }
}
#endif

}  // namespace warpmat::launch_memory_test

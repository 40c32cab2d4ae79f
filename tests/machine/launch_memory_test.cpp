// What a launch holds beyond its buffers, and what it leaves for the next one: "Memory of a launch" in docs/use/performance.md.

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

#include <warpmat/ir/code.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/spare_storage.h>
#include <warpmat/observer.h>

#include "compressed_table.h"
#include "machine/kernel.h"
#include "test.h"

namespace warpmat::launch_memory_test {
namespace {

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

/// Bytes that malloc has given.
std::size_t heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/// Notes the most bytes of the heap at the beginning and end of each block, and at copies and products.
class HeapPeak {
 public:
  std::unique_ptr<machine::Observer> observer() { return std::make_unique<Sampler>(*this); }
  std::size_t bytes() const { return most_; }

 private:
  class Sampler : public machine::Observer {
   public:
    explicit Sampler(HeapPeak& peak) : Observer(machine::EventKinds::copies | machine::EventKinds::products), peak_(peak) {}
    void block_begins(const machine::BlockEvent&) override { peak_.note(); }
    void block_ends(const machine::BlockEvent&) override { peak_.note(); }
    void copies_land(const machine::CopiesEvent&) override { peak_.note(); }
    void bulk_completes(const machine::BulkEvent&) override { peak_.note(); }
    void products_read(const machine::Event&, std::span<const machine::Product>) override { peak_.note(); }
    void product_completes(const machine::ProductEvent&) override { peak_.note(); }

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
  options.observers_of_clusters = {[&](std::uint64_t) { return peak.observer(); }};
  const std::size_t before = heap_bytes();
  launch(kernel, {{64}, {32 * warps}}, memory, {out}, options);
  REQUIRE(peak.bytes() > before);
  return peak.bytes() - before;
}

constexpr std::size_t of_launch = 64 << 10;  ///< indices of threads, parameters, what small allocations keep

/// What docs/use/performance.md says of a block of `block_warps` warps.
std::size_t block_bytes(std::size_t block_warps, std::size_t registers, std::size_t shared) {
  return (2 << 10) + block_warps * ((1 << 10) + registers) + shared + shared / 8;
}

/// A product of examples/kernels whose blocks copy tiles of a and b to shared memory, each block 128x128 of c.
struct Example {
  const char *name, *target;
  std::uint32_t threads, shared;
  bool tensor_maps;
  std::size_t of_copies;  ///< beyond block_bytes(): docs/use/performance.md
};
constexpr Example examples[] = {
    {"gemm_f16", "sm_80", 128, 65536, false, 65536 + 65536 * 5 / 4},  // cp.async, at most all of the shared memory under way
    {"gemm_wgmma", "sm_90a", 384, 98304, true, 98304 * 11 / 4 + (64 << 10) + 2 * (128 << 10)},  // two of its warpgroups multiply
};

/// The most that the heap holds in a launch of 16 blocks of `example`, beyond what it held before, and the registers of a warp.
std::pair<std::size_t, std::size_t> memory_of_example(const Example& example, int jobs) {
  constexpr std::uint32_t size = 512, depth = 256;
  const Kernel kernel(Module(read_compressed_text(source_path(std::string("examples/kernels/") + example.name + ".ptx.gz"))), example.name,
                      {.target = example.target});
  DeviceMemory memory;
  const std::uint64_t factor = memory.allocate(2 * size * depth), c = memory.allocate(4 * size * size);
  const TensorMap map{{.type = TensorMap::Type::f16,
                       .rank = 2,
                       .address = factor,
                       .dims = {depth, size},
                       .strides = {2 * depth},
                       .box = {64, 128},
                       .swizzle = TensorMap::Swizzle::bytes_128}};
  const auto arguments = [&]() -> std::vector<Argument> {
    if (example.tensor_maps) return {map.encode(), map.encode(), c, size, depth};
    return {factor, factor, c, size, depth};
  };
  HeapPeak peak;
  LaunchOptions options{.jobs = jobs};
  options.observers_of_clusters = {[&](std::uint64_t) { return peak.observer(); }};
  const std::size_t before = heap_bytes();
  launch(kernel, {{size / 128, size / 128}, {example.threads}, example.shared}, memory, arguments(), options);
  return {peak.bytes() - before, program_of(kernel).functions[0].frame_bytes};
}

/// The line that a process of its own, whose first launch it is, prints of memory_of_example().
std::string line_of_process(std::size_t example, int jobs) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = "WARPMAT_EXAMPLE=" + std::to_string(example) + " WARPMAT_JOBS=" + std::to_string(jobs) + " '" + program +
                              "' '[memory-of-one-launch]'";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> output(popen(command.c_str(), "r"), pclose);
  REQUIRE(output != nullptr);
  std::array<char, 256> line{};
  while (std::fgets(line.data(), line.size(), output.get()) != nullptr)
    if (const std::string text = line.data(); text.starts_with("memory ")) return text;
  return {};
}

TEST_CASE("The memory of one launch, for the case below", "[.][memory-of-one-launch]") {
  const char *const example = std::getenv("WARPMAT_EXAMPLE"), *const jobs = std::getenv("WARPMAT_JOBS");
  REQUIRE((example != nullptr && jobs != nullptr));
  const auto [bytes, registers] = memory_of_example(examples[std::stoul(example)], std::stoi(jobs));
  std::printf("\nmemory %zu registers %zu\n", bytes, registers);
}

TEST_CASE("The first launch of a process holds what the document says, with cp.async and with tensor copies and wgmma",
          "[machine][memory_of_launch]") {
  for (std::size_t i = 0; i < std::size(examples); ++i)
    for (const int jobs : {1, 4}) {
      const Example& example = examples[i];
      const std::string line = line_of_process(i, jobs);
      CAPTURE(example.name, jobs, line);
      std::size_t bytes = 0, registers = 0;
      REQUIRE(std::sscanf(line.c_str(), "memory %zu registers %zu", &bytes, &registers) == 2);
      const std::size_t block = block_bytes(example.threads / 32, registers, example.shared) + example.of_copies;
      CAPTURE(bytes, block);
      CHECK(bytes <= static_cast<std::size_t>(jobs) * block + of_launch);
      if (jobs == 1) CHECK(bytes > block / 2);  // else it says nothing of this launch
    }
}

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
  for (const bool ordered : {false, true})
    for (const int jobs : {1, 3}) {
      CAPTURE(ordered, jobs);
      const Kernel kernel(large_kernel(ordered), "k");
      REQUIRE(program_of(kernel).orders_clusters == ordered);
      const std::size_t registers = program_of(kernel).functions[0].frame_bytes;
      REQUIRE(registers > std::size_t{40} * 256);
      const std::size_t block = block_bytes(warps, registers, shared_bytes);
      const auto blocks = static_cast<std::size_t>(ordered ? 4 * jobs : jobs);
      DeviceMemory memory;
      const std::uint64_t out = memory.allocate(std::uint64_t{4} * 64 * 32 * warps);
      for (int i = 0; i < 8; ++i) CHECK(memory_of_launch(kernel, memory, out, jobs) <= blocks * block + of_launch);
      if (jobs == 1) CHECK(memory_of_launch(kernel, memory, out, jobs) < of_launch);
    }
}
#endif

}  // namespace
}  // namespace warpmat::launch_memory_test

// Counts what a kernel executes, by opcode. Each block has an observer of its own, so blocks run on all cores; an observer adds its counts
// to the sum when its block has ended.
//
// Exits with 0 if the counts are right.

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <warpmat/launch.h>
#include <warpmat/observer.h>

using namespace warpmat;

namespace {

using Counts = std::map<std::string, std::uint64_t>;

/// The counts of all blocks.
struct Total {
  std::mutex mutex;
  Counts counts;
};

class OpcodeCounter : public machine::Observer {
 public:
  explicit OpcodeCounter(Total& total) : Observer(machine::EventKinds::operations), total_(total) {}

  void operation(const machine::Event& event) override {
    if (!event.prepares()) ++counts_[std::string(event.opcode())];
  }

  void block_ends(const machine::BlockEvent&) override {
    const std::lock_guard lock(total_.mutex);
    for (const auto& [opcode, count] : counts_) total_.counts[opcode] += count;
    counts_.clear();
  }

 private:
  Total& total_;
  Counts counts_;
};

/// y[i] = sum of i * k for k below 10.
constexpr const char* text = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry sums(.param .u64 y) {
  .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %p;
  ld.param.u64 %d1, [y];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mov.u32 %r5, 0;
  mov.u32 %r6, 0;
again:
  mad.lo.s32 %r5, %r4, %r6, %r5;
  add.s32 %r6, %r6, 1;
  setp.lt.u32 %p, %r6, 10;
  @%p bra again;
  mul.wide.u32 %d2, %r4, 4;
  add.s64 %d3, %d1, %d2;
  st.global.u32 [%d3], %r5;
  ret;
})";

}  // namespace

int main() {
  constexpr std::uint32_t blocks = 16, threads = 64, warps = blocks * threads / 32;
  DeviceMemory memory;
  const std::uint64_t y = memory.allocate(blocks * threads * sizeof(std::uint32_t), "y");
  Total total;
  LaunchOptions options;
  options.jobs = 0;
  options.observers_of_clusters = {[&](std::uint64_t) { return std::make_unique<OpcodeCounter>(total); }};
  const LaunchResult result = launch(Kernel(Module(text), "sums"), {.grid = {blocks}, .block = {threads}}, memory, {y}, options);
  std::uint64_t all = 0;
  for (const auto& [opcode, count] : total.counts) {
    std::printf("%8llu  %s\n", static_cast<unsigned long long>(count), opcode.c_str());
    all += count;
  }
  std::printf("%8llu  statements, each of a warp\n%8llu  operations, with those that compute values for them\n",
              static_cast<unsigned long long>(all), static_cast<unsigned long long>(result.operations));
  const bool right = all <= result.operations && total.counts["mov.u32"] == 5 * warps && total.counts["bra"] == 10 * warps &&
                     total.counts["st.global.u32"] == warps;
  return right ? 0 : 1;
}

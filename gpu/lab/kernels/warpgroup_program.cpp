#include "gpu/lab/kernels/warpgroup_program.h"

#include <algorithm>

#include <fmt/core.h>

#include <warpmat/wgmma.h>

#include "gpu/cases/random.h"
#include "gpu/cases/random_descriptor.h"
#include "gpu/cases/wgmma_cases.h"

namespace warpmat {
namespace {

using std::uint32_t;
using std::uint64_t;

constexpr uint32_t group_memory_bytes = 32768, threads = warpgroup_threads;
constexpr int accumulators = 128, a_registers = 8;
constexpr int in_words = accumulators + a_registers + 1;  // and metadata

/// "{%x4, %x5, %x6}"
std::string list(const char* prefix, int first, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += fmt::format("{}{}{}", i == 0 ? "" : ", ", prefix, first + i);
  return text + "}";
}

class WarpgroupGenerator {
 public:
  WarpgroupGenerator(uint64_t key, int max_units) : random_(key), units_(random_.between(1, max_units)) {
    constexpr int half = accumulators / 2;
    if (random_.one_in(2))
      add_place(0, accumulators);
    else
      for (const int first : {0, half}) add_place(first, first + half);
  }

  KernelProgram kernel() {
    program_.launch.entry = "k";
    program_.launch.config.grid = {static_cast<uint32_t>(random_.between(1, 3))};
    program_.launch.config.block = {threads};
    program_.launch.config.shared_bytes = group_memory_bytes;
    add_buffers();
    for (int i = 0; i < units_; ++i) program_.units.push_back({{unit()}, {}});
    program_.begin = begin();
    for (int i = 0; i < accumulators; ++i) program_.end += fmt::format("st.global.b32 [%out+{}], %x{};\n", 4 * i, i);
    for (int i = 0; i < a_registers; ++i) program_.end += fmt::format("st.global.b32 [%out+{}], %a{};\n", 4 * (accumulators + i), i);
    program_.end += "ret;\n}\n";
    return std::move(program_);
  }

 private:
  /// The accumulators of a product. Two products in a kernel have the same ones or none in common. With other overlaps ptxas moves
  /// registers, and then (13.0) may let a product's D overlap the registers of its C. The GPU then adds to accumulators that the same
  /// instruction has overwritten.
  struct Place {
    int first, count;
  };

  void add_place(int first, int end) {
    const int count = any_form([&](int registers) { return registers <= end - first; }).d_registers();
    places_.push_back({random_.between(first, end - count), count});
  }

  uint64_t blocks() const { return program_.launch.config.grid.x; }

  std::string unit() {
    switch (random_.below(8)) {
      case 0: return store();
      case 1: return move();
      case 2:
      case 3:
        if (places_.size() == 2) return two_groups();
        [[fallthrough]];
      default: return "wgmma.fence.sync.aligned;\n" + products(any_place(), random_.between(1, 3)) + commit + wait(0);
    }
  }

  static constexpr const char* commit = "wgmma.commit_group.sync.aligned;\n";
  static std::string wait(int groups) { return fmt::format("wgmma.wait_group.sync.aligned {};", groups); }

  /// The first group's results are used while the second runs, so they have other registers.
  std::string two_groups() {
    constexpr int half = accumulators / 2;
    const int used = random_.between(0, half - 1);
    return "wgmma.fence.sync.aligned;\n" + products(places_[0], 1) + commit + products(places_[1], random_.between(1, 2)) + commit +
           wait(1) + fmt::format("\nxor.b32 %x{}, %x{}, %x{};\n", used, used, random_.between(0, half - 1)) + wait(0);
  }

  const Place& any_place() { return places_[random_.below(places_.size())]; }

  /// `count` products with D at `place`; consecutive ones have the same form.
  std::string products(const Place& place, int count) {
    const WgmmaForm& form = any_form([&](int registers) { return registers == place.count; });
    std::string text;
    for (int i = 0; i < count; ++i) text += product(form, place.first);
    return text;
  }

  template <typename Fits>
  const WgmmaForm& any_form(Fits fits) {
    const auto forms = wgmma_forms();
    const bool wide = random_.one_in(3);
    const auto takes = [&](const WgmmaForm& form) { return fits(form.d_registers()) && (wide || form.shape.n <= 64); };
    const bool some = std::any_of(forms.begin(), forms.end(), takes);
    while (true) {
      const WgmmaForm& form = forms[random_.below(forms.size())];
      if (some ? takes(form) : fits(form.d_registers())) return form;
    }
  }

  std::string product(const WgmmaForm& form, int d) {
    const WgmmaVariant variant = wgmma_variant(form, static_cast<int>(random_.below(static_cast<uint64_t>(variants(form)))));
    const WgmmaImmediates& x = variant.immediates;
    std::string text = fmt::format("add.s64 %db, %base, {:#x};\n", descriptor(form, OperandName::b, x.major_b));
    if (!variant.a_in_registers) text += fmt::format("add.s64 %da, %base, {:#x};\n", descriptor(form, OperandName::a, x.major_a));
    const std::string a =
        variant.a_in_registers ? list("%a", random_.between(0, a_registers - form.a_registers()), form.a_registers()) : "%da";
    return text +
           wgmma_statement(form, variant, list("%x", d, form.d_registers()), a, "%db", "%e", random_.one_in(4) ? "%never" : "%always") +
           "\n";
  }

  uint64_t descriptor(const WgmmaForm& form, OperandName operand, Major major) {
    return random_descriptor(matrix_lines(form, operand, major), group_memory_bytes, random_);
  }

  /// Some accumulators become registers of A, or change.
  std::string move() {
    std::string text;
    for (int i = random_.between(1, 4); i > 0; --i)
      text += random_.one_in(2)
                  ? fmt::format("mov.b32 %a{}, %x{};\n", random_.between(0, a_registers - 1), random_.between(0, accumulators - 1))
                  : fmt::format("xor.b32 %x{}, %x{}, %x{};\n", random_.between(0, accumulators - 1), random_.between(0, accumulators - 1),
                                random_.between(0, accumulators - 1));
    text.pop_back();
    return text;
  }

  /// Each thread stores 16 bytes of results to its own place, after all threads have finished with the old contents.
  std::string store() {
    const int first = 4 * random_.between(0, accumulators / 4 - 1);
    const int at = static_cast<int>(threads) * 16 * random_.between(0, static_cast<int>(group_memory_bytes / (threads * 16)) - 1);
    return fmt::format("bar.sync 0;\nst.shared.v4.b32 [%own+{}], {};\nfence.proxy.async;\nbar.sync 0;", at, list("%x", first, 4));
  }

  void add_buffers() {
    const auto random_bytes = [&](std::size_t count) {
      std::vector<std::uint8_t> bytes(count);
      for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random_.next());
      return bytes;
    };
    std::vector<std::uint8_t> in = random_bytes(blocks() * threads * in_words * 4);
    for (std::size_t thread = 0; thread < blocks() * threads; ++thread)  // codes that every form accepts
      for (std::size_t byte = 0; byte < 4; ++byte) {
        const auto code = [&] { return random_.one_in(2) ? 0x4 : 0xe; };
        in[(thread * in_words + in_words - 1) * 4 + byte] = static_cast<std::uint8_t>(code() | code() << 4);
      }
    program_.launch.buffers = {{"out", std::vector<std::uint8_t>(blocks() * threads * (in_words - 1) * 4)},
                               {"in", std::move(in)},
                               {"memory", random_bytes(blocks() * group_memory_bytes)}};
    for (std::size_t i = 0; i < program_.launch.buffers.size(); ++i)
      program_.launch.parameters.push_back({std::vector<std::uint8_t>(8), {{.buffer = i}}});
  }

  static std::string begin() {
    std::string text = fmt::format(R"(.version 8.4
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 memory[];
.visible .entry k(.param .u64 out, .param .u64 in, .param .u64 images)
.maxntid {0}, 1, 1
{{
.reg .pred %p, %always, %never;
.reg .b32 %thread, %i, %at, %own, %local, %w<4>, %x<{1}>, %a<{2}>, %e;
.reg .b64 %out, %in, %image, %from, %base, %da, %db;
mov.u32 %thread, %tid.x;
mov.u32 %i, %ctaid.x;
ld.param.u64 %image, [images];
mul.wide.u32 %from, %i, {3};
add.s64 %image, %image, %from;
mad.lo.u32 %i, %i, {0}, %thread;
mov.u32 %own, memory;
shr.u32 %at, %own, 4;
cvt.u64.u32 %base, %at;
shl.b32 %at, %thread, 4;
add.u32 %own, %own, %at;
mov.u32 %local, %own;
next_chunk:
cvt.u64.u32 %from, %at;
add.s64 %from, %image, %from;
ld.global.v4.b32 {{%w0, %w1, %w2, %w3}}, [%from];
st.shared.v4.b32 [%local], {{%w0, %w1, %w2, %w3}};
add.u32 %local, %local, 2048;
add.u32 %at, %at, 2048;
setp.lt.u32 %p, %at, {3};
@%p bra next_chunk;
fence.proxy.async;
bar.sync 0;
setp.ge.u32 %always, %at, {3};
setp.lt.u32 %never, %at, {3};
ld.param.u64 %in, [in];
mul.wide.u32 %from, %i, {4};
add.s64 %in, %in, %from;
ld.param.u64 %out, [out];
mul.wide.u32 %from, %i, {5};
add.s64 %out, %out, %from;
)",
                                   threads, accumulators, a_registers, group_memory_bytes, 4 * in_words, 4 * (in_words - 1));
    for (int i = 0; i < accumulators; ++i) text += fmt::format("ld.global.b32 %x{}, [%in+{}];\n", i, 4 * i);
    for (int i = 0; i < a_registers; ++i) text += fmt::format("ld.global.b32 %a{}, [%in+{}];\n", i, 4 * (accumulators + i));
    return text + fmt::format("ld.global.b32 %e, [%in+{}];\n", 4 * (accumulators + a_registers));
  }

  Random random_;
  int units_;
  std::vector<Place> places_;
  KernelProgram program_;
};

}  // namespace

KernelProgram random_warpgroup_kernel(uint64_t seed, uint64_t index, int max_units) {
  return WarpgroupGenerator(combine(combine(seed, hash_name("warpgroup")), index), max_units).kernel();
}

}  // namespace warpmat

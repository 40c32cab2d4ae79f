#include "gpu/lab/kernels/kernel_statements.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "gpu/lab/kernels/absent_lanes.h"
#include "gpu/runners/module_head.h"

namespace warpmat {
namespace {

/// The numbers that one register starts with, in all threads.
void fill(KernelDrawing& d, std::vector<std::uint8_t>& in, const Pool& pool, std::size_t slot) {
  constexpr std::array classes{ScalarClass::ordinary, ScalarClass::ordinary, ScalarClass::ordinary,
                               ScalarClass::special,  ScalarClass::extreme,  ScalarClass::random};
  std::vector<std::uint64_t> values(d.threads());
  const std::uint64_t first = d.random.below(1 << 24), operand = d.random.below(3);
  fill_operand(pool.kind, classes[d.random.below(classes.size())], operand, first, values);
  constexpr std::uint64_t exponent = 0x7ff0000000000000, lowest = 0x0010000000000000;
  if (pool.kind == ValueKind::f64)
    for (std::uint64_t& value : values)
      if ((value & exponent) == exponent) value -= lowest;
  for (std::size_t thread = 0; thread < values.size(); ++thread)
    std::memcpy(in.data() + (thread * slots() + slot) * slot_bytes, &values[thread], slot_bytes);
}

template <typename Use>
void each_register(Use use) {
  std::size_t at = 0;
  for (const Pool& pool : pools)
    for (std::size_t i = 0; i < pool.size; ++i, at += slot_bytes) use(pool, fmt::format("{}{}", pool.prefix, i), at);
}

}  // namespace

void add_buffers(KernelDrawing& d, KernelProgram& program) {
  const auto random_bytes = [&](std::size_t count) {
    std::vector<std::uint8_t> bytes(count);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(d.random.next());
    for (std::size_t last = 7; last < count; last += 8) bytes[last] &= 0xbf;  // no word is a NaN of f64
    return bytes;
  };
  std::vector<std::uint8_t> in(d.threads() * slots() * slot_bytes);
  std::size_t slot = 0;
  for (const Pool& pool : pools)
    for (std::size_t i = 0; i < pool.size; ++i, ++slot) fill(d, in, pool, slot);
  program.launch.buffers = {{"in", std::move(in)},
                            {"out", std::vector<std::uint8_t>(d.threads() * slots() * slot_bytes)},
                            {"own", random_bytes(d.threads() * own_bytes)},
                            {"table", random_bytes(table_bytes)},
                            {"counters", random_bytes(8 * counters)}};
  auto& words = program.launch.buffers.back().bytes;  // the last two are how often loops go round
  for (std::size_t word = words.size() - 8; word < words.size(); word += 4) {
    std::fill_n(words.begin() + static_cast<std::ptrdiff_t>(word), 4, std::uint8_t{0});
    words[word] = static_cast<std::uint8_t>(d.random.between(1, 4));
  }
  for (std::size_t i = 0; i < program.launch.buffers.size(); ++i)
    program.launch.parameters.push_back({std::vector<std::uint8_t>(8), {{0, i, 0}}});
}

std::string kernel_begin(const KernelDrawing& d) {
  std::string text;
  const auto line = [&](const std::string& ptx) { text += ptx + '\n'; };
  text += module_head(assembled_version, d.target.name);
  line(".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 own, .param .u64 table, .param .u64 counters)\n{");
  line(fmt::format(".shared .align 16 .b8 memory[{}];\n.local .align 16 .b8 depot[{}];", own_bytes * d.threads_of_block, own_bytes));
  for (const Pool& pool : pools)
    line(fmt::format(".reg .{} {}<{}>;", pool.bits == 1 ? "pred" : fmt::format("b{}", pool.bits), pool.prefix, pool.size));
  line(
      ".reg .b32 %t<2>, %u<4>, %c<4>, %m<5>, %o<5>, %thread, %i, %os, %shared;\n.reg .b64 %v<4>, %in, %out, %og, %ogs, %ol, %ogl, "
      "%table, %counters, %at;");
  line(".reg .b16 %w<4>;\n.reg .pred %q<4>, %k<4>;");
  line(fmt::format("mov.u32 %thread, %tid.x;\nmov.u32 %i, %ctaid.x;\nmad.lo.u32 %i, %i, {}, %thread;", d.threads_of_block));
  for (const char* name : {"in", "out", "og", "table", "counters"})
    line(fmt::format("ld.param.u64 %{}, [{}];\ncvta.to.global.u64 %{}, %{};", name, std::string_view(name) == "og" ? "own" : name, name,
                     name));
  line(fmt::format("mad.wide.u32 %in, %i, {0}, %in;\nmad.wide.u32 %out, %i, {0}, %out;\nmad.wide.u32 %og, %i, {1}, %og;",
                   slots() * slot_bytes, own_bytes));
  line(fmt::format("mov.u32 %shared, memory;\nmad.lo.u32 %os, %thread, {}, %shared;\ncvt.u64.u32 %ogs, %os;\ncvta.shared.u64 %ogs, %ogs;",
                   own_bytes));
  line("mov.u64 %ol, depot;\ncvta.local.u64 %ogl, %ol;\nmov.b32 %m0, 0xffffffff;");
  for (std::uint32_t at = 0; at < own_bytes; at += 8)
    line(fmt::format("ld.global.b64 %v0, [%og+{0}];\nst.shared.b64 [%os+{0}], %v0;\nst.local.b64 [%ol+{0}], %v0;", at));
  each_register([&](const Pool& pool, const std::string& name, std::size_t at) {
    if (pool.bits == 1) return line(fmt::format("ld.global.b32 %t0, [%in+{}];\nand.b32 %t0, %t0, 1;\nsetp.ne.u32 {}, %t0, 0;", at, name));
    line(fmt::format("ld.global.b{} {}, [%in+{}];", pool.bits, name, at));
  });
  line("bar.sync 0;");
  return text;
}

std::string kernel_end() {
  std::string text;
  each_register([&](const Pool& pool, const std::string& name, std::size_t at) {
    text += pool.bits == 1 ? fmt::format("selp.u32 %t0, 1, 0, {};\nst.global.b32 [%out+{}], %t0;\n", name, at)
                           : fmt::format("st.global.b{} [%out+{}], {};\n", pool.bits, at, name);
  });
  // The thread's own shared and local memory behind what it has in global memory.
  for (std::uint32_t at = 0; at < own_bytes; at += 8)
    text += fmt::format(
        "ld.shared.b64 %v0, [%os+{0}];\nld.local.b64 %v1, [%ol+{0}];\nld.global.b64 %v2, [%og+{0}];\nxor.b64 %v0, %v0, %v2;\n"
        "mul.lo.u64 %v1, %v1, 0x9e3779b97f4a7c15;\nxor.b64 %v0, %v0, %v1;\nst.global.b64 [%og+{0}], %v0;\n",
        at);
  return text + fmt::format("{}:\nret;\n}}\n", exit_label);
}

}  // namespace warpmat

#include "gpu/lab/kernels/kernel_statements.h"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <warpmat/warp.h>

#include "gpu/lab/kernels/absent_lanes.h"

namespace warpmat {

std::string vote_statement(KernelDrawing& d, int depth) {
  const std::string p = d.any(pool_named('p')), q = d.any(pool_named('p')), r = d.any(pool_named('r')), s = d.any(pool_named('r'));
  switch (d.random.below(d.loops_around > 0 ? 4 : 6)) {  // redux in a loop that ptxas 13.0 unrolls goes wrong
    case 0: return fmt::format("vote.sync.{}.pred {}, {}, %m{};", std::array{"all", "any", "uni"}[d.random.below(3)], p, q, depth);
    case 1: return fmt::format("vote.sync.ballot.b32 {}, {}, %m{};", r, p, depth);
    case 2:
      return d.random.one_in(2) ? fmt::format("match.any.sync.b32 {}, {}, %m{};", r, s, depth)
                                : fmt::format("match.any.sync.b64 {}, {}, %m{};", r, d.any(pool_named('l')), depth);
    case 3: return fmt::format("match.all.sync.b32 {}|{}, {}, %m{};", r, p, s, depth);
    case 4:
      return fmt::format("redux.sync.{} {}, {}, %m{};",
                         std::array{"add.u32", "min.s32", "max.u32", "min.u32", "max.s32", "add.s32"}[d.random.below(6)], r, s, depth);
    default: return fmt::format("redux.sync.{}.b32 {}, {}, %m{};", std::array{"and", "or", "xor"}[d.random.below(3)], r, s, depth);
  }
}

std::string shuffle_statement(KernelDrawing& d) {
  const std::string lane = d.random.one_in(2) ? d.any(pool_named('r')) : fmt::format("{}", d.random.below(32));
  const std::uint64_t segments = std::array<std::uint64_t, 4>{0, 16, 24, 28}[d.random.below(4)];
  const char* const mode = std::array{"up", "down", "bfly", "idx"}[d.random.below(4)];
  return d.drawn(fmt::format("shfl.sync.{}.b32 ?f|?p, ?f, {}, {}, 0xffffffff;", mode, lane, segments << 8 | (mode[0] == 'u' ? 0u : 31u)));
}

std::string absence(KernelDrawing& d, int depth) {
  if (d.loops_around > 0 || d.random.one_in(depth > 0 ? 2 : 4)) {
    const std::string lane = d.random.one_in(2) ? d.any(pool_named('r')) : fmt::format("{}", d.random.below(32));
    const std::string value = d.any(pool_named('f')), in_range = d.any(pool_named('p')), result = d.any(pool_named('f'));
    return absent_shuffle(d.random, depth, result, in_range, value, lane);
  }
  const EarlyExit made =
      early_exit(d.random, d.any(pool_named('r')), d.threads_of_block / warp_size, static_cast<std::uint32_t>(d.threads()));
  d.parted |= made.parts_warps || depth > 0;  // a branch may have parted them
  return made.text;
}

Lines barrier_statements(KernelDrawing& d) {
  const std::string p = d.any(pool_named('p'));
  const std::uint64_t kind = d.random.below(4);
  switch (kind == 1 && d.has_branches() ? 0 : kind) {  // ptxas 13.0 repeats the barrier in a branch where alone the result is used
    case 0: return {fmt::format("bar.red.popc.u32 {}, 0, {};", d.any(pool_named('r')), p)};
    case 1: {
      const std::string result = d.any(pool_named('p'));
      return {fmt::format("bar.red.{}.pred {}, 0, {};", d.random.one_in(2) ? "and" : "or", result, p)};
    }
    default: {  // a word of another thread
      const std::uint64_t distance = d.random.below(d.threads_of_block);
      const std::uint64_t at = d.own_offset(false, 4);
      return {fmt::format("st.shared.b32 [%os+{}], {};", at, d.any(pool_named('r'))),
              "bar.sync 0;",
              fmt::format("add.u32 %t0, %thread, {};", distance),
              fmt::format("rem.u32 %t0, %t0, {};", d.threads_of_block),
              fmt::format("mad.lo.u32 %t0, %t0, {}, %shared;", own_bytes),
              fmt::format("ld.shared.b32 {}, [%t0+{}];", d.any(pool_named('r')), at),
              "bar.sync 0;"};
    }
  }
}

Lines matrix_statements(KernelDrawing& d) {
  const Form& form = *d.choices.forms[d.random.below(d.choices.forms.size())];
  const bool memory = form.mnemonic != Mnemonic::mma;
  Lines operands, written;
  for (const Operand& operand : form.operands) {
    if (operand.kind == OperandKind::address) {
      const char* const base = form.opcode.find(".shared") != std::string::npos ? "%os" : "%ogs";
      operands.push_back(fmt::format("[{}{}]", base, form.mnemonic == Mnemonic::stmatrix || d.random.one_in(2) ? "" : "+16"));
      continue;
    }
    const bool wide = operand.fragment.register_bits() == 64;
    Lines registers;
    while (registers.size() < static_cast<std::size_t>(operand.registers())) {
      // Of B of m16n8k8, ptxas 13.0 takes neg.f32 for a sign of both halves.
      const std::size_t allowed = form.shape.k == 8 && operand.name == OperandName::b ? 2 : 3;
      const Pool& pool = pool_named(wide ? 'd' : "rxf"[d.random.below(allowed)]);
      registers.push_back(operand.written ? d.destination(pool, registers) : d.any(pool));
    }
    operands.push_back(fmt::format("{{{}}}", fmt::join(registers, ", ")));
  }
  Lines lines{fmt::format("{} {};", form.opcode, fmt::join(operands, ", "))};
  if (memory) {  // other lanes' rows
    lines.insert(lines.begin(), "bar.sync 0;");
    lines.push_back("bar.sync 0;");
  }
  return lines;
}

}  // namespace warpmat

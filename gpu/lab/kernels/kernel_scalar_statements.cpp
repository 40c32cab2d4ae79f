#include "gpu/lab/kernels/kernel_statements.h"

#include <array>

#include <fmt/format.h>

#include "gpu/runners/scalar_case.h"

namespace warpmat {
namespace {

const ScalarCase& scalar_case(KernelDrawing& d) {
  const auto& cases = d.choices.scalar.at(d.choices.mnemonics[d.random.below(d.choices.mnemonics.size())]);
  return cases[d.random.below(cases.size())];
}

/// Now and then a number as the last of several integers.
void use_number(KernelDrawing& d, const ScalarCase& shown, Lines& sources) {
  if (sources.size() < 2) return;
  const ScalarOperand& last = shown.sources.back();
  const bool short_shift = Choices::mnemonic(shown).starts_with("sh") && shown.results[0].type->bits == 16;
  if (short_shift) sources.back() = fmt::format("{}", d.random.below(20));  // ptxas takes 0 for an amount that ld.s8 made negative
  if (short_shift || !d.random.one_in(6)) return;
  const bool integer = !last.type->is_floating() && !last.is_predicate() && last.vector == 1;
  const bool decorated = shown.behind.size() > shown.results.size() + shown.sources.size() - 1;
  if (!integer || decorated || last.type->name.ends_with("x2") || last.type->bits < 16) return;
  const bool field = shown.opcode.starts_with("bf");  // ptxas takes 0 to 255 there
  sources.back() = fmt::format("{}", field || d.random.one_in(2) ? d.random.below(64) : d.random.next() >> (65 - last.type->bits));
}

}  // namespace

Lines scalar_statement(KernelDrawing& d) {
  const ScalarCase& shown = scalar_case(d);
  Lines results, sources, lines;
  bool carries = false;
  for (const ScalarOperand& operand : shown.results) {
    carries |= operand.carry;
    results.push_back(operand.carry ? "" : d.destination(d.pool_for(operand.kind, operand.register_bits), results));
  }
  for (const ScalarOperand& operand : shown.sources) {
    carries |= operand.carry;
    sources.push_back(operand.carry ? "" : d.source(operand));
    if (!operand.carry) continue;
    const char* const mnemonic = d.random.one_in(2) ? "sub" : "add";  // each reads the other's CC.CF too
    lines.push_back(d.drawn(fmt::format("{}.cc.u32 %t0, ?r, ?r;", mnemonic)));
  }
  use_number(d, shown, sources);
  lines.push_back((carries || !Choices::may_be_guarded(shown) ? "" : d.guard()) + shown.statement(results, sources));
  return lines;
}

std::string special_statement(KernelDrawing& d) {
  constexpr std::array registers{"%tid.x", "%ntid.x", "%ctaid.x", "%nctaid.x", "%laneid", "%lanemask_lt", "%lanemask_ge", "%tid.y"};
  const std::string p = d.any(pool_named('p'));
  const std::uint64_t kind = d.random.below(6);
  switch (kind == 1 && d.has_branches() ? 0 : kind) {  // beside branches ptxas 13.0 packs what a source becomes later
    case 0: return d.guarded(d.drawn(fmt::format("mov.u32 ?r, {};", registers[d.random.below(registers.size())])));
    case 1: return d.guarded(d.drawn("mov.b64 ?l, {?r, ?f};"));
    case 2: return d.guarded(d.drawn("mov.b32 {%h0, %h1}, ?x;"));
    case 3: return d.guarded(d.drawn(fmt::format("selp.b32 ?r, ?r, ?f, {};", p)));
    case 4: return d.guarded(d.drawn(fmt::format("selp.f32 ?f, ?f, ?f, {};", p)));
    default: {
      const std::string operands = d.drawn("?p, ?p");
      return d.guarded(fmt::format("{}.pred {}, {};", std::array{"and", "or", "xor"}[d.random.below(3)], operands, p));
    }
  }
}

}  // namespace warpmat

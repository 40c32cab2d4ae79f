#include "gpu/runners/scalar_kernel.h"

#include <fmt/core.h>

#include "gpu/runners/module_head.h"

namespace warpmat {
namespace {

/// The entry of one case. Results are %d0, %d1, ..., sources %s0, %s1, ...
class Entry {
 public:
  Entry(const ScalarCase& shown, std::size_t number) : case_(shown) {
    const std::size_t parameters = case_.results.size() + case_.sources.size();
    text_ = fmt::format(".visible .entry scalar_{}(", number);
    for (std::size_t i = 0; i < parameters; ++i) text_ += fmt::format("{}.param .u64 p{}", i == 0 ? "" : ", ", i);
    line(")\n{\n.reg .b32 %i, %n, %low, %word;\n.reg .b64 %at;\n.reg .pred %test;");
    line("mov.u32 %i, %ctaid.x;\nmov.u32 %n, %ntid.x;\nmov.u32 %low, %tid.x;\nmad.lo.u32 %i, %i, %n, %low;");
    for (std::size_t i = 0; i < case_.results.size(); ++i) declare(case_.results[i], 'd', i);
    for (std::size_t i = 0; i < case_.sources.size(); ++i) load(i);
    line(case_.numbered_statement());
    for (std::size_t i = 0; i < case_.results.size(); ++i) store(i);
    line("ret;\n}");
  }

  std::string text() { return std::move(text_); }

 private:
  void line(std::string_view ptx) { text_.append(ptx).append("\n"); }

  void declare(const ScalarOperand& operand, char letter, std::size_t i) {
    if (!operand.carry) line(fmt::format(".reg .{} %{}{};", operand.register_type(), letter, i));
  }

  void address(std::size_t parameter, const ScalarOperand& operand) {
    line(fmt::format("ld.param.u64 %at, [p{}];\ncvta.to.global.u64 %at, %at;\nmad.wide.u32 %at, %i, {}, %at;", parameter,
                     operand.is_wide() ? 8 : 4));
  }

  void load(std::size_t i) {
    const ScalarOperand& operand = case_.sources[i];
    declare(operand, 's', i);
    if (!case_.immediate.empty() && i == case_.immediate_place) return;
    address(case_.results.size() + i, operand);
    if (operand.is_wide()) return line(fmt::format("ld.global.b64 %s{}, [%at];", i));
    if (operand.register_bits == 8) return line(fmt::format("ld.global.b8 %s{}, [%at];", i));
    line("ld.global.b32 %word, [%at];");
    if (operand.is_predicate()) {
      line("and.b32 %word, %word, 1;");
      if (!operand.carry) return line(fmt::format("setp.ne.u32 %s{}, %word, 0;", i));
      return line(case_.carry_from_word());
    }
    if (operand.register_bits == 16) return line(fmt::format("cvt.u16.u32 %s{}, %word;", i));
    line(fmt::format("mov.b32 %s{}, %word;", i));
  }

  void store(std::size_t i) {
    const ScalarOperand& operand = case_.results[i];
    if (operand.carry) line(case_.word_from_carry());
    address(i, operand);
    if (operand.is_wide()) return line(fmt::format("st.global.b64 [%at], %d{};", i));
    if (operand.is_predicate()) {
      if (!operand.carry) line(fmt::format("selp.u32 %word, 1, 0, %d{};", i));
    } else if (operand.register_bits < 32) {
      // Not cvt.u32.u16: after set.f16.f16, ptxas 13.0 wrongly assumes that the upper half is zero.
      return line(fmt::format("mov.b32 %word, 0;\nst.global.b32 [%at], %word;\nst.global.b{} [%at], %d{};", operand.register_bits, i));
    } else {
      line(fmt::format("mov.b32 %word, %d{};", i));
    }
    line("st.global.b32 [%at], %word;");
  }

  const ScalarCase& case_;
  std::string text_;
};

}  // namespace

std::string scalar_module(std::span<const ScalarCase> cases, const Target& target, PtxVersion version) {
  std::string text = module_head(version, target.name);
  for (std::size_t i = 0; i < cases.size(); ++i) text += Entry(cases[i], i).text();
  return text;
}

}  // namespace warpmat

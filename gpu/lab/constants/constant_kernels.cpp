#include "gpu/lab/constants/constant_kernels.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "gpu/cases/random.h"
#include "gpu/cases/scalar_operands.h"

namespace warpmat {
namespace {

constexpr std::uint64_t word_bytes = 8;

/// The entry of one case. Results are %d0, %d1, ..., sources %s0, %s1, ...
class Entry {
 public:
  Entry(const ConstantCase& shown, const std::string& name) : shown_(shown), case_(*shown.shown) {
    text_ = fmt::format(".visible .entry {}(.param .u64 results, .param .u64 operands)\n{{\n", name);
    line(".reg .b32 %lane, %low, %word;\n.reg .b64 %to, %from;");
    for (std::size_t i = 0; i < case_.results.size(); ++i) declare(case_.results[i], 'd', i);
    for (std::size_t i = 0; i < case_.sources.size(); ++i) declare(case_.sources[i], 's', i);
    line("mov.u32 %lane, %tid.x;");
    for (const auto& [parameter, base] : {std::pair{"results", "%to"}, std::pair{"operands", "%from"}})
      line(fmt::format("ld.param.u64 {1}, [{0}];\ncvta.to.global.u64 {1}, {1};\nmad.wide.u32 {1}, %lane, {2}, {1};", parameter, base,
                       word_bytes));
  }

  /// The instruction with the operands of one tuple; it is number `place` in the kernel.
  void add(std::uint64_t tuple, std::size_t place) {
    // The carry comes last: what makes another operand might change it.
    for (const bool carry : {false, true})
      for (std::size_t i = 0; i < case_.sources.size(); ++i)
        if (case_.sources[i].carry == carry && !is_immediate(i)) set(i, tuple, place);
    line(case_.numbered_statement());
    for (std::size_t i = 0; i < case_.results.size(); ++i) store(i, place);
  }

  std::string finish() { return std::move(text_) + "ret;\n}\n"; }

 private:
  void line(std::string_view ptx) { text_.append(ptx).append("\n"); }
  bool is_immediate(std::size_t i) const { return !case_.immediate.empty() && i == case_.immediate_place; }

  void declare(const ScalarOperand& operand, char letter, std::size_t i) {
    if (!operand.carry) line(fmt::format(".reg .{} %{}{};", operand.register_type(), letter, i));
  }

  void set(std::size_t i, std::uint64_t tuple, std::size_t place) {
    if (shown_.is_variable(i))
      load(i, (place * case_.sources.size() + i) * lane_count * word_bytes);
    else
      assign(i, constant_operand(shown_, i, tuple, 0));
  }

  void load(std::size_t i, std::uint64_t offset) {
    const ScalarOperand& operand = case_.sources[i];
    if (operand.is_predicate()) {
      line(fmt::format("ld.global.b32 %word, [%from+{}];", offset));
      return operand.carry ? line(case_.carry_from_word()) : line(fmt::format("setp.ne.u32 %s{}, %word, 0;", i));
    }
    line(fmt::format("ld.global.b{} %s{}, [%from+{}];", operand.register_bits, i, offset));
  }

  void assign(std::size_t i, std::uint64_t value) {
    const ScalarOperand& operand = case_.sources[i];
    if (operand.is_predicate()) {
      line(fmt::format("mov.b32 %word, {};", value));
      return operand.carry ? line(case_.carry_from_word()) : line(fmt::format("setp.ne.u32 %s{}, %word, 0;", i));
    }
    if (operand.type->name == "f32") return line(fmt::format("mov.f32 %s{}, 0f{:08X};", i, value));
    if (operand.type->name == "f64") return line(fmt::format("mov.f64 %s{}, 0d{:016X};", i, value));
    if (operand.register_bits == 8) return line(fmt::format("cvt.u8.u32 %s{}, {:#x};", i, value));
    if (operand.register_bits == 128) return line(fmt::format("mov.b128 %s{}, {{{:#x}, 0}};", i, value));
    line(fmt::format("mov.b{} %s{}, {:#x};", operand.register_bits, i, value));
  }

  void store(std::size_t i, std::size_t place) {
    const ScalarOperand& operand = case_.results[i];
    const std::uint64_t offset = (place * case_.results.size() + i) * lane_count * word_bytes;
    if (operand.carry) line(case_.word_from_carry());
    if (operand.is_predicate()) {
      if (!operand.carry) line(fmt::format("selp.u32 %word, 1, 0, %d{};", i));
      return line(fmt::format("st.global.b32 [%to+{}], %word;", offset));
    }
    line(fmt::format("st.global.b{} [%to+{}], %d{};", operand.register_bits, offset, i));
  }

  const ConstantCase& shown_;
  const ScalarCase& case_;
  std::string text_;
};

}  // namespace

std::string ConstantCase::title() const {
  std::string varies;
  for (std::size_t i = 0; i < shown->sources.size(); ++i)
    if (is_variable(i)) varies += fmt::format("{}{}", varies.empty() ? "" : ", ", static_cast<char>('a' + static_cast<int>(i)));
  return varies.empty() ? fmt::format("{}, all constant", shown->title())
                        : fmt::format("{}, {} {}", shown->title(), varies, varies.size() == 1 ? "varies" : "vary");
}

std::vector<ScalarCase> first_spellings(std::vector<ScalarCase> cases) {
  std::set<const catalogue::Pattern*> seen;
  std::erase_if(cases, [&](const ScalarCase& c) { return !seen.insert(catalogue::find_row(c.opcode)->pattern).second; });
  return cases;
}

std::vector<ConstantCase> constant_cases(const std::vector<ScalarCase>& cases) {
  std::vector<ConstantCase> all;
  for (const ScalarCase& shown : cases) {
    std::uint32_t every = 0;
    for (std::size_t i = 0; i < shown.sources.size(); ++i)
      if (shown.immediate.empty() || i != shown.immediate_place) every |= 1U << i;
    std::vector<std::uint32_t> masks{0};
    for (std::uint32_t bit = 1; bit <= every; bit <<= 1)
      for (const std::uint32_t mask : {bit, every & ~bit})
        if ((every & bit) != 0 && mask != every && std::ranges::find(masks, mask) == masks.end()) masks.push_back(mask);
    for (const std::uint32_t mask : masks) all.push_back({&shown, mask});
  }
  return all;
}

std::uint64_t constant_operand(const ConstantCase& shown, std::size_t source, std::uint64_t tuple, unsigned lane) {
  constexpr std::array classes{ScalarClass::special,  ScalarClass::random,  ScalarClass::special,
                               ScalarClass::ordinary, ScalarClass::special, ScalarClass::extreme};
  const ScalarOperand& operand = shown.shown->sources[source];
  const std::uint64_t key = combine(combine(tuple, source), lane);
  const ScalarClass operand_class = classes[key % classes.size()];
  const std::uint64_t element = key >> 16;
  std::uint64_t value = 0;
  fill_operand(operand.kind, operand_class, 0, element, {&value, 1});
  if (operand.is_predicate()) return value & 1;
  return operand.register_bits >= 64 ? value : value & ((std::uint64_t{1} << operand.register_bits) - 1);
}

std::string constant_entry(const ConstantCase& shown, const std::string& name, std::uint64_t first, std::size_t count) {
  Entry entry(shown, name);
  for (std::size_t i = 0; i < count; ++i) entry.add(first + i, i);
  return entry.finish();
}

std::vector<std::uint64_t> constant_operands(const ConstantCase& shown, std::uint64_t first, std::size_t count) {
  const std::size_t sources = shown.shown->sources.size();
  std::vector<std::uint64_t> words(shown.variable == 0 ? 0 : count * sources * lane_count);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t source = i / lane_count % sources;
    if (shown.is_variable(source))
      words[i] = constant_operand(shown, source, first + i / lane_count / sources, static_cast<unsigned>(i % lane_count));
  }
  return words;
}

}  // namespace warpmat

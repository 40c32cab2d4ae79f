// The differential layer finds faults: each of these is put into a copy of the emulator, and a small sweep must report it.

#include <warpmat/execute/arguments.h>
#include <warpmat/tables/lowering.h>
#include <warpmat/numeric/value.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "gpu/runners/emulator_runner.h"
#include "gpu/compare/sweep.h"
#include "gpu/recordings/vectors.h"
#include "paths.h"

using namespace warpmat;

namespace {

// ---- One warp of a one-statement program, seen through its operands -----------------------------------------------------------------

class Operands {
 public:
  Operands(const Program& program, WarpStates& states, std::size_t warp) : form_(program.statements.front().matrix()->form()) {
    for (std::size_t i = 0; i < form_.operands.size(); ++i)
      for (const Item& item : program.statements.front().operands[i].items)
        for (int word = 0; word < item.words; ++word)
          words_[static_cast<std::size_t>(form_.operands[i].name)].push_back(
              &states.registers_of(warp)[static_cast<std::size_t>(item.slot + word)]);
  }

  const Form& form() const { return form_; }

  const std::vector<Register*>& words(OperandName name) const { return words_[static_cast<std::size_t>(name)]; }

  std::uint64_t read(OperandName name, const Element& element) const {
    return read_element(form_.operand(name).fragment,
                        ConstRegisterList(const_cast<const Register**>(words(name).data()), words(name).size()), element);
  }

  void write(OperandName name, const Element& element, std::uint64_t bits) const {
    write_element(form_.operand(name).fragment, words(name), element, bits);
  }

 private:
  const Form& form_;
  std::array<std::vector<Register*>, operand_names> words_;
};

/// The operands of one element of D.
struct DotOperands {
  Format a_format, b_format, c_format;
  std::vector<std::uint64_t> a, b;
  std::uint64_t c;
};

/// Writes D by `compute(DotOperands)`.
template <typename Compute>
void compute_all(const Operands& operands, Compute compute) {
  const auto [m, n, k_end] = operands.form().shape;
  const auto format = [&](OperandName name) { return *operands.form().operand(name).format; };
  std::vector<std::vector<std::uint64_t>> rows(static_cast<std::size_t>(m)), columns(static_cast<std::size_t>(n));
  for (int k = 0; k < k_end; ++k) {
    for (int i = 0; i < m; ++i) rows[static_cast<std::size_t>(i)].push_back(operands.read(OperandName::a, {i, k}));
    for (int j = 0; j < n; ++j) columns[static_cast<std::size_t>(j)].push_back(operands.read(OperandName::b, {k, j}));
  }
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      operands.write(
          OperandName::d, {i, j},
          compute(DotOperands{format(OperandName::a), format(OperandName::b), format(OperandName::c), rows[static_cast<std::size_t>(i)],
                              columns[static_cast<std::size_t>(j)], operands.read(OperandName::c, {i, j})}));
}

// ---- Another arithmetic -------------------------------------------------------------------------------------------------------------

/// numeric/dot.h once more, with a handle for each fault.
struct Unit {
  int step = 16;  ///< elements
  int fraction_bits = 25;
  int least_exponent = -133;  ///< of what terms are aligned to
  Rounding rounding = Rounding::toward_zero;
  Overflow overflow = Overflow::infinity;
  bool keeps_payload = false, keeps_negative_zero = false, adds_c_last = false, flushes_subnormals = false, renormalises = false;
  bool keeps_dropped_bits = false, rounds_down = false;
};

Value decode_for(const Unit& unit, Format format, std::uint64_t bits) {
  Value value = unit.keeps_dropped_bits && format == Format::tf32 ? decode(Format::f32, bits) : decode(format, bits);
  const bool subnormal = value.kind == Value::Kind::finite && value.significand >> value.fraction_bits == 0;
  if (unit.flushes_subnormals && subnormal) value = Value::special(Value::Kind::zero, value.negative);
  return value;
}

Value multiply(const Unit& unit, const Value& a, const Value& b) {
  using enum Value::Kind;
  const bool negative = a.negative != b.negative;
  if (a.kind == nan || b.kind == nan || (a.kind == infinity && b.kind == zero) || (a.kind == zero && b.kind == infinity)) return Value::special(nan);
  if (a.kind == infinity || b.kind == infinity) return Value::special(infinity, negative);
  if (a.kind == zero || b.kind == zero) return Value::special(zero, negative);
  Value product{finite, negative, a.exponent + b.exponent, a.fraction_bits + b.fraction_bits, a.significand * b.significand};
  if (unit.renormalises && product.significand >> (product.fraction_bits + 1) != 0) {
    ++product.exponent;
    ++product.fraction_bits;
  }
  return product;
}

std::int64_t aligned(const Unit& unit, const Value& term, int unit_exponent) {
  if (term.kind != Value::Kind::finite) return 0;
  const int shift = term.exponent - term.fraction_bits - unit_exponent;
  if (shift >= 0) return static_cast<std::int64_t>(term.significand << shift) * (term.negative ? -1 : 1);
  const std::uint64_t magnitude = shift <= -64 ? 0 : term.significand >> -shift;
  const bool cut = shift <= -64 || magnitude << -shift != term.significand;
  const auto truncated = static_cast<std::int64_t>(magnitude);
  return term.negative ? -truncated - (unit.rounds_down && cut ? 1 : 0) : truncated;
}

std::uint64_t sum(const Unit& unit, Format accumulator, const std::vector<Value>& terms, std::uint64_t c) {
  using enum Value::Kind;
  bool is_nan = false, positive = false, negative = false;
  int largest = -10'000;
  for (const Value& term : terms) {
    is_nan = is_nan || term.kind == nan;
    if (term.kind == Value::Kind::infinity) (term.negative ? negative : positive) = true;
    if (term.kind == finite) largest = std::max(largest, term.exponent);
  }
  if (is_nan && unit.keeps_payload && decode(accumulator, c).kind == nan) return c;
  if (is_nan || (positive && negative)) return canonical_nan(accumulator);
  if (positive || negative) return warpmat::infinity(accumulator, negative);
  largest = std::max(largest, unit.least_exponent);
  std::int64_t total = 0;
  for (const Value& term : terms) total += aligned(unit, term, largest - unit.fraction_bits);
  const std::uint64_t sign = std::uint64_t{1} << (row(accumulator).bits - 1);
  if (total == 0) return unit.keeps_negative_zero && c == sign ? sign : 0;
  const auto magnitude = static_cast<std::uint64_t>(total < 0 ? -total : total);
  const Rounding rounding = accumulator == Format::f16 ? Rounding::nearest_even : unit.rounding;
  const std::uint64_t bits = round_to(accumulator, {false, magnitude, largest - unit.fraction_bits}, rounding, unit.overflow);
  return total > 0 || bits == 0 ? bits : bits | sign;
}

std::uint64_t dot_step(const Unit& unit, Format accumulator, std::vector<Value> terms, std::uint64_t c) {
  if (!unit.adds_c_last) {
    terms.push_back(decode_for(unit, accumulator, c));
    return sum(unit, accumulator, terms, c);
  }
  const std::uint64_t products = sum(unit, accumulator, terms, c);
  return sum(unit, accumulator, {decode(accumulator, products), decode(accumulator, c)}, c);
}

std::uint64_t dot(const Unit& unit, const DotOperands& operands) {
  std::uint64_t c = operands.c;
  for (std::size_t k = 0; k < operands.a.size();) {
    std::vector<Value> terms;
    for (const std::size_t end = std::min(operands.a.size(), k + static_cast<std::size_t>(unit.step)); k < end; ++k)
      terms.push_back(
          multiply(unit, decode_for(unit, operands.a_format, operands.a[k]), decode_for(unit, operands.b_format, operands.b[k])));
    c = dot_step(unit, operands.c_format, std::move(terms), c);
  }
  return c;
}

std::uint64_t saturating_dot(const DotOperands& operands) {
  const auto whole = [](Format format, std::uint64_t bits) {
    const Value value = decode(format, bits);
    return static_cast<std::int64_t>(value.significand) * (value.negative ? -1 : 1);
  };
  std::int64_t total = whole(operands.c_format, operands.c);
  for (std::size_t k = 0; k < operands.a.size(); ++k) {
    total += whole(operands.a_format, operands.a[k]) * whole(operands.b_format, operands.b[k]);
    total = std::clamp<std::int64_t>(total, INT32_MIN, INT32_MAX);
  }
  return static_cast<std::uint32_t>(total);
}

// ---- Faults -------------------------------------------------------------------------------------------------------------------------

/// A wrong execution of one-statement programs: sets what the statement writes, from states that it may change as it likes.
using Execution = std::function<void(const Program& program, WarpStates& states)>;

/// The emulator with a fault.
class FaultyRunner : public Runner {
 public:
  explicit FaultyRunner(Execution execution) : execution_(std::move(execution)) {}

  void run(const Program& program, WarpStates& states) override {
    WarpStates spoiled = states;
    execution_(program, spoiled);
    const Statement& statement = program.statements.front();
    const Form& form = statement.matrix()->form();
    for (std::size_t warp = 0; warp < states.warps; ++warp)
      for (const Operand& operand : form.operands) {
        if (!operand.written) continue;
        const auto from = Operands(program, spoiled, warp).words(operand.name), to = Operands(program, states, warp).words(operand.name);
        for (std::size_t i = 0; i < from.size(); ++i) *to[i] = *from[i];
      }
    states.shared = spoiled.shared;
  }
  std::uint32_t shared_base() const override { return 0; }
  std::string description() const override { return "faulty emulator"; }

 private:
  Execution execution_;
};

void emulate(const Program& program, WarpStates& states) {
  EmulatorRunner(0, 1).run(program, states);
}

/// Runs the emulator after a change of the operands.
Execution with_operands(std::function<void(const Operands&)> change) {
  return [change = std::move(change)](const Program& program, WarpStates& states) {
    for (std::size_t warp = 0; warp < states.warps; ++warp) change(Operands(program, states, warp));
    emulate(program, states);
  };
}

/// Changes what the emulator wrote.
Execution with_results(std::function<void(const Operands&)> change) {
  return [change = std::move(change)](const Program& program, WarpStates& states) {
    emulate(program, states);
    for (std::size_t warp = 0; warp < states.warps; ++warp) change(Operands(program, states, warp));
  };
}

Execution with_unit(Unit unit) {
  return [unit](const Program& program, WarpStates& states) {
    for (std::size_t warp = 0; warp < states.warps; ++warp)
      compute_all(Operands(program, states, warp), [&](const DotOperands& operands) { return dot(unit, operands); });
  };
}

/// Executes the statement that has `to` where this one has `from`.
Execution with_opcode(std::string from, std::string to) {
  return [from = std::move(from), to = std::move(to)](const Program& program, WarpStates& states) {
    std::string text = print(program);
    text.replace(text.find(from), from.size(), to);
    emulate(parse(text), states);
  };
}

void exchange_lane_bits(const std::vector<Register*>& words) {
  for (Register* word : words) {
    const Register old = *word;
    for (std::size_t lane = 0; lane < lanes; ++lane) (*word)[lane] = old[(lane & ~std::size_t{3}) | (lane & 1) << 1 | (lane >> 1 & 1)];
  }
}

void use_address_of_lane_31(const Operands& operands) {
  Register& addresses = *operands.words(OperandName::p).front();
  addresses[0] = addresses[31] % 64 * 16;
}

struct Fault {
  std::string name, opcode, target;
  Execution execution;
};

constexpr const char* f16_to_f32 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
constexpr const char* f16_to_f16 = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16";
constexpr const char* tf32_to_f32 = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32";
constexpr const char* s8_clamped = "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32";
constexpr const char* u8_wrapped = "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32";
constexpr const char* load_x2_trans = "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16";
constexpr const char* store_x2 = "stmatrix.sync.aligned.m8n8.x2.shared.b16";
constexpr const char* transpose = "movmatrix.sync.aligned.m8n8.trans.b16";

std::vector<Fault> faults() {
  using enum OperandName;
  return {
      {"layout: two lane bits of A exchanged", f16_to_f32, "sm_90a",
       with_operands([](const Operands& o) { exchange_lane_bits(o.words(a)); })},
      {"layout: two lane bits of D exchanged", tf32_to_f32, "sm_90a",
       with_results([](const Operands& o) { exchange_lane_bits(o.words(d)); })},
      {"layout: two register bits of B exchanged with one of K", f16_to_f16, "sm_90a",
       with_operands([](const Operands& o) { std::swap(*o.words(b)[0], *o.words(b)[1]); })},
      {"layout: two register bits of C exchanged", f16_to_f32, "sm_90a",
       with_operands([](const Operands& o) { std::swap(*o.words(c)[1], *o.words(c)[2]); })},
      {"one fraction bit more", f16_to_f32, "sm_90a", with_unit({.fraction_bits = 26})},
      {"one fraction bit less", f16_to_f32, "sm_90a", with_unit({.fraction_bits = 24})},
      {"rounding to nearest", f16_to_f32, "sm_90a", with_unit({.rounding = Rounding::nearest_even})},
      {"terms rounded down instead of toward zero", f16_to_f32, "sm_90a", with_unit({.rounds_down = true})},
      {"NaN payload kept", f16_to_f32, "sm_90a", with_unit({.keeps_payload = true})},
      {"-0 kept", f16_to_f32, "sm_90a", with_unit({.keeps_negative_zero = true})},
      {"one step instead of two", f16_to_f32, "sm_80", with_unit({.step = 16, .fraction_bits = 24})},
      {"two steps instead of one", f16_to_f32, "sm_90a", with_unit({.step = 8})},
      {"C added last", f16_to_f32, "sm_90a", with_unit({.adds_c_last = true})},
      {"subnormals flushed to zero", f16_to_f32, "sm_90a", with_unit({.flushes_subnormals = true})},
      {"products renormalised before they are aligned", f16_to_f32, "sm_90a", with_unit({.renormalises = true})},
      {"overflow to the largest number", f16_to_f16, "sm_90a", with_unit({.overflow = Overflow::saturate})},
      {"the 13 low bits of tf32 used", tf32_to_f32, "sm_90a", with_unit({.step = 8, .keeps_dropped_bits = true})},
      {"no least exponent to align to", tf32_to_f32, "sm_90a", with_unit({.step = 8, .least_exponent = -10'000})},
      {"saturation at each product", s8_clamped, "sm_90a",
       [](const Program& program, WarpStates& states) {
         for (std::size_t warp = 0; warp < states.warps; ++warp) compute_all(Operands(program, states, warp), saturating_dot);
       }},
      {".satfinite ignored", s8_clamped, "sm_90a", with_opcode(".satfinite", "")},
      {".satfinite where there is none", u8_wrapped, "sm_90a", with_opcode(".row.col", ".row.col.satfinite")},
      {"B's bytes read as signed", u8_wrapped, "sm_90a", with_opcode(".u8.u8", ".u8.s8")},
      {"lane 31's address used", load_x2_trans, "sm_90a", with_operands(use_address_of_lane_31)},
      {".trans ignored", load_x2_trans, "sm_90a", with_opcode(".trans", "")},
      {"stmatrix: lane 31's address used", store_x2, "sm_90a", with_operands(use_address_of_lane_31)},
      {"stmatrix: matrices exchanged", store_x2, "sm_90a",
       with_operands([](const Operands& o) { std::swap(*o.words(r)[0], *o.words(r)[1]); })},
      {"movmatrix does not transpose", transpose, "sm_90a",
       [](const Program& program, WarpStates& states) {
         for (std::size_t warp = 0; warp < states.warps; ++warp)
           *Operands(program, states, warp).words(d).front() = *Operands(program, states, warp).words(a).front();
       }},
  };
}

/// Words that differ between the emulator and `device` in a small sweep over all classes.
std::size_t mismatches(const Form& form, const Target& target, Runner& device) {
  constexpr std::size_t cases = 48;
  EmulatorRunner emulator(0, 1);
  std::size_t count = 0;
  SweepObserver observer;
  observer.row = [&](const SweepRow& row) { count += row.mismatches; };
  sweep(emulator, device, {{&form}, &target, cases, 1}, observer);
  return count;
}

}  // namespace

TEST_CASE("a sweep reports every fault", "[gpu][faults]") {
  for (const Fault& fault : faults()) {
    CAPTURE(fault.name);
    FaultyRunner device(fault.execution);
    CHECK(mismatches(*find_form(fault.opcode), target(fault.target), device) > 0);
  }
}

TEST_CASE("a sweep reports nothing where there is no fault", "[gpu][faults]") {
  const auto none = [](const char* opcode, const char* target_name, Execution execution) {
    CAPTURE(opcode, target_name);
    FaultyRunner device(std::move(execution));
    CHECK(mismatches(*find_form(opcode), target(target_name), device) == 0);
  };
  none(f16_to_f32, "sm_90a", with_unit({}));
  none(f16_to_f16, "sm_90a", with_unit({}));
  none(f16_to_f32, "sm_80", with_unit({.step = 8, .fraction_bits = 24, .least_exponent = -10'000}));
  none(tf32_to_f32, "sm_90a", with_unit({.step = 8}));
  for (const char* opcode : {s8_clamped, u8_wrapped, load_x2_trans, store_x2, transpose}) none(opcode, "sm_90a", emulate);
}

TEST_CASE("recorded answers report every fault", "[gpu][faults]") {
  const std::filesystem::path directory = source_path("tests/vectors/sm_90");
  REQUIRE(std::filesystem::is_directory(directory));
  for (const Fault& fault : faults()) {
    if (fault.target != "sm_90a") continue;
    CAPTURE(fault.name);
    FaultyRunner device(fault.execution);
    const Recording recording = read_recording(directory / recording_file_name(*find_form(fault.opcode)));
    std::size_t different = 0;
    for (const Answers& answers : recording.answers)
      different += replay(device, recording.provenance, answers).outcome == Replayed::Outcome::differs;
    CHECK(different > 0);
  }
}

#include "gpu/lab/mutants/distinguish.h"

#include <fmt/core.h>
#include <warpmat/formats.h>
#include <warpmat/instruction.h>

#include <algorithm>
#include <array>
#include <bit>

#include "gpu/cases/cases.h"
#include "gpu/lab/mutants/variant_runner.h"
#include "gpu/runners/one_warp.h"

namespace warpmat {
namespace {

// ---- One warp's operands by element --------------------------------------------------------------------------------------------------

/// Elements of the operands of a one-statement program, in the registers of its only warp.
class Elements {
 public:
  Elements(const Program& program, WarpStates& states)
      : program_(program), states_(states), form_(program.statements().front().matrix()->form()) {}

  std::uint64_t read(OperandName name, const Element& element) const {
    const std::vector<std::uint32_t*> registers = words(name);
    return read_element(form_.operand(name).fragment, registers, element);
  }

  void write(OperandName name, const Element& element, std::uint64_t bits) const {
    write_element(form_.operand(name).fragment, words(name), element, bits);
  }

 private:
  std::vector<std::uint32_t*> words(OperandName name) const {
    std::vector<std::uint32_t*> found;
    for (std::size_t i = 0; i < form_.operands.size(); ++i)
      if (form_.operands[i].name == name)
        for (const Item& item : program_.statements().front().operands()[i].items)
          for (int word = 0; word < item.words; ++word)
            found.push_back(states_.registers[static_cast<std::size_t>(item.slot + word)].data());
    return found;
  }

  const Program& program_;
  WarpStates& states_;
  const Form& form_;
};

/// The element of operand `name` that is number k of the row or column that makes D's `result`.
Element place_of(OperandName name, const Element& result, int k) {
  if (name == OperandName::a) return {result.row, k, result.matrix};
  if (name == OperandName::b) return {k, result.column, result.matrix};
  return result;
}

ResultOperands read_operands(const Form& form, const Program& program, WarpStates& states, const Element& result) {
  const Elements elements(program, states);
  ResultOperands operands{{}, {}, elements.read(OperandName::c, result)};
  for (int k = 0; k < form.stored_k(); ++k) operands.a.push_back(elements.read(OperandName::a, place_of(OperandName::a, result, k)));
  for (int k = 0; k < form.shape.k; ++k) operands.b.push_back(elements.read(OperandName::b, place_of(OperandName::b, result, k)));
  return operands;
}

// ---- The search ---------------------------------------------------------------------------------------------------------------------

bool alike(const Events& a, const Events& b) {
  for (std::size_t i = 0; i < event_count; ++i)
    for (std::size_t number = 0; number < numbers_of(static_cast<Event>(i)); ++number)
      if (a.count(static_cast<Event>(i), number) != b.count(static_cast<Event>(i), number)) return false;
  return true;
}

/// Runs both models on one warp and compares.
class Pair {
 public:
  Pair(const Form& form, const Question& question)
      : form_(form), row_(question.lowering_of(form)), first_(form, row_, question.first), second_(form, row_, question.second) {}

  /// The first element of D that differs, starting from `initial`.
  std::optional<Element> difference(const Program& program, const WarpStates& initial) {
    run(program, initial);
    const Fragment& d = form_.operand(OperandName::d).fragment;
    const Elements of_first(program, *by_first_), of_second(program, *by_second_);
    for (int matrix = 0; matrix < d.matrices(); ++matrix)
      for (int i = 0; i < form_.shape.m; ++i)
        for (int j = 0; j < form_.shape.n; ++j)
          if (of_first.read(OperandName::d, {i, j, matrix}) != of_second.read(OperandName::d, {i, j, matrix})) return Element{i, j, matrix};
    return std::nullopt;
  }

  bool differs_at(const Program& program, const WarpStates& initial, const Element& element) {
    run(program, initial);
    return Elements(program, *by_first_).read(OperandName::d, element) != Elements(program, *by_second_).read(OperandName::d, element);
  }

  /// Whether the last run reached other regions in one model than in the other. Unknown (false) if a model has deviations.
  bool regions_differ() const {
    return first_.deviations().empty() && second_.deviations().empty() && !alike(events_of_first_, events_of_second_);
  }

  const Events& events_of_first() const { return events_of_first_; }
  const Events& events_of_second() const { return events_of_second_; }
  const WarpStates& by_first() const { return *by_first_; }
  const WarpStates& by_second() const { return *by_second_; }

 private:
  void run(const Program& program, const WarpStates& initial) {
    by_first_ = by_second_ = initial;
    events_of_first_ = events_of_second_ = {};
    VariantRunner(first_, events_of_first_).run(program, *by_first_);
    VariantRunner(second_, events_of_second_).run(program, *by_second_);
  }

  const Form& form_;
  const Lowering& row_;
  VariedLowering first_, second_;
  std::optional<WarpStates> by_first_, by_second_;
  Events events_of_first_, events_of_second_;
};

/// Simplifies operands as long as the models differ on them.
class Simplifier {
 public:
  Simplifier(const Form& form, const Program& program, Pair& pair, WarpStates& states, const Element& result)
      : form_(form), program_(program), pair_(pair), states_(states), result_(result) {}

  void simplify() {
    clear_all_else();
    for (int count = form_.shape.k; count > 1; count /= 2) {
      for (int k = 0; k < form_.stored_k(); k += count) try_zeros(OperandName::a, k, std::min(count, form_.stored_k() - k));
      for (int k = 0; k < form_.shape.k; k += count) try_zeros(OperandName::b, k, count);
    }
    constexpr int passes = 3;
    for (int pass = 0; pass < passes; ++pass) {
      for (int k = 0; k < form_.shape.k; ++k) {
        if (k < form_.stored_k()) try_simpler(OperandName::a, k);
        try_simpler(OperandName::b, k);
      }
      try_simpler(OperandName::c, 0);
    }
  }

 private:
  /// Clears all elements of A, B and C that do not affect the result.
  void clear_all_else() {
    const ResultOperands line = read_operands(form_, program_, states_, result_);
    for (const OperandName name : {OperandName::a, OperandName::b, OperandName::c, OperandName::d})
      for (std::size_t i = 0; i < form_.operands.size(); ++i)
        if (form_.operands[i].name == name)
          for (const Item& item : program_.statements().front().operands()[i].items)
            for (int word = 0; word < item.words; ++word) states_.registers[static_cast<std::size_t>(item.slot + word)].fill(0);
    const Elements elements(program_, states_);
    for (int k = 0; k < form_.stored_k(); ++k)
      elements.write(OperandName::a, place_of(OperandName::a, result_, k), line.a[static_cast<std::size_t>(k)]);
    for (int k = 0; k < form_.shape.k; ++k)
      elements.write(OperandName::b, place_of(OperandName::b, result_, k), line.b[static_cast<std::size_t>(k)]);
    elements.write(OperandName::c, result_, line.c);
  }

  /// Sets `count` elements from number `first` on to zero, if the models still differ then.
  void try_zeros(OperandName name, int first, int count) {
    const WarpStates old = states_;
    const Elements elements(program_, states_);
    for (int k = first; k < first + count; ++k) elements.write(name, place_of(name, result_, k), 0);
    if (!pair_.differs_at(program_, states_, result_)) states_ = old;
  }

  /// Tries zero, one, the same power of two, and the same number without a sign; keeps the first on which the models still differ.
  void try_simpler(OperandName name, int k) {
    const Elements elements(program_, states_);
    const Element place = place_of(name, result_, k);
    const std::uint64_t old = elements.read(name, place);
    for (const std::uint64_t candidate : simpler(form_.format(name), old)) {
      if (candidate == old) return;
      elements.write(name, place, candidate);
      if (pair_.differs_at(program_, states_, result_)) return;
      elements.write(name, place, old);
    }
  }

  static std::vector<std::uint64_t> simpler(Format format, std::uint64_t bits) {
    const FormatRow& f = row(format);
    if (is_integer(f)) return {0, 1, bits};
    const std::uint64_t sign = f.is_signed ? std::uint64_t{1} << (f.bits - 1) : 0;
    const Value value = decode(format, bits);
    const auto power = [&](bool negative) {
      Value v = value;
      v.negative = negative;
      v.significand = std::bit_floor(v.significand);
      return encode(format, v);
    };
    std::vector<std::uint64_t> all{0, from_double(format, 1)};
    if (value.kind == Value::Kind::finite) all.insert(all.end(), {power(false), power(value.negative)});
    all.insert(all.end(), {bits & ~sign, bits});
    return all;
  }

  const Form& form_;
  const Program& program_;
  Pair& pair_;
  WarpStates& states_;
  Element result_;
};

Distinction simplified(const Form& form, Program program, Pair& pair, WarpStates initial, const Element& element, std::string found_in) {
  Simplifier(form, program, pair, initial, element).simplify();
  pair.differs_at(program, initial, element);
  return {&form,   std::move(program),  std::move(initial),     pair.by_first(),        pair.by_second(),
          element, std::move(found_in), pair.events_of_first(), pair.events_of_second()};
}

}  // namespace

namespace {

/// The cases of one class, tried in order.
class ClassSearch {
 public:
  ClassSearch(const Form& form, const Question& question, const OperandClass& operand_class)
      : form_(form),
        question_(question),
        class_(operand_class),
        program_(program_for(form, *question.target, operand_class, question.lowering != nullptr ? 0 : class_variant)) {}

  /// Tries the next few cases. Classes whose cases reach different regions in the two models get four times as many.
  std::optional<Distinction> next(Pair& pair) {
    constexpr std::size_t few = 8, many = 32;
    const std::size_t count = std::min(regions_differ_ ? many : few, question_.cases - next_);
    if (count == 0) return std::nullopt;
    const WarpStates states = make_case(program_, form_, class_, question_.seed, next_, count, 0);
    for (std::size_t i = 0; i < count; ++i, ++next_) {
      WarpStates one = one_warp(program_, states, i);
      const auto element = pair.difference(program_, one);
      regions_differ_ = regions_differ_ || pair.regions_differ();
      if (element) return simplified(form_, program_, pair, std::move(one), *element, fmt::format("class {}, case {}", class_.name, next_));
    }
    return std::nullopt;
  }

  bool done() const { return next_ == question_.cases; }

 private:
  const Form& form_;
  const Question& question_;
  const OperandClass& class_;
  Program program_;
  std::size_t next_ = 0;
  bool regions_differ_ = false;
};

}  // namespace

std::optional<Distinction> distinguish(const Form& form, const Question& question) {
  Pair pair(form, question);
  std::vector<ClassSearch> searches;
  for (const OperandClass& operand_class : operand_classes())
    if (applies(operand_class, form)) searches.emplace_back(form, question, operand_class);
  while (!std::ranges::all_of(searches, &ClassSearch::done))
    for (ClassSearch& search : searches)
      if (auto found = search.next(pair)) return found;
  return std::nullopt;
}

ResultOperands operands_of(const Distinction& distinction) {
  WarpStates states = distinction.initial;
  return read_operands(*distinction.form, distinction.program, states, distinction.element);
}

std::uint64_t element_bits(const Distinction& distinction, const WarpStates& states, OperandName operand, const Element& element) {
  WarpStates copy = states;
  return Elements(distinction.program, copy).read(operand, element);
}

std::uint64_t result_bits(const Distinction& distinction, const WarpStates& states) {
  return element_bits(distinction, states, OperandName::d, distinction.element);
}

std::string value_text(Format format, std::uint64_t bits) {
  const Value value = decode(format, bits);
  const char* sign = value.negative ? "-" : "";
  switch (value.kind) {
    case Value::Kind::zero: return is_integer(row(format)) ? "0" : value.negative ? "-0" : "+0";
    case Value::Kind::infinity: return fmt::format("{}infinity", sign);
    case Value::Kind::nan: return fmt::format("NaN {:#x}", bits);
    case Value::Kind::finite: break;
  }
  if (is_integer(row(format))) return fmt::format("{}{}", sign, value.significand);
  const int leading = static_cast<int>(std::bit_width(value.significand)) - 1;
  const double fraction = static_cast<double>(value.significand) / static_cast<double>(std::uint64_t{1} << leading);
  const int exponent = value.exponent - value.fraction_bits + leading;
  return fraction == 1 ? fmt::format("{}2^{}", sign, exponent) : fmt::format("{}{} * 2^{}", sign, fraction, exponent);
}

}  // namespace warpmat

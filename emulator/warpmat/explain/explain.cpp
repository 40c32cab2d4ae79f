#include <warpmat/explain.h>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>

#include <warpmat/execute/operands/batch.h>
#include <warpmat/execute/operands/row_addresses.h>
#include <warpmat/execute/reference/execute_with.h>
#include <warpmat/text.h>

namespace warpmat {
namespace {

using StepKind = ExplainedStep::Kind;

/// Saves the words and bytes that an execution changes, and restores them on destruction.
class Restored {
 public:
  /// `words`: of the destination.
  Restored(const Batch& batch, int words, bool writes_memory)
      : batch_(batch), writes_memory_(writes_memory && batch.shared != nullptr), registers_(static_cast<std::size_t>(words)) {
    for_each_word([](const std::uint32_t& word, std::uint32_t& kept) { kept = word; });
    if (writes_memory_) memory_.assign(batch.shared, batch.shared + batch.shared_bytes);
  }
  ~Restored() {
    for_each_word([](std::uint32_t& word, std::uint32_t kept) { word = kept; });
    if (writes_memory_) std::ranges::copy(memory_, batch_.shared);
  }
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;

 private:
  /// Calls visit(word, what is kept of it) for each word of the destination.
  template <typename Visit>
  void for_each_word(Visit visit) {
    for (std::size_t i = 0; i < registers_.size(); ++i)
      for (int lane = 0; lane < warp_size; ++lane)
        visit(batch_.destination.at(static_cast<int>(i), lane), registers_[i][static_cast<std::size_t>(lane)]);
  }

  const Batch& batch_;
  const bool writes_memory_;  // memory that is only read may be write-protected
  std::vector<Register> registers_;
  std::vector<std::uint8_t> memory_;
};

// ---- Factors ------------------------------------------------------------------------------------------------------------------------

/// Finds the factors of one element of D.
class Factors {
 public:
  Factors(const Form& form, const Lowering& lowering, const Batch& batch, const Element& element, const ExecutionOptions& options)
      : form_(form), batch_(batch), element_(element) {
    if (form_.sparsity == Sparsity::dense) return;
    columns_ = std::make_unique<MetadataColumns>();
    read_metadata(form_, lowering, batch, options, *columns_);
  }

  /// The product of stored column `stored` of A.
  Term::Product product(std::size_t stored) const {
    const auto stored_k = static_cast<std::size_t>(form_.stored_k());
    const std::size_t k = columns_ ? (*columns_)[static_cast<std::size_t>(element_.row) * stored_k + stored] : stored;
    const int matrix = form_.operand(OperandName::a).fragment.matrices() > 1 ? element_.matrix : 0;
    return {factor(OperandName::a, {element_.row, static_cast<int>(stored), matrix}),
            factor(OperandName::b, {static_cast<int>(k), element_.column, matrix})};
  }

  /// The scale factors of A and B of group `group` of `count`.
  std::vector<Factor> scales(std::size_t group, std::size_t count) const {
    const int a = selected_scales(form_, batch_, OperandName::ids_a), b = selected_scales(form_, batch_, OperandName::ids_b);
    return {factor(OperandName::scale_a, scale_element(form_, OperandName::scale_a, a, element_.row, group, count)),
            factor(OperandName::scale_b, scale_element(form_, OperandName::scale_b, b, element_.column, group, count))};
  }

  std::uint64_t c() const { return read_element(form_.operand(OperandName::c).fragment, batch_.source(OperandName::c), element_); }

 private:
  Factor factor(OperandName operand, const Element& element) const {
    const Fragment& fragment = form_.operand(operand).fragment;
    const std::uint64_t bits = read_element(fragment, batch_.source(operand), element);
    return {operand, element, fragment.place(element), bits, decode(form_.format(operand), bits)};
  }

  const Form& form_;
  const Batch& batch_;
  Element element_;
  std::unique_ptr<MetadataColumns> columns_;  ///< of a sparse form
};

// ---- Steps --------------------------------------------------------------------------------------------------------------------------

/// The arithmetic that ships, with the steps of one result recorded.
class Recorder : public ReferenceArithmetic<Recorder> {
 public:
  using Base = ReferenceArithmetic<Recorder>;

  Recorder(const Form& form, std::size_t wanted, const Factors& factors) : form_(form), wanted_(wanted), factors_(factors) {}

  std::vector<ExplainedStep> steps;

  void result(std::size_t number) {
    active_ = number == wanted_;
    next_column_ = 0;
    columns_.clear();
  }
  void column(std::size_t stored) {
    if (active_) columns_.push_back(stored);
  }

  std::uint64_t step(const DotModel& model, Format accumulator, std::span<const Value> a, std::span<const Value> b, std::uint64_t c,
                     int scale_exponent = 0) {
    if (active_) add_factors(a, b, c, 0);
    return Base::step(model, accumulator, a, b, c, scale_exponent);
  }
  std::uint64_t grouped_dot(const DotModel& model, Format accumulator, std::span<const Value> a, std::span<const Value> b,
                            std::span<const Value> scales_a, std::span<const Value> scales_b, std::uint64_t c) {
    if (active_) add_factors(a, b, c, scales_a.size());
    return Base::grouped_dot(model, accumulator, a, b, scales_a, scales_b, c);
  }
  std::uint64_t sum(const DotModel& model, Format accumulator, std::span<const Value> terms) {
    aligned_.reset();
    const std::uint64_t result = Base::sum(model, accumulator, terms);
    if (active_) add_sum(accumulator, terms, result);
    return result;
  }
  std::uint64_t round(const DotModel& model, Format accumulator, const AlignedSum& aligned) {
    aligned_ = aligned;
    return Base::round(model, accumulator, aligned);
  }
  std::uint64_t fused(Format format, std::uint64_t a, std::uint64_t b, std::uint64_t c, Rounding rounding, NanRule nan_rule) {
    const std::uint64_t result = Base::fused(format, a, b, c, rounding, nan_rule);
    if (active_) add_fused(format, a, b, c, rounding, result);
    return result;
  }
  std::int64_t integer_sum(std::span<const std::int64_t> a, std::span<const std::int64_t> b, std::int64_t c) {
    const std::int64_t sum = Base::integer_sum(a, b, c);
    if (active_)
      add_integers(
          a.size(), [&](std::size_t k) { return a[k] * b[k]; }, c, sum);
    return sum;
  }
  std::int64_t bit_sum(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b, std::int64_t c, BitOperation operation) {
    const std::int64_t sum = Base::bit_sum(a, b, c, operation);
    if (active_)
      add_integers(
          a.size(), [&](std::size_t k) { return bit_product(a[k], b[k], operation); }, c, sum);
    return sum;
  }

 private:
  /// The factors of a unit's step, in pairs, and the accumulator's bits. If `groups` is not 0, the step's terms are that many sums of
  /// group_elements products, each times two scale factors.
  void add_factors(std::span<const Value> a, std::span<const Value> b, std::uint64_t c, std::size_t groups) {
    const std::size_t size = groups == 0 ? 1 : group_elements;  // products of a term
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (i % size == 0) terms_.emplace_back();
      terms_.back().products.push_back(next_product(a[i], b[i]));
      if (i % size == 0 && form_.scale_vector != 0)
        terms_.back().scales = factors_.scales(groups == 0 ? 0 : i / size, std::max<std::size_t>(groups, 1));
    }
    addend_ = c;
  }
  /// A unit's step; the last term is C. Without aligned_ a term is NaN or infinite: nothing is aligned then.
  void add_sum(Format accumulator, std::span<const Value> terms, std::uint64_t result) {
    ExplainedStep step{.kind = StepKind::unit_sum, .format = accumulator, .result = result};
    step.rounding = rounding(accumulator);
    step.special = !aligned_;
    if (aligned_) {
      step.largest_exponent = aligned_->largest_exponent;
      step.unit_exponent = aligned_->unit_exponent;
      step.sum = aligned_->sum;
    }
    terms_.emplace_back();  // C
    for (std::size_t i = 0; i < terms.size(); ++i) {
      terms_[i].value = terms[i];
      if (aligned_) terms_[i].kept = cut(terms[i], aligned_->unit_exponent);
    }
    step.addend = addend_;
    step.terms = std::move(terms_);
    terms_.clear();
    steps.push_back(std::move(step));
  }
  /// An IEEE a * b + c. An addition has b = 1 and no preceding column().
  void add_fused(Format format, std::uint64_t a, std::uint64_t b, std::uint64_t c, Rounding rounding, std::uint64_t result) {
    ExplainedStep step{.kind = columns_.empty() ? StepKind::addition : StepKind::fused, .format = format, .addend = c, .result = result};
    step.rounding = rounding;
    if (step.kind == StepKind::addition) {
      step.other = a;
    } else {
      const Term::Product product = next_product(decode(format, a), decode(format, b));
      step.terms.push_back({{product}, {}, {}});
    }
    steps.push_back(std::move(step));
  }
  /// All products of integers or bits, and their sum with C before conversion to s32.
  template <typename Product>
  void add_integers(std::size_t count, Product product, std::int64_t c, std::int64_t sum) {
    ExplainedStep step{.kind = StepKind::integer_sum, .format = Format::s32, .addend = static_cast<std::uint32_t>(c), .sum = sum};
    for (std::size_t k = 0; k < count; ++k) {
      const std::int64_t value = product(k);
      const auto magnitude = static_cast<std::uint64_t>(value < 0 ? -value : value);
      step.terms.push_back(
          {{factors_.product(k)}, {}, {value == 0 ? Value::Kind::zero : Value::Kind::finite, value < 0, 0, 0, magnitude}, value});
    }
    steps.push_back(std::move(step));
  }

  /// The next product, with its factors as multiplied.
  Term::Product next_product(const Value& a, const Value& b) {
    std::size_t stored = next_column_++;
    if (!columns_.empty()) {
      stored = columns_.front();
      columns_.erase(columns_.begin());
    }
    Term::Product product = factors_.product(stored);
    product.a.value = a;
    product.b.value = b;
    return product;
  }

  const Form& form_;
  std::size_t wanted_;
  const Factors& factors_;
  bool active_ = false;
  std::size_t next_column_ = 0;
  std::vector<std::size_t> columns_;   ///< noted for products to come
  std::vector<Term> terms_;            ///< of the current step
  std::uint64_t addend_ = 0;           ///< of the current step
  std::optional<AlignedSum> aligned_;  ///< of the current sum
};

ExplainedStep conversion(Format from, std::uint64_t bits, Format to, std::uint64_t result) {
  ExplainedStep step{.kind = StepKind::conversion, .format = to, .addend = bits, .result = result, .from = from};
  step.rounding = Rounding::nearest_even;
  return step;
}

/// Steps that only change the format: of C before the first, of D after the last.
void add_conversions(std::vector<ExplainedStep>& steps, const Form& form, std::uint64_t c, std::uint64_t d) {
  const Format c_format = form.format(OperandName::c), d_format = form.format(OperandName::d);
  const Format unit = steps.front().format;
  if (unit != c_format) steps.insert(steps.begin(), conversion(c_format, c, unit, encode(unit, decode(c_format, c))));
  if (steps.back().format != d_format) steps.push_back(conversion(steps.back().format, steps.back().result, d_format, d));
}

/// The step for a NaN scale factor: nothing is multiplied then.
ExplainedStep nan_of_scale(const Form& form, const Factors& factors, std::uint64_t result) {
  ExplainedStep step{.kind = StepKind::nan_of_scale, .format = form.accumulator(), .result = result};
  Term& term = step.terms.emplace_back();
  term.scales = factors.scales(0, 1);
  term.value = Value::special(Value::Kind::nan);
  return step;
}

// ---- Moves --------------------------------------------------------------------------------------------------------------------------

ExplainedMove explain_move(const Form& form, const Batch& batch, const Element& element, const Place& place) {
  ExplainedMove move;
  if (form.mnemonic == Mnemonic::movmatrix) {
    move.from_register = form.operand(OperandName::a).fragment.place(element);
    move.to_register = place;
    return move;
  }
  move.store = form.mnemonic == Mnemonic::stmatrix || form.mnemonic == Mnemonic::wmma_store;
  (move.store ? move.from_register : move.to_register) = place;
  if (moves_matrix(form)) {
    const MatrixStorage storage = storage_of(form, batch);
    const int bits = form.operand(OperandName::r).fragment.element_bits();
    move.memory = {place.lane, storage.address, form.number_in_memory(element, storage.stride) * static_cast<std::uint64_t>(bits), bits};
  } else {
    const RowPlace row = form.row_place(element);
    move.memory = {row.lane, row_address(batch, row.lane), static_cast<std::uint64_t>(row.bit), form.memory_bits};
  }
  return move;
}

// ---- An explanation -----------------------------------------------------------------------------------------------------------------

void check_element(const Form& form, const Fragment& fragment, const Element& e) {
  if (e.row >= 0 && e.row < fragment.rows() && e.column >= 0 && e.column < fragment.columns() && e.matrix >= 0 &&
      e.matrix < fragment.matrices())
    return;
  throw std::invalid_argument(format_text("{} has no result in row {}, column {}{}; it has {} rows and {} columns{}", form.opcode, e.row,
                                          e.column, fragment.matrices() > 1 ? format_text(" of matrix {}", e.matrix) : "", fragment.rows(),
                                          fragment.columns(),
                                          fragment.matrices() > 1 ? format_text(" in each of {} matrices", fragment.matrices()) : ""));
}

void check_memory(const Form& form, const Batch& batch) {
  if (form.find_operand(OperandName::p) == nullptr || (batch.rows == nullptr && batch.shared_base <= UINT32_MAX)) return;
  throw std::invalid_argument(
      format_text("{} is explained with memory that is bytes from an address below 2^32 on, not callbacks", form.opcode));
}

/// Everything but the steps.
Explanation blank(const Form& form, const Target& target, const Lowering& lowering, const Element& element) {
  const OperandName operand = form.find_operand(OperandName::d) != nullptr ? OperandName::d : OperandName::r;
  const Fragment& fragment = form.operand(operand).fragment;
  check_element(form, fragment, element);
  return {.form = &form,
          .target = &target,
          .lowering = &lowering,
          .as = std::string(target.name),
          .machine = machine_name(form, lowering),
          .operand = operand,
          .element = element,
          .place = fragment.place(element)};
}

std::uint64_t executed(Recorder& recorder, const Batch& batch, const Explanation& of, const ExecutionOptions& options) {
  const Fragment& fragment = of.form->operand(of.operand).fragment;
  const bool written = of.form->operand(of.operand).written;
  const Restored restored(batch, written ? of.form->operand(of.operand).words() : 0, !written);  // what writes no registers stores
  execute_with(recorder, *of.form, *of.lowering, batch, options);
  return read_element(fragment, written ? ConstRegisterView(batch.destination) : batch.source(of.operand), of.element);
}

}  // namespace

Explanation explain(const Instruction& instruction, const Call& call, const Element& element, const ExecutionOptions& options) {
  return explain(instruction.form(), instruction.target(), instruction.lowering(), call, element, options);
}

Explanation explain(const Form& form, const Target& target, const Lowering& lowering, const Call& call, const Element& element,
                    const ExecutionOptions& options) {
  const Batch batch = Batch::of(form, call);
  check_memory(form, batch);
  Explanation explanation = blank(form, target, lowering, element);
  const Factors factors(form, lowering, batch, element, options);
  Recorder recorder(form, result_number(form, element), factors);
  explanation.result = executed(recorder, batch, explanation, options);
  if (!multiplies(form.mnemonic)) {
    explanation.move = explain_move(form, batch, element, explanation.place);
    return explanation;
  }
  explanation.steps = std::move(recorder.steps);
  std::vector<ExplainedStep>& steps = explanation.steps;
  if (steps.empty()) steps.push_back(nan_of_scale(form, factors, explanation.result));
  if (steps.front().kind == StepKind::integer_sum) steps.front().result = explanation.result;
  add_conversions(steps, form, factors.c(), explanation.result);
  return explanation;
}

Explanation explain_as_f32(const Form& form, const Target& target, const Lowering& lowering, const Call& call, const Element& element,
                           const ExecutionOptions& options) {
  const bool floats = multiplies(form.mnemonic) && !is_integer(row(form.format(OperandName::a))) &&
                      form.format(OperandName::a) != Format::f64 && form.scale_vector == 0;
  if (!floats)
    throw std::invalid_argument(format_text(
        "{} has no counterpart in f32: that have products of f16, bf16, tf32, fp8, fp6 and fp4 without scale factors", form.opcode));
  Explanation explanation = blank(form, target, lowering, element);
  explanation.plain_f32 = true;
  explanation.machine = explanation.as = "f32 on a CPU";
  const Batch batch = Batch::of(form, call);
  const Factors factors(form, lowering, batch, element, options);
  const Format c_format = form.format(OperandName::c), d_format = form.format(OperandName::d);
  std::uint64_t sum = encode(Format::f32, decode(c_format, factors.c()));
  if (c_format != Format::f32) explanation.steps.push_back(conversion(c_format, factors.c(), Format::f32, sum));
  for (int k = 0; k < form.stored_k(); ++k) {
    const Term::Product product = factors.product(static_cast<std::size_t>(k));
    ExplainedStep step{.kind = StepKind::fused, .format = Format::f32, .addend = sum};
    step.rounding = Rounding::nearest_even;
    step.terms.push_back({{product}, {}, {}});
    sum = step.result = fused_multiply_add(Format::f32, encode(Format::f32, product.a.value), encode(Format::f32, product.b.value), sum,
                                           step.rounding, NanRule::canonical);
    explanation.steps.push_back(std::move(step));
  }
  explanation.result = d_format == Format::f32 ? sum : encode(d_format, decode(Format::f32, sum));
  if (d_format != Format::f32) explanation.steps.push_back(conversion(Format::f32, sum, d_format, explanation.result));
  return explanation;
}

// ---- Two explanations ---------------------------------------------------------------------------------------------------------------

namespace {

/// The sum after a step: of C and the products of the stored columns below `columns`.
struct Progress {
  std::size_t step, columns;
  Format format;
  std::uint64_t sum;
};

/// The sums of all steps; the last one alone if C is not the first addend.
std::vector<Progress> progress(const Explanation& explanation) {
  const auto& steps = explanation.steps;
  const bool c_last = std::ranges::any_of(steps, [](const ExplainedStep& step) { return step.kind == StepKind::addition; });
  std::vector<Progress> sums;
  std::size_t columns = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (const Term& term : steps[i].terms) columns += term.products.size();
    if (!c_last || i + 1 == steps.size()) sums.push_back({i, columns, steps[i].format, steps[i].result});
  }
  return sums;
}

}  // namespace

std::optional<Parting> parting(const Explanation& first, const Explanation& second) {
  const auto sums = progress(first), others = progress(second);
  for (const Progress& sum : sums)
    for (const Progress& other : others) {
      if (sum.columns == other.columns && sum.format == other.format && sum.sum != other.sum) return Parting{sum.step, other.step};
    }
  return std::nullopt;
}

}  // namespace warpmat

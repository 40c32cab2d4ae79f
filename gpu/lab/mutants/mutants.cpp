#include "gpu/lab/mutants/mutants.h"

#include <fmt/core.h>

#include <algorithm>

namespace warpmat {
namespace {

constexpr int deltas[] = {-2, -1, 1, 2};

const ModelColumn& column(std::string_view name) {
  return *std::ranges::find(model_columns(), name, &ModelColumn::name);
}

/// The mutants of one form.
class Maker {
 public:
  Maker(const Form& form, const Lowering& row) : form_(form), row_(row) {}

  std::vector<Mutant> all() {
    if (row_.model != nullptr) {
      change_fraction_bits();
      change_step();
      change_floor();
    }
    for (const DeviationRow& deviation : deviation_rows())
      if (deviation.concerns(form_, row_)) mutants_.push_back({std::string(deviation.name), {nullptr, {}, {deviation.deviation}}, {}});
    return std::move(mutants_);
  }

 private:
  void add(std::string change, const ModelColumn& column, int value) {
    if (value == no_floor || (value >= column.least && value <= column.most))
      mutants_.push_back({std::move(change), {nullptr, {{&column, value}}, {}}, {}});
  }

  bool sums_in_f32() const { return form_.accumulator() == Format::f32; }

  void change_fraction_bits() {
    for (const int delta : deltas) {
      const ModelColumn &kept = column("fraction_bits"), &result = column("result_fraction_bits");
      add(fmt::format("fraction_bits{:+}", delta), kept, row_.model->fraction_bits + delta);
      if (sums_in_f32()) add(fmt::format("result_fraction_bits{:+}", delta), result, row_.model->result_fraction_bits + delta);
    }
  }

  /// One and two elements more and fewer per step, and half and twice as many, if K is longer than the shorter of the two steps.
  void change_step() {
    if (row_.semantics != Semantics::dot) return;
    const int bits = form_.operand(OperandName::a).fragment.element_bits();
    const int elements = row_.model->step_bytes * 8 / bits;
    const auto add_step = [&](std::string change, int mutated) {
      if (mutated > 0 && form_.stored_k() > std::min(elements, mutated)) add(std::move(change), column("step_bytes"), mutated * bits / 8);
    };
    for (const int delta : deltas) add_step(fmt::format("step {:+} element{}", delta, delta * delta == 1 ? "" : "s"), elements + delta);
    add_step("step halved", elements / 2);
    add_step("step doubled", elements * 2);
  }

  /// Changes the floor, if the higher of the two floors truncates the lowest bit of some product.
  void change_floor() {
    const ModelColumn& floor = column(sums_in_f32() ? "floor_f32" : "floor_f16");
    const int value = row_.model->*floor.member;
    if (value == no_floor) return;
    for (const int delta : deltas)
      if (cuts_products(std::max(value, value + delta))) add(fmt::format("{}{:+}", floor.name, delta), floor, value + delta);
    if (cuts_products(value)) add(fmt::format("{} none", floor.name), floor, no_floor);
  }

  bool cuts_products(int floor) const {
    const auto lowest_bit = [&](OperandName name) {
      const FormatRow& f = row(form_.format(name));
      return min_exponent(f) - f.fraction_bits;
    };
    return lowest_bit(OperandName::a) + lowest_bit(OperandName::b) < floor - row_.model->fraction_bits;
  }

  const Form& form_;
  const Lowering& row_;
  std::vector<Mutant> mutants_;
};

}  // namespace

std::vector<Mutant> mutants_of(const Form& form, const Lowering& row) {
  return Maker(form, row).all();
}

std::vector<Mutant> layout_mutants_of(const Form& form) {
  std::vector<Mutant> mutants;
  for (const Exchange& exchange : exchanges_of(form)) mutants.push_back({text(form, exchange), {}, exchange});
  return mutants;
}

}  // namespace warpmat

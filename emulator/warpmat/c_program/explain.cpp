// The C interface of explanations.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/core.h>

#include <warpmat/c_explain.h>
#include <warpmat/c_program/handles.h>
#include <warpmat/c_program/staged_operands.h>
#include <warpmat/explain.h>
#include <warpmat/lists/statement_call.h>

using namespace warpmat;
using namespace warpmat::c;

struct warpmat_explanation {
  warpmat::Explanation explanation;
  std::string text = explanation_text(explanation);
};

namespace {

// Enumerators of C have the numbers of C++.
static_assert(static_cast<int>(ExplainedStep::Kind::integer_sum) == WARPMAT_INTEGER_SUM);
static_assert(static_cast<int>(ExplainedStep::Kind::nan_of_scale) == WARPMAT_NAN_OF_SCALE);
static_assert(static_cast<int>(Rounding::up) == WARPMAT_UP && static_cast<int>(Rounding::toward_zero) == WARPMAT_TOWARD_ZERO);
static_assert(static_cast<int>(Value::Kind::infinity) == WARPMAT_INFINITY && static_cast<int>(Value::Kind::nan) == WARPMAT_NAN);

Element element_of(warpmat_element element) {
  return {element.row, element.column, element.matrix};
}
warpmat_element given(const Element& element) {
  return {element.row, element.column, element.matrix};
}
warpmat_place given(const Place& place) {
  return {place.lane, place.reg, place.bit};
}
warpmat_place given(const std::optional<Place>& place) {
  return place ? given(*place) : warpmat_place{-1, 0, 0};
}
warpmat_value given(const Value& value) {
  return {static_cast<warpmat_value_kind>(value.kind), value.negative, value.exponent, value.fraction_bits, value.significand};
}
warpmat_factor given(const Factor& factor) {
  return {static_cast<warpmat_operand>(factor.operand), given(factor.element), given(factor.place), factor.bits, given(factor.value)};
}

/// Element `index` of `all`; nullptr for other numbers.
template <typename T>
const T* numbered(const std::vector<T>& all, int index) {
  return index >= 0 && static_cast<std::size_t>(index) < all.size() ? &all[static_cast<std::size_t>(index)] : nullptr;
}

const Term* find_term(const warpmat_explanation* explanation, int step, int index) {
  const ExplainedStep* const found = explanation == nullptr ? nullptr : numbered(explanation->explanation.steps, step);
  return found == nullptr ? nullptr : numbered(found->terms, index);
}

/// What `explain` or `explain_as_f32` makes of one warp of a call.
template <typename Make>
warpmat_explanation* explained(const warpmat_instruction* instruction, const warpmat_call* call, std::size_t warp, warpmat_error* error,
                               Make make) {
  return made(error, [&] {
    const Instruction& matrix = matrix_of(instruction);
    WARPMAT_NEED_SIZE(call, flags, "the call");
    const StagedCall staged(matrix, *call, warp);
    return new warpmat_explanation{make(matrix, staged.get(), execution_of(call->flags))};
  });
}

}  // namespace

warpmat_explanation* warpmat_explain(const warpmat_instruction* instruction, const warpmat_call* call, size_t warp, warpmat_element element,
                                     warpmat_error* error) {
  return explained(instruction, call, warp, error, [&](const Instruction& of, const Call& given, const ExecutionOptions& options) {
    return explain(of, given, element_of(element), options);
  });
}

warpmat_explanation* warpmat_explain_as_f32(const warpmat_instruction* instruction, const warpmat_call* call, size_t warp,
                                            warpmat_element element, warpmat_error* error) {
  return explained(instruction, call, warp, error, [&](const Instruction& of, const Call& given, const ExecutionOptions& options) {
    return explain_as_f32(of.form(), of.target(), of.lowering(), given, element_of(element), options);
  });
}

warpmat_explanation* warpmat_warp_explain(warpmat_warp* warp, const char* statement, warpmat_element element, unsigned flags,
                                          warpmat_error* error) {
  return made(error, [&] {
    need(warp, "the warp");
    need(statement, "the statement");
    need_known_flags(flags, WARPMAT_REFERENCE_PATH | WARPMAT_UNDEFINED_AS_HARDWARE);
    const Program& program = warp->warp.program();
    const Statement& found = *program.matrix_statements()[find_statement(program, statement)];
    const StatementCall staged(warp->warp, found);
    return new warpmat_explanation{explain(*found.matrix(), staged.get(), element_of(element), execution_of(flags))};
  });
}

void warpmat_explanation_free(warpmat_explanation* explanation) {
  delete explanation;
}

const char* warpmat_explanation_text(const warpmat_explanation* explanation) {
  return explanation == nullptr ? nullptr : explanation->text.c_str();
}

warpmat_status warpmat_explanation_describe(const warpmat_explanation* explanation, warpmat_explanation_info* info) {
  if (explanation == nullptr || info == nullptr || !WARPMAT_HAS_SIZE(info, memory_bit)) return WARPMAT_BAD_ARGUMENT;
  const Explanation& of = explanation->explanation;
  const ExplainedMove move = of.move.value_or(ExplainedMove{});
  const ExplainedMove::Memory memory = move.memory.value_or(ExplainedMove::Memory{-1, 0, 0, 0});
  const warpmat_explanation_info all{info->size,
                                     of.as.c_str(),
                                     of.machine.c_str(),
                                     static_cast<warpmat_operand>(of.operand),
                                     given(of.element),
                                     given(of.place),
                                     of.result,
                                     static_cast<int>(of.steps.size()),
                                     given(move.from_register),
                                     given(move.to_register),
                                     memory.lane,
                                     memory.address,
                                     memory.bit};
  copy_out(all, info);
  return WARPMAT_OK;
}

warpmat_status warpmat_explanation_step(const warpmat_explanation* explanation, int index, warpmat_step* step) {
  const ExplainedStep* const of = explanation == nullptr ? nullptr : numbered(explanation->explanation.steps, index);
  if (of == nullptr || step == nullptr || !WARPMAT_HAS_SIZE(step, sum)) return WARPMAT_BAD_ARGUMENT;
  const warpmat_step all{step->size,
                         static_cast<warpmat_step_kind>(of->kind),
                         static_cast<int>(of->format),
                         static_cast<int>(of->from),
                         static_cast<warpmat_rounding>(of->rounding),
                         of->addend,
                         of->other,
                         of->result,
                         static_cast<int>(of->terms.size()),
                         of->special,
                         of->largest_exponent,
                         of->unit_exponent,
                         of->sum};
  copy_out(all, step);
  return WARPMAT_OK;
}

warpmat_status warpmat_explanation_term(const warpmat_explanation* explanation, int step, int index, warpmat_term* term) {
  const Term* const of = find_term(explanation, step, index);
  if (of == nullptr || term == nullptr || !WARPMAT_HAS_SIZE(term, scales)) return WARPMAT_BAD_ARGUMENT;
  copy_out(warpmat_term{term->size, given(of->value), of->kept, static_cast<int>(of->products.size()), static_cast<int>(of->scales.size())},
           term);
  return WARPMAT_OK;
}

warpmat_status warpmat_explanation_product(const warpmat_explanation* explanation, int step, int term, int index, warpmat_factor* a,
                                           warpmat_factor* b) {
  const Term* const of = find_term(explanation, step, term);
  const Term::Product* const product = of == nullptr ? nullptr : numbered(of->products, index);
  if (product == nullptr || a == nullptr || b == nullptr) return WARPMAT_BAD_ARGUMENT;
  *a = given(product->a);
  *b = given(product->b);
  return WARPMAT_OK;
}

warpmat_status warpmat_explanation_scale(const warpmat_explanation* explanation, int step, int term, int index, warpmat_factor* scale) {
  const Term* const of = find_term(explanation, step, term);
  const Factor* const factor = of == nullptr ? nullptr : numbered(of->scales, index);
  if (factor == nullptr || scale == nullptr) return WARPMAT_BAD_ARGUMENT;
  *scale = given(*factor);
  return WARPMAT_OK;
}

warpmat_status warpmat_explanations_part(const warpmat_explanation* first, const warpmat_explanation* second, warpmat_parting* parts,
                                         warpmat_error* error) {
  return done(error, [&] {
    need(first, "the first explanation");
    need(second, "the second explanation");
    WARPMAT_NEED_SIZE(parts, text, "parting");
    warpmat_parting all{};
    all.first = all.second = -1;
    if (const auto found = parting(first->explanation, second->explanation)) {
      all.first = static_cast<int>(found->first);
      all.second = static_cast<int>(found->second);
    }
    parting_text(first->explanation, second->explanation).copy(all.text, sizeof all.text - 1);
    copy_out(all, parts);
  });
}

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <memory>

#include <warpmat/execute/fast/bounds.h>
#include <warpmat/execute/fast/fast.h>
#include <warpmat/forms.h>
#include <warpmat/layout.h>
#include <warpmat/numeric/persistent.h>

namespace warpmat {
namespace {

/// Exponents by fraction of elements whose exponent field is 0, of formats of at most 8 bits. With `normal` each has that of its leading
/// bit.
std::array<std::int8_t, 16> subnormal_exponents(const FormatRow& f, bool normal) {
  std::array<std::int8_t, 16> exponents{};
  exponents[0] = bounds::no_byte_exponent;
  for (unsigned fraction = 1; fraction < exponents.size(); ++fraction) {
    const int below = f.fraction_bits - static_cast<int>(std::bit_width(fraction)) + 1;  // the leading bit's place below 1
    exponents[fraction] = static_cast<std::int8_t>(1 - bias(f) - (normal ? std::max(below, 0) : 0));
  }
  return exponents;
}

/// `become_f16`: they are normal numbers where the unit has made them f16.
Elements elements(const Operand& operand, bool become_f16) {
  const FormatRow& f = row(*operand.format);
  const bool normal = become_f16 && bias(f) < bias(row(Format::f16));
  return {.bits = f.bits,
          .shift = operand.fragment.payload_shift(),
          .fraction_bits = f.fraction_bits,
          .exponent_bits = f.exponent_bits,
          .bias = bias(f),
          .largest = static_cast<int>(largest_finite(f.format, false)),
          .has_one_nan = f.specials == Specials::one_nan,
          .subnormal_exponents = f.bits > 8 ? std::array<std::int8_t, 16>{} : subnormal_exponents(f, normal)};
}

/// Whether the operands fit the kernels' capacity.
bool fits(const Form& form, int a_words, int b_words) {
  const bool sparse = form.sparsity != Sparsity::dense;
  return (form.shape.m == 16 || form.shape.m == 8) && form.shape.n == 8 && a_words <= max_row_words &&
         b_words <= (sparse ? 2 : 1) * max_row_words;
}

/// Whether an f32 result keeps all its bits, as all kernels but those of execute_dot require.
bool keeps_all_bits(const DotModel& model) {
  return model.result_fraction_bits == row(Format::f32).fraction_bits;
}

BitPlace bit_place(const Fragment& fragment, const Element& element) {
  const Place place = fragment.place(element);
  return {static_cast<std::uint8_t>(place.lane), static_cast<std::uint8_t>(place.bit)};
}

/// Index bits are independent (layout.h), so the place of an element is the sum of the places of its coordinates.
MetadataPlan metadata_plan(const Form& form) {
  const Fragment& e = form.operand(OperandName::e).fragment;
  MetadataPlan plan{};
  plan.ordered = form.sparsity == Sparsity::sparse_ordered;
  plan.pairs = metadata_group(form) == 2;
  plan.selector_count = e.matrices();
  int groups = 1;  // whose codes are adjacent
  while (groups < e.columns() && e.place({0, groups, 0}).lane == 0 && e.place({0, groups, 0}).bit == groups * e.element_bits()) ++groups;
  plan.piece_bits = groups * e.element_bits();
  plan.piece_count = e.columns() / groups;
  for (int row = 0; row < e.rows(); ++row) {
    const Place place = e.place({row, 0, 0});
    plan.row_lanes[static_cast<std::size_t>(row)] = place.lane;
    plan.row_bits[static_cast<std::size_t>(row)] = static_cast<std::uint32_t>(place.bit);
  }
  for (int i = 0; i < plan.piece_count; ++i) plan.pieces[static_cast<std::size_t>(i)] = bit_place(e, {0, i * groups, 0});
  for (int i = 0; i < plan.selector_count; ++i) plan.selectors[static_cast<std::size_t>(i)] = bit_place(e, {0, 0, i});
  return plan;
}

ScalePlan scale_plan(const Fragment& fragment, bool of_a) {
  ScalePlan plan;
  for (int i = 0; i < (of_a ? fragment.rows() : fragment.columns()); ++i)
    plan.lines[static_cast<std::size_t>(i)] = bit_place(fragment, of_a ? Element{i, 0, 0} : Element{0, i, 0});
  for (int i = 0; i < fragment.matrices(); ++i) plan.matrices[static_cast<std::size_t>(i)] = bit_place(fragment, {0, 0, i});
  return plan;
}

/// For `groups` groups of products, which share `vector` factors.
ScalePlan grouped_scale_plan(const Fragment& fragment, bool of_a, int groups, int vector) {
  ScalePlan plan = scale_plan(fragment, of_a);
  for (int i = 0; i < groups; ++i) {
    const int factor = i * vector / groups;
    plan.groups[static_cast<std::size_t>(i)] = bit_place(fragment, of_a ? Element{0, factor, 0} : Element{factor, 0, 0});
  }
  return plan;
}

/// The factors of `format`, times `unit`.
std::vector<GroupedPlan::Factor> factors(Format format, double unit) {
  std::vector<GroupedPlan::Factor> all;
  for (std::uint64_t code = 0; code < std::uint64_t{1} << row(format).bits; ++code) {
    const Value factor = decode(format, code);
    all.push_back({to_double(format, code) * unit, factor.kind == Value::Kind::zero ? bounds::no_exponent : factor.exponent});
  }
  return all;
}

}  // namespace

std::optional<FloatPlan> float_plan(const Form& form, const Lowering& lowering) {
  const bool split = lowering.semantics == Semantics::split_dot;
  if (lowering.semantics != Semantics::dot && !split) return std::nullopt;
  const Operand& a = form.operand(OperandName::a);
  const Operand& b = form.operand(OperandName::b);
  const int container_bits = a.fragment.element_bits();
  FloatPlan plan;
  plan.a = elements(a, split);
  plan.b = elements(b, split);
  plan.container_bits = container_bits;
  plan.wide = plan.a.exponent_bits == row(Format::f32).exponent_bits;
  plan.a_words = form.stored_k() * container_bits / 32;
  plan.b_words = form.shape.k * container_bits / 32;
  if (form.shape.m != 16 || !fits(form, plan.a_words, plan.b_words)) return std::nullopt;
  plan.step_words = lowering.model->step_bytes / 4;
  plan.split = split;
  plan.fraction_bits = lowering.model->fraction_bits;
  plan.result_fraction_bits = lowering.model->result_fraction_bits;
  if (container_bits != 8 && plan.result_fraction_bits != row(Format::f32).fraction_bits) return std::nullopt;  // measured for fp8 only
  plan.floor = lowering.model->floor(form.format(OperandName::d));
  plan.f16_accumulator = form.format(OperandName::d) == Format::f16;
  // The kernels do not support these.
  if ((plan.split && container_bits != 8) || (plan.wide && plan.f16_accumulator)) return std::nullopt;
  plan.padding_a = padding_bits(a.fragment);
  plan.padding_b = padding_bits(b.fragment);
  plan.sparse = form.sparsity != Sparsity::dense;
  if (plan.sparse) plan.metadata = metadata_plan(form);
  plan.scaled = form.scale_vector != 0;
  if (plan.scaled && (plan.split || plan.f16_accumulator)) return std::nullopt;
  if (plan.scaled) {
    plan.scale_a = scale_plan(form.operand(OperandName::scale_a).fragment, true);
    plan.scale_b = scale_plan(form.operand(OperandName::scale_b).fragment, false);
  }
  return plan;
}

std::optional<GroupedPlan> grouped_plan(const Form& form, const Lowering& lowering) {
  if (lowering.semantics != Semantics::grouped_dot || !keeps_all_bits(*lowering.model)) return std::nullopt;
  if (lowering.model->floor(form.format(OperandName::d)) != no_floor) return std::nullopt;
  const Format format = form.format(OperandName::a);
  GroupedPlan plan;
  plan.a_words = form.stored_k() * row(format).bits / 32;
  plan.b_words = form.shape.k * row(format).bits / 32;
  if (form.shape.m != 16 || !fits(form, plan.a_words, plan.b_words)) return std::nullopt;
  const double unit = to_double(format, 1);
  for (std::size_t code = 0; code < plan.elements.size(); ++code)
    plan.elements[code] = static_cast<std::int8_t>(to_double(format, code) / unit);
  plan.factors = factors(form.format(OperandName::scale_a), unit);
  plan.fraction_bits = lowering.model->fraction_bits;
  const int groups = form.stored_k() / static_cast<int>(group_elements);
  plan.scale_a = grouped_scale_plan(form.operand(OperandName::scale_a).fragment, true, groups, form.scale_vector);
  plan.scale_b = grouped_scale_plan(form.operand(OperandName::scale_b).fragment, false, groups, form.scale_vector);
  plan.sparse = form.sparsity != Sparsity::dense;
  if (plan.sparse) plan.metadata = metadata_plan(form);
  return plan;
}

std::optional<M8n8k4Plan> m8n8k4_plan(const Form& form, const Lowering& lowering) {
  const bool fused = lowering.semantics == Semantics::m8n8k4_fma;
  const bool in_unit = lowering.semantics == Semantics::m8n8k4_dot && keeps_all_bits(*lowering.model);
  if (!in_unit && !fused) return std::nullopt;
  const Format result = form.format(OperandName::d);
  return M8n8k4Plan{.fused = fused,
                    .a_along_k = form.operand(OperandName::a).fragment.place({0, 1, 0}).lane == 0,
                    .b_along_k = form.operand(OperandName::b).fragment.place({1, 0, 0}).lane == 0,
                    .f16_c = form.format(OperandName::c) == Format::f16,
                    .f16_d = result == Format::f16,
                    .nan = static_cast<std::uint32_t>(canonical_nan(result)),
                    .fraction_bits = fused ? 0 : lowering.model->fraction_bits,
                    .floor = fused ? no_floor : lowering.model->floor(result),
                    .least_exponent = min_exponent(row(form.format(OperandName::a))),
                    .min_c_exponent = min_exponent(row(result))};
}

std::optional<IntegerPlan> integer_plan(const Form& form, const Lowering& lowering) {
  if (lowering.semantics != Semantics::integer_dot && lowering.semantics != Semantics::bit_dot) return std::nullopt;
  IntegerPlan plan;
  plan.rows = form.shape.m;
  plan.element_bits = row(form.format(OperandName::a)).bits;
  plan.signed_a = row(form.format(OperandName::a)).is_signed;
  plan.signed_b = row(form.format(OperandName::b)).is_signed;
  plan.a_words = form.stored_k() * plan.element_bits / 32;
  plan.b_words = form.shape.k * plan.element_bits / 32;
  if (!fits(form, plan.a_words, plan.b_words)) return std::nullopt;
  plan.saturate = form.satfinite;
  plan.bit_xor = form.bit_operation == BitOperation::bit_xor;
  plan.sparse = form.sparsity != Sparsity::dense;
  if (plan.sparse) plan.metadata = metadata_plan(form);
  return plan;
}

std::optional<F64Plan> f64_plan(const Form& form, const Lowering& lowering) {
  if (lowering.semantics != Semantics::f64_chain) return std::nullopt;
  if (form.shape.k > max_f64_k || !fits(form, 0, 0)) return std::nullopt;
  return F64Plan{form.shape.m, form.shape.k, form.rounding};
}

std::optional<MovePlan> move_plan(const Form& form, const Lowering& lowering) {
  const bool load = lowering.semantics == Semantics::ldmatrix;
  const bool store = lowering.semantics == Semantics::stmatrix, move = lowering.semantics == Semantics::movmatrix;
  if (!load && !store && !move) return std::nullopt;
  MovePlan plan;
  plan.kind = load ? MovePlan::Kind::load : store ? MovePlan::Kind::store : MovePlan::Kind::move;
  plan.matrices = form.number;
  plan.transposed = form.transposed;
  plan.memory_bits = form.memory_bits;
  if (move) return plan;
  plan.row_lanes = form.rows_in_memory();
  plan.address_lanes = lowering.exceptions.checks_all_addresses ? warp_size : plan.row_lanes;
  const Fragment& fragment = form.operand(OperandName::r).fragment;
  if (fragment.element_bits() != 8) return plan;
  plan.table.resize(static_cast<std::size_t>(fragment.registers()) * warp_size * sizeof(std::uint32_t));
  std::size_t of_registers = 0;
  for (int reg = 0; reg < fragment.registers(); ++reg)
    for (int lane = 0; lane < warp_size; ++lane)
      for (int bit = 0; bit < 32; bit += 8) {
        const RowPlace place = form.row_place(fragment.element({lane, reg, bit}));
        const auto of_rows = static_cast<std::size_t>(place.lane * Form::row_bytes + place.bit / form.memory_bits);
        const std::size_t of_register = of_registers % (warp_size * sizeof(std::uint32_t));
        plan.table[store ? of_rows : of_registers] = static_cast<std::uint16_t>(store ? of_register : of_rows);
        ++of_registers;
      }
  return plan;
}

namespace {

/// Whether some of the registers share a word. The common case, registers in ascending order, is checked first.
bool share_words(std::span<std::uint32_t* const> registers) {
  const auto follows_in_memory = [](const std::uint32_t* before, const std::uint32_t* reg) {
    return reinterpret_cast<std::uintptr_t>(reg) >= reinterpret_cast<std::uintptr_t>(before) + sizeof(std::uint32_t) * warp_size;
  };
  std::size_t ordered = 1;
  while (ordered < registers.size() && follows_in_memory(registers[ordered - 1], registers[ordered])) ++ordered;
  for (std::size_t i = ordered; i < registers.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (overlap(registers[i], registers[j])) return true;
  return false;
}

}  // namespace

namespace {

/// Whether the kernel of `plan` supports `operand` lane by lane.
bool can_take_lanes(const FastPath::Plan& plan, const Operand& operand) {
  if (std::holds_alternative<F64Plan>(plan)) return true;
  const IntegerPlan* const integers = std::get_if<IntegerPlan>(&plan);
  if (integers != nullptr ? integers->rows != 16 : !std::holds_alternative<FloatPlan>(plan)) return false;
  const int words = operand.words();
  switch (operand.name) {
    case OperandName::a:
    case OperandName::c:
    case OperandName::d: return words == 4;
    case OperandName::b: return words == 1 || words == 2 || words == 4;
    default: return false;
  }
}

}  // namespace

FastPath::FastPath(const Form& form, Plan plan)
    : form_(form),
      plan_(std::move(plan)),
      product_(form.mnemonic == Mnemonic::mma && std::ranges::equal(form.operands, product_order, {}, &Operand::name)) {
  for (const Operand& operand : form.operands) lanes_[static_cast<std::size_t>(operand.name)] = can_take_lanes(plan_, operand);
  all_lanes_ = std::ranges::all_of(product_order, [&](OperandName name) { return takes_lanes(name); });
}

std::size_t FastPath::execute(const Warps& warps) const {
  if (!warps.apart && warps.written.is_list() && share_words(warps.written.list())) return 0;
  struct Run {
    const Form& form;
    const Warps& warps;
    std::size_t operator()(const FloatPlan& plan) const { return fast_float_dot(plan, form, warps); }
    std::size_t operator()(const GroupedPlan& plan) const { return fast_grouped_dot(plan, form, warps); }
    std::size_t operator()(const M8n8k4Plan& plan) const { return fast_m8n8k4_dot(plan, form, warps); }
    std::size_t operator()(const IntegerPlan& plan) const { return fast_integer_dot(plan, form, warps); }
    std::size_t operator()(const F64Plan& plan) const { return fast_f64(plan, form, warps); }
    std::size_t operator()(const MovePlan& plan) const { return fast_move(plan, form, warps); }
    std::size_t operator()(const TilePlan& plan) const { return fast_tiled_dot(plan, form, warps); }
  };
  return std::visit(Run{form_, warps}, plan_);
}

bool FastPath::execute_chain(std::span<const Warps> chain) const {
  if (const auto* const plan = std::get_if<FloatPlan>(&plan_)) return fast_float_chain(*plan, form_, chain);
  if (const auto* const plan = std::get_if<IntegerPlan>(&plan_)) return fast_integer_chain(*plan, form_, chain);
  return false;
}

namespace {

std::optional<FastPath::Plan> make_plan(const Form& form, const Lowering& lowering) {
  if (form.mnemonic == Mnemonic::wmma_mma) {
    if (const auto plan = tile_plan(form, lowering)) return *plan;
    return std::nullopt;
  }
  if (const auto plan = float_plan(form, lowering)) return *plan;
  if (const auto plan = grouped_plan(form, lowering)) return *plan;
  if (const auto plan = m8n8k4_plan(form, lowering)) return *plan;
  if (const auto plan = integer_plan(form, lowering)) return *plan;
  if (const auto plan = f64_plan(form, lowering)) return *plan;
  if (const auto plan = move_plan(form, lowering)) return *plan;
  return std::nullopt;
}

/// The fast path of a form under each of its lowerings; empty if there is no kernel.
using FoundPaths = PersistentMap<const Lowering*, std::optional<FastPath>>;

FoundPaths& found_paths(const Form& form) {
  static constinit Persistent<std::unique_ptr<FoundPaths[]>> all;
  const auto& paths = all.get([] { return std::make_unique<FoundPaths[]>(most_form_numbers()); });
  return paths[number_of(form)];
}

}  // namespace

const FastPath* find_fast_path(const Form& form, const Lowering& lowering) {
  assert(listed(form) == &form);
  const std::optional<FastPath>& path = found_paths(form).get(&lowering, [&]() -> std::optional<FastPath> {
    if (auto plan = make_plan(form, lowering)) return FastPath(form, std::move(*plan));
    return std::nullopt;
  });
  return path ? &*path : nullptr;
}

}  // namespace warpmat

#include <warpmat/ptx/program/tensor_statement.h>

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace warpmat::inline v0_1::code {
namespace {

using catalogue::Match;
using catalogue::Qualifier;
using TensorAction = TensorStatement::Action;

struct ActionName {
  Qualifier qualifier;
  TensorAction action;
};
constexpr std::array names{ActionName{Qualifier::alloc, TensorAction::allocate},
                           ActionName{Qualifier::dealloc, TensorAction::deallocate},
                           ActionName{Qualifier::relinquish_alloc_permit, TensorAction::relinquish},
                           ActionName{Qualifier::ld, TensorAction::load},
                           ActionName{Qualifier::st, TensorAction::store},
                           ActionName{Qualifier::wait_ld, TensorAction::wait_load},
                           ActionName{Qualifier::wait_st, TensorAction::wait_store},
                           ActionName{Qualifier::fence_before_thread_sync, TensorAction::fence_before},
                           ActionName{Qualifier::fence_after_thread_sync, TensorAction::fence_after},
                           ActionName{Qualifier::commit, TensorAction::commit},
                           ActionName{Qualifier::cp, TensorAction::copy},
                           ActionName{Qualifier::shift, TensorAction::shift},
                           ActionName{Qualifier::mma, TensorAction::multiply}};

struct ReductionName {
  Qualifier operation;
  std::string_view type;
  TensorStatement::Reduction reduction;
};
constexpr std::array reductions{ReductionName{Qualifier::min, "u32", TensorStatement::Reduction::min_u32},
                                ReductionName{Qualifier::max, "u32", TensorStatement::Reduction::max_u32},
                                ReductionName{Qualifier::min, "s32", TensorStatement::Reduction::min_s32},
                                ReductionName{Qualifier::max, "s32", TensorStatement::Reduction::max_s32},
                                ReductionName{Qualifier::min, "f32", TensorStatement::Reduction::min_f32},
                                ReductionName{Qualifier::max, "f32", TensorStatement::Reduction::max_f32}};

bool has_own_features(const Target& target) {
  return target.features == Target::Features::architecture;
}

std::optional<std::string> target_refusal(const Match& match, std::string_view opcode, const Target& target) {
  if (!has_own_features(target) && (match.has(Qualifier::down) || match.has(Qualifier::scale_vec_1X) ||
                                    match.has(Qualifier::scale_vec_2X) || match.has(Qualifier::scale_vec_4X)))
    return fmt::format("{} needs sm_100a, sm_103a or sm_110a; the target is {}", opcode, target.name);
  if (match.has(Qualifier::red) && target.number == 100)
    return fmt::format("{} needs sm_103f or sm_110f; the target is {}", opcode, target.name);
  return std::nullopt;
}

std::optional<std::string> describe_transfer(const Match& match, std::string_view opcode, TensorStatement& statement) {
  Transfer& transfer = statement.transfer;
  transfer.halves = match.has(Qualifier::pack_16b) || match.has(Qualifier::unpack_16b);
  for (const std::string_view qualifier : match.qualifiers) {
    if (const TransferShape* shape = find_transfer_shape(qualifier.substr(1))) transfer.shape = shape;
    if (qualifier.starts_with(".x")) transfer.repeats = std::stoi(std::string(qualifier.substr(2)));
  }
  const auto* const reduction = std::ranges::find_if(reductions, [&](const ReductionName& r) {
    return match.has(Qualifier::red) && match.has(r.operation) && match.types.back()->name == r.type;
  });
  if (reduction != reductions.end()) {
    statement.reduction = reduction->reduction;
    statement.absolute = match.has(Qualifier::abs);
    statement.nan = match.has(Qualifier::NaN);
  }
  if (transfer.registers() <= max_transfer_registers) return std::nullopt;
  return fmt::format("{} would move {} registers; {} are the most, with .x{}", opcode, transfer.registers(), max_transfer_registers,
                     max_transfer_registers / transfer.shape->registers);
}

std::optional<std::string> describe_product(const Match& match, std::string_view opcode, const Target& target, TensorStatement& statement) {
  for (const std::string_view qualifier : match.qualifiers)
    if (const TensorKind* kind = find_tensor_kind(qualifier.substr(1))) statement.kind = kind;
  statement.variant = tensor_variant(*statement.kind, match.qualifiers);
  statement.variant.has_k96 = has_k96(target);
  statement.shifts_a = match.has(Qualifier::ashift);
  return product_refusal(opcode, *statement.kind, statement.variant, target);
}

void describe_copy(const Match& match, TensorStatement& statement) {
  const auto spells = [&](std::string_view name) {
    return std::ranges::any_of(match.qualifiers, [&](std::string_view qualifier) { return qualifier.substr(1) == name; });
  };
  for (const CopyShape& shape : copy_shapes()) {
    const std::size_t dot = std::min(shape.name.find('.'), shape.name.size());
    if (spells(shape.name.substr(0, dot)) && (dot == shape.name.size() || spells(shape.name.substr(dot + 1)))) statement.shape = &shape;
  }
  statement.unpacked_bits = match.has(Qualifier::b4x16_p64) ? 4 : match.has(Qualifier::b6x16_p32) ? 6 : 0;
}

}  // namespace

std::string_view type_of(TensorStatement::Reduction reduction) {
  const auto* const found = std::ranges::find(reductions, reduction, &ReductionName::reduction);
  return found == reductions.end() ? std::string_view() : found->type;
}

std::optional<std::string> product_refusal(std::string_view opcode, const TensorKind& kind, const TensorVariant& variant,
                                           const Target& target) {
  const bool own = has_own_features(target);
  if (kind.results.front().format == Format::s32 && !(own && (target.number == 100 || target.number == 110)))
    return fmt::format("{} needs sm_100a or sm_110a; the target is {}", opcode, target.name);
  if (variant.sparse && (kind.of_tile == warpmat::Kind::mxf4 || kind.of_tile == warpmat::Kind::mxf4nvf4) && !own)
    return fmt::format("{} needs sm_100a, sm_103a or sm_110a; the target is {}", opcode, target.name);
  return std::nullopt;
}

DescribedTensorStatement describe_tensor_statement(const Match& match, std::string_view opcode, const Target& target) {
  DescribedTensorStatement described;
  TensorStatement& statement = described.statement;
  const auto first = catalogue::find_qualifier(match.qualifiers.front());
  statement.action = std::ranges::find_if(names, [&](const ActionName& action) { return action.qualifier == first; })->action;
  statement.multicast = match.has(Qualifier::multicast_cluster);
  if (match.has(Qualifier::shared_cta) || match.has(Qualifier::shared_cluster)) statement.space = Space::shared;
  statement.variant.group = match.has(Qualifier::cta_group_2) ? 2 : 1;
  described.problem = target_refusal(match, opcode, target);
  if (described.problem) return described;
  switch (statement.action) {
    case TensorAction::load:
    case TensorAction::store: described.problem = describe_transfer(match, opcode, statement); break;
    case TensorAction::multiply: described.problem = describe_product(match, opcode, target, statement); break;
    case TensorAction::copy: describe_copy(match, statement); break;
    default: break;
  }
  return described;
}

}  // namespace warpmat::inline v0_1::code

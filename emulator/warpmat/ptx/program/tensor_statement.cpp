#include <warpmat/ptx/program/tensor_statement.h>

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace warpmat::inline v0_1::code {
namespace {

using catalogue::Match;
using TensorAction = TensorStatement::Action;

struct ActionName {
  std::string_view qualifier;
  TensorAction action;
};
constexpr std::array names{ActionName{".alloc", TensorAction::allocate},
                           ActionName{".dealloc", TensorAction::deallocate},
                           ActionName{".relinquish_alloc_permit", TensorAction::relinquish},
                           ActionName{".ld", TensorAction::load},
                           ActionName{".st", TensorAction::store},
                           ActionName{".wait::ld", TensorAction::wait_load},
                           ActionName{".wait::st", TensorAction::wait_store},
                           ActionName{".fence::before_thread_sync", TensorAction::fence_before},
                           ActionName{".fence::after_thread_sync", TensorAction::fence_after},
                           ActionName{".commit", TensorAction::commit},
                           ActionName{".cp", TensorAction::copy},
                           ActionName{".shift", TensorAction::shift},
                           ActionName{".mma", TensorAction::multiply}};

struct ReductionName {
  std::string_view operation, type;
  TensorStatement::Reduction reduction;
};
constexpr std::array reductions{
    ReductionName{".min", ".u32", TensorStatement::Reduction::min_u32}, ReductionName{".max", ".u32", TensorStatement::Reduction::max_u32},
    ReductionName{".min", ".s32", TensorStatement::Reduction::min_s32}, ReductionName{".max", ".s32", TensorStatement::Reduction::max_s32},
    ReductionName{".min", ".f32", TensorStatement::Reduction::min_f32}, ReductionName{".max", ".f32", TensorStatement::Reduction::max_f32}};

/// The qualifier directly behind `tcgen05`.
std::string_view first_qualifier(std::string_view opcode) {
  const std::string_view rest = opcode.substr(std::min(opcode.find('.'), opcode.size()));
  return rest.substr(0, rest.find('.', 1));
}

bool has_own_features(const Target& target) {
  return target.features == Target::Features::architecture;
}

std::optional<std::string> target_refusal(const Match& match, std::string_view opcode, const Target& target) {
  if (!has_own_features(target) &&
      (match.has(".down") || match.has(".scale_vec::1X") || match.has(".scale_vec::2X") || match.has(".scale_vec::4X")))
    return fmt::format("{} needs sm_100a, sm_103a or sm_110a; the target is {}", opcode, target.name);
  if (match.has(".red") && target.number == 100) return fmt::format("{} needs sm_103f or sm_110f; the target is {}", opcode, target.name);
  return std::nullopt;
}

std::optional<std::string> describe_transfer(const Match& match, std::string_view opcode, TensorStatement& statement) {
  Transfer& transfer = statement.transfer;
  transfer.halves = match.has(".pack::16b") || match.has(".unpack::16b");
  for (const std::string_view qualifier : match.qualifiers) {
    if (const TransferShape* shape = find_transfer_shape(qualifier.substr(1))) transfer.shape = shape;
    if (qualifier.starts_with(".x")) transfer.repeats = std::stoi(std::string(qualifier.substr(2)));
  }
  const auto* const reduction = std::ranges::find_if(
      reductions, [&](const ReductionName& r) { return match.has(".red") && match.has(r.operation) && match.has(r.type); });
  if (reduction != reductions.end()) {
    statement.reduction = reduction->reduction;
    statement.absolute = match.has(".abs");
    statement.nan = match.has(".NaN");
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
  statement.shifts_a = match.has(".ashift");
  if (statement.variant.sparse && statement.variant.weights && opcode.find(".sp") < opcode.find(".ws"))
    return fmt::format("{}: .ws stands before .sp", opcode);
  return product_refusal(opcode, *statement.kind, statement.variant, target);
}

void describe_copy(const Match& match, TensorStatement& statement) {
  for (const CopyShape& shape : copy_shapes()) {
    const std::size_t multicast = shape.name.find('.');
    const bool same = match.has("." + std::string(shape.name.substr(0, multicast))) &&
                      (multicast == std::string_view::npos || match.has(shape.name.substr(multicast)));
    if (same) statement.shape = &shape;
  }
  statement.unpacked_bits = match.has(".b4x16_p64") ? 4 : match.has(".b6x16_p32") ? 6 : 0;
}

}  // namespace

std::string_view type_of(TensorStatement::Reduction reduction) {
  const auto* const found = std::ranges::find(reductions, reduction, &ReductionName::reduction);
  return found == reductions.end() ? std::string_view() : found->type.substr(1);
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
  const auto* const name = std::ranges::find(names, first_qualifier(opcode), &ActionName::qualifier);
  if (name == names.end()) {
    described.problem = catalogue::explain_unknown_row(std::string(opcode));
    return described;
  }
  statement.action = name->action;
  statement.multicast = match.has(".multicast::cluster");
  if (match.has(".shared::cta") || match.has(".shared::cluster")) statement.space = Space::shared;
  statement.variant.group = match.has(".cta_group::2") ? 2 : 1;
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

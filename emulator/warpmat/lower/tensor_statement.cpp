#include <warpmat/lower/tensor_statement.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <span>

#include <fmt/core.h>

namespace warpmat::code {
namespace {

using catalogue::Match;
using catalogue::Qualifier;
using catalogue::QualifierMeaning;
using TensorAction = TensorStatement::Action;

struct ActionName {
  Qualifier qualifier;
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

struct ReductionRow {
  Qualifier operation;
  const DataType* type;
  TensorStatement::Reduction reduction;
};
std::span<const ReductionRow> reductions() {
  using enum TensorStatement::Reduction;
  static const DataType *const u32 = find_ptx_type("u32"), *const s32 = find_ptx_type("s32"), *const f32 = find_ptx_type("f32");
  static const std::array all{ReductionRow{".min", u32, min_u32}, ReductionRow{".max", u32, max_u32}, ReductionRow{".min", s32, min_s32},
                              ReductionRow{".max", s32, max_s32}, ReductionRow{".min", f32, min_f32}, ReductionRow{".max", f32, max_f32}};
  return all;
}

bool has_own_features(const Target& target) {
  return target.features == Target::Features::architecture;
}

std::optional<std::string> target_refusal(const Match& match, const Target& target) {
  if (!has_own_features(target) &&
      (match.has(".down") || match.has(".scale_vec::1X") || match.has(".scale_vec::2X") || match.has(".scale_vec::4X")))
    return fmt::format("{} needs sm_100a, sm_103a or sm_110a; the target is {}", match.opcode, target.name);
  if (match.has(".red") && target.number == 100)
    return fmt::format("{} needs sm_103f or sm_110f; the target is {}", match.opcode, target.name);
  return std::nullopt;
}

std::optional<std::string> describe_transfer(const Match& match, TensorStatement& statement) {
  const Transfer& transfer = statement.transfer = tensor_transfer_of(match);
  const auto reduction = std::ranges::find_if(
      reductions(), [&](const ReductionRow& r) { return match.has(".red") && match.has(r.operation) && match.types.back() == r.type; });
  if (reduction != reductions().end()) {
    statement.reduction = reduction->reduction;
    statement.absolute = match.has(".abs");
    statement.nan = match.has(".NaN");
  }
  if (transfer.registers() <= max_transfer_registers) return std::nullopt;
  return fmt::format("{} would move {} registers; {} are the most, with .x{}", match.opcode, transfer.registers(), max_transfer_registers,
                     max_transfer_registers / transfer.shape->registers);
}

std::optional<std::string> describe_product(const Match& match, const Target& target, TensorStatement& statement) {
  statement.kind = &tensor_kind_of(match);
  statement.variant = tensor_variant_of(match);
  statement.variant.has_k96 = has_k96(target);
  statement.shifts_a = match.has(".ashift");
  return product_refusal(match.opcode, *statement.kind, statement.variant, target);
}

void describe_copy(const Match& match, TensorStatement& statement) {
  unsigned shapes = ~0u;  // those that have each of the qualifiers of shapes
  for (const QualifierMeaning* const meaning : match.meanings)
    if (meaning->copies != 0) shapes &= meaning->copies;
  statement.shape = &copy_shapes()[static_cast<std::size_t>(std::countr_zero(shapes))];
  statement.unpacked_bits = match.has(".b4x16_p64") ? 4 : match.has(".b6x16_p32") ? 6 : 0;
}

}  // namespace

Transfer tensor_transfer_of(const Match& match) {
  Transfer transfer;
  transfer.halves = match.has(".pack::16b") || match.has(".unpack::16b");
  for (const QualifierMeaning* const meaning : match.meanings) {
    if (meaning->transfer != nullptr) transfer.shape = meaning->transfer;
    if (meaning->repeats != 0) transfer.repeats = meaning->repeats;
  }
  return transfer;
}

const TensorKind& tensor_kind_of(const Match& match) {
  const auto found = std::ranges::find_if(match.meanings, [](const QualifierMeaning* meaning) { return meaning->kind != nullptr; });
  return *(*found)->kind;
}

TensorVariant tensor_variant_of(const Match& match) {
  TensorVariant variant{.group = match.has(".cta_group::2") ? 2 : 1, .sparse = match.has(".sp"), .weights = match.has(".ws")};
  const std::span<const int> vectors = tensor_kind_of(match).vectors;
  const bool most = match.has(".scale_vec::4X") || match.has(".block16");
  if (!vectors.empty()) variant.scale_vector = most ? vectors.back() : vectors.front();
  return variant;
}

const DataType* type_of(TensorStatement::Reduction reduction) {
  const auto found = std::ranges::find(reductions(), reduction, &ReductionRow::reduction);
  return found == reductions().end() ? nullptr : found->type;
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

DescribedTensorStatement describe_tensor_statement(const Match& match, const Target& target) {
  DescribedTensorStatement described;
  TensorStatement& statement = described.statement;
  const Qualifier first = match.meanings.front()->qualifier;
  statement.action = std::ranges::find_if(names, [&](const ActionName& action) { return action.qualifier == first; })->action;
  statement.multicast = match.has(".multicast::cluster");
  if (match.has(".shared::cta") || match.has(".shared::cluster")) statement.space = Space::shared;
  statement.variant.group = match.has(".cta_group::2") ? 2 : 1;
  described.problem = target_refusal(match, target);
  if (described.problem) return described;
  switch (statement.action) {
    case TensorAction::load:
    case TensorAction::store: described.problem = describe_transfer(match, statement); break;
    case TensorAction::multiply: described.problem = describe_product(match, target, statement); break;
    case TensorAction::copy: describe_copy(match, statement); break;
    default: break;
  }
  return described;
}

}  // namespace warpmat::code

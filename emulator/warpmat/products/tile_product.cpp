#include <warpmat/products/tile_product.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/execute/fast/fast.h>
#include <warpmat/execute/operands/batch.h>
#include <warpmat/execute/tile_products.h>
#include <warpmat/lower/tensor_fields.h>
#include <warpmat/lower/tensor_statement.h>

#include <array>
#include <stdexcept>
#include <utility>
#include <vector>

namespace warpmat {
namespace {

/// Byte-id and thread-id of the first scale factors, and the selector of the first metadata.
constexpr std::array<std::uint32_t, std::size_t{2} * warp_size> first_ids{};

bool has_scales(const Form& form, const WantedProduct& wanted) {
  if (form.scale_vector == 0 || wanted.scale.empty()) return form.scale_vector == 0 && wanted.scale.empty();
  return name(form.format(OperandName::scale_a)) == wanted.scale && form.shape.k == form.scale_vector * wanted.block;
}

bool fits(const Form& form, const WantedProduct& wanted) {
  const auto is = [&](OperandName operand, std::string_view format) { return format.empty() || name(form.format(operand)) == format; };
  return is(OperandName::a, wanted.a) && is(OperandName::b, wanted.b) && is(OperandName::d, wanted.d) && !form.satfinite &&
         form.bit_operation == BitOperation::none && (form.sparsity != Sparsity::dense) == wanted.sparse && has_scales(form, wanted);
}

/// Why matrices of any size cannot be multiplied by tiles of the form; empty if they can.
std::string_view why_not(const Form& form) {
  if (!multiplies(form.mnemonic)) return "nothing is a product";
  if (form.operand(OperandName::d).fragment.matrices() != 1) return "the products are several";
  if (form.format(OperandName::c) != form.format(OperandName::d)) return "C and D differ in format, so none follows another along K";
  return {};
}

/// The instruction descriptor of a tcgen05.mma of 128 rows and 128 columns, which all kinds have (PTX ISA 9.1 tables 39, 42 to 44).
/// `last` is the format of D, or with block scales that of the scale factors.
std::uint32_t descriptor_of(const TensorKind& kind, bool sparse, int a, int b, int last) {
  const auto bits = [](int value, int place) { return static_cast<std::uint32_t>(value) << place; };
  return bits(sparse ? 1 : 0, 2) | bits(last, kind.scaled() ? 23 : 4) | bits(a, 7) | bits(b, 10) | bits(128 / 8, 17) | bits(128 / 16, 24);
}

std::string opcode_of(const TensorKind& kind, bool sparse, int scale_vector) {
  const std::string scales = scale_vector == 0 ? "" : fmt::format(".block_scale.scale_vec::{}X", scale_vector);
  return fmt::format("tcgen05.mma{}.cta_group::1.{}{}", sparse ? ".sp" : "", kind.name, scales);
}

bool has_kind(const TensorKind& kind, const TensorVariant& variant, const Target& target) {
  OpcodeFields fields{.mnemonic = "tcgen05.mma", .kind = std::string(kind.name.substr(std::string_view("kind::").size()))};
  if (kind.scaled()) fields.scale_vec = fmt::format("{}X", variant.scale_vector);
  if (variant.sparse) fields.sparsity = "sp";
  return !code::tensor_fields().find(fields, target).empty() &&
         !code::product_refusal(opcode_of(kind, variant.sparse, variant.scale_vector), kind, variant, target);
}

std::optional<TensorProduct> tensor_product(const WantedProduct& wanted, const TensorKind& kind, int scale_vector, const Target& target) {
  const TensorVariant variant{.sparse = wanted.sparse, .scale_vector = scale_vector};
  if (!has_kind(kind, variant, target)) return std::nullopt;
  for (const TensorKind::Code& a : kind.multiplicands)
    for (const TensorKind::Code& b : kind.multiplicands)
      for (const TensorKind::Code& last : kind.scaled() ? kind.scales : kind.results) {
        const DecodedTensorProduct decoded =
            decode_tensor_product(kind, variant, descriptor_of(kind, wanted.sparse, a.code, b.code, last.code));
        if (!decoded.problem && fits(*decoded.product.tile, wanted)) return decoded.product;
      }
  return std::nullopt;
}

std::optional<TensorProduct> tensor_product(const WantedProduct& wanted, const Target& target) {
  constexpr int unscaled[] = {0};
  std::optional<TensorProduct> best;
  for (const TensorKind& kind : tensor_kinds())
    for (const int scale_vector : kind.scaled() ? kind.vectors : unscaled) {
      const auto found = tensor_product(wanted, kind, scale_vector, target);
      if (found && (!best || found->shape.k > best->shape.k)) best = found;
    }
  return best;
}

/// Of the narrowest shape: all widths have the same sums.
const WgmmaForm* warpgroup_product(const WantedProduct& wanted, const Target& target) {
  for (const WgmmaForm& form : wgmma_forms())
    if (form.shape.n == 8 && fits(*form.tile, wanted) && !unavailable(form, target)) return &form;
  return nullptr;
}

std::string shape_text(const Shape& shape) {
  return fmt::format("m{}n{}k{}", shape.m, shape.n, shape.k);
}

const Form* warp_product(const WantedProduct& wanted, Mnemonic mnemonic, const Target& target) {
  const Form* best = nullptr;
  for (const Form& form : forms()) {
    if (form.mnemonic != mnemonic || !why_not(form).empty() || unavailable(form, target) || !fits(form, wanted)) continue;
    if (!wanted.shape.empty() && shape_text(form.shape) != wanted.shape) continue;
    const auto rank = [](const Form& each) { return std::pair(each.shape.k, each.sparsity == Sparsity::sparse_ordered); };
    if (best == nullptr || rank(form) > rank(*best)) best = &form;
  }
  return best;
}

[[noreturn]] void refuse(const WantedProduct& wanted, const Target& target) {
  std::vector<std::string> types;
  for (const std::string_view type : {wanted.a, wanted.b, wanted.d}) types.push_back(type.empty() ? "any" : std::string(type));
  const std::string scales =
      wanted.scale.empty() ? "" : fmt::format(" and scale factors of {} for {} elements", wanted.scale, wanted.block);
  throw std::invalid_argument(fmt::format("{} has no {} {}{}{} that multiplies {} by {} with sums of {}{}", target.name,
                                          wanted.sparse ? "sparse" : "dense", wanted.unit.empty() ? "matrix instruction" : wanted.unit,
                                          wanted.shape.empty() ? "" : " ", wanted.shape, types[0], types[1], types[2], scales));
}

}  // namespace

TileProduct::Found TileProduct::named(std::string_view opcode, const Target& target) {
  if (opcode.starts_with("tcgen05."))
    throw std::invalid_argument(
        "a tcgen05.mma names neither types nor sizes: instruction=\"tcgen05\" chooses one by the matrices' formats");
  Found found;
  if (const WgmmaForm* const wgmma = find_wgmma(opcode)) {
    if (const auto reason = unavailable(*wgmma, target)) throw std::invalid_argument(*reason);
    found = {.tile = wgmma->tile, .lowering = &lowering_of(*wgmma), .opcode = wgmma->opcode, .wgmma = wgmma};
  } else {
    found = of_warp(Instruction(opcode, target.name));
  }
  if (const std::string_view reason = why_not(*found.tile); !reason.empty())
    throw std::invalid_argument(fmt::format("matmul needs an mma, wmma.mma or wgmma of one product; of {} {}", found.opcode, reason));
  return found;
}

TileProduct::Found TileProduct::chosen(const WantedProduct& wanted, const Target& target) {
  const auto may_be = [&](std::string_view unit) { return wanted.unit.empty() || wanted.unit == unit; };
  if (wanted.shape.empty() && may_be("tcgen05"))
    if (const auto product = tensor_product(wanted, target))
      return {.tile = product->tile,
              .lowering = product->lowering,
              .opcode = opcode_of(*product->kind, wanted.sparse, product->scale_vector),
              .tensor = product};
  if (wanted.shape.empty() && may_be("wgmma"))
    if (const WgmmaForm* const wgmma = warpgroup_product(wanted, target))
      return {.tile = wgmma->tile, .lowering = &lowering_of(*wgmma), .opcode = wgmma->opcode, .wgmma = wgmma};
  for (const auto& [unit, mnemonic] : {std::pair{"mma", Mnemonic::mma}, std::pair{"wmma.mma", Mnemonic::wmma_mma}})
    if (may_be(unit))
      if (const Form* const form = warp_product(wanted, mnemonic, target)) return of_warp(Instruction(*form, target));
  refuse(wanted, target);
}

TileProduct::Found TileProduct::of_warp(const Instruction& instruction) {
  return {
      .tile = &instruction.form(), .lowering = &instruction.lowering(), .opcode = instruction.form().opcode, .instruction = instruction};
}

TileProduct::TileProduct(std::string_view opcode, std::string_view target_name)
    : TileProduct(named(opcode, warpmat::target(target_name)), warpmat::target(target_name)) {}

TileProduct::TileProduct(const WantedProduct& wanted, std::string_view target_name)
    : TileProduct(chosen(wanted, warpmat::target(target_name)), warpmat::target(target_name)) {}

TileProduct::TileProduct(Found found, const Target& target)
    : found_(std::move(found)),
      target_(&target),
      a_(tile().operand(OperandName::a).fragment),
      b_(tile().operand(OperandName::b).fragment),
      d_(tile().operand(OperandName::d).fragment) {
  if (tile().sparsity != Sparsity::dense) e_.emplace(tile().operand(OperandName::e).fragment, 0);
  if (scale_vector() == 0) return;
  scale_a_.emplace(tile().operand(OperandName::scale_a).fragment, scale_matrix(tile(), OperandName::ids_a, {}));
  scale_b_.emplace(tile().operand(OperandName::scale_b).fragment, scale_matrix(tile(), OperandName::ids_b, {}));
}

void TileProduct::multiply(const Words& words, std::size_t count, const ExecutionOptions& options) const {
  if (!found_.instruction) return multiply_in_tiles(words, count, options);
  Batch batch;
  batch.source(OperandName::a) = {words.a, 0};
  batch.source(OperandName::b) = {words.b, b_.words()};
  batch.source(OperandName::c) = {words.d, d_.words()};
  batch.destination = {words.d, d_.words()};
  if (e_) {
    batch.source(OperandName::e) = {words.e, 0};
    batch.source(OperandName::selector) = {first_ids.data(), 0};
  }
  if (scale_vector() != 0) {
    batch.source(OperandName::scale_a) = {words.scale_a, 0};
    batch.source(OperandName::scale_b) = {words.scale_b, scale_b_->words()};
    batch.source(OperandName::ids_a) = batch.source(OperandName::ids_b) = {first_ids.data(), 0};
  }
  execute(*found_.instruction, batch, count, options);
}

void TileProduct::multiply_in_tiles(const Words& words, std::size_t count, const ExecutionOptions& options) const {
  const FastPath* const fast = find_fast_path(tile(), lowering());
  std::array<const std::uint32_t*, 5> others{words.e, words.scale_a, nullptr, first_ids.data(), first_ids.data()};
  const std::span all(others);
  Batch batch;
  if (e_) {
    batch.source(OperandName::e) = all.first(1);
    batch.source(OperandName::selector) = all.last(1);
  }
  if (scale_vector() == 0)
    return multiply_tiles({tile(), lowering(), fast, static_cast<int>(count)}, words.d, words.a, words.b, batch, true, options);
  batch.source(OperandName::scale_a) = all.subspan(1, 1);
  batch.source(OperandName::scale_b) = all.subspan(2, 1);
  batch.source(OperandName::ids_a) = batch.source(OperandName::ids_b) = all.last(2);
  for (std::size_t i = 0; i < count; ++i) {  // each has its own scale factors of B
    others[2] = words.scale_b + i * scale_b_->words();
    multiply_tiles({tile(), lowering(), fast, 1}, words.d + i * d_.words(), words.a, words.b + i * b_.words(), batch, true, options);
  }
}

}  // namespace warpmat

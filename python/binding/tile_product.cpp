#include "python/binding/tile_product.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/execute/fast/fast.h>
#include <warpmat/execute/tile_products.h>
#include <warpmat/ptx/program/tensor_fields.h>
#include <warpmat/ptx/program/tensor_statement.h>

#include <stdexcept>
#include <utility>
#include <vector>

namespace warpmat::python {
namespace {

bool fits(const Form& form, const WantedProduct& wanted) {
  const auto is = [&](OperandName operand, std::string_view format) { return format.empty() || name(form.format(operand)) == format; };
  return is(OperandName::a, wanted.a) && is(OperandName::b, wanted.b) && is(OperandName::d, wanted.d) && !form.satfinite &&
         form.bit_operation == BitOperation::none;
}

/// Why matrices of any size cannot be multiplied by tiles of the form; empty if they can.
std::string_view why_not(const Form& form) {
  if (!multiplies(form.mnemonic)) return "nothing is a product";
  if (form.sparsity != Sparsity::dense) return "A is sparse";
  if (form.find_operand(OperandName::scale_a) != nullptr) return "A and B have scale factors";
  if (form.operand(OperandName::d).fragment.matrices() != 1) return "the products are several";
  if (form.format(OperandName::c) != form.format(OperandName::d)) return "C and D differ in format, so none follows another along K";
  return {};
}

/// The instruction descriptor of a dense tcgen05.mma of 128 rows and 128 columns, which all kinds have (PTX ISA 9.1 tables 39 and 42).
std::uint32_t descriptor_of(int a, int b, int d) {
  const auto bits = [](int value, int place) { return static_cast<std::uint32_t>(value) << place; };
  return bits(d, 4) | bits(a, 7) | bits(b, 10) | bits(128 / 8, 17) | bits(128 / 16, 24);
}

std::string opcode_of(const TensorKind& kind) {
  return fmt::format("tcgen05.mma.cta_group::1.{}", kind.name);
}

bool has_kind(const TensorKind& kind, const Target& target) {
  const OpcodeFields fields{.mnemonic = "tcgen05.mma", .kind = std::string(kind.name.substr(std::string_view("kind::").size()))};
  return !code::tensor_fields().find(fields, target).empty() && !code::product_refusal(opcode_of(kind), kind, {}, target);
}

std::optional<TensorProduct> tensor_product(const WantedProduct& wanted, const Target& target) {
  for (const TensorKind& kind : tensor_kinds()) {
    if (kind.scaled() || !has_kind(kind, target)) continue;
    for (const TensorKind::Code& a : kind.multiplicands)
      for (const TensorKind::Code& b : kind.multiplicands)
        for (const TensorKind::Code& d : kind.results) {
          const DecodedTensorProduct decoded = decode_tensor_product(kind, {}, descriptor_of(a.code, b.code, d.code));
          if (!decoded.problem && fits(*decoded.product.tile, wanted)) return decoded.product;
        }
  }
  return std::nullopt;
}

/// Of the narrowest shape: all widths have the same sums.
const WgmmaForm* warpgroup_product(const WantedProduct& wanted, const Target& target) {
  for (const WgmmaForm& form : wgmma_forms())
    if (form.shape.n == 8 && !form.sparse() && fits(*form.tile, wanted) && !unavailable(form, target)) return &form;
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
    if (best == nullptr || form.shape.k > best->shape.k) best = &form;
  }
  return best;
}

[[noreturn]] void refuse(const WantedProduct& wanted, const Target& target) {
  std::vector<std::string> types;
  for (const std::string_view type : {wanted.a, wanted.b, wanted.d}) types.push_back(type.empty() ? "any" : std::string(type));
  throw std::invalid_argument(fmt::format("{} has no dense {}{}{} that multiplies {} by {} with sums of {}", target.name,
                                          wanted.unit.empty() ? "matrix instruction" : wanted.unit, wanted.shape.empty() ? "" : " ",
                                          wanted.shape, types[0], types[1], types[2]));
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
    throw std::invalid_argument(
        fmt::format("matmul needs a dense mma, wmma.mma or wgmma of one product, without scale factors; of {} {}", found.opcode, reason));
  return found;
}

TileProduct::Found TileProduct::chosen(const WantedProduct& wanted, const Target& target) {
  const auto may_be = [&](std::string_view unit) { return wanted.unit.empty() || wanted.unit == unit; };
  if (wanted.shape.empty() && may_be("tcgen05"))
    if (const auto product = tensor_product(wanted, target))
      return {.tile = product->tile, .lowering = product->lowering, .opcode = opcode_of(*product->kind), .tensor = product};
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
      d_(tile().operand(OperandName::d).fragment) {}

void TileProduct::multiply(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* d, std::size_t count,
                           const ExecutionOptions& options) const {
  Batch batch;
  if (!found_.instruction) {
    const FastPath* const fast = find_fast_path(tile(), lowering());
    multiply_tiles({tile(), lowering(), fast, static_cast<int>(count)}, d, a, b, batch, true, options);
    return;
  }
  batch.source(OperandName::a) = {a, 0};
  batch.source(OperandName::b) = {b, b_.words()};
  batch.source(OperandName::c) = {d, d_.words()};
  batch.destination = {d, d_.words()};
  found_.instruction->execute(batch, count, options);
}

ExplanationPair TileProduct::explain(const Batch& batch, const Element& element, const std::string& against,
                                     const ExecutionOptions& options) const {
  if (found_.instruction) return explain_pair(*found_.instruction, batch, element, against, options);
  if (found_.wgmma != nullptr) return explain_pair(*found_.wgmma, batch, element, against, options);
  return explain_pair(NamedProduct{found_.opcode, *found_.tensor, target_}, batch, element, against, options);
}

}  // namespace warpmat::python

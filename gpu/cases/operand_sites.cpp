#include "gpu/cases/operand_sites.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include <warpmat/forms.h>

namespace warpmat {
namespace {

Role role_of(OperandName operand) {
  switch (operand) {
    case OperandName::a: return Role::multiplicand_a;
    case OperandName::b: return Role::multiplicand_b;
    case OperandName::c: return Role::accumulator;
    default: return Role::other;
  }
}

/// In A two stored elements are neighbours; in B all elements that these may be multiplied by.
int neighbours(const Form& form, const Operand& operand) {
  if (operand.name != OperandName::b) return 2;
  const int stored = form.operand(OperandName::a).fragment.columns();
  return std::max(2, 2 * operand.fragment.rows() / stored);
}

}  // namespace

std::optional<ProductFormats> product_of(const Form& form) {
  const Operand *a = form.find_operand(OperandName::a), *b = form.find_operand(OperandName::b), *c = form.find_operand(OperandName::c);
  if (a == nullptr || b == nullptr || c == nullptr || !a->format || !b->format || !c->format) return std::nullopt;
  return ProductFormats{&row(*a->format), &row(*b->format), &row(*c->format)};
}

std::uint32_t random_metadata(const Form& form, std::uint64_t operand_key, int lane) {
  constexpr std::uint64_t positions = 64;  // bits for each lane
  std::array<std::uint32_t, 16> codes;
  std::size_t valid = 0;
  for (std::uint32_t code = 0; code < codes.size(); ++code)
    if (valid_metadata(form, code)) codes[valid++] = code;
  std::uint32_t word = 0;
  for (std::uint64_t bit = 0; bit < 32; bit += 4)
    word |= codes[Random(combine(operand_key, static_cast<std::uint64_t>(lane) * positions + bit)).below(valid)] << bit;
  return word;
}

OperandSites::OperandSites(const Form& form, const Operand& operand, const ProductFormats& product)
    : along_rows_(operand.name == OperandName::b), depth_(along_rows_ ? operand.fragment.rows() : operand.fragment.columns()) {
  site_.product = &product;
  site_.format = &row(*operand.format);
  site_.role = role_of(operand.name);
  site_.neighbours = neighbours(form, operand);
  const int group = form.sparsity == Sparsity::dense ? 1 : metadata_group(form);  // elements of K in one group
  site_.parts = form.shape.k / group;
  site_.part_size = along_rows_ || group == 1 ? group : group / 2;
  for (int k = 0; k < depth_; ++k) positions_.push_back({k % site_.neighbours, k / site_.part_size, k % site_.part_size});
}

void OperandSites::move_to(int row, int column) {
  const Position& position = position_of(row, column);
  site_.row = row;
  site_.column = column;
  site_.neighbour = position.neighbour;
  site_.part = position.part;
  site_.in_part = position.in_part;
}

}  // namespace warpmat

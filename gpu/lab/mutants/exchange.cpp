#include "gpu/lab/mutants/exchange.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>
#include <warpmat/tables/form_row.h>

#include "gpu/cases/index_bits.h"

namespace warpmat {
namespace {

constexpr OperandName exchangeable[] = {OperandName::d, OperandName::a, OperandName::b, OperandName::c, OperandName::r};

std::string bit_text(const Fragment& f, int bit) {
  if (bit < f.inside_bits()) return fmt::format("element {}", bit);
  bit -= f.inside_bits();
  return bit < Fragment::lane_bits ? fmt::format("lane {}", bit) : fmt::format("register {}", bit - Fragment::lane_bits);
}

}  // namespace

std::vector<Exchange> exchanges_of(const Form& form) {
  std::vector<Exchange> found;
  for (const Operand& operand : form.operands) {
    if (operand.kind != OperandKind::fragment || std::ranges::find(exchangeable, operand.name) == std::end(exchangeable)) continue;
    const std::vector<IndexBit> bits = index_bits(operand.fragment);
    for (int first = 0; first < static_cast<int>(bits.size()); ++first)
      for (int second = first + 1; second < static_cast<int>(bits.size()); ++second) {
        const bool copies =
            bits[static_cast<std::size_t>(first)].axis == Axis::copy && bits[static_cast<std::size_t>(second)].axis == Axis::copy;
        if (!copies) found.push_back({operand.name, first, second});
      }
  }
  return found;
}

std::string text(const Form& form, const Exchange& exchange) {
  const Fragment& f = form.operand(exchange.operand).fragment;
  return fmt::format("layout of {}: {} and {}", name(exchange.operand), bit_text(f, exchange.first), bit_text(f, exchange.second));
}

Form exchanged(const Form& form, const Exchange& exchange) {
  FormRow changed = FormRow::of(form);
  Fragment& fragment = std::ranges::find(changed.operands, exchange.operand, &OperandRow::name)->fragment;
  std::vector<IndexBit> bits = index_bits(fragment);
  std::swap(bits.at(static_cast<std::size_t>(exchange.first)), bits.at(static_cast<std::size_t>(exchange.second)));
  fragment = fragment_of(fragment, bits);
  return std::move(changed).form();
}

}  // namespace warpmat

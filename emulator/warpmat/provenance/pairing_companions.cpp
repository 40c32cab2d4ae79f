// The scale factors and the metadata beside the elements that a product multiplies.

#include <algorithm>

#include <warpmat/machine/block.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/provenance/pairing.h>

namespace warpmat::provenance {

void Pairing::note_companions(const OriginProduct& product, const Operand& a, const Operand& b) {
  note_companion(product, a, product.scales_a, CompanionMatrix::Kind::scale);
  note_companion(product, b, product.scales_b, CompanionMatrix::Kind::scale);
  note_companion(product, a, product.metadata, CompanionMatrix::Kind::metadata);
}

/// Notes which entry in global memory stands beside each line of an operand and each block of k. Computed ones are not looked at.
void Pairing::note_companion(const OriginProduct& product, const Operand& operand, const OperandOrigins& entries,
                             CompanionMatrix::Kind kind) {
  const auto told =
      std::ranges::find_if(gemm_->companions, [&](const CompanionMatrix& c) { return c.kind == kind && c.of_b == operand.is_b; });
  if (entries.lines == 0 || told == gemm_->companions.end() || gemm_->convolution) return;
  const machine::WarpState& warp = warp_of(product.event);
  Companion& companion =
      launch_
          .companions[static_cast<std::size_t>(gemm_ - launch_.gemms.data())][static_cast<std::size_t>(told - gemm_->companions.begin())];
  const int size = operand.depth / entries.depth;
  std::vector<Companion::Entry> found;
  for (int line = 0; line < entries.lines; ++line)
    for (int block = 0; block < entries.depth; ++block) {
      const Origin& entry = entries.at(line, block);
      const Seen& element = operand.at(line, block * size);
      const bool known = entry.in_memory() && entry.bit() != 0 && !(entry.derived() && kind == CompanionMatrix::Kind::metadata);
      // Lanes beyond the end of a matrix may have its last line again.
      const bool again = std::ranges::find(operand.lines, element.line) != operand.lines.begin() + line;
      if (!known || element.line < 0 || again) continue;
      const Origin& factor = operand.origin(line, block * size);
      const auto use = [&] {
        return Companion::Use{site_of(warp, -1), notes_of("the entry", {entry.what, 0, entry.way}, warp),
                              notes_of("the element", {factor.what, 0, factor.way}, warp)};
      };
      const auto [number, is_new] =
          uses_.try_emplace({reinterpret_cast<std::uintptr_t>(&companion), product.event.statement(), entry.way, factor.way});
      if (is_new) number->second = companion.add(use());
      found.push_back({element.line, element.depth / size, entry.bit(), number->second, entry.derived()});
    }
  companion.note({operand.is_b ? gemm_->b : gemm_->a, operand.is_b, *told, launch_.memory}, found, size, warp.block().index(),
                 product.event.warp());
}

}  // namespace warpmat::provenance

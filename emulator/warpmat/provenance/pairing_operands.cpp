#include <warpmat/provenance/pairing.h>

#include <algorithm>

#include <warpmat/machine/warp_state.h>

// What the operands of a product hold of the matrices.

namespace warpmat::provenance {

bool Pairing::follows(std::uint64_t address) const {
  return std::ranges::any_of(
      launch_.gemms, [&](const Gemm& gemm) { return gemm.a.contains(address) || gemm.b.contains(address) || gemm.c.contains(address); });
}

/// Row and column of an element of a matrix, in memory or in the sums of the product that forms it.
std::optional<std::pair<int, int>> Pairing::place_of(const GemmMatrix& matrix, const Origin& origin) const {
  if (matrix.producer < 0) return origin.kind() == Origin::Kind::memory ? matrix.place(origin.bit()) : std::nullopt;
  if (origin.kind() != Origin::Kind::sum) return std::nullopt;
  const Sum& sum = sums_[origin.product()];
  const auto place = sum.element(origin.row(), origin.column());
  if (sum.gemm != &launch_.gemms[static_cast<std::size_t>(matrix.producer)] || place.first < 0 || place.second < 0) return std::nullopt;
  return place;
}

/// Row of A or column of B, and k, of an element of an operand.
Pairing::Seen Pairing::seen(const Operand& operand, int line, int k) const {
  const Origin& origin = operand.origin(line, k);
  const auto place = place_of(*operand.matrix, origin);
  if (!place) return {};
  if (operand.taps != nullptr) return seen_in_image(operand, *place, k);
  Seen seen{operand.is_b ? place->second : place->first, operand.is_b ? place->first : place->second};
  if (operand.sparse()) seen.depth = seen.depth / operand.group * 2 * operand.group + k % (2 * operand.group);
  return seen;
}

/// What is known of these contents. What was known of others in their slot is forgotten.
Pairing::Look& Pairing::look_of(const OperandOrigins& origins, char letter, int depth, int group) {
  Look& look = looks_[origins.slot];
  if (look.id == origins.id && look.operand.letter == letter) return look;
  look = {origins.id};
  look.operand.letter = letter;
  look.operand.origins = &origins;
  look.operand.depth = depth;
  look.operand.group = group;
  return look;
}

/// How many elements of A and of B an operand has. Addresses say it at less cost than places.
void Pairing::count_elements(Look& look) const {
  if (look.gemm == gemm_) return;
  const auto count = [&](const GemmMatrix& matrix) {
    return static_cast<std::size_t>(std::ranges::count_if(look.operand.origins->elements, [&](const Origin& o) {
      return matrix.producer >= 0 ? place_of(matrix, o).has_value() : o.kind() == Origin::Kind::memory && matrix.contains(o.bit() / 8);
    }));
  };
  look.gemm = gemm_;
  look.elements = {count(gemm_->a), count(gemm_->b)};
  look.operand.matrix = nullptr;
}

/// Which operand holds A and which holds B, and what of them. Returns false for a product of other matrices.
bool Pairing::choose_matrices(Look& a, Look& b) const {
  count_elements(a);
  count_elements(b);
  const auto [a_of_a, a_of_b] = a.elements;
  const auto [b_of_a, b_of_b] = b.elements;
  const bool image = gemm_->convolution.has_value();  // which may be padding alone
  if (image ? a_of_b + b_of_b == 0 : a_of_a + a_of_b == 0 || b_of_a + b_of_b == 0) return false;
  const bool swapped = a_of_b + b_of_a > a_of_a + b_of_b;
  Look& of_a = swapped ? b : a;
  Look& of_b = swapped ? a : b;
  look_at(of_b, true, nullptr);
  look_at(of_a, false, image ? &of_b.operand : nullptr);
  return true;
}

/// Finds what the operand holds of A or, if `is_b`, of B; of an image by its taps.
void Pairing::look_at(Look& found, bool is_b, const Operand* taps) const {
  Operand& operand = found.operand;
  const GemmMatrix* const matrix = is_b ? &gemm_->b : &gemm_->a;
  if (operand.matrix == matrix && taps == nullptr) return;
  operand.matrix = matrix;
  operand.taps = taps;
  operand.is_b = is_b;
  operand.seen.clear();
  operand.lines.clear();
  operand.depths.clear();
  operand.regular = true;
  look(operand);
  if (taps != nullptr) look_for_padding(operand);
  Lines lines{operand.lines};
  for (int line = 0; line < operand.origins->lines; ++line) {
    Origin first;
    for (int k = 0; k < operand.depth && !first.known(); ++k)
      if (operand.at(line, k).line >= 0) first = operand.origin(line, k);
    lines.origins.push_back(first);
  }
  found.lines = std::make_shared<const Lines>(std::move(lines));
}

/// Finds what the operand holds. Line i of the operand is that line of the matrix which most of its elements have; so is each k.
void Pairing::look(Operand& operand) const {
  const int lines = operand.origins->lines, depth = operand.depth;
  operand.seen.reserve(static_cast<std::size_t>(lines * depth));
  for (int line = 0; line < lines; ++line)
    for (int k = 0; k < depth; ++k) operand.seen.push_back(seen(operand, line, k));
  const auto most = [](const std::vector<int>& found) {
    if (found.empty()) return -1;
    const auto first = std::ranges::find_if(found, [&](int value) { return value != found.front(); });
    if (first == found.end()) return found.front();
    std::map<int, int> count;
    for (const int value : found) ++count[value];
    return std::ranges::max_element(count, {}, [](const auto& entry) { return entry.second; })->first;
  };
  std::vector<int> found;
  for (int line = 0; line < lines; ++line) {
    found.clear();
    for (int k = 0; k < depth; ++k)
      if (operand.at(line, k).line >= 0) found.push_back(operand.at(line, k).line);
    operand.lines.push_back(most(found));
  }
  for (int k = 0; k < depth; ++k) {
    found.clear();
    for (int line = 0; line < lines; ++line)
      if (operand.at(line, k).line >= 0) found.push_back(operand.at(line, k).depth);
    operand.depths.push_back(most(found));
  }
  for (int line = 0; line < lines; ++line)
    for (int k = 0; k < depth; ++k) {
      const Seen& one = operand.at(line, k);
      const bool expected = operand.lines[static_cast<std::size_t>(line)] >= 0 && operand.depths[static_cast<std::size_t>(k)] >= 0;
      if (one.line < 0
              ? expected
              : one.line != operand.lines[static_cast<std::size_t>(line)] || one.depth != operand.depths[static_cast<std::size_t>(k)])
        operand.regular = false;
    }
}

}  // namespace warpmat::provenance

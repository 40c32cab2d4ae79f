#include <warpmat/checks/pairing.h>

#include <algorithm>
#include <iterator>

#include <fmt/core.h>

#include <warpmat/forms.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/ptx/syntax/source_text.h>

namespace warpmat::checks {

using machine::WarpState;

// ---- Sets of k

std::uint32_t DepthSets::number_of(const Intervals& set) {
  const auto [found, is_new] = numbers_.try_emplace(set, static_cast<std::uint32_t>(all_.size()));
  if (is_new) all_.push_back(&found->first);
  return found->second;
}

std::uint32_t DepthSets::with(std::uint32_t number, const std::vector<int>& added, std::optional<int>& twice) {
  std::vector<int> sorted = added;
  std::ranges::sort(sorted);
  Intervals set;
  for (const int k : sorted) {
    if (!set.empty() && set.back().second == k) twice = k;
    if (!set.empty() && set.back().second + 1 >= k)
      set.back().second = k;
    else
      set.emplace_back(k, k);
  }
  return united(number, number_of(set), twice);
}

std::uint32_t DepthSets::united(std::uint32_t a, std::uint32_t b, std::optional<int>& twice) {
  Intervals all;
  std::ranges::merge(*all_[a], *all_[b], std::back_inserter(all));
  Intervals set;
  for (const auto& [first, last] : all) {
    if (!set.empty() && set.back().second >= first) twice = twice.value_or(first);
    if (!set.empty() && set.back().second + 1 >= first)
      set.back().second = std::max(set.back().second, last);
    else
      set.emplace_back(first, last);
  }
  return number_of(set);
}

// ---- Operands

bool Pairing::follows(std::uint64_t address) const {
  return std::ranges::any_of(
      setup().gemms, [&](const Gemm& gemm) { return gemm.a.contains(address) || gemm.b.contains(address) || gemm.c.contains(address); });
}

/// Row and column of an element of a matrix, in memory or in the sums of the product that forms it.
std::optional<std::pair<int, int>> Pairing::place_of(const GemmMatrix& matrix, const Origin& origin) const {
  if (matrix.producer < 0) return origin.kind() == Origin::Kind::memory ? matrix.place(origin.bit()) : std::nullopt;
  if (origin.kind() != Origin::Kind::sum) return std::nullopt;
  const Sum& sum = sums_[origin.product()];
  const auto place = sum.element(origin.row(), origin.column());
  if (sum.gemm != &setup().gemms[static_cast<std::size_t>(matrix.producer)] || place.first < 0 || place.second < 0) return std::nullopt;
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

// ---- Products

std::optional<std::uint32_t> Pairing::multiplies(const OriginProduct& product) {
  const int depth = product.b.depth;
  const int group = product.form.sparsity == Sparsity::dense ? 1 : metadata_group(product.form) / 2;
  const auto& gemms = setup().gemms;
  const std::size_t last = std::max(product.a.slot, product.b.slot);
  if (looks_.size() <= last) looks_.resize(last + 1);  // before there are references
  Look& of_a = look_of(product.a, 'a', depth, group);
  Look& of_b = look_of(product.b, 'b', depth, 1);
  const auto of = std::ranges::find_if(gemms, [&](const Gemm& gemm) { return gemm_ = &gemm, choose_matrices(of_a, of_b); });
  if (of == gemms.end()) return unchanged(product);
  const Operand& a = of_a.operand;
  const Operand& b = of_b.operand;
  setup().reports.stores[static_cast<std::size_t>(of - gemms.begin())].note_product();
  const Operand* const image = a.taps != nullptr ? &a : b.taps != nullptr ? &b : nullptr;
  if (!setup().why) {
    if (image != nullptr) check_image(product, *image);
    if (!a.regular || !b.regular) check_widths(product, a, b);
    if (!a.regular) check_operand(product, a, b);
    if (!b.regular) check_operand(product, b, a);
    check_depths(product, a, b);
  }
  Sum sum;
  sum.statement = product.event.statement();
  sum.gemm = gemm_;
  sum.swapped = a.is_b;
  sum.rows = of_a.lines;
  sum.columns = of_b.lines;
  inherit_places(product, sum);
  accumulate(product, a, b, sum);
  note_companions(product, a, b);
  if (setup().why) record(product, a, b, sum);
  return add_sum(std::move(sum));
}

/// The number of a sum, which may be that of one which nothing has any more.
std::uint32_t Pairing::add_sum(Sum sum) {
  if (free_.empty()) {
    sums_.push_back(std::move(sum));
    return static_cast<std::uint32_t>(sums_.size() - 1);
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  sums_[number] = std::move(sum);
  return number;
}

/// Frees the sums which no byte has, nor another sum that one has. The way of an element needs all of them.
void Pairing::collect() {
  if (setup().why || !free_.empty() || sums_.size() < collect_at_) return;
  std::vector<bool> used = products_in_use(sums_.size());
  looks_.clear();
  std::vector<std::uint32_t> reached;
  for (std::uint32_t i = 0; i < used.size(); ++i)
    if (used[i]) reached.push_back(i);
  const auto reach_origin = [&](const Origin& origin) {
    if (origin.kind() != Origin::Kind::sum || used[origin.product()]) return;
    used[origin.product()] = true;
    reached.push_back(origin.product());
  };
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const Sum& sum = sums_[reached[i]];
    std::ranges::for_each(sum.rows->origins, reach_origin);
    std::ranges::for_each(sum.columns->origins, reach_origin);
    if (sum.lacking) reach_origin(sum.lacking->origin);
  }
  std::erase_if(added_, [&](const auto& sum) { return !used[sum.first.first] || !used[sum.first.second] || !used[sum.second]; });
  for (std::uint32_t i = 0; i < used.size(); ++i)
    if (!used[i]) {
      sums_[i] = {};
      free_.push_back(i);
    }
  if (free_.size() < sums_.size() / 2) collect_at_ = sums_.size() * 2;
}

/// The sums that a product of other matrices leaves as they are: one of zeros beyond the end of K, for instance. Nothing unless all are
/// those of one product, element by element.
std::optional<std::uint32_t> Pairing::unchanged(const OriginProduct& product) const {
  const Origin first = product.c_at(0, 0);
  if (first.kind() != Origin::Kind::sum) return std::nullopt;
  for (int row = 0; row < product.a.lines; ++row)
    for (int column = 0; column < product.b.lines; ++column)
      if (product.c_at(row, column).same() != Origin::of_sum(first.product(), row, column).what) return std::nullopt;
  return first.product();
}

/// Traps for an operand whose lines or k are not those of a matrix: elements of one line have several, or some are nothing of the matrix.
void Pairing::check_operand(const OriginProduct& product, const Operand& operand, const Operand& other) {
  for (int line = 0; line < operand.origins->lines; ++line)
    for (int k = 0; k < operand.depth; ++k) {
      const Seen& one = operand.at(line, k);
      const auto l = static_cast<std::size_t>(line), d = static_cast<std::size_t>(k);
      if (operand.lines[l] < 0 || operand.depths[d] < 0) continue;
      const Origin& origin = operand.origin(line, k);
      if (one.line < 0) {
        const Way& way = ways()[origin.way];
        const bool unwritten = !origin.known() && way.read != Way::no_statement && way.store == Way::no_statement;
        const auto other_place = place_of(*other.matrix, origin);
        if (!unwritten && !other_place) continue;  // computed, or a zero beyond the matrix
        const Seen right{operand.lines[l], operand.depths[d]};
        product.event.trap(-1, std::nullopt,
                           fmt::format("operand {} holds {} where {} belongs, beside {}; {}", operand.letter,
                                       other_place ? other.matrix->element(other_place->first, other_place->second) : "what nobody wrote",
                                       name_of(operand, right), name_of(operand, operand.at(line, k == 0 ? 1 : 0)),
                                       history(operand, line, k, right, product)),
                           KernelTrap::Kind::mispaired);
      }
      // The k that the other operand has at this place says which element belongs here.
      const int meets = other.regular && other.depths[d] >= 0 ? other.depths[d] : operand.depths[d];
      if (one.line == operand.lines[l] && one.depth == meets) continue;
      const Seen right{operand.lines[l], meets};
      const auto other_line = static_cast<int>(std::ranges::find_if(other.lines, [](int o) { return o >= 0; }) - other.lines.begin());
      const std::string partner = name_of(other, other.at(other_line, k));
      const std::string what = one.depth != meets
                                   ? fmt::format("k {} meets k {}", operand.is_b ? meets : one.depth, operand.is_b ? one.depth : meets)
                                   : fmt::format("it adds {} to {}", line_name(operand, one.line), line_name(operand, right.line));
      product.event.trap(-1, std::nullopt,
                         fmt::format("the product multiplies {} by {}: {}. {} belongs there; {}{}",
                                     operand.is_b ? partner : name_of(operand, one), operand.is_b ? name_of(operand, one) : partner, what,
                                     name_of(operand, right), history(operand, line, k, right, product), layouts(operand, product)),
                         KernelTrap::Kind::mispaired);
    }
}

/// Traps where two neighbours along k are parts of one element as the launch is told it: then it is told wrong sizes.
void Pairing::check_widths(const OriginProduct& product, const Operand& a, const Operand& b) {
  for (const Operand* const operand : {&a, &b}) {
    const int bits = product.form.operand(operand->letter == 'a' ? OperandName::a : OperandName::b).fragment.element_bits;
    const GemmMatrix& matrix = *operand->matrix;
    if (matrix.producer >= 0 || matrix.bits <= bits || operand->sparse()) continue;
    for (int line = 0; line < operand->origins->lines; ++line)
      for (int k = 0; k + 1 < operand->depth; ++k) {
        const Seen &one = operand->at(line, k), &next = operand->at(line, k + 1);
        if (one.line < 0 || one.line != next.line || one.depth != next.depth || operand->origin(line, k).derived()) continue;
        product.event.trap(
            -1, std::nullopt,
            fmt::format("the product multiplies elements of {} bits, and {} would have elements of {}, by its bytes and the {} by {} "
                        "that the launch is told: the told product, or the buffer, is another",
                        bits, matrix.name, matrix.bits, matrix.stored_rows(), matrix.stored_columns()),
            KernelTrap::Kind::mispaired);
      }
  }
}

/// Traps unless both operands have the same k at each place, and each k once.
void Pairing::check_depths(const OriginProduct& product, const Operand& a, const Operand& b) {
  const auto first_line = [](const Operand& operand) {
    return static_cast<int>(std::ranges::find_if(operand.lines, [](int o) { return o >= 0; }) - operand.lines.begin());
  };
  for (int k = 0; k < a.depth; ++k) {
    const auto d = static_cast<std::size_t>(k);
    if (a.depths[d] < 0 || b.depths[d] < 0 || a.depths[d] == b.depths[d]) continue;
    const int row = first_line(a), column = first_line(b);
    const Seen one = a.at(row, k), other = b.at(column, k);
    product.event.trap(
        -1, std::nullopt,
        fmt::format("the product multiplies {} by {}: k {} meets k {}; {}; {}", name_of(a, one), name_of(b, other), one.depth, other.depth,
                    history(a, row, k, {one.line, other.depth}, product), history(b, column, k, {other.line, one.depth}, product)),
        KernelTrap::Kind::mispaired);
  }
}

/// Rows and columns that the operands do not say, for they hold zeros alone there, are those of the sums before.
void Pairing::inherit_places(const OriginProduct& product, Sum& sum) const {
  const auto inherit = [&](std::shared_ptr<const Lines>& of, bool rows) {
    if (std::ranges::find(of->numbers, -1) == of->numbers.end()) return;
    Lines lines = *of;
    for (std::size_t i = 0; i < lines.numbers.size(); ++i) {
      const int at = static_cast<int>(i);
      const Origin old = rows ? product.c_at(at, 0) : product.c_at(0, at);
      if (lines.numbers[i] >= 0 || old.kind() != Origin::Kind::sum) continue;
      const Sum& previous = sums_[old.product()];
      if (previous.gemm != sum.gemm || previous.swapped != sum.swapped) continue;
      const int before = rows ? old.row() : old.column();
      const Lines& inherited = rows ? *previous.rows : *previous.columns;
      lines.numbers[i] = inherited.numbers[static_cast<std::size_t>(before)];
      lines.origins[i] = inherited.origin(before);
    }
    of = std::make_shared<const Lines>(std::move(lines));
  };
  inherit(sum.rows, true);
  inherit(sum.columns, false);
}

/// The k of both operands; notes in the sum the last one that only one of them has.
std::vector<int> Pairing::common_depths(const Operand& a, const Operand& b, Sum& sum) const {
  std::vector<int> depths;
  for (int k = 0; k < a.depth; ++k) {
    const int of_a = a.depths[static_cast<std::size_t>(k)], of_b = b.depths[static_cast<std::size_t>(k)];
    if (of_a >= 0 && of_b >= 0) depths.push_back(of_a);
    if ((of_a < 0) != (of_b < 0)) sum.lacking = {std::max(of_a, of_b), of_a < 0 ? 'a' : 'b', of_a < 0 ? a.origin(0, k) : b.origin(0, k)};
  }
  return depths;
}

/// Traps if the accumulator at a row and a column of the operands is the sum of another element of C.
void Pairing::check_same_element(const OriginProduct& product, const Operand& a, const Operand& b, const Sum& sum, int row, int column) {
  const Origin old = product.c_at(row, column);
  const Sum& previous = sums_[old.product()];
  const auto [m, n] = previous.element(old.row(), old.column());
  const auto [new_m, new_n] = sum.element(row, column);
  const bool row_differs = previous.gemm != sum.gemm || (m >= 0 && new_m >= 0 && m != new_m);
  const bool column_differs = n >= 0 && new_n >= 0 && n != new_n;
  if ((!row_differs && !column_differs) || setup().why) return;
  const WarpState& warp = product.event.state();
  const bool of_a = row_differs != sum.swapped;
  const Origin& before = of_a ? previous.rows->origin(old.row()) : previous.columns->origin(old.column());
  const Origin& now = of_a ? sum.rows->origin(row) : sum.columns->origin(column);
  product.event.trap(-1, std::nullopt,
                     fmt::format("the product adds products for {} to the sum for {}, which {} formed; {}; then {}{}",
                                 gemm_->c.element(new_m, new_n), gemm_->c.element(m, n), warp.statement_name(previous.statement),
                                 way_of(before, warp), way_of(now, warp), layouts(of_a ? a : b, product)),
                     KernelTrap::Kind::mispaired);
}

/// Whether a product goes on with sums whose elements all have the same k: with none, or with those of a product of the same rows and
/// columns as the instruction left them.
bool Pairing::continues(const OriginProduct& product, const Sum& sum) const {
  if (!product.whole) return product.c.empty();
  const Sum& previous = sums_[*product.whole];
  const auto same = [](const std::shared_ptr<const Lines>& one, const std::shared_ptr<const Lines>& other) {
    return one == other || one->numbers == other->numbers;
  };
  return previous.gemm == sum.gemm && previous.swapped == sum.swapped && previous.depths.size() == 1 && same(previous.rows, sum.rows) &&
         same(previous.columns, sum.columns);
}

/// The sets of k, by row and column or one for all, that the accumulators have before the product.
std::vector<std::uint32_t> Pairing::sets_before(const OriginProduct& product, const Operand& a, const Operand& b, Sum& sum) {
  if (continues(product, sum)) {
    if (!product.whole) return {0};
    const Sum& previous = sums_[*product.whole];
    sum.partial |= previous.partial;
    if (!sum.lacking) sum.lacking = previous.lacking;
    return {previous.depths[0]};
  }
  const std::size_t columns = sum.columns->numbers.size();
  std::vector<std::uint32_t> before(sum.rows->numbers.size() * columns);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const int row = static_cast<int>(i / columns), column = static_cast<int>(i % columns);
    const Origin old = product.c_at(row, column);
    sum.partial |= old.known() && old.kind() != Origin::Kind::sum && old.kind() != Origin::Kind::beside;
    if (old.kind() != Origin::Kind::sum) continue;
    const Sum& previous = sums_[old.product()];
    sum.partial |= previous.partial;
    if (!sum.lacking) sum.lacking = previous.lacking;
    check_same_element(product, a, b, sum, row, column);
    before[i] = previous.depth_set(old.row(), old.column());
  }
  return before;
}

/// The k that each element of the accumulators has after the product, and whether it is that of the same element of C.
void Pairing::accumulate(const OriginProduct& product, const Operand& a, const Operand& b, Sum& sum) {
  const std::vector<int> depths = common_depths(a, b, sum);
  const std::vector<std::uint32_t> before = sets_before(product, a, b, sum);
  const bool alike = std::ranges::all_of(before, [&](std::uint32_t set) { return set == before[0]; });
  const auto columns = sum.columns->numbers.size();
  std::map<std::uint32_t, std::uint32_t> after;
  for (std::size_t i = 0; i < (alike ? 1 : before.size()); ++i) {
    const auto [found, is_new] = after.try_emplace(before[i]);
    if (is_new) {
      std::optional<int> twice;
      found->second = sets_.with(before[i], depths, twice);
      if (twice && !setup().why && !split(sum))
        refuse_twice(product, a, b, sum, *twice, static_cast<int>(i / columns), static_cast<int>(i % columns));
    }
    sum.depths.push_back(found->second);
  }
}

/// Traps for a k which the sum at a row and a column of the operands has already.
void Pairing::refuse_twice(const OriginProduct& product, const Operand& a, const Operand& b, const Sum& sum, int twice, int row,
                           int column) {
  const auto at = std::ranges::find(a.depths, twice) - a.depths.begin();
  const int k = at < a.depth ? static_cast<int>(at) : 0;
  const auto [m, n] = sum.element(row, column);
  product.event.trap(-1, std::nullopt,
                     fmt::format("the product adds k {} to the sum for {}, which has it already; {}; {}", twice, gemm_->c.element(m, n),
                                 history(a, row, k, a.at(row, k), product), history(b, column, k, b.at(column, k), product)),
                     KernelTrap::Kind::mispaired);
}

/// The number of the product of whose result a value is computed, and the row of that; -1: none of its rows.
std::pair<std::size_t, int> Pairing::row_of(const Origin& origin) const {
  if (origin.kind() != Origin::Kind::sum) return {origin.gemm(), origin.line()};
  const Sum& sum = sums_[origin.product()];
  return {static_cast<std::size_t>(sum.gemm - setup().gemms.data()), sum.element(origin.row(), origin.column()).first};
}

/// Two accumulators of one element of C are the sum of their products; of others a row may be left. Beside a sum of a later product, one of
/// an earlier is a factor, as in softmax.
Origin Pairing::combines(const Origin& a, const Origin& b, const Computation& how) {
  const auto one = row_of(a), other = row_of(b);
  if (one.first != other.first) {
    const bool a_is_later = one.first > other.first;
    check_factor(a_is_later ? a : b, a_is_later ? b : a, how);
    return a_is_later ? a : b;
  }
  const bool sum_a = a.kind() == Origin::Kind::sum, sum_b = b.kind() == Origin::Kind::sum;
  if (sum_a && sum_b && how.adds)
    if (const auto sum = added(a, b, how)) return *sum;
  if (one.second < 0 || other.second < 0) return Origin::of_many();
  if (a.kind() == Origin::Kind::mixed || b.kind() == Origin::Kind::mixed) return a.kind() == Origin::Kind::mixed ? a : b;
  const std::uint32_t way = ways().number_of({.load = how.event.statement()});
  if (one.second != other.second) return how.adds ? Origin::of_mixed(one.first, one.second, other.second, way) : Origin::of_many();
  return sum_a != sum_b ? (sum_a ? a : b) : Origin::of_line(one.first, one.second, way);
}

/// Whether factors of the sum are computed from elements: those that are split into larger and smaller parts have each k more than once.
bool Pairing::split(const Sum& sum) {
  const auto computed = [](const Origin& origin) { return origin.derived(); };
  return std::ranges::any_of(sum.rows->origins, computed) || std::ranges::any_of(sum.columns->origins, computed);
}

/// The sum of two accumulators, where they are of the same element of products with the same rows and columns.
std::optional<Origin> Pairing::added(const Origin& a, const Origin& b, const Computation& how) {
  const Sum& one = sums_[a.product()];
  const Sum& other = sums_[b.product()];
  if (a.row() != b.row() || a.column() != b.column() || one.rows->numbers != other.rows->numbers ||
      one.columns->numbers != other.columns->numbers || one.swapped != other.swapped)
    return std::nullopt;
  const std::pair<std::uint32_t, std::uint32_t> key = std::minmax({a.product(), b.product()});
  const auto [found, is_new] = added_.try_emplace(key);
  if (is_new) {
    Sum sum = one;
    sum.partial |= other.partial;
    sum.depths.clear();
    sum.step = nullptr;
    if (setup().why) sum.addends = key;
    std::optional<int> twice;
    const bool alike = one.depths.size() == 1 && other.depths.size() == 1;
    for (std::size_t r = 0; r < (alike ? 1 : one.rows->numbers.size()); ++r)
      for (std::size_t c = 0; c < (alike ? 1 : one.columns->numbers.size()); ++c)
        sum.depths.push_back(sets_.united(one.depth_set(static_cast<int>(r), static_cast<int>(c)),
                                          other.depth_set(static_cast<int>(r), static_cast<int>(c)), twice));
    if (twice && !setup().why && !split(one) && !split(other)) {
      const auto [m, n] = one.element(a.row(), a.column());
      const machine::WarpState& warp = how.event.state();
      how.event.trap(
          how.lane, std::nullopt,
          fmt::format("two sums for {} are added, and both have k {}; the product at {} formed one, that at {} the other",
                      one.gemm->c.element(m, n), *twice, warp.statement_name(one.statement), warp.statement_name(other.statement)),
          KernelTrap::Kind::mispaired);
    }
    found->second = add_sum(std::move(sum));
  }
  return Origin::of_sum(found->second, a.row(), a.column());
}

/// Traps where a sum of the later product is scaled by what is computed of other rows of its factor than its own: O[r] by sums of S[r].
void Pairing::check_factor(const Origin& later, const Origin& factor, const Computation& how) {
  if (later.kind() != Origin::Kind::sum || setup().why) return;
  const auto of_later = row_of(later), of_factor = row_of(factor);
  const int row = of_later.second, line = of_factor.second;
  const Gemm& gemm = setup().gemms[of_later.first];
  const bool mixed = factor.kind() == Origin::Kind::mixed;
  if (row < 0 || line < 0 || gemm.a.producer != static_cast<int>(of_factor.first) || (!mixed && line == row)) return;
  const auto [m, n] = sums_[later.product()].element(later.row(), later.column());
  const std::string& name = setup().gemms[of_factor.first].c.name;
  const std::uint32_t at = ways()[factor.way].load;
  const machine::WarpState& warp = how.event.state();
  how.event.trap(
      how.lane, std::nullopt,
      fmt::format("the sum for {} meets a value of {} of {}, not of row {} alone{}", gemm.c.element(m, n),
                  mixed ? fmt::format("rows {} and {}", line, factor.other_line()) : fmt::format("row {}", line), name, row,
                  at == Way::no_statement ? "" : fmt::format("; {} {}", warp.statement_name(at), mixed ? "adds them" : "computed it")),
      KernelTrap::Kind::mispaired);
}

// ---- Results

KernelTrap::Site Pairing::site_of(const WarpState& warp, int lane) try {
  warp.trap(lane, std::nullopt, "");
} catch (const KernelTrap& trap) {
  return trap.site;
}

/// That of another statement of the warp.
KernelTrap::Site Pairing::site_of(const WarpState& warp, int lane, std::uint32_t statement) {
  KernelTrap::Site site = site_of(warp, lane);
  const syntax::Statement& at = *warp.program().statements[statement];
  site.line = at.location.line;
  site.statement = at.opcode;
  site.source = syntax::source_text(*warp.program().module, at);
  return site;
}

/// Where the row of A and the column of B of a sum came from.
std::string Pairing::ways_of(const Origin& origin, const WarpState& warp) const {
  const Sum& sum = sums_[origin.product()];
  const Origin& row = sum.rows->origin(origin.row());
  const Origin& column = sum.columns->origin(origin.column());
  return fmt::format("its row of {}: {}; its column of {}: {}", gemm_->a.name, way_of(sum.swapped ? column : row, warp), gemm_->b.name,
                     way_of(sum.swapped ? row : column, warp));
}

void Pairing::writes(const GlobalWrite& write, const WarpState& warp) {
  for (const Gemm& gemm : setup().gemms) {
    gemm_ = &gemm;
    write_element(write, warp);
  }
}

/// The number of a warp's block in the grid.
std::uint64_t Pairing::block_number(const WarpState& warp) const {
  const Dim3 block = warp.block().index(), grid = setup().grid;
  return (std::uint64_t{block.z} * grid.y + block.y) * grid.x + block.x;
}

/// What is written of the result of the product that is looked at.
void Pairing::write_element(const GlobalWrite& write, const WarpState& warp) {
  const std::uint64_t first = write.address, last = first + write.bytes;
  if (gemm_->c.bits == 0 || last <= gemm_->c.address || first >= gemm_->c.end()) return;
  const auto number = static_cast<std::size_t>(gemm_ - setup().gemms.data());
  const auto bytes = static_cast<std::uint64_t>(std::max(1, gemm_->c.bits / 8));
  for (std::uint64_t at = std::max(first, gemm_->c.address); at < std::min(last, gemm_->c.end()); ++at) {
    if ((at - gemm_->c.address) % bytes != 0) continue;
    const auto place = gemm_->c.place(at * 8);
    if (!place) continue;
    Origin origin;
    for (std::uint64_t b = 0; b < bytes && at + b < last && !origin.known(); ++b) origin = write.origins[at + b - first];
    const bool sum = origin.kind() == Origin::Kind::sum && sums_[origin.product()].gemm == gemm_;
    if (setup().why && setup().why->gemm == number && setup().why->place == *place) explain(origin, write, warp);
    if (sum && !setup().why) check_element(origin, place->first, place->second, write, warp);
    setup().reports.stores[number].store(
        *gemm_, place->first, place->second, static_cast<std::uint32_t>(block_number(warp)), [&] { return site_of(warp, write.lane); },
        [&] { return sum ? ways_of(origin, warp) : warp.statement_name(write.statement) + " stores what is no sum of products"; });
  }
}

/// Whether another accumulator of the cluster holds the same sum.
bool Pairing::formed_twice(const Origin& origin) const {
  const Sum& sum = sums_[origin.product()];
  const auto wanted = sum.element(origin.row(), origin.column());
  const std::uint32_t depths = sum.depth_set(origin.row(), origin.column());
  int count = 0;
  for (const Sum& other : sums_) {
    if (other.gemm != sum.gemm) continue;
    const std::vector<int>&rows = other.rows->numbers, &columns = other.columns->numbers;
    for (std::size_t r = 0; r < rows.size(); ++r)
      for (std::size_t c = 0; rows[r] == (other.swapped ? wanted.second : wanted.first) && c < columns.size(); ++c)
        if (columns[c] == (other.swapped ? wanted.first : wanted.second))
          count += other.depth_set(static_cast<int>(r), static_cast<int>(c)) == depths;
  }
  return count > 1;
}

/// Traps for a sum that is formed twice and stored as another element: what read its row or column read it in the place of another.
void Pairing::report_reader(const Origin& origin, int row, int column, const GlobalWrite& write, const WarpState& warp) {
  const Sum& sum = sums_[origin.product()];
  const auto [m, n] = sum.element(origin.row(), origin.column());
  const bool of_a = m >= 0 && m != row;
  const Origin* way = &origin;
  while (way->kind() == Origin::Kind::sum) {  // a factor that is the result of another product has its row of that one's A
    const Sum& of = sums_[way->product()];
    way = of_a != of.swapped ? &of.rows->origin(way->row()) : &of.columns->origin(way->column());
  }
  const Way& steps = ways()[way->way];
  const std::uint32_t reader = steps.read != Way::no_statement ? steps.read : steps.load;
  if (reader == Way::no_statement) return;
  const std::string_view line = of_a ? "row" : "column";
  throw KernelTrap(site_of(warp, -1, reader), std::nullopt,
                   fmt::format("{0} {1} of {2} is read twice, here in the place of {0} {3}: two sums are those for {4}, and {5} stores one "
                               "as {6}; the product at {7} formed it; the {0}: {8}",
                               line, of_a ? m : n, of_a ? gemm_->a.name : gemm_->b.name, of_a ? row : column, gemm_->c.element(m, n),
                               warp.statement_name(write.statement), gemm_->c.element(row, column), warp.statement_name(sum.statement),
                               way_of(*way, warp)),
                   KernelTrap::Kind::mispaired);
}

void Pairing::check_element(const Origin& origin, int row, int column, const GlobalWrite& write, const WarpState& warp) {
  const Sum& sum = sums_[origin.product()];
  const auto [m, n] = sum.element(origin.row(), origin.column());
  const std::string store = warp.statement_name(write.statement);
  const Origin& of_m = sum.swapped ? sum.columns->origin(origin.column()) : sum.rows->origin(origin.row());
  const Origin& of_n = sum.swapped ? sum.rows->origin(origin.row()) : sum.columns->origin(origin.column());
  if ((m >= 0 && m != row) || (n >= 0 && n != column)) {
    if (formed_twice(origin)) report_reader(origin, row, column, write, warp);
    std::string ways;
    if (m >= 0 && m != row) ways += fmt::format("; its row of {}: {}", gemm_->a.name, way_of(of_m, warp));
    if (n >= 0 && n != column) ways += fmt::format("; its column of {}: {}", gemm_->b.name, way_of(of_n, warp));
    warp.trap(write.lane, write.address,
              fmt::format("{} stores the sum for {} as {}; the product at {} formed it{}", store, gemm_->c.element(m, n),
                          gemm_->c.element(row, column), warp.statement_name(sum.statement), ways),
              KernelTrap::Kind::mispaired);
  }
  if (write.adds || sum.partial) return;
  const std::uint32_t set = sum.depth_set(origin.row(), origin.column());
  const DepthSets::Intervals all{{0, static_cast<int>(gemm_->k) - 1}};
  if (sets_[set] == all) return;
  const std::string lacking =
      sum.lacking
          ? fmt::format("; for k {} operand {} held no element of {}: {}", sum.lacking->depth, sum.lacking->letter,
                        (sum.lacking->letter == 'a') != sum.swapped ? gemm_->a.name : gemm_->b.name, way_of(sum.lacking->origin, warp))
          : "";
  warp.trap(write.lane, write.address,
            fmt::format("{} stores {} without products of {}: the last product added is that at {}{}; {}; {}", store,
                        gemm_->c.element(row, column), missing(set), warp.statement_name(sum.statement), lacking, way_of(of_m, warp),
                        way_of(of_n, warp)),
            KernelTrap::Kind::mispaired);
}

}  // namespace warpmat::checks

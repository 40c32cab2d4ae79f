#include <warpmat/provenance/pairing.h>

#include <algorithm>

#include <fmt/core.h>

#include <warpmat/forms.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/warp_state.h>

// Products: their operands are held against the matrix product, and their sums are noted.

namespace warpmat::provenance {

using machine::WarpState;

std::optional<std::uint32_t> Pairing::multiplies(const OriginProduct& product) {
  const int depth = product.b.depth;
  const int group = product.form.sparsity == Sparsity::dense ? 1 : metadata_group(product.form) / 2;
  const auto& gemms = launch_.gemms;
  const std::size_t last = std::max(product.a.slot, product.b.slot);
  if (looks_.size() <= last) looks_.resize(last + 1);  // before there are references
  Look& of_a = look_of(product.a, 'a', depth, group);
  Look& of_b = look_of(product.b, 'b', depth, 1);
  const auto of = std::ranges::find_if(gemms, [&](const Gemm& gemm) { return gemm_ = &gemm, choose_matrices(of_a, of_b); });
  if (of == gemms.end()) return product.previous();
  const Operand& a = of_a.operand;
  const Operand& b = of_b.operand;
  launch_.stores[static_cast<std::size_t>(of - gemms.begin())].note_product();
  const Operand* const image = a.taps != nullptr ? &a : b.taps != nullptr ? &b : nullptr;
  if (!launch_.element) {
    if (image != nullptr) check_image(product, *image);
    check_formats(product, a, b);
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
  if (launch_.element) record(product, a, b, sum);
  return sums_.add(std::move(sum));
}

/// Frees the sums which no byte has, nor another sum that one has. The way of an element needs all of them.
void Pairing::collect() {
  if (launch_.element || !sums_.is_full()) return;
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
  sums_.free_unused(used);
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
        product.event.trap(
            -1, std::nullopt,
            {fmt::format("operand {} holds {} where {} belongs, beside {}", operand.letter,
                         other_place ? other.matrix->element(other_place->first, other_place->second) : "a value that no statement wrote",
                         name_of(operand, right), name_of(operand, operand.at(line, k == 0 ? 1 : 0))),
             history(operand, line, k, right, product)},
            Trap::Kind::mispaired);
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
                         {fmt::format("the product multiplies {} by {}: {}", operand.is_b ? partner : name_of(operand, one),
                                      operand.is_b ? name_of(operand, one) : partner, what),
                          together(std::vector<Trap::Note>{{fmt::format("{} belongs there", name_of(operand, right))}},
                                   history(operand, line, k, right, product), layouts(operand, product))},
                         Trap::Kind::mispaired);
    }
}

/// Traps where two neighbours along k are parts of one element as the launch is told it: then it is told wrong sizes.
void Pairing::check_widths(const OriginProduct& product, const Operand& a, const Operand& b) {
  for (const Operand* const operand : {&a, &b}) {
    const int bits = product.form.operand(operand->letter == 'a' ? OperandName::a : OperandName::b).fragment.element_bits();
    const GemmMatrix& matrix = *operand->matrix;
    if (matrix.producer >= 0 || matrix.bits <= bits || operand->sparse()) continue;
    for (int line = 0; line < operand->origins->lines; ++line)
      for (int k = 0; k + 1 < operand->depth; ++k) {
        const Seen &one = operand->at(line, k), &next = operand->at(line, k + 1);
        if (one.line < 0 || one.line != next.line || one.depth != next.depth || operand->origin(line, k).derived()) continue;
        product.event.trap(
            -1, std::nullopt,
            {fmt::format("the product multiplies elements of {} bits, and {} would have elements of {}", bits, matrix.name, matrix.bits),
             {{fmt::format("by its bytes and the {} by {} that the launch is told: the told product, or the buffer, is another",
                           matrix.stored_rows(), matrix.stored_columns())}}},
            Trap::Kind::mispaired);
      }
  }
}

/// Traps where the product reads elements of a matrix as numbers of another format than the launch is told; those that the kernel has
/// converted are not looked at.
void Pairing::check_formats(const OriginProduct& product, const Operand& a, const Operand& b) {
  for (const Operand* const operand : {&a, &b}) {
    const std::optional<Format> told = operand->matrix->format;
    const Format read = product.form.format(operand->letter == 'a' ? OperandName::a : OperandName::b);
    if (!told || told == read || (told == Format::f32 && read == Format::tf32)) continue;
    for (int line = 0; line < operand->origins->lines; ++line)
      for (int k = 0; k < operand->depth; ++k)
        if (operand->at(line, k).line >= 0 && !operand->origin(line, k).derived())
          product.event.trap(
              -1, std::nullopt,
              {fmt::format("the product reads {} as {}: its numbers are {}", operand->matrix->name, name(read), name(*told))},
              Trap::Kind::mispaired);
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
        {fmt::format("the product multiplies {} by {}: k {} meets k {}", name_of(a, one), name_of(b, other), one.depth, other.depth),
         together(history(a, row, k, {one.line, other.depth}, product), history(b, column, k, {other.line, one.depth}, product))},
        Trap::Kind::mispaired);
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
  if ((!row_differs && !column_differs) || launch_.element) return;
  const WarpState& warp = warp_of(product.event);
  const bool of_a = row_differs != sum.swapped;
  const Origin& before = of_a ? previous.rows->origin(old.row()) : previous.columns->origin(old.column());
  const Origin& now = of_a ? sum.rows->origin(row) : sum.columns->origin(column);
  product.event.trap(
      -1, std::nullopt,
      {fmt::format("the product adds products for {} to the sum for {}", gemm_->c.element(new_m, new_n), gemm_->c.element(m, n)),
       together(std::vector{warp.note("the sum was formed here", previous.statement)},
                notes_of(of_a ? "its row" : "its column", before, warp), notes_of(of_a ? "the other row" : "the other column", now, warp),
                layouts(of_a ? a : b, product))},
      Trap::Kind::mispaired);
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
      if (twice && !launch_.element && !split(sum))
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
                     {fmt::format("the product adds k {} to the sum for {}, which has it already", twice, gemm_->c.element(m, n)),
                      together(history(a, row, k, a.at(row, k), product), history(b, column, k, b.at(column, k), product))},
                     Trap::Kind::mispaired);
}

}  // namespace warpmat::provenance

#include <warpmat/provenance/meetings.h>

#include <algorithm>
#include <span>

#include <warpmat/forms.h>

namespace warpmat::provenance {
namespace {

std::uint64_t bit_in_memory(const Origin& origin) {
  return origin.kind() == Origin::Kind::memory ? origin.bit() : 0;
}

std::uint64_t hash_of(std::uint64_t bit) {
  bit = (bit ^ bit >> 31) * 0x9e3779b97f4a7c15ULL;
  return bit ^ bit >> 29;
}

std::uint64_t distance(std::uint64_t a, std::uint64_t b) {
  return a < b ? b - a : a - b;
}

/// One element of each line of an operand, at number `at` along k.
std::shared_ptr<const std::vector<std::uint64_t>> elements_at(const OperandOrigins& operand, int at) {
  std::vector<std::uint64_t> bits;
  for (int line = 0; line < operand.lines; ++line) bits.push_back(bit_in_memory(operand.at(line, at)));
  return std::make_shared<const std::vector<std::uint64_t>>(std::move(bits));
}

}  // namespace

bool multiplies(const code::Program& program) {
  using enum catalogue::Semantics;
  return program.executes(matrix) || program.executes(wgmma) || program.executes(tensor_memory);
}

/// The distances of two neighbours along k and of two lines, at one place of the operand, and the width of an element there.
void MeetingRecorder::note(const OriginProduct& product, MatrixNumber number) {
  const OperandOrigins& operand = number == of_a ? product.a : product.b;
  const auto pick = [&](int size) { return static_cast<int>((random() >> 33) % static_cast<std::uint64_t>(size)); };
  const int line = pick(operand.lines), k = pick(operand.depth);
  const Origin& one = operand.at(line, k);
  const std::uint64_t here = bit_in_memory(one);
  if (here != 0 && !one.derived())
    ++found_.widths[number][product.form.operand(number == of_a ? OperandName::a : OperandName::b).fragment.element_bits()];
  for (const std::uint64_t other :
       {bit_in_memory(operand.at((line + 1) % operand.lines, k)), bit_in_memory(operand.at(line, (k + 1) % operand.depth))})
    if (here != 0 && other != 0 && here != other) ++found_.distances[number][distance(here, other)];
}

/// Elements of A and B at the first and at the last k at which both have one.
void MeetingRecorder::note_ends(const OriginProduct& product, int group) {
  constexpr std::size_t most = 1 << 14;
  if (found_.along_k.size() > most) return;
  const auto meeting = [&](int k) {
    return std::array{bit_in_memory(product.a.at(0, product.a.depth == product.b.depth ? k : k / 2)), bit_in_memory(product.b.at(0, k))};
  };
  const auto is_one = [](const std::array<std::uint64_t, 2>& m) { return m[0] != 0 && m[1] != 0; };
  std::optional<std::array<std::uint64_t, 2>> first, last;
  for (int k = 0; k < product.b.depth; k += group) {
    const auto m = meeting(k);
    if (!is_one(m)) continue;
    if (!first) first = m;
    last = m;
  }
  if (first) found_.along_k.insert({*first, *last});
}

std::optional<std::uint32_t> MeetingRecorder::multiplies(const OriginProduct& product) {
  const std::optional<std::uint32_t> before = product.previous();
  ++found_.products;
  const auto has = [](const OperandOrigins& operand, Origin::Kind kind) {
    return std::ranges::any_of(operand.elements, [&](const Origin& origin) { return origin.kind() == kind; });
  };
  if (has(product.a, Origin::Kind::sum) || has(product.b, Origin::Kind::sum)) ++found_.chained;
  if (!has(product.a, Origin::Kind::memory) || !has(product.b, Origin::Kind::memory)) return before;
  ++found_.multiplied;
  const bool sparse = product.a.depth != product.b.depth;
  const int group = sparse ? metadata_group(product.form) : 1;  // of k whose elements of A lie in one place
  found_.sparse |= sparse;
  note(product, of_a);
  note(product, of_b);
  note_ends(product, group);
  Sum sum;
  if (before) sum = sums_[*before];
  sum.sparse = sparse;
  sum.is_stored = false;
  const auto keep = [&](std::size_t at, int step) {
    const int k = step * group;
    sum.factors[at] = {elements_at(product.a, sparse ? k / 2 : k), elements_at(product.b, k)};
  };
  const auto any_step = [&] { return static_cast<int>((random() >> 33) % static_cast<std::uint64_t>(product.b.depth / group)); };
  if (sum.products == 0) {
    keep(0, 0);
    keep(1, product.b.depth / group - 1);
    keep(2, any_step());
    keep(3, any_step());
  } else if (const std::uint64_t at = (random() >> 33) % (sum.products + 1); at < Sum::kept) {
    keep(at, any_step());
  }
  ++sum.products;
  return sums_.add(std::move(sum));
}

/// Frees the sums that no byte has.
void MeetingRecorder::collect() {
  if (sums_.is_full()) sums_.free_unused(products_in_use(sums_.size()));
}

void MeetingRecorder::store(const Origin& origin, std::uint64_t bit) {
  Sum& sum = sums_[origin.product()];
  const int row = origin.row(), column = origin.column();
  if (!sum.is_stored) {
    sum.is_stored = true;
    sum.row = row;
    sum.column = column;
    sum.place = bit;
  } else if ((row == sum.row) != (column == sum.column)) {
    ++found_
          .distances[of_c][distance(bit, sum.place) / static_cast<std::uint64_t>(std::abs(row - sum.row) + std::abs(column - sum.column))];
  }
  if ((hash_of(bit) & left_out_) != 0) return;
  for (const auto& [a, b] : sum.factors) {
    if (a == nullptr) continue;
    const Meeting meeting{{(*a)[static_cast<std::size_t>(row)], (*b)[static_cast<std::size_t>(column)], bit}, sum.sparse};
    if (meeting.bits[of_a] != 0 && meeting.bits[of_b] != 0) found_.stored.push_back(meeting);
  }
  if (++elements_ <= most_) return;
  left_out_ = left_out_ * 2 + 1;
  std::erase_if(found_.stored, [&](const Meeting& meeting) { return (hash_of(meeting.bits[of_c]) & left_out_) != 0; });
  elements_ = found_.stored.size() / Sum::kept;
}

void MeetingRecorder::writes(const GlobalWrite& write, const machine::WarpState&) {
  for (std::uint32_t first = 0, next = 0; first < write.bytes; first = next) {
    const Origin& origin = write.origins[first];
    while (next < write.bytes && write.origins[next].same() == origin.same()) ++next;
    if (origin.kind() != Origin::Kind::sum) continue;
    ++found_.widths[of_c][static_cast<int>(next - first) * 8];
    store(origin, (write.address + first) * 8);
  }
}

}  // namespace warpmat::provenance

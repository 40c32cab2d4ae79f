#include <warpmat/provenance/affine.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

namespace warpmat::provenance {

std::array<std::uint64_t, 2> AffineMatrix::place(std::uint64_t bit) const {
  std::uint64_t offset = bit - address * 8;
  if (part != 0) offset %= part * 8;
  const std::uint64_t number = offset / static_cast<std::uint64_t>(bits);
  const std::uint64_t outer = number / pitch, inner = number % pitch;
  return transposed ? std::array{inner, outer} : std::array{outer, inner};
}

namespace {

constexpr std::size_t most_looked_at = 2048;  ///< meetings that choose among candidates

/// The k of B that an element of A has.
std::uint64_t depth_of_a(const Meeting& meeting, std::uint64_t column) {
  return meeting.sparse ? column * 2 : column;
}

struct Agreement {
  bool m, n, k, part;

  bool all() const { return m && n && k && part; }
};

Agreement agreement_of(const AffineProduct& product, const Meeting& meeting) {
  const auto& [a, b, c] = product.matrices;
  const auto in_a = a.place(meeting.bits[of_a]), in_b = b.place(meeting.bits[of_b]), in_c = c.place(meeting.bits[of_c]);
  const std::uint64_t part = c.part_of(meeting.bits[of_c]);
  const bool same_part = product.sums_parts ||
                         ((a.part == 0 || a.part_of(meeting.bits[of_a]) == part) && (b.part == 0 || b.part_of(meeting.bits[of_b]) == part));
  return {in_a[0] == in_c[0], in_b[1] == in_c[1], depth_of_a(meeting, in_a[1]) == in_b[0], same_part};
}

/// Pitches that a matrix may have, the likeliest first.
std::vector<std::uint64_t> pitches_of(const AffineMatrix& matrix, const std::map<std::uint64_t, std::size_t>& distances,
                                      const std::vector<std::uint64_t>& numbers) {
  constexpr std::size_t most = 28, of_distances = 12;
  std::vector<std::pair<std::size_t, std::uint64_t>> votes;
  for (const auto& [bits, count] : distances)
    if (bits % static_cast<std::uint64_t>(matrix.bits) == 0) votes.emplace_back(count, bits / static_cast<std::uint64_t>(matrix.bits));
  std::ranges::sort(votes, std::greater());
  std::vector<std::uint64_t> pitches;
  const auto add = [&](std::uint64_t pitch) {
    if (pitch > 1 && pitch <= matrix.elements() && pitches.size() < most && std::ranges::find(pitches, pitch) == pitches.end())
      pitches.push_back(pitch);
  };
  std::uint64_t common = 0;
  for (std::size_t i = 0; i < std::min(votes.size(), of_distances); ++i) add(votes[i].second);
  for (const auto& [count, pitch] : votes)
    if (pitch > 1 && count * 20 > votes.front().first) common = std::gcd(common, pitch);
  add(common);
  for (const std::uint64_t number : numbers) add(number);
  return pitches;
}

/// Both directions with each pitch.
std::vector<AffineMatrix> candidates_of(const AffineMatrix& matrix, const std::vector<std::uint64_t>& pitches) {
  std::vector<AffineMatrix> all;
  for (const std::uint64_t pitch : pitches)
    for (const bool transposed : {false, true}) {
      AffineMatrix one = matrix;
      one.pitch = pitch;
      one.transposed = transposed;
      all.push_back(one);
    }
  return all;
}

/// How many whole rows fill the matrix's memory; 0 where they do not.
std::uint64_t whole_rows(const AffineMatrix& matrix) {
  return matrix.elements() % matrix.pitch == 0 ? matrix.elements() / matrix.pitch : 0;
}

/// Rows and columns of a matrix that fills its memory; zeros where it does not.
std::array<std::uint64_t, 2> shape_of(const AffineMatrix& matrix) {
  const std::uint64_t rows = whole_rows(matrix);
  if (rows == 0) return {0, 0};
  return matrix.transposed ? std::array{matrix.pitch, rows} : std::array{rows, matrix.pitch};
}

/// Whether all three matrices fill their memory, and their sizes are those of a product.
bool sizes_match(const std::array<AffineMatrix, matrix_count>& matrices, bool sparse) {
  const auto a = shape_of(matrices[of_a]), b = shape_of(matrices[of_b]), c = shape_of(matrices[of_c]);
  return a[0] != 0 && a[0] == c[0] && b[1] != 0 && b[1] == c[1] && a[1] * (sparse ? 2 : 1) == b[0];
}

/// M, N and K of a product whose matrices have so many elements; none if there are no such numbers.
std::vector<std::uint64_t> sizes_of(const std::array<AffineMatrix, matrix_count>& matrices, bool sparse) {
  const auto elements = [&](MatrixNumber number) { return static_cast<double>(matrices[number].elements()); };
  const double a = elements(of_a) * (sparse ? 2 : 1), b = elements(of_b), c = elements(of_c);
  std::vector<std::uint64_t> sizes;
  for (const double square : {a * c / b, b * c / a, a * b / c}) {
    const double size = std::round(std::sqrt(square));
    if (size < 1 || size * size != square) return {};
    sizes.push_back(static_cast<std::uint64_t>(size));
  }
  if (sparse) sizes.push_back(sizes.back() / 2);
  return sizes;
}

/// The product of the highest rank.
struct Ranked {
  AffineProduct product;
  std::pair<std::size_t, std::size_t> highest{};

  void keep(const AffineProduct& one, std::pair<std::size_t, std::size_t> rank) {
    if (rank <= highest) return;
    highest = rank;
    product = one;
  }
};

/// The candidates that agree best. Those that fill their buffers, and whose sizes match, may agree somewhat less.
class Search {
 public:
  Search(std::span<const Meeting* const> meetings, const std::array<std::vector<AffineMatrix>, matrix_count>& candidates)
      : meetings_(meetings), candidates_(candidates) {
    for (std::size_t matrix = 0; matrix < matrix_count; ++matrix)
      for (const AffineMatrix& candidate : candidates[matrix]) {
        std::vector<std::array<std::uint64_t, 2>> places;
        for (const Meeting* const meeting : meetings) places.push_back(candidate.place(meeting->bits[matrix]));
        places_[matrix].push_back(std::move(places));
      }
  }

  /// Of all candidates, and of those whose sizes match alone; the second has no agreement where there are none.
  std::pair<AffineProduct, AffineProduct> best() const {
    const auto rows = table(of_a, of_c, [](const Meeting&, const auto& a, const auto& c) { return a[0] == c[0]; });
    const auto columns = table(of_b, of_c, [](const Meeting&, const auto& b, const auto& c) { return b[1] == c[1]; });
    const auto depths =
        table(of_a, of_b, [](const Meeting& meeting, const auto& a, const auto& b) { return depth_of_a(meeting, a[1]) == b[0]; });
    const bool sparse = meetings_.front()->sparse;
    Ranked all, matching;
    for (std::size_t a = 0; a < candidates_[of_a].size(); ++a)
      for (std::size_t b = 0; b < candidates_[of_b].size(); ++b)
        for (std::size_t c = 0; c < candidates_[of_c].size(); ++c) {
          const std::size_t agreeing = rows[a][c] + columns[b][c] + depths[a][b];
          std::size_t filled = 0, pitches = 0;
          const std::array matrices{candidates_[of_a][a], candidates_[of_b][b], candidates_[of_c][c]};
          for (const AffineMatrix& one : matrices) {
            filled += static_cast<std::size_t>(whole_rows(one) != 0);
            pitches += one.pitch;
          }
          AffineProduct product;
          product.matrices = matrices;
          product.sizes_match = filled == matrix_count && sizes_match(matrices, sparse);
          product.agreement = static_cast<double>(agreeing) / static_cast<double>(3 * meetings_.size());
          const std::pair rank(8 * agreeing + meetings_.size() * (filled + (product.sizes_match ? 4 : 0)), ~pitches);
          all.keep(product, rank);
          if (product.sizes_match) matching.keep(product, rank);
        }
    return {all.product, matching.product};
  }

 private:
  template <typename Agrees>
  std::vector<std::vector<std::size_t>> table(MatrixNumber one, MatrixNumber other, Agrees agrees) const {
    std::vector<std::vector<std::size_t>> counts(places_[one].size(), std::vector<std::size_t>(places_[other].size()));
    for (std::size_t i = 0; i < places_[one].size(); ++i)
      for (std::size_t j = 0; j < places_[other].size(); ++j)
        for (std::size_t m = 0; m < meetings_.size(); ++m)
          counts[i][j] += agrees(*meetings_[m], places_[one][i][m], places_[other][j][m]) ? std::size_t{1} : std::size_t{0};
    return counts;
  }

  std::span<const Meeting* const> meetings_;
  const std::array<std::vector<AffineMatrix>, matrix_count>& candidates_;
  std::array<std::vector<std::vector<std::array<std::uint64_t, 2>>>, matrix_count> places_;
};

/// Some of the meetings, from all over the result.
std::vector<const Meeting*> some_of(const std::vector<const Meeting*>& meetings) {
  std::vector<const Meeting*> some;
  const std::size_t step = std::max<std::size_t>(1, meetings.size() / most_looked_at);
  for (std::size_t i = 0; i < meetings.size(); i += step) some.push_back(meetings[i]);
  return some;
}

std::pair<AffineProduct, AffineProduct> best_of(std::span<const Meeting* const> meetings, const Meetings& all,
                                                const std::array<AffineMatrix, matrix_count>& matrices, const AffineHints& hints) {
  std::array<std::vector<AffineMatrix>, matrix_count> candidates;
  std::vector<std::uint64_t> numbers = sizes_of(matrices, all.sparse);
  numbers.insert(numbers.end(), hints.numbers.begin(), hints.numbers.end());
  for (const MatrixNumber number : {of_a, of_b, of_c}) {
    const std::vector<std::uint64_t> pitches = pitches_of(matrices[number], all.distances[number], numbers);
    candidates[number] = candidates_of(matrices[number], pitches);
    for (std::size_t i = 0; i < std::min<std::size_t>(4, pitches.size()); ++i) {  // C has rows as long as a factor's, or as many
      numbers.push_back(pitches[i]);
      numbers.push_back(matrices[number].elements() / pitches[i]);
    }
  }
  return Search(meetings, candidates).best();
}

/// The same with several matrices in the buffers, one for each block along a dimension of the grid.
std::vector<AffineProduct> in_parts(std::span<const Meeting* const> meetings, const Meetings& all,
                                    const std::array<AffineMatrix, matrix_count>& matrices, const AffineHints& hints) {
  std::vector<AffineProduct> found;
  for (const std::uint64_t parts : hints.parts)
    for (const auto& [of_first, of_second] :
         {std::pair(true, true), std::pair(true, false), std::pair(false, true), std::pair(false, false)}) {
      std::array<AffineMatrix, matrix_count> divided = matrices;
      bool whole = true;
      for (const auto& [number, divides] : {std::pair(of_a, of_first), std::pair(of_b, of_second), std::pair(of_c, true)}) {
        const std::uint64_t bytes = divided[number].end - divided[number].address;
        whole &= !divides || bytes % parts == 0;
        divided[number].part = divides ? bytes / parts : 0;
      }
      if (!whole) continue;
      AffineProduct one = best_of(meetings, all, divided, hints).first;
      one.sums_parts = !of_first && !of_second;
      const auto same = std::ranges::count_if(meetings, [&](const Meeting* m) { return agreement_of(one, *m).part; });
      one.agreement *= static_cast<double>(same) / static_cast<double>(meetings.size());
      found.push_back(one);
    }
  return found;
}

/// A dimension of a matrix: rows may be padded, but their number is `exact`.
struct Extent {
  std::uint64_t size;
  bool exact;
};

Extent extent_of(const AffineMatrix& matrix, int dimension) {
  return {shape_of(matrix)[static_cast<std::size_t>(dimension)], matrix.transposed == (dimension == 1)};
}

/// A dimension of which the meetings have `least`, unless the matrices are larger: then a kernel leaves a part out. Where rows may be
/// padded on both sides, only that of a kernel which `errs` anyway is no padding. The kernel may have been told the size.
std::uint64_t size_with(std::uint64_t least, Extent one, Extent other, bool errs, const AffineHints& hints) {
  if (std::ranges::find(hints.numbers, least) != hints.numbers.end()) return least;
  if (!one.exact) std::swap(one, other);
  const bool fits = one.exact && !other.exact ? other.size >= one.size : other.size == one.size;
  return fits && (one.exact || errs) ? std::max(least, one.size) : least;
}

/// How many of the elements of C there are, and how many of them have a product that does not belong there.
void count_exceptions(AffineProduct& product, const std::vector<const Meeting*>& sorted) {
  std::uint64_t last = 0;
  bool is_exception = false;
  product.elements = product.exceptions = 0;
  for (const Meeting* const meeting : sorted) {
    if (meeting->bits[of_c] != last) {
      is_exception = false;
      ++product.elements;
      last = meeting->bits[of_c];
    }
    const bool belongs = agreement_of(product, *meeting).all();
    if (!belongs && !is_exception) ++product.exceptions;
    is_exception |= !belongs;
  }
}

/// Whether most meetings agree in each dimension: a map of tiles that are taken from elsewhere agrees in some.
bool each_dimension_agrees(const AffineProduct& product, std::span<const Meeting* const> meetings) {
  std::array<std::size_t, 4> agreeing{};
  for (const Meeting* const meeting : meetings) {
    const Agreement found = agreement_of(product, *meeting);
    for (std::size_t i = 0; const bool agrees : {found.m, found.n, found.k, found.part}) agreeing[i++] += agrees ? 1 : 0;
  }
  return std::ranges::all_of(agreeing, [&](std::size_t count) { return count * 2 > meetings.size(); });
}

void find_sizes(AffineProduct& product, const std::vector<const Meeting*>& sorted, const Meetings& all, const AffineHints& hints,
                bool errs) {
  const auto& [a, b, c] = product.matrices;
  if (!product.fits_most() && product.sizes_match) {
    product.m = shape_of(c)[0];
    product.n = shape_of(c)[1];
    product.k = product.padded_k = shape_of(b)[0];
    return;
  }
  for (const Meeting* const meeting : sorted) {
    const auto in_c = c.place(meeting->bits[of_c]);
    const Agreement found = agreement_of(product, *meeting);
    if (found.m) product.m = std::max(product.m, in_c[0] + 1);
    if (found.n) product.n = std::max(product.n, in_c[1] + 1);
  }
  const auto note_depth = [&, &a = a, &b = b](std::uint64_t bit_a, std::uint64_t bit_b) {
    if (bit_a < a.address * 8 || bit_a >= a.end * 8 || bit_b < b.address * 8 || bit_b >= b.end * 8) return;
    const std::uint64_t of_first = a.place(bit_a)[1] * (all.sparse ? 2 : 1), of_second = b.place(bit_b)[0];
    if (of_first == of_second) product.k = std::max(product.k, of_second + 1);
  };
  for (const auto& [bit_a, bit_b] : all.along_k) note_depth(bit_a, bit_b);
  if (product.k == 0)
    for (const Meeting* const meeting : sorted) note_depth(meeting->bits[of_a], meeting->bits[of_b]);
  Extent depth = extent_of(a, 1);
  if (all.sparse) depth.size *= 2;
  errs |= product.exceptions != 0;
  product.m = size_with(product.m, extent_of(a, 0), extent_of(c, 0), errs, hints);
  product.n = size_with(product.n, extent_of(b, 1), extent_of(c, 1), errs, hints);
  product.k = size_with(product.k, depth, extent_of(b, 0), errs, hints);
  product.padded_k = size_with(product.k, depth, extent_of(b, 0), true, hints);
}

/// The same product with rows of C contiguous: C^T = A * B is C = B^T * A^T.
void turn(AffineProduct& product) {
  std::swap(product.matrices[of_a], product.matrices[of_b]);
  std::swap(product.m, product.n);
  for (AffineMatrix& matrix : product.matrices) matrix.transposed = !matrix.transposed;
}

}  // namespace

AffineProduct fit(const std::vector<const Meeting*>& meetings, const Meetings& all, const std::array<AffineMatrix, matrix_count>& matrices,
                  const AffineHints& hints, bool errs) {
  constexpr double nearly_all = 0.98, better = 0.02, least_of_matching = 0.35;
  const std::vector<const Meeting*> some = some_of(meetings);
  std::vector<const Meeting*> sorted = meetings;
  std::ranges::sort(sorted, {}, [](const Meeting* m) { return m->bits[of_c]; });
  auto [best, matching] = best_of(some, all, matrices, hints);
  if (best.agreement < nearly_all)
    for (const AffineProduct& other : in_parts(some, all, matrices, hints))
      if (other.agreement > best.agreement + better && each_dimension_agrees(other, some)) best = other;
  count_exceptions(best, sorted);
  const bool doubtful = !best.fits_most() || (errs && !best.sizes_match);
  if (doubtful && matching.agreement >= least_of_matching) {
    best = matching;
    count_exceptions(best, sorted);
  }
  best.is_likely = best.fits_most() || best.sizes_match || each_dimension_agrees(best, some);
  best.sparse = all.sparse;
  find_sizes(best, sorted, all, hints, errs);
  if (best.matrices[of_c].transposed) turn(best);
  return best;
}

}  // namespace warpmat::provenance

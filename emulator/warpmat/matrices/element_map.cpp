#include <warpmat/matrices/element_map.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/core.h>

#include <warpmat/text.h>

namespace warpmat {
namespace {

using Source = std::optional<std::size_t>;
using Rule = std::function<Source(std::size_t row, std::size_t column)>;

constexpr std::size_t most_listed = 16, most_terms = 5;

/// The value that occurs most often, and how often.
class Votes {
 public:
  void add(std::size_t value) { ++counts_[value]; }
  bool empty() const { return counts_.empty(); }
  std::pair<std::size_t, std::size_t> winner() const {
    const auto best = std::ranges::max_element(counts_, {}, [](const auto& count) { return count.second; });
    return {best->first, best->second};
  }
  std::size_t total() const {
    std::size_t sum = 0;
    for (const auto& [value, count] : counts_) sum += count;
    return sum;
  }
  /// The winner, if it has more than half of the votes.
  Source majority() const {
    if (empty() || 2 * winner().second <= total()) return std::nullopt;
    return winner().first;
  }

 private:
  std::map<std::size_t, std::size_t> counts_;
};

class MapReader {
 public:
  MapReader(const ElementMap& map, const std::vector<bool>& wrong, const StandsThere& stands, std::string_view name)
      : map_(map), wrong_(wrong), stands_(stands), name_(name) {}

  std::optional<std::string> describe() const {
    if (auto text = transposed()) return text;
    if (auto text = along_rows()) return text;
    if (auto text = along_columns()) return text;
    if (auto text = by_bits()) return text;
    if (auto text = shifted()) return text;
    return by_leading_dimension();
  }

 private:
  std::size_t columns() const { return map_.columns; }
  Source source(std::size_t row, std::size_t column) const { return map_.sources[row * columns() + column]; }

  /// Whether the rule gives the elements that are wrong: nine tenths of those for which it names a source, which are a quarter at least.
  bool holds(const Rule& rule) const {
    std::size_t asked = 0, right = 0, wrong = 0;
    for (std::size_t row = 0; row < map_.rows; ++row)
      for (std::size_t column = 0; column < columns(); ++column) {
        const std::size_t at = row * columns() + column;
        if (!wrong_[at]) continue;
        ++wrong;
        const Source from = rule(row, column);
        if (!from) continue;
        ++asked;
        if (*from != at && stands_(at, *from)) ++right;
        if (asked - right > wrong_.size() / 8) return false;  // beyond help
      }
    return 4 * asked >= wrong && 10 * right >= 9 * asked && right > 1;
  }

  std::optional<std::string> transposed() const {
    if (map_.rows != columns() || columns() < 2) return std::nullopt;
    if (!holds([&](std::size_t row, std::size_t column) { return Source(column * columns() + row); })) return std::nullopt;
    return fmt::format("{0} is transposed: {0}[r,c] holds what belongs at {0}[c,r]", name_);
  }

  /// The rows come from other rows.
  std::optional<std::string> along_rows() const {
    std::vector<std::size_t> from(map_.rows);
    for (std::size_t row = 0; row < map_.rows; ++row) {
      Votes votes;
      for (std::size_t column = 0; column < columns(); ++column)
        if (const Source s = source(row, column); s && *s % columns() == column) votes.add(*s / columns());
      from[row] = votes.majority().value_or(row);
    }
    if (!holds([&](std::size_t row, std::size_t column) { return Source(from[row] * columns() + column); })) return std::nullopt;
    return describe_axis(from, "row", "r");
  }

  std::optional<std::string> along_columns() const {
    std::vector<std::size_t> from(columns());
    for (std::size_t column = 0; column < columns(); ++column) {
      Votes votes;
      for (std::size_t row = 0; row < map_.rows; ++row)
        if (const Source s = source(row, column); s && *s / columns() == row) votes.add(*s % columns());
      from[column] = votes.majority().value_or(column);
    }
    if (!holds([&](std::size_t row, std::size_t column) { return Source(row * columns() + from[column]); })) return std::nullopt;
    return describe_axis(from, map_.rows == 1 ? "element" : "column", "c");
  }

  /// A permutation of rows or columns: by a constant, in groups, or by examples.
  static std::string describe_axis(const std::vector<std::size_t>& from, std::string_view axis, std::string_view index) {
    const std::size_t count = from.size();
    const auto every = [&](auto rule) {
      for (std::size_t i = 0; i < count; ++i)
        if (from[i] != rule(i)) return false;
      return true;
    };
    const std::size_t difference = from[0];
    if (every([&](std::size_t i) { return i ^ difference; }))
      return fmt::format("{0} {1} holds what belongs in {0} {1} xor {2}", axis, index, difference);
    for (std::size_t group = 2; group <= most_listed && group < count; ++group) {
      if (count % group != 0 || !every([&](std::size_t i) { return i - i % group + from[i % group] % group; })) continue;
      return fmt::format("the {0}s are permuted in groups of {1}: {0}s 0 to {2} of each hold what belongs in {0}s {3}", axis, group,
                         group - 1, joined(std::vector<std::size_t>(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(group)), " "));
    }
    for (std::size_t by = 1; by < count; ++by)
      for (const bool down : {true, false})
        if (every([&](std::size_t i) { return down ? (i + by < count ? i + by : from[i]) : (i >= by ? i - by : from[i]); }))
          return fmt::format("{0} {1} holds what belongs in {0} {1} {3} {2}", axis, index, by, down ? '+' : '-');
    std::vector<std::string> examples;
    for (std::size_t i = 0; i < count && examples.size() < 4; ++i)
      if (from[i] != i) examples.push_back(fmt::format("{} holds {}", i, from[i]));
    return fmt::format("whole {0}s are exchanged: {0} {1}, ...", axis, joined(examples, ", "));
  }

  // ---- Maps that are linear over the bits of row and column ---------------------------------------------------------------------------
  //
  // The index of an element is the bits of its column, and above them those of its row. Such a map sends 0 to `offset` and changes the
  // source by images[b] where bit b of the index changes.

  int column_bits() const { return static_cast<int>(std::bit_width(columns() - 1)); }
  int row_bits() const { return static_cast<int>(std::bit_width(map_.rows - 1)); }
  std::size_t packed(std::size_t row, std::size_t column) const { return row << column_bits() | column; }
  std::size_t packed(std::size_t index) const { return packed(index / columns(), index % columns()); }
  /// The index of packed bits, if they are inside of the matrix.
  Source unpacked(std::size_t bits) const {
    const std::size_t row = bits >> column_bits(), column = bits & ((std::size_t{1} << column_bits()) - 1);
    if (row >= map_.rows || column >= columns()) return std::nullopt;
    return row * columns() + column;
  }

  struct BitMap {
    std::size_t offset = 0;
    std::vector<std::size_t> images{};
    std::size_t operator()(std::size_t bits) const {
      std::size_t image = offset;
      for (std::size_t b = 0; b < images.size(); ++b)
        if ((bits >> b & 1) != 0) image ^= images[b];
      return image;
    }
  };

  /// Each bit's image is what most pairs of elements that differ in that bit alone say.
  std::optional<BitMap> bit_map() const {
    BitMap found;
    for (int b = 0; b < column_bits() + row_bits(); ++b) {
      Votes votes;
      for (std::size_t at = 0; at < map_.sources.size(); ++at) {
        const std::size_t bits = packed(at);
        const Source other = (bits >> b & 1) != 0 ? std::nullopt : unpacked(bits | std::size_t{1} << b);
        if (other && map_.sources[at] && map_.sources[*other]) votes.add(packed(*map_.sources[at]) ^ packed(*map_.sources[*other]));
      }
      const Source image = votes.majority();
      if (!image) return std::nullopt;
      found.images.push_back(*image);
    }
    Votes offsets;
    for (std::size_t at = 0; at < map_.sources.size(); ++at)
      if (map_.sources[at]) offsets.add(packed(*map_.sources[at]) ^ found(packed(at)));
    const Source offset = offsets.majority();
    if (!offset) return std::nullopt;
    found.offset = *offset;
    return found;
  }

  std::optional<std::string> by_bits() const {
    const auto found = bit_map();
    if (!found || !holds([&](std::size_t row, std::size_t column) { return unpacked((*found)(packed(row, column))); })) return std::nullopt;
    const auto row = expression(*found, column_bits(), row_bits()), column = expression(*found, 0, column_bits());
    if (!row || !column) return std::nullopt;
    return fmt::format("{0}[r,c] holds what belongs at {0}[{1}, {2}]", name_, *row, *column);
  }

  /// Bits `first` to first + count - 1 of the source as a sum modulo 2 of parts of r and c; nothing where it has too many.
  std::optional<std::string> expression(const BitMap& map, int first, int count) const {
    std::vector<std::string> terms;
    struct Variable {
      std::string_view name;
      int first, bits;
    };
    const Variable row{"r", column_bits(), row_bits()}, column{"c", 0, column_bits()};
    for (const Variable& v : first == 0 ? std::array{column, row} : std::array{row, column})
      for (int shift = 1 - v.bits; shift < count; ++shift) {  // bit b of the variable gives bit b + shift of the source
        const auto has = [&](int b) {
          const int to = b + shift;
          return b < v.bits && to >= 0 && to < count && (map.images[static_cast<std::size_t>(v.first + b)] >> (first + to) & 1) != 0;
        };
        for (int b = 0; b < v.bits; ++b) {
          if (!has(b)) continue;
          int end = b + 1;
          while (has(end)) ++end;
          terms.push_back(part(v.name, b, end, v.bits, shift));
          b = end;
        }
      }
    if (const std::size_t offset = map.offset >> first & ((std::size_t{1} << count) - 1); offset != 0)
      terms.push_back(fmt::format("{}", offset));
    if (terms.size() > most_terms) return std::nullopt;
    return terms.empty() ? "0" : joined(terms, " xor ");
  }

  /// Bits [begin, end) of a variable of `bits` bits, shifted: "c", "8*(r mod 8)", "4*(c/8)".
  static std::string part(std::string_view name, int begin, int end, int bits, int shift) {
    std::string text = begin == 0 ? std::string(name) : fmt::format("{}/{}", name, 1 << begin);
    if (end < bits) text += fmt::format(" mod {}", 1 << (end - begin));
    const int to = begin + shift;
    const bool plain = begin == 0 && end == bits;
    if (to == 0) return plain ? text : fmt::format("({})", text);
    return fmt::format("{}*{}", 1 << to, plain ? text : fmt::format("({})", text));
  }

  // ---- Other maps -----------------------------------------------------------------------------------------------------------------------

  /// All come from a place that is as far away: a tile that is read or stored a row or a column off.
  std::optional<std::string> shifted() const {
    Votes votes;
    const std::size_t bias = map_.rows * columns();
    for (std::size_t at = 0; at < map_.sources.size(); ++at)
      if (const Source& s = map_.sources[at]; s && *s != at)
        votes.add((*s / columns() + map_.rows - at / columns()) * 2 * bias + (*s % columns() + columns() - at % columns()));
    if (votes.empty()) return std::nullopt;
    const auto down = static_cast<std::int64_t>(votes.winner().first / (2 * bias)) - static_cast<std::int64_t>(map_.rows);
    const auto right = static_cast<std::int64_t>(votes.winner().first % (2 * bias)) - static_cast<std::int64_t>(columns());
    const Rule rule = [&](std::size_t row, std::size_t column) -> Source {
      const std::int64_t r = static_cast<std::int64_t>(row) + down, c = static_cast<std::int64_t>(column) + right;
      if (r < 0 || c < 0 || r >= static_cast<std::int64_t>(map_.rows) || c >= static_cast<std::int64_t>(columns())) return std::nullopt;
      return static_cast<std::size_t>(r) * columns() + static_cast<std::size_t>(c);
    };
    if (!holds(rule)) return std::nullopt;
    const auto off = [](std::string_view index, std::int64_t by) {
      return by == 0 ? std::string(index) : fmt::format("{} {} {}", index, by < 0 ? '-' : '+', by < 0 ? -by : by);
    };
    if (map_.rows == 1) return fmt::format("{0}[i] holds what belongs at {0}[{1}]", name_, off("i", right));
    return fmt::format("{0}[r,c] holds what belongs at {0}[{1}, {2}]", name_, off("r", down), off("c", right));
  }

  /// Rows lie at another distance than the number of columns: row 1 begins elsewhere.
  std::optional<std::string> by_leading_dimension() const {
    if (map_.rows < 2) return std::nullopt;
    Votes votes;
    for (std::size_t at = 0; at < map_.sources.size(); ++at) {
      const Source& s = map_.sources[at];
      if (!s || *s / columns() == 0) continue;
      const std::size_t row = *s / columns(), column = *s % columns();
      if (at > column && (at - column) % row == 0) votes.add((at - column) / row);
    }
    const Source leading = votes.majority();
    if (!leading || *leading == columns()) return std::nullopt;
    const Rule rule = [&](std::size_t row, std::size_t column) -> Source {
      const std::size_t at = row * columns() + column, r = at / *leading, c = at % *leading;
      if (r >= map_.rows || c >= columns()) return std::nullopt;
      return r * columns() + c;
    };
    if (!holds(rule)) return std::nullopt;
    return fmt::format("the rows are {} elements apart, not {}: the leading dimension", *leading, columns());
  }

  const ElementMap& map_;
  const std::vector<bool>& wrong_;
  const StandsThere& stands_;
  std::string_view name_;
};

/// A code for each group of `width` neighbours in a row.
std::vector<std::uint64_t> grouped(const std::vector<std::uint64_t>& codes, std::size_t width) {
  if (width == 1) return codes;
  std::vector<std::uint64_t> groups;
  for (std::size_t i = 0; i < codes.size(); i += width) {
    std::uint64_t hash = 0;
    for (std::size_t j = 0; j < width; ++j) hash = (hash ^ codes[i + j]) * 0x9e3779b97f4a7c15, hash ^= hash >> 29;
    groups.push_back(hash);
  }
  return groups;
}

}  // namespace

std::optional<std::string> describe_map(const ElementMap& map, const std::vector<bool>& wrong, const StandsThere& stands,
                                        std::string_view name) {
  return MapReader(map, wrong, stands, name).describe();
}

ElementMap map_by_values(const std::vector<std::uint64_t>& held, const std::vector<std::uint64_t>& expected, std::size_t rows,
                         std::size_t columns) {
  ElementMap map{rows, columns, std::vector<std::optional<std::size_t>>(held.size())};
  constexpr std::size_t several = SIZE_MAX;
  for (std::size_t width = 1; width <= columns; width *= 2) {
    if (columns % width != 0) break;
    const auto codes = grouped(expected, width), found = grouped(held, width);
    std::unordered_map<std::uint64_t, std::size_t> places;
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const auto [place, added] = places.try_emplace(codes[i], i);
      if (!added) place->second = several;
    }
    const auto once = std::ranges::count_if(places, [](const auto& place) { return place.second != several; });
    if (2 * static_cast<std::size_t>(once) < codes.size() && 2 * width <= columns && columns % (2 * width) == 0) continue;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto place = places.find(found[i]);
      if (place == places.end() || place->second == several) continue;
      for (std::size_t j = 0; j < width; ++j) map.sources[i * width + j] = place->second * width + j;
    }
    break;
  }
  return map;
}

}  // namespace warpmat

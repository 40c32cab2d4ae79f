#include "tools/report/layout_notation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

namespace warpmat {
namespace {

/// A number whose bits contribute to another one.
struct Source {
  std::string name;
  int bits;
};

/// Bit `to` of a number flips with bit `from` of source number `source`.
struct Flip {
  std::size_t source;
  int from, to;
};

/// `count` bits of a source from bit `from` on that become the bits from `to` on.
struct Run {
  std::size_t source;
  int from, to, count;
};

std::vector<Run> runs_of(const std::vector<Flip>& flips) {
  std::vector<Run> runs;
  for (const Flip& flip : flips) {
    if (!runs.empty()) {
      Run& last = runs.back();
      if (last.source == flip.source && last.from + last.count == flip.from && last.to + last.count == flip.to) {
        ++last.count;
        continue;
      }
    }
    runs.push_back({flip.source, flip.from, flip.to, 1});
  }
  return runs;
}

/// "row / 8 % 2 * 4"
std::string term(const std::vector<Source>& sources, const Run& run) {
  const Source& source = sources[run.source];
  std::string text = source.name;
  if (run.from > 0) text += fmt::format(" / {}", 1 << run.from);
  if (run.from + run.count < source.bits) text += fmt::format(" % {}", 1 << run.count);
  if (run.to > 0) text += fmt::format(" * {}", 1 << run.to);
  return text;
}

/// The number composed of `flips`: sums if every bit comes from one bit, else exclusive ors.
std::string expression(const std::vector<Source>& sources, const std::vector<Flip>& flips) {
  std::set<int> targets;
  for (const Flip& flip : flips) targets.insert(flip.to);
  const bool disjoint = targets.size() == flips.size();
  std::vector<std::string> terms;
  for (const Run& run : runs_of(flips)) terms.push_back(disjoint ? term(sources, run) : fmt::format("({})", term(sources, run)));
  if (terms.empty()) return "0";
  std::ranges::reverse(terms);
  return fmt::format("{}", fmt::join(terms, disjoint ? " + " : " ^ "));
}

/// A number as a function of others: `value(source, bit)` is its value for that bit alone.
template <typename Value>
std::string assignment(const std::string& name, const std::vector<Source>& sources, Value value) {
  std::vector<Flip> flips;
  for (std::size_t source = 0; source < sources.size(); ++source)
    for (int from = 0; from < sources[source].bits; ++from)
      for (int to = 0; to < 16; ++to)
        if ((value(source, from) >> to & 1) != 0) flips.push_back({source, from, to});
  return fmt::format("{} = {};\n", name, expression(sources, flips));
}

constexpr std::array<int Place::*, 3> place_parts = {&Place::lane, &Place::reg, &Place::bit};
constexpr std::array<const char*, 3> place_names = {"lane", "reg", "bit"};
constexpr std::array<int Element::*, 3> element_parts = {&Element::row, &Element::column, &Element::matrix};
constexpr std::array<const char*, 3> element_names = {"row", "column", "matrix"};

/// The place for each single bit of the number of a lane's elements.
std::vector<Place> unit_places(const Fragment& f) {
  std::vector<Place> places;
  for (int bit = 0; bit < f.inside_bits(); ++bit) places.push_back({0, 0, f.element_bits() << bit});
  for (int bit = 0; bit < log2_exact(f.registers()); ++bit) places.push_back({0, 1 << bit, 0});
  return places;
}

/// A dimension of a CuTe layout.
struct Mode {
  int size, stride;
};

std::vector<Mode> modes_of(const std::vector<int>& strides) {
  std::vector<Mode> modes;
  for (const int stride : strides) {
    if (!modes.empty() && stride == modes.back().size * modes.back().stride && (stride != 0 || modes.back().stride == 0))
      modes.back().size *= 2;
    else
      modes.push_back({2, stride});
  }
  return modes.empty() ? std::vector<Mode>{{1, 0}} : modes;
}

std::string tuple(const std::vector<Mode>& modes, int Mode::*part) {
  std::vector<int> numbers;
  for (const Mode& mode : modes) numbers.push_back(mode.*part);
  return numbers.size() == 1 ? std::to_string(numbers.front()) : fmt::format("({})", fmt::join(numbers, ","));
}

}  // namespace

std::string layout_formulas(const Fragment& f) {
  const std::vector<Source> element{
      {"row", log2_exact(f.rows())}, {"column", log2_exact(f.columns())}, {"matrix", log2_exact(f.matrices())}};
  const std::vector<Source> place{
      {"lane", Fragment::lane_bits}, {"reg", log2_exact(f.registers())}, {"bit", log2_exact(f.register_bits())}};
  std::string out;
  for (std::size_t part = 0; part < place_parts.size(); ++part)
    out += assignment(place_names[part], element, [&](std::size_t source, int bit) {
      Element e;
      e.*element_parts[source] = 1 << bit;
      return f.place(e).*place_parts[part];
    });
  for (std::size_t part = 0; part < element_parts.size(); ++part) {
    if (part == 2 && f.matrices() == 1) continue;
    out += assignment(element_names[part], place, [&](std::size_t source, int bit) {
      Place p;
      p.*place_parts[source] = 1 << bit;
      return f.element(p).*element_parts[part];
    });
  }
  return out;
}

std::string cute_layout(const Fragment& f, bool transposed) {
  const auto number = [&](const Element& e) {
    const int inside = transposed ? e.column + f.columns() * e.row : e.row + f.rows() * e.column;
    return inside + e.matrix * f.rows() * f.columns();
  };
  std::vector<int> thread, value;
  for (int bit = 0; bit < Fragment::lane_bits; ++bit) thread.push_back(number(f.element({1 << bit, 0, 0})));
  for (const Place& place : unit_places(f)) value.push_back(number(f.element(place)));
  const auto threads = modes_of(thread), values = modes_of(value);
  return fmt::format("({},{}):({},{})", tuple(threads, &Mode::size), tuple(values, &Mode::size), tuple(threads, &Mode::stride),
                     tuple(values, &Mode::stride));
}

std::string linear_layout_text(const Fragment& f) {
  const auto line = [&](const char* prefix, const std::string& axis, int number, const Place& place) {
    const Element e = f.element(place);
    return fmt::format("{} {}={} -> ({}, {}{})\n", prefix, axis, number, e.row, e.column,
                       f.matrices() > 1 ? fmt::format(", {}", e.matrix) : "");
  };
  std::string out;
  const std::vector<Place> values = unit_places(f);
  for (std::size_t i = 0; i < values.size(); ++i) out += line(i == 0 ? "-" : " ", "register", 1 << i, values[i]);
  if (values.empty()) out += "- register is a size 1 dimension\n";
  for (int bit = 0; bit < Fragment::lane_bits; ++bit) out += line(bit == 0 ? "-" : " ", "lane", 1 << bit, {1 << bit, 0, 0});
  const std::string matrix = f.matrices() > 1 ? fmt::format(", matrix (size {})", f.matrices()) : "";
  return out + fmt::format("where out dims are: [row (size {}), column (size {}){}]\n", f.rows(), f.columns(), matrix);
}

}  // namespace warpmat

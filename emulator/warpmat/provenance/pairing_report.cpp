// What Pairing says of a fault: which statements moved the elements that met, where in shared memory they lie, and by which swizzles and
// strides the two sides computed these places.

#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include <warpmat/layout.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/provenance/pairing.h>

namespace warpmat::provenance {

using machine::WarpState;

namespace {

/// A place in shared memory of byte `byte` of line `line` of a matrix.
struct TilePlace {
  std::int64_t line, byte;
  std::uint32_t address;
};

/// A layout in which lines lie `pitch` bytes apart, under a swizzle of 16 bytes.
struct TileLayout {
  int swizzle_bits = 0, swizzle_shift = 3;
  std::int64_t pitch = 0;
  friend bool operator==(const TileLayout&, const TileLayout&) = default;

  std::string text() const {
    const std::string swizzle = swizzle_bits == 0 ? "no swizzle" : fmt::format("swizzle<{},4,{}>", swizzle_bits, swizzle_shift);
    return fmt::format("{} and {} bytes from a line to the next", swizzle, pitch);
  }
};

/// The offset of a place's linear address from that of byte 0 of its line; the same for all places of a line in the right layout.
std::int64_t line_start(const TileLayout& layout, const TilePlace& place) {
  return static_cast<std::int64_t>(swizzled(std::uint64_t{place.address}, layout.swizzle_bits, 4, layout.swizzle_shift)) - place.byte;
}

/// Whether the layout explains all places; sets its pitch by two of them.
bool explains(TileLayout& layout, const std::vector<TilePlace>& places) {
  const TilePlace& first = places.front();
  const auto other = std::ranges::find_if(places, [&](const TilePlace& p) { return p.line != first.line; });
  if (other == places.end()) return false;
  const std::int64_t start = line_start(layout, first), apart = line_start(layout, *other) - start;
  if (apart % (other->line - first.line) != 0) return false;
  layout.pitch = apart / (other->line - first.line);
  return std::ranges::all_of(places,
                             [&](const TilePlace& p) { return line_start(layout, p) - start == layout.pitch * (p.line - first.line); });
}

std::vector<TileLayout> layouts_of(const std::vector<TilePlace>& places) {
  std::vector<TileLayout> all;
  if (places.empty()) return all;
  for (int bits = 0; bits <= 3; ++bits)
    for (int shift = 3; shift <= (bits == 0 ? 3 : 5); ++shift) {
      TileLayout layout{bits, std::max(shift, bits)};
      if (explains(layout, places) && std::ranges::find(all, layout) == all.end()) all.push_back(layout);
    }
  return all;
}

}  // namespace

std::string Pairing::name_of(const Operand& operand, const Seen& seen) const {
  if (seen.line < 0) return fmt::format("no element of {}", operand.matrix->name);
  const auto place = stored_place(operand, seen);
  return place ? operand.matrix->element(place->first, place->second) : fmt::format("the padding of {}", operand.matrix->name);
}

/// "row 5", of an image "Y[0,2,5,0]".
std::string Pairing::line_name(const Operand& operand, int line) const {
  if (operand.taps != nullptr) return gemm_->c.element(line, 0);
  return fmt::format("{} {}", operand.is_b ? "column" : "row", line);
}

/// The statements that moved an element or formed it, the last one first.
std::vector<Pairing::Step> Pairing::steps_of(const Origin& origin) const {
  if (origin.kind() == Origin::Kind::sum) return {{"formed", "", sums_[origin.product()].statement}};
  const Way& way = ways()[origin.way];
  std::vector<Step> steps;
  if (way.read != Way::no_statement)
    steps.push_back({"read", origin.address == 0 ? "" : fmt::format(" at {:#x}", origin.address), way.read});
  if (way.store != Way::no_statement) steps.push_back({"wrote", fmt::format(" there, in warp {}", way.warp), way.store});
  if (way.load != Way::no_statement && way.load != way.store) steps.push_back({"loaded", "", way.load});
  return steps;
}

/// "line 40 (ldmatrix...) read it at 0x1b0, line 22 (cp.async...) wrote it there, in warp 0".
std::string Pairing::way_of(const Origin& origin, const WarpState& warp) const {
  std::string text;
  for (const Step& step : steps_of(origin))
    text += fmt::format("{}{} {} it{}", text.empty() ? "" : ", ", warp.statement_name(step.statement), step.verb, step.where);
  return text.empty() ? "no statement wrote it" : text;
}

/// The same of `what`, a note for each statement: "this statement read A[3,8] at 0x1b0".
std::vector<Trap::Note> Pairing::notes_of(const std::string& what, const Origin& origin, const WarpState& warp) const {
  std::vector<Trap::Note> notes;
  for (const Step& step : steps_of(origin))
    notes.push_back(warp.note(fmt::format("this statement {} {}{}", step.verb, notes.empty() ? what : "it", step.where), step.statement));
  if (notes.empty()) notes.push_back({fmt::format("no statement wrote {}", what)});
  return notes;
}

/// "A[3,8] lies at 0x190": where in the block's shared memory the wanted element is; empty where it need not be there.
std::string Pairing::where_is(const Operand& operand, const Seen& wanted, const OriginProduct& product) {
  if (operand.sparse() || operand.matrix->producer >= 0) return "";
  const auto place = stored_place(operand, wanted);
  if (!place) return "";
  const std::uint64_t bit = operand.matrix->bit_of(place->first, place->second);
  const std::span<const Origin> bytes = shared(product.event.rank());
  const auto found = std::ranges::find_if(bytes, [&](const Origin& o) { return o.kind() == Origin::Kind::memory && o.bit() == bit; });
  if (found == bytes.end()) return fmt::format("{} is nowhere in shared memory", name_of(operand, wanted));
  return fmt::format("{} lies at {:#x}", name_of(operand, wanted),
                     program().shared_base + static_cast<std::uint32_t>(found - bytes.begin()));
}

std::vector<Trap::Note> Pairing::history(const Operand& operand, int line, int k, const Seen& wanted, const OriginProduct& product) {
  const Origin& origin = operand.origin(line, k);
  const Seen seen = operand.at(line, k);
  const bool in_shared = ways()[origin.way].read != Way::no_statement;
  const std::string what = seen.line < 0 ? fmt::format("operand {}", operand.letter) : name_of(operand, seen);
  std::vector<Trap::Note> notes = notes_of(what, origin, warp_of(product.event));
  if (!in_shared || (seen.line == wanted.line && seen.depth == wanted.depth)) return notes;
  if (const std::string place = where_is(operand, wanted, product); !place.empty()) notes.push_back({place});
  return notes;
}

/// The layout by which the operand is read, and that in which its tile was written, where they differ.
std::vector<Trap::Note> Pairing::layouts(const Operand& operand, const OriginProduct& product) {
  if (operand.sparse() || operand.taps != nullptr || operand.matrix->producer >= 0) return {};
  const int bits = operand.matrix->bits;
  const bool along_lines = operand.matrix->transposed != operand.is_b;  // lines of the tile run along m or n
  std::vector<TilePlace> read, written;
  for (int line = 0; line < operand.origins->lines; ++line)
    for (int k = 0; k < operand.depth; ++k) {
      const Origin& origin = operand.origin(line, k);
      if (ways()[origin.way].read == Way::no_statement) continue;
      const std::int64_t outer = along_lines ? k : line, inner = along_lines ? line : k;
      read.push_back({outer, inner * bits / 8, origin.address});
    }
  const Seen& first = operand.at(0, 0);
  if (read.empty() || first.line < 0) return {};
  const std::uint32_t way = ways()[operand.origin(0, 0).way].store;
  const std::span<const Origin> bytes = shared(product.event.rank());
  constexpr std::int64_t reach = 8;  // lines and 16-byte units around the first element
  for (std::size_t offset = 0; offset < bytes.size(); ++offset) {
    const Origin& origin = bytes[offset];
    if (origin.kind() != Origin::Kind::memory || ways()[origin.way].store != way) continue;
    const auto place = operand.matrix->place(origin.bit());
    if (!place || (origin.bit() - operand.matrix->address * 8) % static_cast<std::uint64_t>(bits) != 0) continue;
    const std::int64_t line = operand.is_b ? place->second : place->first, depth = operand.is_b ? place->first : place->second;
    const std::int64_t outer = along_lines ? depth : line, inner = along_lines ? line : depth;
    const std::int64_t first_outer = along_lines ? first.depth : first.line, first_inner = along_lines ? first.line : first.depth;
    if (std::abs(outer - first_outer) > reach || std::abs(inner - first_inner) * bits / 8 > reach * 16) continue;
    written.push_back({outer, inner * bits / 8, program().shared_base + static_cast<std::uint32_t>(offset)});
  }
  const std::vector<TileLayout> reader = layouts_of(read), writer = layouts_of(written);
  if (reader.empty() || writer.empty()) return {};
  const bool agree = std::ranges::any_of(reader, [&](const TileLayout& l) { return std::ranges::find(writer, l) != writer.end(); });
  if (agree) return {};
  return {{fmt::format("the reader's layout is {}, the writer's {}", reader.front().text(), writer.front().text())}};
}

std::string Pairing::missing(std::uint32_t set) const {
  std::string text;
  int next = 0;
  const auto add = [&](int first, int last) {
    if (first > last) return;
    text += (text.empty() ? "k " : ", ") + (first == last ? fmt::format("{}", first) : fmt::format("{} to {}", first, last));
  };
  for (const auto& [first, last] : sets_[set]) {
    add(next, first - 1);
    next = last + 1;
  }
  add(next, static_cast<int>(gemm_->k) - 1);
  return text;
}

}  // namespace warpmat::provenance

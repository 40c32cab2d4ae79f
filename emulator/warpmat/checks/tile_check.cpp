#include <warpmat/checks/tile_check.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/bulk_copies.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/stored_buffer.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/machine/warpgroup.h>
#include <warpmat/wgmma.h>

namespace warpmat::checks {

using machine::EventKinds;

namespace {

std::string_view swizzle_name(Swizzle swizzle) {
  constexpr std::array<std::string_view, 4> names{"none", "32B", "64B", "128B"};
  return names[static_cast<std::size_t>(swizzle)];
}

/// Whether both maps write the same runs of the same tensor to the same places of shared memory.
bool same_tensor(const TensorMap& a, const TensorMap& b) {
  return a.address() == b.address() && a.rank() == b.rank() && a.strides() == b.strides() && a.box() == b.box() &&
         a.swizzle() == b.swizzle() && a.atom() == b.atom();
}

}  // namespace

TileCheck::TileCheck(const Setup& setup, std::uint64_t cluster)
    : Observer(EventKinds::copies | EventKinds::products), setup_(setup), cluster_(cluster) {}

void TileCheck::block_begins(const machine::BlockEvent& event) {
  blocks_.push_back({event.shared.data(), std::vector<Chunk>(event.shared.size() / machine::Product::chunk_bytes), {}, {}});
}

void TileCheck::bulk_completes(const machine::BulkEvent& event) {
  const machine::BulkTransfer& transfer = transfer_of(event);
  const bool tile = transfer.loads() && transfer.map && transfer.map->rank() >= 2 && transfer.map->mode() == TensorMap::Mode::tile &&
                    transfer.map->interleave() == TensorMap::Interleave::none;
  const std::uint32_t map = tile ? number_of(*transfer.map) : 0;
  BlockTiles& here = blocks_[static_cast<std::size_t>(transfer.shared.rank)];
  if (tile && repeats(here, transfer, map, event.statement)) return;
  for (const machine::SharedRange& range : event.written) forget(blocks_[static_cast<std::size_t>(range.rank)], range);
  if (tile) note(here, transfer, map, event);
}

std::uint32_t TileCheck::number_of(const TensorMap& map) {
  const auto known = std::ranges::find_if(maps_, [&](const TensorMap& other) { return same_tensor(other, map); });
  const auto number = static_cast<std::uint32_t>(known - maps_.begin());
  if (known == maps_.end()) maps_.push_back(map);
  return number;
}

/// Whether the copy writes what an earlier one wrote, but from another address on: a pipeline's does. The tile is then the later one's.
bool TileCheck::repeats(BlockTiles& tiles, const machine::BulkTransfer& transfer, std::uint32_t map, std::uint32_t statement) const {
  const std::uint64_t address = transfer.runs.front().first.address;
  const auto alike = [&](const machine::TensorRun& before, machine::TensorRun run) {
    run.first.address -= address;
    return before == run;
  };
  const auto tile = std::ranges::find_if(tiles.tiles, [&](const Tile& t) {
    return t.whole && t.offset == transfer.shared.offset && t.map == map && std::ranges::equal(t.runs, transfer.runs, alike);
  });
  if (tile == tiles.tiles.end()) return false;
  tile->address = address;
  tile->statement = statement;
  return true;
}

/// These bytes are written.
void TileCheck::forget(BlockTiles& tiles, const machine::SharedRange& range) const {
  constexpr std::uint64_t size = machine::Product::chunk_bytes;
  const std::uint64_t last = std::min<std::uint64_t>((range.offset + range.bytes + size - 1) / size, tiles.chunks.size());
  for (std::uint64_t i = range.offset / size; i < last; ++i) {
    const std::uint32_t number = std::exchange(tiles.chunks[i], Chunk{}).tile;
    if (number == 0) continue;
    Tile& tile = tiles.tiles[number - 1];
    tile.whole = false;
    --tile.chunks;
    ++tile.changes;
  }
}

/// A copy has written a tile, of which there is nothing yet.
void TileCheck::note(BlockTiles& tiles, const machine::BulkTransfer& transfer, std::uint32_t map, const machine::BulkEvent& event) const {
  constexpr std::uint32_t size = machine::Product::chunk_bytes;
  auto tile = std::ranges::find(tiles.tiles, std::size_t{0}, &Tile::chunks);
  if (tile == tiles.tiles.end()) tile = tiles.tiles.insert(tile, Tile{});
  *tile = {transfer.runs.front().first.address, event.statement, map, transfer.shared.offset, transfer.runs, 0, false, tile->changes + 1};
  for (machine::TensorRun& run : tile->runs) run.first.address -= tile->address;
  const auto number = static_cast<std::uint32_t>(tile - tiles.tiles.begin()) + 1;
  machine::for_each_row(tile->runs, [&](const machine::TensorRow& row) {
    machine::for_each_chunk(*transfer.map, setup_.program.shared_base, transfer.shared.offset + row.shared, row.begin, row.end,
                            [&](std::uint32_t begin, std::uint32_t bytes, std::uint32_t at) {
                              if (bytes != size || at % size != 0) return;
                              tiles.chunks[at / size] = {number, row.address + (begin - row.begin)};
                              ++tile->chunks;
                            });
  });
  std::uint64_t written = 0;
  for (const machine::SharedRange& range : event.written) written += range.bytes;
  tile->whole = tile->chunks != 0 && tile->chunks * size == written;
}

/// What a tensor map's copy wrote at an address of shared memory, if the bytes are still these.
std::optional<TileCheck::Place> TileCheck::place_at(const BlockTiles& tiles, std::uint32_t address) const {
  const std::size_t offset = address - setup_.program.shared_base;
  if (offset / machine::Product::chunk_bytes >= tiles.chunks.size() || offset % machine::Product::chunk_bytes != 0) return std::nullopt;
  const Chunk& chunk = tiles.chunks[offset / machine::Product::chunk_bytes];
  if (chunk.tile == 0) return std::nullopt;
  const Tile& tile = tiles.tiles[chunk.tile - 1];
  const Place place{tile.address + chunk.at, tile.statement, tile.map};
  const auto now = find_range(*setup_.memory, place.address, machine::Product::chunk_bytes);
  if (!now || std::memcmp(now->data(), tiles.shared + offset, now->size()) != 0) return std::nullopt;
  return place;
}

/// The offset of an address in its row of the tensor.
std::uint64_t TileCheck::column_of(std::uint64_t address, std::uint32_t map) const {
  return (address - maps_[map].address()) % maps_[map].strides()[0];
}

/// Whether fault() finds nothing, going by what copies wrote alone: bytes that have changed since only make fault() end earlier. False: it
/// may find something. `found` becomes the tiles that were looked at.
bool TileCheck::is_regular(const BlockTiles& tiles, const std::vector<std::uint32_t>& chunks, std::size_t in_line, Regular& found) const {
  constexpr std::uint32_t size = machine::Product::chunk_bytes;
  const std::span<const Chunk> noted(tiles.chunks);
  const Tile* tile = nullptr;  // of the chunk before
  std::uint32_t number = 0;    // its Chunk::tile
  std::uint64_t begin = 0, first = 0, pitch = 0;
  found.count = 0;
  for (std::size_t line = 0; line < chunks.size() / in_line; ++line) {
    std::uint64_t next = 0;
    for (std::size_t i = 0; i < in_line; ++i) {
      const std::uint32_t offset = chunks[line * in_line + i] - setup_.program.shared_base;
      if (offset / size >= noted.size() || offset % size != 0 || noted[offset / size].tile == 0) {
        found.count = 0;
        return true;
      }
      const Chunk& chunk = noted[offset / size];
      if (std::exchange(number, chunk.tile) != chunk.tile) {
        const Tile* const before = std::exchange(tile, &tiles.tiles[chunk.tile - 1]);
        pitch = maps_[tile->map].strides()[0];
        const std::uint64_t from = before == nullptr ? tile->address : tiles.tiles[found.parts.front().tile].address;
        found.add({chunk.tile - 1, tile->changes, tile->address - from});
        if (before != nullptr && tile->map != before->map) return true;
      }
      const std::uint64_t address = tile->address + chunk.at;
      if (i != 0 && address != next) return false;
      next = address + size;
      if (i != 0) continue;
      if (line == 0) {
        first = address;
      } else if (address <= begin || (address != begin + pitch && column_of(address, tile->map) != column_of(first, tile->map))) {
        return false;
      }
      begin = address;
    }
  }
  return true;
}

/// The index in BlockTiles::regular. Descriptors of a pipeline differ in the bits of their start.
std::size_t TileCheck::place_of(const Operand& operand) {
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
  const std::uint64_t sum = (operand.descriptor * factor ^ static_cast<std::uint64_t>(operand.warp)) * factor;
  return static_cast<std::size_t>(sum >> 32) % regular_count;
}

void TileCheck::Regular::add(const Part& part) {
  const auto known = parts.begin() + static_cast<std::ptrdiff_t>(std::min(count, most));
  if (std::ranges::find(parts.begin(), known, part.tile, &Part::tile) != known) return;
  if (count < most) parts[count] = part;
  ++count;
}

/// Whether it was regular, and nothing has happened since that could change that.
bool TileCheck::stays_regular(const BlockTiles& tiles, const Operand& operand) const {
  if (tiles.regular.empty()) return false;
  const Regular& known = tiles.regular[place_of(operand)];
  if (known.operand != operand) return false;
  const std::span parts(known.parts.data(), known.count);
  return std::ranges::all_of(parts, [&](const Regular::Part& part) {
    const Tile& tile = tiles.tiles[part.tile];
    return tile.changes == part.changes && tile.address - tiles.tiles[parts.front().tile].address == part.address;
  });
}

/// What is wrong with the tile that these chunks read, line by line; empty if nothing is. `at` becomes a chunk that shows it.
std::string TileCheck::fault(const BlockTiles& tiles, const std::vector<std::uint32_t>& chunks, std::size_t in_line, Place& at) const {
  std::vector<std::uint64_t> begins;
  std::optional<Place> first;
  for (std::size_t line = 0; line < chunks.size() / in_line; ++line) {
    std::optional<Place> before;
    for (std::size_t i = 0; i < in_line; ++i) {
      const auto chunk = place_at(tiles, chunks[line * in_line + i]);
      if (!chunk || (first && chunk->map != first->map)) return "";  // not a tile of one tensor
      at = *chunk;
      if (before && chunk->address != before->address + machine::Product::chunk_bytes)
        return fmt::format(
            "line {} of the operand does not follow itself in memory: at byte {} it goes on {} bytes off", line,
            i * machine::Product::chunk_bytes,
            static_cast<std::int64_t>(chunk->address - before->address) - static_cast<std::int64_t>(machine::Product::chunk_bytes));
      if (i == 0) {
        if (!first) first = chunk;
        if (column_of(chunk->address, chunk->map) != column_of(first->address, first->map))
          return fmt::format("line {} of the operand begins at byte {} of its row, line 0 at byte {}", line,
                             column_of(chunk->address, chunk->map), column_of(first->address, first->map));
        begins.push_back(chunk->address);
      }
      before = chunk;
    }
  }
  for (std::size_t line = 0; line < begins.size(); ++line)
    if (const auto twice = std::ranges::find(begins, begins[line]) - begins.begin(); twice != static_cast<std::ptrdiff_t>(line))
      return fmt::format("lines {} and {} of the operand are the same row of the tile", twice, line);
  return "";
}

/// `reader` reads these chunks, which are those of `lines` lines.
void TileCheck::check(const machine::ProductEvent& event, const Operand& reader, const std::vector<std::uint32_t>& chunks,
                      std::size_t lines) {
  Warnings& warnings = setup_.reports.warnings;
  const machine::Event& product = event.event;
  const char operand = reader.warp == of_b ? 'b' : 'a';
  bool& reported = reported_[operand == 'a' ? 0 : 1];
  if (chunks.empty() || reported) return;
  BlockTiles& tiles = blocks_[static_cast<std::size_t>(product.rank())];
  if (stays_regular(tiles, reader) || !warnings.wants(product.statement(), cluster_)) return;
  if (Regular found; is_regular(tiles, chunks, chunks.size() / lines, found)) {
    if (found.count == 0 || found.count > Regular::most) return;
    if (tiles.regular.empty()) tiles.regular.resize(regular_count);
    found.operand = reader;
    tiles.regular[place_of(reader)] = found;
    return;
  }
  Place at;
  const std::string what = fault(tiles, chunks, chunks.size() / lines, at);
  if (what.empty()) return;
  reported = true;
  const MatrixDescriptor read = MatrixDescriptor::decode(reader.descriptor);
  const TensorMap& map = maps_[at.map];
  const std::string sides =
      read.swizzle() != map.swizzle()
          ? fmt::format("the descriptor's swizzle is {}, the tensor map's {}", swizzle_name(read.swizzle()), swizzle_name(map.swizzle()))
          : fmt::format("the descriptor's leading byte offset is {} and its stride byte offset {}; the map's rows lie {} bytes apart",
                        read.leading(), read.stride(), map.row_pitch());
  try {
    product.trap(-1, std::nullopt,
                 {fmt::format("the descriptor of operand {} reads the tile otherwise than it was written", operand),
                  {warp_of(product).note("written here", at.statement), {what}, {sides}}});
  } catch (const Trap& report) {
    warnings.add(product.statement(), cluster_, report);
  }
}

/// The descriptors of a product; that of B once for the four warps.
void TileCheck::product_issues(const machine::ProductEvent& event) {
  const machine::Product& product = event.product;
  const Wgmma& instruction = product.instruction();
  const WgmmaForm& form = instruction.form();
  const WgmmaImmediates& immediates = instruction.immediates();
  const auto lines = [](Major major, int outer, int depth) { return static_cast<std::size_t>(major == Major::k ? outer : depth); };
  const machine::PendingProduct& pending = pending_of(product);
  if (!product.a_in_registers())
    check(event, {&form, immediates.major_a, pending.warp, product.a_descriptor()}, chunks_of(pending, OperandName::a).addresses,
          lines(immediates.major_a, form.tile->shape.m, form.tile->stored_k()));
  if (pending.warp == 0)
    check(event, {&form, immediates.major_b, of_b, product.b_descriptor()}, chunks_of(pending, OperandName::b).addresses,
          lines(immediates.major_b, form.shape.n, form.shape.k));
}

namespace {

bool copies_tensors(const code::Program& program) {
  return program.any<code::BulkCopy>([](const code::BulkCopy& copy) { return copy.rank != 0; });
}

}  // namespace

void add_tile_check(Observers& all, const Setup& setup, std::uint64_t cluster) {
  if (setup.program.executes(catalogue::Semantics::wgmma) && copies_tensors(setup.program))
    all.push_back(std::make_unique<TileCheck>(setup, cluster));
}

}  // namespace warpmat::checks

#include <warpmat/checks/tile_check.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/bulk_copies.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/machine/warpgroup.h>
#include <warpmat/wgmma.h>

namespace warpmat::inline v0_1::checks {

using machine::EventKinds;

namespace {

std::string_view swizzle_name(Swizzle swizzle) {
  constexpr std::array<std::string_view, 4> names{"none", "32B", "64B", "128B"};
  return names[static_cast<std::size_t>(swizzle)];
}

bool same_tensor(const TensorMap& a, const TensorMap& b) {
  return a.address == b.address && a.rank == b.rank && a.strides == b.strides && a.box == b.box && a.swizzle == b.swizzle;
}

}  // namespace

TileCheck::TileCheck(const Setup& setup, std::uint64_t cluster)
    : Observer(EventKinds::copies | EventKinds::products), setup_(setup), cluster_(cluster) {}

void TileCheck::block_begins(const machine::BlockEvent& event) {
  blocks_.push_back({event.shared.data(), std::vector<Chunk>(event.shared.size() / machine::Product::chunk_bytes)});
}

void TileCheck::bulk_completes(const machine::BulkEvent& event) {
  for (const machine::SharedRange& range : event.written) {
    std::vector<Chunk>& chunks = blocks_[static_cast<std::size_t>(range.rank)].chunks;
    constexpr std::uint64_t size = machine::Product::chunk_bytes;
    const auto place = [&](std::uint64_t chunk) {
      return chunks.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(chunk, chunks.size()));
    };
    std::fill(place(range.offset / size), place((range.offset + range.bytes + size - 1) / size), Chunk{});
  }
  const machine::BulkTransfer& transfer = transfer_of(event);
  if (!transfer.loads() || !transfer.map || transfer.map->rank < 2 || transfer.map->mode != TensorMap::Mode::tile ||
      transfer.map->interleave != TensorMap::Interleave::none)
    return;
  const auto map = std::ranges::find_if(maps_, [&](const TensorMap& known) { return same_tensor(known, *transfer.map); });
  const auto number = static_cast<std::uint32_t>(map - maps_.begin());
  if (map == maps_.end()) maps_.push_back(*transfer.map);
  std::vector<Chunk>& chunks = blocks_[static_cast<std::size_t>(transfer.shared.rank)].chunks;
  for (const machine::TensorRow& row : transfer.rows)
    machine::for_each_chunk(*transfer.map, setup_.program.shared_base, transfer.shared.offset + row.shared, row.begin, row.end,
                            [&](std::uint32_t begin, std::uint32_t bytes, std::uint32_t at) {
                              if (bytes == machine::Product::chunk_bytes && at % machine::Product::chunk_bytes == 0)
                                chunks[at / machine::Product::chunk_bytes] = {row.address + (begin - row.begin), event.statement, number};
                            });
}

/// What a tensor map's copy wrote at an address of shared memory, whatever is there now; nullptr: nothing.
const TileCheck::Chunk* TileCheck::noted_at(const BlockTiles& tiles, std::uint32_t address) const {
  const std::size_t offset = address - setup_.program.shared_base;
  if (offset / machine::Product::chunk_bytes >= tiles.chunks.size() || offset % machine::Product::chunk_bytes != 0) return nullptr;
  const Chunk& chunk = tiles.chunks[offset / machine::Product::chunk_bytes];
  return chunk.address == 0 ? nullptr : &chunk;
}

/// The same, if the bytes are still these.
std::optional<TileCheck::Chunk> TileCheck::chunk_at(const BlockTiles& tiles, std::uint32_t address) const {
  const Chunk* const chunk = noted_at(tiles, address);
  if (chunk == nullptr) return std::nullopt;
  const std::size_t offset = address - setup_.program.shared_base;
  const auto bytes = setup_.memory->find(chunk->address);
  if (bytes == nullptr ||
      std::memcmp(bytes->data.get() + (chunk->address - bytes->address), tiles.shared + offset, machine::Product::chunk_bytes) != 0)
    return std::nullopt;
  return *chunk;
}

/// The offset of a chunk in its row of the tensor.
std::uint64_t TileCheck::column_of(const Chunk& chunk) const {
  const TensorMap& map = maps_[chunk.map];
  return (chunk.address - map.address) % map.strides[0];
}

/// Whether fault() finds nothing, going by what copies wrote alone: bytes that have changed since only make fault() end earlier. False: it
/// may find something.
bool TileCheck::is_regular(const BlockTiles& tiles, const std::vector<std::uint32_t>& chunks, std::size_t in_line) const {
  const Chunk* first = nullptr;
  std::uint64_t begin = 0;  // of the line before
  for (std::size_t line = 0; line < chunks.size() / in_line; ++line) {
    std::uint64_t next = 0;
    for (std::size_t i = 0; i < in_line; ++i) {
      const Chunk* const chunk = noted_at(tiles, chunks[line * in_line + i]);
      if (chunk == nullptr || (first != nullptr && chunk->map != first->map)) return true;
      if (i != 0 && chunk->address != next) return false;
      next = chunk->address + machine::Product::chunk_bytes;
      if (i != 0) continue;
      if (first == nullptr) {
        first = chunk;
      } else if (chunk->address <= begin) {
        return false;
      } else if (chunk->address != begin + maps_[first->map].strides[0] && column_of(*chunk) != column_of(*first)) {
        return false;
      }
      begin = chunk->address;
    }
  }
  return true;
}

/// What is wrong with the tile that these chunks read, line by line; empty if nothing is. `at` becomes a chunk that shows it.
std::string TileCheck::fault(const BlockTiles& tiles, const std::vector<std::uint32_t>& chunks, std::size_t in_line, Chunk& at) const {
  std::vector<std::uint64_t> begins;
  std::optional<Chunk> first;
  for (std::size_t line = 0; line < chunks.size() / in_line; ++line) {
    std::optional<Chunk> before;
    for (std::size_t i = 0; i < in_line; ++i) {
      const auto chunk = chunk_at(tiles, chunks[line * in_line + i]);
      if (!chunk || (first && chunk->map != first->map)) return "";  // not a tile of one tensor
      at = *chunk;
      if (before && chunk->address != before->address + machine::Product::chunk_bytes)
        return fmt::format(
            "line {} of the operand does not follow itself in memory: at byte {} it goes on {} bytes off", line,
            i * machine::Product::chunk_bytes,
            static_cast<std::int64_t>(chunk->address - before->address) - static_cast<std::int64_t>(machine::Product::chunk_bytes));
      if (i == 0) {
        if (!first) first = chunk;
        if (column_of(*chunk) != column_of(*first))
          return fmt::format("line {} of the operand begins at byte {} of its row, line 0 at byte {}", line, column_of(*chunk),
                             column_of(*first));
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

void TileCheck::check(const machine::ProductEvent& event, char operand, const std::vector<std::uint32_t>& chunks, std::size_t lines,
                      std::uint64_t descriptor) {
  Warnings& warnings = setup_.reports.warnings;
  const machine::Event& product = event.event;
  bool& reported = reported_[operand == 'a' ? 0 : 1];
  if (chunks.empty() || reported || !warnings.wants(product.statement(), cluster_)) return;
  const BlockTiles& tiles = blocks_[static_cast<std::size_t>(product.rank())];
  if (is_regular(tiles, chunks, chunks.size() / lines)) return;
  Chunk at;
  const std::string what = fault(tiles, chunks, chunks.size() / lines, at);
  if (what.empty()) return;
  reported = true;
  const MatrixDescriptor read = MatrixDescriptor::decode(descriptor);
  const TensorMap& map = maps_[at.map];
  const std::string sides =
      read.swizzle != map.swizzle
          ? fmt::format("the descriptor's swizzle is {}, the tensor map's {}", swizzle_name(read.swizzle), swizzle_name(map.swizzle))
          : fmt::format("the descriptor's leading byte offset is {} and its stride byte offset {}; the map's rows lie {} bytes apart",
                        read.leading, read.stride, map.row_pitch());
  try {
    product.trap(-1, std::nullopt,
                 fmt::format("the descriptor of operand {} reads the tile otherwise than {} wrote it: {}; {}", operand,
                             warp_of(product).statement_name(at.statement), what, sides));
  } catch (const Trap& report) {
    warnings.add(product.statement(), cluster_, report.what());
  }
}

/// The descriptors of a product; that of B once for the four warps.
void TileCheck::product_issues(const machine::ProductEvent& event) {
  const machine::Product& product = event.product;
  const Wgmma& instruction = product.instruction();
  const WgmmaForm& form = instruction.form();
  const auto lines = [](Major major, int outer, int depth) { return static_cast<std::size_t>(major == Major::k ? outer : depth); };
  if (!product.a_in_registers())
    check(event, 'a', chunks_of(pending_of(product), OperandName::a)->addresses,
          lines(instruction.immediates().major_a, form.tile->shape.m, form.tile->stored_k()), product.a_descriptor());
  if (event.event.warp() % WgmmaForm::warps == 0)
    check(event, 'b', chunks_of(pending_of(product), OperandName::b)->addresses,
          lines(instruction.immediates().major_b, form.shape.n, form.shape.k), product.b_descriptor());
}

}  // namespace warpmat::inline v0_1::checks

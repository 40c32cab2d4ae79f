#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <warpmat/checks/checks.h>
#include <warpmat/launch.h>
#include <warpmat/machine/bulk_copies.h>
#include <warpmat/machine/tensor_box.h>
#include <warpmat/wgmma.h>

namespace warpmat::checks {

/// Compares how wgmma's descriptors read tiles with how tensor maps wrote them: a line of an operand is contiguous in global memory, its
/// lines begin in one column, and none is read twice. Reports what is otherwise, with the swizzles and strides of both sides, as a warning.
/// A tile that was written otherwise since is not looked at.
class TileCheck : public machine::Observer {
 public:
  TileCheck(const Setup& setup, std::uint64_t cluster);

  void block_begins(const machine::BlockEvent& event) override;
  void bulk_completes(const machine::BulkEvent& event) override;
  void product_issues(const machine::ProductEvent& event) override;

 private:
  /// What a tensor map's copy wrote. If it is `whole`, a later copy of the same map with the same `runs` changes only `address` and
  /// `statement`.
  struct Tile {
    std::uint64_t address = 0;             ///< in global memory, of the first row
    std::uint32_t statement = 0;           ///< of the copy
    std::uint32_t map = 0;                 ///< of maps_
    std::uint32_t offset = 0;              ///< in shared memory
    std::vector<machine::TensorRun> runs;  ///< of the copy; addresses count from `address` on
    std::size_t chunks = 0;                ///< of shared memory that no other copy has written since
    bool whole = false;                    ///< all bytes that the copy wrote are such chunks
    std::uint64_t changes = 0;             ///< of its chunks
  };
  /// 16 bytes of shared memory as a tensor map's copy wrote them.
  struct Chunk {
    std::uint32_t tile = 0;  ///< the number of BlockTiles::tiles, counted from 1 on; 0: no copy wrote them
    std::uint64_t at = 0;    ///< from Tile::address on
  };
  /// The same in global memory.
  struct Place {
    std::uint64_t address = 0;
    std::uint32_t statement = 0, map = 0;
  };
  /// What says which chunks an operand reads.
  struct Operand {
    const WgmmaForm* form = nullptr;
    Major major = Major::k;
    int warp = 0;  ///< of the warpgroup; of_b
    std::uint64_t descriptor = 0;
    friend bool operator==(const Operand&, const Operand&) = default;
  };
  /// An operand that is_regular() has found to be so. It stays regular as long as its tiles have the same chunks, and their addresses are
  /// as far apart as they were.
  struct Regular {
    struct Part {
      std::uint32_t tile;              ///< of BlockTiles::tiles
      std::uint64_t changes, address;  ///< Tile::changes then; the address, counted from that of the first part on
    };
    void add(const Part& part);

    static constexpr std::size_t most = 4;  ///< tiles of an operand that is remembered
    Operand operand;
    std::array<Part, most> parts{};
    std::size_t count = 0;  ///< 0: a chunk is of no tile; above `most`: too many
  };
  struct BlockTiles {
    const std::uint8_t* shared;
    std::vector<Chunk> chunks;
    std::vector<Tile> tiles;
    std::vector<Regular> regular;  ///< by a hash of the operand, the last one that has it; empty before the first one
  };
  static constexpr std::size_t regular_count = 512;  ///< more than the operands of products in the stages of a pipeline
  static constexpr int of_b = -1;

  bool repeats(BlockTiles& tiles, const machine::BulkTransfer& transfer, std::uint32_t map, std::uint32_t statement) const;
  void forget(BlockTiles& tiles, const machine::SharedRange& range) const;
  void note(BlockTiles& tiles, const machine::BulkTransfer& transfer, std::uint32_t map, const machine::BulkEvent& event) const;
  std::uint32_t number_of(const TensorMap& map);
  std::optional<Place> place_at(const BlockTiles& tiles, std::uint32_t address) const;
  std::uint64_t column_of(std::uint64_t address, std::uint32_t map) const;
  bool is_regular(const BlockTiles& tiles, const std::vector<std::uint32_t>& chunks, std::size_t in_line, Regular& found) const;
  static std::size_t place_of(const Operand& operand);
  bool stays_regular(const BlockTiles& tiles, const Operand& operand) const;
  std::string fault(const BlockTiles& tiles, const std::vector<std::uint32_t>& chunks, std::size_t in_line, Place& at) const;
  void check(const machine::ProductEvent& event, const Operand& operand, const std::vector<std::uint32_t>& chunks, std::size_t lines);

  const Setup& setup_;
  std::uint64_t cluster_;
  std::vector<BlockTiles> blocks_;  ///< by rank
  std::vector<TensorMap> maps_;     ///< those of copies so far
  std::array<bool, 2> reported_{};  ///< of operands a and b: one report is enough
};

}  // namespace warpmat::checks

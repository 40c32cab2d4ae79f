#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <warpmat/checks/checks.h>
#include <warpmat/launch.h>

namespace warpmat::inline v0_1::checks {

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
  /// 16 bytes of shared memory as a tensor map's copy wrote them.
  struct Chunk {
    std::uint64_t address = 0;    ///< in global memory; 0: no copy wrote them
    std::uint32_t statement = 0;  ///< of the copy
    std::uint32_t map = 0;        ///< of maps_
  };
  struct BlockTiles {
    const std::uint8_t* shared;
    std::vector<Chunk> chunks;
  };

  const Chunk* noted_at(const BlockTiles& tiles, std::uint32_t address) const;
  std::optional<Chunk> chunk_at(const BlockTiles& tiles, std::uint32_t address) const;
  std::uint64_t column_of(const Chunk& chunk) const;
  bool is_regular(const BlockTiles& tiles, const std::vector<std::uint32_t>& chunks, std::size_t in_line) const;
  std::string fault(const BlockTiles& tiles, const std::vector<std::uint32_t>& chunks, std::size_t in_line, Chunk& at) const;
  void check(const machine::ProductEvent& event, char operand, const std::vector<std::uint32_t>& chunks, std::size_t lines,
             std::uint64_t descriptor);

  const Setup& setup_;
  std::uint64_t cluster_;
  std::vector<BlockTiles> blocks_;  ///< by rank
  std::vector<TensorMap> maps_;     ///< those of copies so far
  std::array<bool, 2> reported_{};  ///< of operands a and b: one report is enough
};

}  // namespace warpmat::inline v0_1::checks

#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <warpmat/launch.h>
#include <warpmat/provenance/gemm.h>

namespace warpmat::provenance {

/// Where the block scale factors or the sparse metadata of one factor of a product come from. An entry belongs to a line of the factor, a
/// row of A or a column of B, and to a block of k; it is known by the first of its bits in global memory, an address times 8.
class Companion {
 public:
  /// What multiplies with entries, and how they and the elements beside them came there.
  struct Use {
    Trap::Site site;
    std::vector<Trap::Note> entry, element;
  };
  struct Entry {
    int line, block;
    std::uint64_t bit;
    std::uint32_t use;  ///< the number that add() gave
    bool computed;      ///< from these bits, and not moved
  };
  /// What the reports name.
  struct Subject {
    const GemmMatrix& factor;
    bool is_b;  ///< its lines are columns
    const CompanionMatrix& told;
    const DeviceMemory& memory;
  };

  std::uint32_t add(Use use);
  /// Notes entries that warp `warp` of block `block` multiplies with. `size`: the k of a block.
  void note(const Subject& subject, std::span<const Entry> entries, int size, Dim3 block, int warp);

  /// The trap for the first entry that is not the told one. Where none is told, it is that for two entries of one place, for one of several
  /// places between which others have another, for entries that descend (addresses are to ascend with the bits of line and block), and for
  /// entries between others that no block has. Nothing if there is none.
  std::optional<Trap> fault(const Subject& subject) const;
  /// The trap for an entry that both factors have.
  std::optional<Trap> common(const Subject& subject, const Companion& other, const Subject& of_other) const;

 private:
  struct Cell {
    std::uint64_t bit = 0;  ///< 0: not known
    std::uint32_t use = 0;
    Dim3 block{};
    int warp = 0;
  };
  struct Twofold {
    std::size_t at;
    Cell first, second;
  };

  std::string place(const Subject& subject, std::size_t at) const;
  std::string entry(const Subject& subject, const Cell& cell) const;
  Trap trap(const Subject& subject, const Cell& cell, std::size_t at, const std::string& what,
            const std::vector<Trap::Note>& first = {}) const;
  std::optional<Trap> other_than_told(const Subject& subject) const;
  std::optional<Trap> several_places(const Subject& subject) const;
  std::optional<Trap> descending(const Subject& subject) const;
  std::optional<Trap> unused(const Subject& subject) const;
  std::size_t step(bool along_k, int bit) const;
  std::optional<std::size_t> neighbour(std::size_t at, bool along_k, int bit) const;
  int alike(bool along_k) const;
  std::vector<std::size_t> by_address() const;
  std::size_t line(std::size_t at) const { return at / blocks_; }
  std::size_t block(std::size_t at) const { return at % blocks_; }

  std::mutex mutex_;
  std::size_t blocks_ = 0;  ///< along k
  int size_ = 0;
  bool computed_ = false;    ///< whether an entry was
  std::vector<Cell> cells_;  ///< by line and block
  std::vector<Use> uses_;
  std::optional<Twofold> twofold_;  ///< the first place with two entries
};

}  // namespace warpmat::provenance

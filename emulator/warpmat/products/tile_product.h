#pragma once

#include <warpmat/instruction.h>
#include <warpmat/products/element_table.h>
#include <warpmat/tables/tcgen05.h>
#include <warpmat/wgmma.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace warpmat {

/// What a caller wants to multiply with; empty texts leave the choice open.
struct WantedProduct {
  std::string_view unit{};   ///< "mma", "wmma.mma", "wgmma", "tcgen05"; empty: what current libraries use on the target
  std::string_view shape{};  ///< "m16n8k16"
  std::string_view a{}, b{}, d{};
  std::string_view scale{};  ///< the format of scale factors; empty: none
  int block = 0;             ///< elements along K that share one
  bool sparse = false;       ///< A has two of four elements of a row: .sp
};

/// A product of any matrix unit: wgmma and tcgen05 consist of tiles of mma, whose sums they make in their own way. Immutable and
/// thread-safe.
class TileProduct {
 public:
  /// The mma, wmma.mma or wgmma.mma_async `opcode`. Throws std::invalid_argument if the target lacks it, or it is not a product of one
  /// matrix whose D may be operand C of the next.
  TileProduct(std::string_view opcode, std::string_view target);
  /// The one that the target has for the wanted types: of several shapes that with the largest K, of sorted metadata. Throws
  /// std::invalid_argument.
  TileProduct(const WantedProduct& wanted, std::string_view target);

  const Form& tile() const { return *found_.tile; }
  const Lowering& lowering() const { return *found_.lowering; }
  const std::string& opcode() const { return found_.opcode; }
  const Target& target() const { return *target_; }
  const ElementTable& a() const { return a_; }
  const ElementTable& b() const { return b_; }
  const ElementTable& d() const { return d_; }  ///< of C, too
  /// Of scale factors; nothing without block scales.
  const std::optional<ElementTable>& scale_a() const { return scale_a_; }
  const std::optional<ElementTable>& scale_b() const { return scale_b_; }
  /// Of the metadata of a sparse A, whose `a` are the stored elements; nothing if A is dense.
  const std::optional<ElementTable>& e() const { return e_; }
  int scale_vector() const { return tile().scale_vector; }  ///< scale factors of a row of one tile; 0: none

  /// Registers of one A, and of tiles of B and D that follow each other. Scale factors are nullptr without block scales, as metadata are of
  /// a dense A.
  struct Words {
    const std::uint32_t *a, *e, *b, *scale_a, *scale_b;
    std::uint32_t* d;
  };
  /// D = A * B + D for `count` tiles.
  void multiply(const Words& words, std::size_t count, const ExecutionOptions& options) const;

  // What it is of, one of the three.
  const std::optional<Instruction>& instruction() const { return found_.instruction; }
  const WgmmaForm* wgmma() const { return found_.wgmma; }  ///< nullptr for the others
  const std::optional<TensorProduct>& tensor() const { return found_.tensor; }

 private:
  struct Found {
    const Form* tile = nullptr;
    const Lowering* lowering = nullptr;
    std::string opcode{};
    // One of the three.
    std::optional<Instruction> instruction{};
    const WgmmaForm* wgmma = nullptr;
    std::optional<TensorProduct> tensor{};
  };
  TileProduct(Found found, const Target& target);
  static Found named(std::string_view opcode, const Target& target);
  static Found chosen(const WantedProduct& wanted, const Target& target);
  void multiply_in_tiles(const Words& words, std::size_t count, const ExecutionOptions& options) const;
  static Found of_warp(const Instruction& instruction);

  Found found_;
  const Target* target_;
  ElementTable a_, b_, d_;
  std::optional<ElementTable> e_, scale_a_, scale_b_;
};

}  // namespace warpmat

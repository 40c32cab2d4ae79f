#pragma once

#include <warpmat/ptx/operands.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/library/npy.h"

namespace warpmat {

/// Something of a warp that the command line names, PLACE[:FORMAT[:COLUMNS]]:
///
///   tile:f16:8     a shared variable, its elements read as f16, 8 in a printed row
///   d0,d1:f32      registers of all lanes
///   0.a            operand a of the program's first matrix instruction (counted from 0), as a logical matrix
///
/// Without FORMAT a matrix operand has its instruction's format, a variable that of its type; what has none is shown as bits.
class WarpPlace {
 public:
  /// Throws std::runtime_error saying what `text` should be.
  WarpPlace(const Program& program, std::string_view text);

  /// Fills the place from SOURCE: FILE.npy, "iota" (0, 1, 2 ...), "zeros", or "random[:SEED]" (numbers in [-1, 1), integers over
  /// their whole range). Values are rounded to the format; a file for a place without format holds its bits.
  void fill(Warp& warp, const std::string& source) const;

  /// A heading and a table: registers as lanes by registers, everything else as rows and columns.
  std::string show(const Warp& warp) const;

  /// The array that write_npy takes: [registers][32] words, else numbers (or bits) in the place's own shape.
  NpyArray array(const Warp& warp) const;

 private:
  enum class Kind : std::uint8_t { registers, variable, operand };

  std::size_t count() const;
  std::vector<std::size_t> shape() const;
  int element_bits() const;
  std::vector<std::uint64_t> read(const Warp& warp) const;
  void write(Warp& warp, const std::vector<std::uint64_t>& elements) const;
  std::vector<std::uint64_t> elements_of(const std::string& source) const;
  std::string show_registers(const std::vector<std::uint64_t>& elements) const;
  std::string show_grid(const std::vector<std::uint64_t>& elements) const;
  std::string show_element(std::uint64_t bits) const;

  const Program& program_;
  std::string text_;  ///< as written, for messages and headings
  Kind kind_;
  std::optional<Format> format_;
  std::size_t columns_ = 0;
  std::vector<const NamedRegister*> registers_;
  const SharedVariable* variable_ = nullptr;
  std::size_t statement_ = 0;
  const Operand* operand_ = nullptr;
};

/// PLACE=WHAT of an option such as --in.
struct Assignment {
  WarpPlace place;
  std::string what;
};

/// The assignments that `texts` write. Throws std::runtime_error naming `option` ("in") and `what` it takes ("SOURCE").
std::vector<Assignment> assignments(const Program& program, const std::vector<std::string>& texts, std::string_view option,
                                    std::string_view what);

}  // namespace warpmat

#pragma once

#include <warpmat/operands.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/report/element_array.h"
#include "tools/report/npy.h"

namespace warpmat {

/// A parsed place, NAME[:FORMAT][:bits|:values][:COLUMNS], before NAME is looked up.
struct PlaceName {
  std::string name;
  std::optional<ElementType> type;
  Reading reading = Reading::by_dtype;
  std::size_t columns = 0;  ///< 0: not given

  /// Throws std::runtime_error saying what `text` should be.
  static PlaceName parse(std::string_view text);
};

/// The layouts of matrices in shared variables, by the variable's name.
using Layouts = std::map<std::string, MemoryLayout, std::less<>>;

/// Parses NAME=LAYOUT. Throws std::runtime_error.
Layouts parse_layouts(const Program& program, const std::vector<std::string>& texts);

/// A part of a warp that the command line names, PLACE[:FORMAT][:bits|:values][:COLUMNS]:
///
///   tile:f16:8     a shared variable, its elements read as f16, 8 in a row
///   d0,d1:f32      registers of all lanes
///   mma.0.a        operand a of the first mma, as a logical matrix; also 0.a, of the first matrix instruction (statement_name.h)
///   0.e, 0.scale-a the metadata codes and scale factors that the instruction uses: rows by groups, rows by factors
///   0.sparse-a     for mma.sp the dense A that operands a and e represent
///
/// Without FORMAT a matrix operand has its instruction's format, and a variable that of its type; otherwise elements are bits.
class WarpPlace {
 public:
  enum class Kind : std::uint8_t { registers, variable, operand, sparse_a };

  /// Throws std::runtime_error saying what `text` should be.
  WarpPlace(const Program& program, std::string_view text, const Layouts& layouts = {});

  /// Fills the place from SOURCE: FILE.npy, - (a .npy file from standard input), or a generated one (element_source.h). Operand a of mma.sp
  /// may be filled with a dense A. Returns the filled registers, by their first words in the register file.
  std::vector<int> fill(Warp& warp, const std::string& source) const;

  /// The same from an array that `file` names in messages.
  std::vector<int> fill_from(Warp& warp, const NpyArray& array, const std::string& file) const;

  /// A heading and a table: registers as lanes by registers, everything else as rows and columns.
  std::string show(const Warp& warp) const;

  /// The array for write_npy, of written_dtype and shape().
  NpyArray array(const Warp& warp) const;

  /// The bits of the elements in an array of shape(). Throws std::runtime_error.
  std::vector<std::uint64_t> elements_of(const NpyArray& array, const std::string& file) const;
  /// The bits of the elements, in the order of shape().
  std::vector<std::uint64_t> read(const Warp& warp) const;

  Kind kind() const { return kind_; }
  const std::string& text() const { return text_; }  ///< as written
  const ElementType& type() const { return type_; }
  /// registers: [registers][32], or [registers][32][elements of each]; variables: [elements] or [rows][columns]; matrices: [rows][columns].
  std::vector<std::size_t> shape() const;
  std::string show_element(std::uint64_t bits) const;
  /// "row 3, column 5", "lane 7, register d0".
  std::string describe_element(std::size_t index) const;

  // Only for a matrix operand.
  /// Element `index` of read(); if the fragment holds several matrices, of the one that the statement uses.
  Element element(const Warp& warp, std::size_t index) const;
  std::size_t statement() const { return statement_; }
  const Operand& operand() const { return *operand_; }
  // Only for a variable.
  const SharedVariable& variable() const { return *variable_; }
  const MemoryLayout& layout() const { return layout_; }
  const std::vector<const NamedRegister*>& registers() const { return registers_; }

 private:
  void resolve_operand(const Program& program);
  void resolve_variable(const Layouts& layouts);
  void resolve_registers(const Program& program);
  void check_width(int bits) const;
  std::size_t count() const;
  int register_bits() const;
  WarpPlace as_sparse_a() const;
  bool is_dense_a(const NpyHeader& header) const;
  std::uint64_t bit_in_variable(std::size_t index) const;
  void write(Warp& warp, const std::vector<std::uint64_t>& elements) const;
  void write_operand(Warp& warp, const std::vector<std::uint64_t>& elements) const;
  std::vector<int> slots(const Program& program) const;

  std::string text_;
  PlaceName name_;
  Kind kind_ = Kind::registers;
  ElementType type_;
  std::vector<const NamedRegister*> registers_;
  const SharedVariable* variable_ = nullptr;
  MemoryLayout layout_;
  std::size_t declared_columns() const;

  std::size_t rows_ = 0, columns_ = 0;  ///< for a variable that is a matrix
  std::size_t statement_ = 0;
  const Operand* operand_ = nullptr;
  const Form* form_ = nullptr;
};

/// PLACE=WHAT of an option such as --in.
struct Assignment {
  WarpPlace place;
  std::string what;
};

/// Parses assignments. Throws std::runtime_error naming `option` ("in") and its value's syntax `what` ("SOURCE").
std::vector<Assignment> assignments(const Program& program, const std::vector<std::string>& texts, std::string_view option,
                                    std::string_view what, const Layouts& layouts = {});

/// The syntax of PLACE and FORMAT, for --help.
std::string place_help();

}  // namespace warpmat

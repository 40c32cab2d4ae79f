#pragma once

#include <warpmat/instruction.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <warpmat/products/element_table.h>
#include "tools/report/element_array.h"
#include "tools/report/npy.h"

namespace warpmat {

// The arrays that `warpmat exec` reads and writes for a form: for each operand its registers, or its logical matrix.

/// One dimension after [cases]: `extent` elements, or the file's number.
struct Dimension {
  std::string name;
  std::optional<std::size_t> extent;
};

/// A file that a form reads or writes: option --`option`.
struct FileRole {
  std::string option;
  bool written;
  std::string content;  ///< "registers"
  DType dtype;
  std::vector<Dimension> dimensions;
  const Operand* operand = nullptr;  ///< the operand of these registers; nullptr: the memories
};

inline constexpr const char* memory_option = "shared";
inline constexpr const char* memory_out_option = "shared-out";
inline constexpr const char* sparse_a_option = "sparse-a";

/// All files of `form`; it writes one of them.
std::vector<FileRole> file_roles(const Form& form);

/// "uint32 [cases][4][32]"; without `extents` "uint32 [cases][registers][32]".
std::string layout_text(const FileRole& file, bool extents = true);

/// Rows and columns of the matrix that an operand's file may hold instead of registers; nothing for addresses.
struct MatrixSize {
  std::size_t rows, columns;
};
std::optional<MatrixSize> matrix_size(const FileRole& file);

/// The same of an operand that holds elements.
MatrixSize matrix_size(const Operand& operand);

/// Element `index` of an operand's matrix, in row-major order; for metadata and scale factors in matrix `selected`.
Element element_at(const Operand& operand, std::size_t index, int selected);

/// The type of that matrix's elements.
ElementType element_type(const Operand& operand);

/// The value of an option for a file: FILE.npy[:registers|:values|:bits], - for standard input or output, or zeros.
struct FileArgument {
  enum class As : std::uint8_t { by_shape, registers, values, bits };

  std::string path;
  As as = As::by_shape;
  bool zeros = false;

  static FileArgument parse(const std::string& text);
};

/// An input file. Its array has the layout of its role, or is the operand's matrix.
class Input {
 public:
  /// `role` must outlive the input. Throws std::runtime_error naming the file and the possible layouts.
  Input(const FileRole& role, const FileArgument& argument);
  /// A dense A of a sparse form, [cases][m][k], instead of a and e.
  static std::unique_ptr<Input> sparse_a(const Form& form, const FileArgument& argument);

  const FileRole& role() const { return role_; }
  const NpyHeader& header() const { return file_.header(); }
  const std::string& path() const { return argument_.path; }
  bool is_matrix() const { return reader_.has_value(); }
  std::size_t case_bytes() const;

  /// The bytes of some cases.
  void read(std::size_t first, std::span<std::byte> bytes) { file_.read(first * case_bytes(), bytes); }

  /// Converts the matrix of one case to the words of the operand's registers, consecutively; for metadata and scale factors to
  /// matrix `selected`. Words of elements that are not written become zero.
  void scatter(std::span<const std::byte> bytes, std::uint32_t* words, int selected) const;
  /// The same for a dense A: to the registers of a and e.
  void compress(const Form& form, std::span<const std::byte> bytes, RegisterList a, RegisterList e, int selector) const;

 private:
  Input(const FileRole& role, const FileArgument& argument, MatrixSize only_matrix);
  void choose();

  FileArgument argument_;
  FileRole role_;
  MatrixSize size_{};
  NpyReader file_;
  std::optional<ElementReader> reader_;  ///< of a matrix
  std::vector<ElementTable> tables_;     ///< of a matrix, by `selected`
};

/// Converts matrices from an operand's registers to an array of written_dtype.
class MatrixOutput {
 public:
  MatrixOutput(const Operand& operand, Reading reading);
  DType dtype() const { return written_dtype(type_, reading_); }
  /// That of one case, whose registers' words are consecutive.
  void gather(const std::uint32_t* words, std::span<std::byte> bytes) const;

 private:
  ElementType type_;
  Reading reading_;
  ElementTable table_;
};

}  // namespace warpmat

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <warpmat/tables/tcgen05.h>

#include "gpu/lab/mutants/distinguish.h"
#include "gpu/models/variant.h"

namespace warpmat {

// What a card with tensor memory can be asked about tcgen05. A question is one launch: a kernel fills tensor memory and shared memory,
// executes one statement, and stores all of tensor memory. The emulator says what the tables leave there, and for a rule of the arithmetic
// what the product would be without it.

/// A target whose mma has the tiles of all kinds.
inline constexpr const char* target_of_tensor_tiles = "sm_120a";

/// A tcgen05.mma of the questions: an opcode and an instruction descriptor.
struct TensorProductRow {
  std::string opcode;
  std::uint32_t descriptor = 0;
  TensorProduct product;

  /// "tcgen05.mma.cta_group::1.kind::f16 f32.f16.f16 m128n16k16"
  std::string name() const;
};

/// The products that are asked about: each kind with its types in one block, and sparse, in two blocks and .ws with some of them.
const std::vector<TensorProductRow>& tensor_product_rows();

/// An entry that executes one statement between filling tensor memory and storing it.
struct TensorEntry {
  std::string statement = {};  ///< its text, with %base, %a, %b, %product and %yes
  bool collective = false;     ///< by all warps, without a commit; else by one thread
  int group = 1;               ///< blocks

  std::string text(const std::string& name) const;
  friend bool operator==(const TensorEntry&, const TensorEntry&) = default;
};

/// A word that is not zero, or that differs: of shared memory or of tensor memory, block by block, there lane by lane.
struct ListedWord {
  std::uint32_t index = 0, word = 0;
};

struct TensorQuestion {
  static constexpr std::uint32_t tile_words = 8192, b_start = 16384;  ///< of a block's shared memory; where B begins in it
  static constexpr std::uint32_t memory_words = 65536;                ///< of a block's tensor memory

  std::string subject = {};      ///< the product or the statement
  std::string alternative = {};  ///< "fraction_bits+1"; empty: whether the card does as the tables say
  TensorEntry entry = {};
  std::uint32_t product = 0;   ///< the instruction descriptor
  std::uint64_t a = 0, b = 0;  ///< descriptors of matrices that begin at 0
  bool numbered = false;       ///< tensor memory and shared memory hold numbers of their own where nothing is listed
  std::vector<ListedWord> tile = {}, before = {};
  std::vector<ListedWord> after = {};      ///< words of tensor memory that the statement changes, as the tables have it
  std::vector<ListedWord> otherwise = {};  ///< words that differ from these with the alternative

  /// The words of all blocks before, with the numbers where nothing is listed.
  std::vector<std::uint32_t> tile_image() const;
  std::vector<std::uint32_t> memory_image() const;
};

/// The number that a word has where nothing is listed: the same in the program for the card.
constexpr std::uint32_t own_number(std::uint32_t index) {
  return (index + 1) * 0x9e3779b1u;
}

/// All words of tensor memory after the launch of a question's entry in the emulator.
std::vector<std::uint32_t> tensor_memory_after(const TensorQuestion& question);

/// Operands of a tile on which the table and another model differ, and the question which of the two the card follows.
struct DistinguishedProduct {
  Distinction distinction;
  TensorQuestion question;
};

/// Nothing if no tried case has them. Throws as distinguish.
std::optional<DistinguishedProduct> distinguish(const TensorProductRow& row, const ModelVariant& alternative,
                                                const std::string& alternative_name, std::size_t cases, std::uint64_t seed);

/// One question for each rule of the row's arithmetic, and one of a product of random small numbers.
std::vector<TensorQuestion> questions_of(const TensorProductRow& row, std::size_t cases, std::uint64_t seed);

/// Questions of where cp, shift, st and ld move words.
std::vector<TensorQuestion> questions_of_places();

/// All questions whose subject `is_wanted`, by all cores.
std::vector<TensorQuestion> tensor_questions(const std::function<bool(const std::string&)>& is_wanted, std::size_t cases,
                                             std::uint64_t seed);

}  // namespace warpmat

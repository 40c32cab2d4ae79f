#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace warpmat {

class Form;
struct Lowering;

/// A rule of the arithmetic replaced by another one that hardware could follow. The lowering table has none. They describe published models
/// that disagree with measurements, and mutants of the table, which recorded answers must refute. deviation_rows() describes each;
/// deviating.h executes them.
enum class Deviation : std::uint8_t {
  // operands and products
  multiplicand_subnormals_flushed,
  accumulator_subnormals_flushed,
  subnormals_normalised,
  tf32_low_bits_kept,
  products_normalised,
  unmet_multiplied,
  // alignment
  zero_terms_aligned,
  zero_groups_aligned,
  cut_down,
  cut_nearest,
  cut_sticky,
  // order of additions
  k_descending,
  accumulator_first,
  accumulator_last,
  products_rounded,
  order_of_other_result,
  // result
  result_nearest,
  result_toward_zero,
  result_subnormals_flushed,
  overflow_to_largest,
  negative_zero_kept,
  sign_of_zero_kept,
  // NaN and infinity
  nan_payload_kept,
  nan_quiet,
  nan_of_a_first,
  nan_of_accumulator_first,
  nan_positive,
  infinity_times_zero_ignored,
  opposite_infinities_positive,
  // C and D of different types
  accumulated_in_f16,
  narrowed_toward_zero,
  // fp8 in two halves
  fp8_exponents_kept,
  fp8_in_one_unit,
  halves_exchanged,
  halves_alternating,
  halves_of_k,
  last_addition_toward_zero,
  // integers
  clamped_each_product,
  clamped_each_half,
  clamp_left_out,
  clamp_added,
  clamp_symmetric,
  sign_of_a_turned,
  sign_of_b_turned,
  bit_operation_turned,
};

class Deviations {
 public:
  constexpr Deviations() = default;
  constexpr Deviations(std::initializer_list<Deviation> members) {
    for (const Deviation member : members) add(member);
  }
  constexpr void add(Deviation member) { bits_ |= bit(member); }
  constexpr bool has(Deviation member) const { return (bits_ & bit(member)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  friend bool operator==(const Deviations&, const Deviations&) = default;

 private:
  static constexpr std::uint64_t bit(Deviation member) { return std::uint64_t{1} << static_cast<unsigned>(member); }
  std::uint64_t bits_ = 0;
};

struct DeviationRow {
  Deviation deviation;
  std::string_view name;     ///< "products_normalised"
  std::string_view summary;  ///< its effect, and its source
  /// Whether some operands of `form`, executed by `lowering`, give other bits with this deviation.
  bool (*concerns)(const Form& form, const Lowering& lowering);
};

/// All deviations, in the order of the enumeration.
std::span<const DeviationRow> deviation_rows();

std::string_view name(Deviation deviation);

/// The row of that name, or nullptr.
const DeviationRow* find_deviation(std::string_view name);

}  // namespace warpmat

#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <warpmat/tables/form.h>

/// The largest forms of the table: for whom keeps the operands of any form in arrays of fixed size. The table is held against these numbers
/// whenever it is made, and a test against each that some form reaches it.
namespace warpmat::capacity {

inline constexpr std::size_t m = 16, n = 8;    ///< of mma: rows of A, columns of B
inline constexpr std::size_t float_k = 128;    ///< of mma of floating-point elements narrower than f64, as shape.k counts it
inline constexpr std::size_t f64_k = 16;       ///< of mma of f64
inline constexpr std::size_t integer_k = 256;  ///< of mma of integers and bits
inline constexpr std::size_t stored_k = 64;    ///< of a sparse A: stored elements of a row
inline constexpr std::size_t results = 256;    ///< elements of D: the four 8x8 products of m8n8k4
inline constexpr std::size_t scale_factors =
    4;  ///< of a row of A or column of B: one for each group of 16 stored products, if each has its own
inline constexpr std::size_t operand_words = 16;    ///< 32-bit registers of one operand: Operand::words
inline constexpr std::size_t form_words = 40;       ///< of all operands together
inline constexpr std::size_t move_words = 8;        ///< of an operand of ldmatrix, stmatrix, movmatrix, wmma.load and wmma.store
inline constexpr std::size_t wmma_elements = 1024;  ///< of A and of B of wmma: m8n8k128 of bits

/// The quantities of one form that the constants of the same names bound; 0 where it has none.
struct Need {
  std::size_t m = 0, n = 0, float_k = 0, f64_k = 0, integer_k = 0, stored_k = 0, results = 0, scale_factors = 0, operand_words = 0,
              form_words = 0, move_words = 0, wmma_elements = 0;
};
Need need(const Form& form);

/// Nothing if `form` stays within every bound; else which one it exceeds.
std::optional<std::string> excess(const Form& form);

}  // namespace warpmat::capacity

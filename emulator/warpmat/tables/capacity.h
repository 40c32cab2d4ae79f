#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <warpmat/forms.h>

/// Maxima over all forms of the table, for arrays of fixed size. Building the table checks every form against them; a test checks that some
/// form reaches each one.
namespace warpmat::capacity {

inline constexpr std::size_t m = 16, n = 8;    ///< mma: rows of A, columns of B
inline constexpr std::size_t float_k = 128;    ///< mma with floating-point elements narrower than f64: shape.k
inline constexpr std::size_t f64_k = 16;       ///< mma of f64
inline constexpr std::size_t integer_k = 256;  ///< mma of integers and bits
inline constexpr std::size_t stored_k = 64;    ///< sparse A: stored elements of a row
inline constexpr std::size_t results = 256;    ///< elements of D: the four 8x8 products of m8n8k4
inline constexpr std::size_t scale_factors =
    4;  ///< of a row of A or column of B: one for each group of 16 stored products, if each has its own
inline constexpr std::size_t operand_words = 16;    ///< 32-bit registers of one operand: Operand::words
inline constexpr std::size_t form_words = 40;       ///< 32-bit registers of all operands of a form
inline constexpr std::size_t move_words = 8;        ///< registers of an operand of ldmatrix, stmatrix, movmatrix, wmma.load and wmma.store
inline constexpr std::size_t wmma_elements = 1024;  ///< elements of A and of B of wmma: m8n8k128 of bits
inline constexpr std::size_t matrix_bytes = 1024;   ///< that ldmatrix, stmatrix, wmma.load and wmma.store move, rows one after the other

/// The same quantities for one form; 0 if the form lacks one.
struct Need {
  std::size_t m = 0, n = 0, float_k = 0, f64_k = 0, integer_k = 0, stored_k = 0, results = 0, scale_factors = 0, operand_words = 0,
              form_words = 0, move_words = 0, wmma_elements = 0, matrix_bytes = 0;
};
Need need(const Form& form);

/// The bound that `form` exceeds, or nothing.
std::optional<std::string> excess(const Form& form);

}  // namespace warpmat::capacity

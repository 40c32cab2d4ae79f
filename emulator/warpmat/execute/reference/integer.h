#pragma once

#include <cstdint>

#include <warpmat/execute/reference/arithmetic.h>
#include <warpmat/execute/reference/multiplicands.h>

namespace warpmat {

// Products of integers and of bits, over a ReferenceArithmetic.

inline std::int64_t decode_whole(Format format, std::uint64_t bits) {
  const Value value = decode(format, bits);
  const auto magnitude = static_cast<std::int64_t>(value.significand);
  return value.negative ? -magnitude : magnitude;
}

/// D = A · B + C exactly; without .satfinite modulo 2^32, with it clamped once at the end [H200].
template <typename Arithmetic>
[[gnu::noinline]] void execute_integer_dot(Arithmetic& arithmetic, const Form& form, const Lowering& lowering, const Batch& batch,
                                           const ExecutionOptions& options) {
  for (int number = 0; number < parts(form); ++number) {
    Multiplicands<std::int64_t, capacity::integer_k, std::int16_t> multiplicands(form, lowering, batch, options, decode_whole);
    for_each_result(arithmetic, form, batch, part(form, number), [&](const Element& e, std::uint64_t c) -> std::uint64_t {
      const std::int64_t sum =
          arithmetic.integer_sum(multiplicands.a(e.row), multiplicands.b(e.row, e.column), decode_whole(Format::s32, c));
      return arithmetic.s32(sum, form.satfinite);
    });
  }
}

/// .b1: D = popcount(A op B) + C modulo 2^32.
template <typename Arithmetic>
[[gnu::noinline]] void execute_bit_dot(Arithmetic& arithmetic, const Form& form, const Lowering& lowering, const Batch& batch,
                                       const ExecutionOptions& options) {
  Multiplicands<std::uint8_t, capacity::integer_k> multiplicands(form, lowering, batch, options,
                                                                 [](Format, std::uint64_t bit) { return static_cast<std::uint8_t>(bit); });
  for_each_result(arithmetic, form, batch, [&](const Element& e, std::uint64_t c) -> std::uint64_t {
    const std::int64_t sum =
        arithmetic.bit_sum(multiplicands.a(e.row), multiplicands.b(e.row, e.column), decode_whole(Format::s32, c), form.bit_operation);
    return arithmetic.s32(sum, false);
  });
}

}  // namespace warpmat

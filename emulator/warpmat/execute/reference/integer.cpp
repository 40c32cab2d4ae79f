#include <algorithm>
#include <limits>

#include <warpmat/execute/reference/execute.h>
#include <warpmat/execute/reference/multiplicands.h>
#include <warpmat/numeric/value.h>

namespace warpmat {
namespace {

std::int64_t decode_whole(Format format, std::uint64_t bits) {
  const Value value = decode(format, bits);
  const auto magnitude = static_cast<std::int64_t>(value.significand);
  return value.negative ? -magnitude : magnitude;
}

std::uint32_t clamp_to_s32(std::int64_t sum) {
  using Limits = std::numeric_limits<std::int32_t>;
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(sum, Limits::min(), Limits::max()));
}

}  // namespace

void execute_integer_dot(const Form& form, const Lowering& lowering, const Arguments& arguments, const ExecutionOptions& options) {
  Multiplicands<std::int64_t, capacity::integer_k> multiplicands(form, lowering, arguments, options, decode_whole);
  for_each_result(form, arguments, [&](const Element& e, std::uint64_t c) -> std::uint64_t {
    const auto a = multiplicands.a(e.row), b = multiplicands.b(e.row, e.column);
    std::int64_t sum = decode_whole(Format::s32, c);
    for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
    return form.satfinite ? clamp_to_s32(sum) : static_cast<std::uint32_t>(sum);
  });
}

void execute_bit_dot(const Form& form, const Lowering& lowering, const Arguments& arguments, const ExecutionOptions& options) {
  Multiplicands<std::uint8_t, capacity::integer_k> multiplicands(form, lowering, arguments, options, [](Format, std::uint64_t bit) { return static_cast<std::uint8_t>(bit); });
  for_each_result(form, arguments, [&](const Element& e, std::uint64_t c) -> std::uint64_t {
    const auto a = multiplicands.a(e.row), b = multiplicands.b(e.row, e.column);
    auto sum = static_cast<std::uint32_t>(c);
    for (std::size_t k = 0; k < a.size(); ++k)
      sum += static_cast<std::uint32_t>(form.bit_operation == BitOperation::bit_xor ? a[k] ^ b[k] : a[k] & b[k]);
    return sum;
  });
}

}  // namespace warpmat

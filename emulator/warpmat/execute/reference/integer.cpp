#include <algorithm>
#include <array>
#include <limits>

#include <warpmat/execute/reference/execute.h>
#include <warpmat/execute/reference/multiplicands.h>
#include <warpmat/numeric/events.h>
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

/// Reports a sum of `count` products to the observer; `product` returns each.
template <typename Product>
void observe(const Events* events, std::size_t count, Product product, std::int64_t c, std::int64_t sum) {
  Observer* const observer = observer_of(events);
  if (observer == nullptr) return;
  std::array<std::int64_t, capacity::integer_k> products;
  for (std::size_t k = 0; k < count; ++k) products[k] = product(k);
  observer->integers(std::span(products).first(count), c, sum);
}

/// Counts the partial sums of products, C first.
void count_sums(Events& counts, std::int64_t c, std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  std::int64_t sum = c, least = c, largest = c;
  for (std::size_t k = 0; k < a.size(); ++k) {
    sum += a[k] * b[k];
    least = std::min(least, sum);
    largest = std::max(largest, sum);
  }
  count_integer(counts, sum, least, largest);
}

}  // namespace

namespace {

/// One machine instruction's part of D.
void execute_part(const Form& form, const Lowering& lowering, const Arguments& arguments, const ExecutionOptions& options, const Part& of) {
  Multiplicands<std::int64_t, capacity::integer_k, std::int16_t> multiplicands(form, lowering, arguments, options, decode_whole);
  for_each_result(form, arguments, of, [&](const Element& e, std::uint64_t c) -> std::uint64_t {
    const auto a = multiplicands.a(e.row), b = multiplicands.b(e.row, e.column);
    std::int64_t sum = decode_whole(Format::s32, c);
    for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
    if (arguments.events != nullptr) count_sums(*arguments.events, decode_whole(Format::s32, c), a, b);
    observe(
        arguments.events, a.size(), [&](std::size_t k) { return a[k] * b[k]; }, decode_whole(Format::s32, c), sum);
    return form.satfinite ? clamp_to_s32(sum) : static_cast<std::uint32_t>(sum);
  });
}

}  // namespace

void execute_integer_dot(const Form& form, const Lowering& lowering, const Arguments& arguments, const ExecutionOptions& options) {
  for (int number = 0; number < parts(form); ++number) execute_part(form, lowering, arguments, options, part(form, number));
}

void execute_bit_dot(const Form& form, const Lowering& lowering, const Arguments& arguments, const ExecutionOptions& options) {
  Multiplicands<std::uint8_t, capacity::integer_k> multiplicands(form, lowering, arguments, options,
                                                                 [](Format, std::uint64_t bit) { return static_cast<std::uint8_t>(bit); });
  for_each_result(form, arguments, [&](const Element& e, std::uint64_t c) -> std::uint64_t {
    const auto a = multiplicands.a(e.row), b = multiplicands.b(e.row, e.column);
    auto sum = static_cast<std::uint32_t>(c);
    const auto bit = [&](std::size_t k) -> std::int64_t { return form.bit_operation == BitOperation::bit_xor ? a[k] ^ b[k] : a[k] & b[k]; };
    for (std::size_t k = 0; k < a.size(); ++k) sum += static_cast<std::uint32_t>(bit(k));
    if (arguments.events != nullptr) {
      const std::int64_t start = decode_whole(Format::s32, c),
                         total = start + static_cast<std::uint32_t>(sum - static_cast<std::uint32_t>(c));
      count_integer(*arguments.events, total, start, total);
      observe(arguments.events, a.size(), bit, start, total);
    }
    return sum;
  });
}

}  // namespace warpmat

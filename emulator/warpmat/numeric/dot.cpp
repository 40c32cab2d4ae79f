#include <warpmat/dot.h>

#include <warpmat/numeric/matrix_unit.h>

namespace warpmat {

Value multiply(const Value& a, const Value& b) {
  return exact_product(a, b);
}

std::uint64_t sum_step(const DotModel& model, Format accumulator, std::span<const Value> terms) {
  return PlainUnit().sum(model, accumulator, terms);
}

std::uint64_t dot_step(const DotModel& model, Format accumulator, std::span<const Value> a, std::span<const Value> b, std::uint64_t c,
                       int scale_exponent) {
  return PlainUnit().step(model, accumulator, a, b, c, scale_exponent);
}

std::uint64_t dot(const DotModel& model, int step_length, Format accumulator, std::span<const Value> a, std::span<const Value> b,
                  std::uint64_t c, int scale_exponent) {
  return PlainUnit().dot(model, step_length, accumulator, a, b, c, scale_exponent);
}

std::uint64_t grouped_dot(const DotModel& model, Format accumulator, std::span<const Value> a, std::span<const Value> b,
                          std::span<const Value> scales_a, std::span<const Value> scales_b, std::uint64_t c) {
  return PlainUnit().grouped_dot(model, accumulator, a, b, scales_a, scales_b, c);
}

}  // namespace warpmat

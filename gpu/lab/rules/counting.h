#pragma once

#include <warpmat/execute/operands/batch.h>
#include <warpmat/execute/reference/arithmetic.h>
#include <warpmat/forms.h>
#include <warpmat/instruction.h>

#include <cstdint>
#include <span>

#include "gpu/lab/rules/events.h"

namespace warpmat {

/// The arithmetic that ships, with the regions counted that decide its results.
class CountingArithmetic : public ReferenceArithmetic<CountingArithmetic> {
 public:
  using Base = ReferenceArithmetic<CountingArithmetic>;

  explicit CountingArithmetic(Events& counts) : counts_(counts) {}

  std::uint64_t step(const DotModel& model, Format accumulator, std::span<const Value> a, std::span<const Value> b, std::uint64_t c,
                     int scale_exponent = 0);
  std::uint64_t grouped_dot(const DotModel& model, Format accumulator, std::span<const Value> a, std::span<const Value> b,
                            std::span<const Value> scales_a, std::span<const Value> scales_b, std::uint64_t c);
  std::uint64_t sum(const DotModel& model, Format accumulator, std::span<const Value> terms);
  std::uint64_t round(const DotModel& model, Format accumulator, const AlignedSum& aligned);
  std::uint64_t fused(Format format, std::uint64_t a, std::uint64_t b, std::uint64_t c, Rounding rounding, NanRule nan_rule);
  std::uint64_t last_addition(Format format, std::uint64_t sum, std::uint64_t c);
  std::uint64_t m8n8k4(const Quad& quad, std::uint64_t c, Format c_format, Format d_format);
  std::uint64_t m8n8k4_result(std::uint64_t sum, Format d);
  std::int64_t integer_sum(std::span<const std::int64_t> a, std::span<const std::int64_t> b, std::int64_t c);
  std::int64_t bit_sum(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b, std::int64_t c, BitOperation operation);

 private:
  Events& counts_;
  std::span<const Value> terms_;  ///< of the current sum
};

/// execute() of the emulator's reference, with the regions counted that it reaches. What a trap leaves in `counts` is unspecified.
void execute_counting(const Form& form, const Lowering& lowering, const Batch& batch, const ExecutionOptions& options, Events& counts);

}  // namespace warpmat

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "gpu/runners/scalar_case.h"

namespace warpmat {

/// The operands of `count` elements of one class, for runs of some cases. Narrow ones are stored as 32-bit words.
class ScalarOperands {
 public:
  static constexpr std::size_t max_operands = 5;

  using Draw = std::function<void(ValueKind kind, std::size_t operand, std::span<std::uint64_t> values)>;

  /// `count` elements, a multiple of 32, from `draw`, for the sources of `cases`. gpu/cases/scalar_operands.h draws the classes.
  ScalarOperands(std::size_t count, std::span<const ScalarCase> cases, const Draw& draw);

  std::size_t count() const { return count_; }
  /// The elements of operand `operand`, of the kind of `shown`: count() words of 4 bytes, or of 8 if it is wide.
  const void* data(const ScalarOperand& shown, std::size_t operand) const;

 private:
  std::size_t count_;
  std::array<std::array<std::vector<std::uint32_t>, max_operands>, value_kinds> narrow_;
  std::array<std::array<std::vector<std::uint64_t>, max_operands>, value_kinds> wide_;
};

/// The results of one case: for each result, count elements of 4 or 8 bytes; predicates are 0 or 1.
struct ScalarResults {
  ScalarResults(const ScalarCase& shown, std::size_t count);

  std::vector<std::vector<std::uint32_t>> narrow;  ///< of each result; empty if it is wide
  std::vector<std::vector<std::uint64_t>> wide;    ///< of each result; empty if it is narrow

  void* data(std::size_t result) { return wide[result].empty() ? static_cast<void*>(narrow[result].data()) : wide[result].data(); }
};

/// Runs this library's kernels and extends the results to registers as the machine does.
void run_scalar(const ScalarCase& shown, const ScalarOperands& operands, ScalarResults& results);

/// A GPU that runs scalar cases.
class ScalarGpu {
 public:
  virtual ~ScalarGpu() = default;

  /// Makes `operands` the input of run(); they must outlive the use of the GPU.
  virtual void use(const ScalarOperands& operands) = 0;

  /// Assembles the cases, which run() identifies by index. Throws std::runtime_error with the assembler's message.
  virtual void load(std::span<const ScalarCase> cases) = 0;

  virtual void run(std::size_t place, const ScalarCase& shown, ScalarResults& results) = 0;
};

}  // namespace warpmat

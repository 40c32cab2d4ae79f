#include "gpu/runners/scalar_runner.h"

#include <algorithm>
#include <iterator>

#include <warpmat/numeric/rounding_mode.h>

namespace warpmat {
namespace {

constexpr std::size_t lanes_at_once = 32;

bool is_used_wide(ValueKind kind) {
  return kind == ValueKind::i64 || kind == ValueKind::f64;
}

/// The mask of 32 elements' lowest bits.
std::uint32_t mask_of(const std::uint32_t* words) {
  std::uint32_t mask = 0;
  for (std::uint32_t lane = 0; lane < lanes_at_once; ++lane) mask |= (words[lane] & 1) << lane;
  return mask;
}

/// Sign-extends a signed result of 8 or 16 bits to its wider register.
void extend(const ScalarOperand& result, std::uint32_t* words) {
  const int bits = result.type->bits;
  if (!result.type->is_signed_integer() || bits >= result.register_bits) return;
  for (std::size_t lane = 0; lane < lanes_at_once; ++lane)
    words[lane] = static_cast<std::uint32_t>(static_cast<std::int32_t>(words[lane] << (32 - bits)) >> (32 - bits));
}

/// Runs one warp: elements `first` on.
void run_warp(const ScalarCase& shown, const ScalarOperands& operands, std::size_t first, ScalarResults& results) {
  std::array<const void*, ScalarOperands::max_operands + 1> sources{};
  std::array<void*, 4> destinations{};
  std::array<std::uint32_t, ScalarOperands::max_operands + 1> source_masks{};
  std::array<std::uint32_t, 4> result_masks{};
  alignas(64) std::array<std::uint32_t, lanes_at_once> immediate{};
  for (std::size_t i = 0; i < shown.sources.size(); ++i) {
    const ScalarOperand& operand = shown.sources[i];
    const void* const data = operands.data(operand, i);
    if (operand.is_predicate()) {
      source_masks[i] = mask_of(static_cast<const std::uint32_t*>(data) + first);
      if (operand.carry && shown.borrows()) source_masks[i] = ~source_masks[i];
      sources[i] = &source_masks[i];
    } else {
      sources[i] = operand.is_wide() ? static_cast<const void*>(static_cast<const std::uint64_t*>(data) + first)
                                     : static_cast<const std::uint32_t*>(data) + first;
    }
  }
  if (!shown.immediate.empty()) {
    immediate.fill(static_cast<std::uint32_t>(std::stoul(shown.immediate, nullptr, 0)));
    sources[shown.immediate_place] = immediate.data();
  }
  for (std::size_t i = 0; i < shown.results.size(); ++i) {
    if (shown.results[i].is_predicate())
      destinations[i] = &result_masks[i];
    else
      destinations[i] = shown.results[i].is_wide() ? static_cast<void*>(results.wide[i].data() + first) : results.narrow[i].data() + first;
  }
  shown.executable.function(destinations.data(), sources.data(), shown.executable.modifiers);
  for (std::size_t i = 0; i < shown.results.size(); ++i) {
    if (shown.results[i].is_wide()) continue;
    std::uint32_t* const words = results.narrow[i].data() + first;
    if (!shown.results[i].is_predicate()) {
      extend(shown.results[i], words);
      continue;
    }
    if (shown.results[i].carry && shown.borrows()) result_masks[i] = ~result_masks[i];
    for (std::uint32_t lane = 0; lane < lanes_at_once; ++lane) words[lane] = result_masks[i] >> lane & 1;
  }
}

}  // namespace

ScalarOperands::ScalarOperands(std::size_t count, std::span<const ScalarCase> cases, const Draw& draw) : count_(count) {
  std::array<std::array<bool, max_operands>, value_kinds> used{};
  for (const ScalarCase& c : cases)
    for (std::size_t i = 0; i < c.sources.size(); ++i) used[static_cast<std::size_t>(c.sources[i].kind)].at(i) = true;
  std::vector<std::uint64_t> values(count);
  for (std::size_t kind = 0; kind < used.size(); ++kind)
    for (std::size_t operand = 0; operand < max_operands; ++operand) {
      if (!used[kind][operand]) continue;
      draw(static_cast<ValueKind>(kind), operand, values);
      if (is_used_wide(static_cast<ValueKind>(kind)))
        wide_[kind][operand] = values;
      else
        std::ranges::transform(values, std::back_inserter(narrow_[kind][operand]),
                               [](std::uint64_t value) { return static_cast<std::uint32_t>(value); });
    }
}

const void* ScalarOperands::data(const ScalarOperand& shown, std::size_t operand) const {
  const auto kind = static_cast<std::size_t>(shown.kind);
  return is_used_wide(shown.kind) ? static_cast<const void*>(wide_[kind].at(operand).data()) : narrow_[kind].at(operand).data();
}

ScalarResults::ScalarResults(const ScalarCase& shown, std::size_t count) : narrow(shown.results.size()), wide(shown.results.size()) {
  for (std::size_t i = 0; i < shown.results.size(); ++i) {
    if (shown.results[i].is_wide())
      wide[i].resize(count);
    else
      narrow[i].resize(count);
  }
}

void run_scalar(const ScalarCase& shown, const ScalarOperands& operands, ScalarResults& results) {
  const RoundingMode nearest(RoundingMode::nearest);
  for (std::size_t first = 0; first < operands.count(); first += lanes_at_once) run_warp(shown, operands, first, results);
}

}  // namespace warpmat

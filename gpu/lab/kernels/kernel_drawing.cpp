#include "gpu/lab/kernels/kernel_drawing.h"

#include <algorithm>

#include <fmt/core.h>

#include <warpmat/warp.h>

namespace warpmat {

KernelDrawing::KernelDrawing(const Target& of, std::uint64_t key, int max_units)
    : target(of),
      choices(warpmat::choices(of)),
      random(key),
      left(random.between(1, max_units)),
      shape(random.one_in(4)   ? Shape::sums
            : random.one_in(4) ? Shape::contractions
            : random.one_in(3) ? Shape::straight
                               : Shape::any),
      blocks(static_cast<std::uint32_t>(random.between(1, 3))),
      threads_of_block(static_cast<std::uint32_t>(warp_size * random.between(1, 4))) {}

std::string KernelDrawing::any(const Pool& pool) {
  return fmt::format("{}{}", pool.prefix, random.below(pool.size));
}

const Pool& KernelDrawing::pool_for(ValueKind kind, int bits) {
  std::vector<const Pool*> same, fitting;
  for (const Pool& pool : pools) {
    if (pool.bits != bits) continue;
    if (bits == 64 && (kind == ValueKind::f64) != (pool.kind == ValueKind::f64)) continue;  // no NaN of any payload, see Choices
    fitting.push_back(&pool);
    const bool pairs = kind == ValueKind::i16 && bits == 32;  // packed types
    if (pool.kind == (pairs ? ValueKind::f16 : kind)) same.push_back(&pool);
  }
  const auto& drawn = same.empty() || random.one_in(12) ? fitting : same;
  return *drawn[random.below(drawn.size())];
}

std::string KernelDrawing::source(const ScalarOperand& operand) {
  return any(pool_for(operand.kind, operand.register_bits));
}

std::string KernelDrawing::destination(const Pool& pool, const Lines& taken) {
  std::string name = any(pool);
  while (std::ranges::find(taken, name) != taken.end()) name = any(pool);
  return name;
}

/// From the last to the first, as recorded kernels have it.
std::string KernelDrawing::drawn(std::string text) {
  for (std::size_t at = text.rfind('?'); at != std::string::npos; at = text.rfind('?')) text.replace(at, 2, any(pool_named(text[at + 1])));
  return text;
}

std::string KernelDrawing::guard() {
  if (!random.one_in(4)) return "";
  const std::string predicate = any(pool_named('p'));
  return fmt::format("@{}{} ", random.one_in(2) ? "!" : "", predicate);
}

std::uint64_t KernelDrawing::own_offset(bool is_f64, std::uint32_t bytes) {
  return is_f64 ? own_bytes - 8 : bytes * random.below((own_bytes - 8) / bytes);
}

}  // namespace warpmat

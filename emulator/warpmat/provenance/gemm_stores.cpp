#include <warpmat/machine/kernel_trap.h>
#include <warpmat/provenance/gemm_stores.h>
#include <warpmat/provenance/notes.h>

#include <algorithm>

#include <fmt/core.h>

namespace warpmat::provenance {

std::optional<Trap> GemmStores::missing(const Gemm& gemm, const std::string& kernel) const {
  if (gemm.c.bits == 0) return std::nullopt;
  const auto all = static_cast<std::size_t>(gemm.c.rows * gemm.c.columns);
  const auto first = static_cast<std::size_t>(std::ranges::find(owners_, 0u) - owners_.begin());
  if (first == all) return std::nullopt;
  const std::size_t count = owners_.empty() ? all : static_cast<std::size_t>(std::ranges::count(owners_, 0u));
  const auto columns = static_cast<std::size_t>(gemm.c.columns);
  const std::string what = fmt::format(
      "{} of {} elements of {}, {} the first, {} stored by no block", count, all, gemm.c.name,
      gemm.c.element(static_cast<std::int64_t>(first / columns), static_cast<std::int64_t>(first % columns)), count == 1 ? "is" : "are");
  if (again_)
    return machine::kernel_trap(
        again_->site, std::nullopt,
        {what, together(std::vector<Trap::Note>{{fmt::format("{} is stored here, by the second block", again_->element)}}, again_->way)},
        Trap::Kind::mispaired);
  Trap::Site site;
  if (last_) site = *last_;
  site.kernel = kernel;
  return machine::kernel_trap(site, std::nullopt, what, Trap::Kind::mispaired);
}

std::optional<Trap> GemmStores::without_products(const Gemm& gemm) const {
  constexpr std::int64_t least = 16;  // elements of a line
  if (!other_ || std::ranges::find(sums_, true) == sums_.end()) return std::nullopt;
  const std::int64_t rows = gemm.c.rows, columns = gemm.c.columns;
  const auto lacks = [&](std::int64_t first, std::int64_t step, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
      if (const auto at = static_cast<std::size_t>(first + i * step); owners_[at] == 0 || sums_[at]) return false;
    return count >= least;
  };
  std::int64_t lacking_rows = 0, lacking_columns = 0, first_row = 0, first_column = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    if (lacks(i * columns, 1, columns) && lacking_rows++ == 0) first_row = i;
  for (std::int64_t j = 0; j < columns; ++j)
    if (lacks(j, columns, rows) && lacking_columns++ == 0) first_column = j;
  if (lacking_rows == 0 && lacking_columns == 0) return std::nullopt;
  const bool of_rows = lacking_rows != 0;
  return machine::kernel_trap(
      *other_, std::nullopt,
      {fmt::format("{} {} of {} are stored without any product, {} the first", of_rows ? lacking_rows : lacking_columns,
                   of_rows ? "rows" : "columns", gemm.c.name, of_rows ? first_row : first_column),
       {{"products by zeros do not count, such as those that a tensor map gives beyond its tensor"}}},
      Trap::Kind::mispaired);
}

}  // namespace warpmat::provenance

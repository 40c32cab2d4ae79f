#include <warpmat/checks/gemm_stores.h>
#include <warpmat/checks/notes.h>
#include <warpmat/machine/kernel_trap.h>

#include <algorithm>

#include <fmt/core.h>

namespace warpmat::checks {

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

}  // namespace warpmat::checks

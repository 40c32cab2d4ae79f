#include "tools/report/versus.h"

#include <fmt/core.h>
#include <warpmat/matrices/sample.h>

#include <algorithm>

#include "tools/report/expectation.h"

namespace warpmat {

std::string versus_text(const Ran& one, const Ran& other) {
  const auto a = one.place.read(one.warp), b = other.place.read(other.warp);
  std::vector<std::size_t> different;
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i]) {
      different.push_back(i);
      most = std::max(most, ulps_between(one.place.type(), a[i], b[i]));
    }
  if (different.empty())
    return fmt::format("{}: {} and {} agree in all {} elements\n", one.place.text(), one.target, other.target, a.size());
  std::string text = fmt::format("{}: {} and {} differ in {} of {} elements, by {} units in the last place at most\n", one.place.text(),
                                 one.target, other.target, different.size(), a.size(), most);
  for (const std::size_t chosen : sample(different.size())) {
    const std::size_t i = different[chosen];
    text += fmt::format("  {}: {} and {} ({} units)\n", one.place.describe_element(i), one.place.show_element(a[i]),
                        other.place.show_element(b[i]), ulps_between(one.place.type(), a[i], b[i]));
  }
  return text;
}

}  // namespace warpmat

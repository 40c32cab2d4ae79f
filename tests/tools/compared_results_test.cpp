// The numbers of compared results beside measured forms.

#include <warpmat/forms.h>

#include <regex>

#include "test.h"
#include "tools/report/compared_results.h"

namespace warpmat::compared_results_test {
namespace {

std::string page(const std::string& path) {
  std::ifstream file(source_path(path));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST_CASE("the results behind measured forms are those of the sweeps in the notebook", "[tools][evidence]") {
  const std::string text = page("lab/notebook/2026-11-22-sweeps.md");
  std::uint64_t swept = 0, all = 0;
  const std::regex sweep(R"(\| sm_90a \|.*\| (\d+) \| 0 \| \d+ s \|)"), line(R"(\| `([a-z0-9.:_]+)` \| 1 \| sm_90: (\d+) in)");
  for (std::sregex_iterator found(text.begin(), text.end(), sweep), end; found != end; ++found) swept += std::stoull((*found)[1]);
  for (const Form& form : forms()) all += compared_results(form);
  CHECK(swept != 0);
  CHECK(all + compared_results_of_wgmma == swept);
  int lines = 0;
  for (std::sregex_iterator found(text.begin(), text.end(), line), end; found != end; ++found, ++lines) {
    const Form* form = find_form((*found)[1].str());
    INFO((*found)[1]);
    REQUIRE(form != nullptr);
    CHECK(compared_results(*form) == std::stoull((*found)[2]));
  }
  CHECK(lines >= 5);
}

}  // namespace
}  // namespace warpmat::compared_results_test

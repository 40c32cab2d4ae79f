#include <warpmat/forms.h>
#include <warpmat/instruction.h>
#include <warpmat/wgmma.h>

#include "command.h"
#include "test.h"

namespace warpmat::support_test {
namespace {

/// The page as `warpmat support` writes it.
const std::string& page() {
  static const std::string text = run_command({"support"}).out;
  return text;
}

/// The cells of every table row of the page whose first cell begins with `start`.
std::vector<std::vector<std::string>> rows(const std::string& start) {
  std::vector<std::vector<std::string>> found;
  std::istringstream in(page());
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("| " + start)) continue;
    std::vector<std::string> cells;
    std::size_t begin = 2;
    for (std::size_t end; (end = line.find(" |", begin)) != std::string::npos; begin = end + 3)
      cells.push_back(line.substr(begin, end - begin));
    found.push_back(std::move(cells));
  }
  return found;
}

/// The opcodes for which a pattern stands: "a[.b].{c,d}" for a.c, a.d, a.b.c, a.b.d.
std::vector<std::string> opcodes(const std::string& pattern) {
  if (const std::size_t open = pattern.find('['); open != std::string::npos) {
    const std::size_t close = pattern.find(']', open);
    const std::string before = pattern.substr(0, open), after = pattern.substr(close + 1);
    std::vector<std::string> without = opcodes(before + after), with = opcodes(before + pattern.substr(open + 1, close - open - 1) + after);
    without.insert(without.end(), with.begin(), with.end());
    return without;
  }
  const std::size_t open = pattern.find('{');
  if (open == std::string::npos) return {pattern};
  const std::size_t close = pattern.find('}', open);
  std::vector<std::string> all;
  std::istringstream choices(pattern.substr(open + 1, close - open - 1));
  for (std::string choice; std::getline(choices, choice, ',');) {
    const std::vector<std::string> some = opcodes(pattern.substr(0, open) + choice + pattern.substr(close + 1));
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

/// The opcodes for which a line of wgmma stands: N is a multiple of 8, of integers 8, 24 or a multiple of 16.
std::vector<std::string> widths(const std::string& pattern) {
  const std::size_t at = pattern.find("nNk");
  const bool integers = pattern.find(".s32.") != std::string::npos;
  std::vector<std::string> all;
  for (int n = 8; n <= 256; n += 8)
    if (!integers || n == 8 || n == 24 || n % 16 == 0)
      all.push_back(fmt::format("{}n{}k{}", pattern.substr(0, at), n, pattern.substr(at + 3)));
  return all;
}

/// What the page says of each form, by opcode: the cells behind the pattern.
std::map<std::string, std::vector<std::string>> told_of_forms() {
  std::map<std::string, std::vector<std::string>> told;
  for (std::vector<std::string> cells : rows("`")) {
    const std::string pattern = cells.front().substr(1, cells.front().size() - 2);
    cells.erase(cells.begin());
    const std::vector<std::string> all = pattern.find("nNk") != std::string::npos ? widths(pattern) : opcodes(pattern);
    CHECK(cells.at(0) == std::to_string(all.size()));
    for (const std::string& opcode : all) CHECK(told.emplace(opcode, cells).second);
  }
  return told;
}

TEST_CASE("the page of support has each form once, with its targets and evidence", "[tools]") {
  const auto told = told_of_forms();
  CHECK(told.size() == forms().size() + wgmma_forms().size());
  for (const WgmmaForm& form : wgmma_forms()) {
    CAPTURE(form.opcode);
    REQUIRE(told.contains(form.opcode));
    const std::vector<std::string>& cells = told.at(form.opcode);
    CHECK((cells.at(1) == "sm_90a" && cells.at(2) == to_string(form.ptx)));
    CHECK(cells.at(3) == fmt::format("`{}` {} sm_90", lowering_of(form).machine, name(label_of(lowering_of(form)))));
  }
  for (const Form& form : forms()) {
    CAPTURE(form.opcode);
    REQUIRE(told.contains(form.opcode));
    const std::vector<std::string>& cells = told.at(form.opcode);
    REQUIRE(cells.size() == 4);
    CHECK(cells[1].starts_with(
        fmt::format("sm_{}", form.requirement.baseline != 0 ? form.requirement.baseline : form.requirement.families.front())));
    CHECK(cells[2] == to_string(form.requirement.ptx));
    for (const Target& target : targets()) {
      const Lowering* lowering = find_lowering(form, target.hardware);
      // "`MACHINE` measured sm_90; replayed sm_80 sm_86<br>`MACHINE` assumed sm_120": the label and the machine before the hardware
      const std::size_t at = cells[3].find(fmt::format(" {}", name(target.hardware)));
      CHECK((at != std::string::npos) == (lowering != nullptr));
      if (at == std::string::npos || lowering == nullptr) continue;
      const std::size_t label = cells[3].rfind(std::string(name(label_of(*lowering))), at);
      REQUIRE(label != std::string::npos);
      CHECK(cells[3].find_first_of(";<", label) > at);
      const std::size_t machine = cells[3].rfind(fmt::format("`{}` ", machine_name(form, *lowering)), at);
      REQUIRE(machine != std::string::npos);
      CHECK(cells[3].find('<', machine) > at);
    }
  }
}

TEST_CASE("the page of support counts the forms of each target by evidence", "[tools]") {
  const auto counted = rows("sm_");
  REQUIRE(counted.size() == targets().size());
  for (std::size_t i = 0; i < targets().size(); ++i) {
    const Target& target = targets()[i];
    std::map<Label, int> counts;
    int all = 0;
    for (const Form& form : forms())
      if (!unavailable(form, target)) ++counts[label_of(*find_lowering(form, target.hardware))], ++all;
    for (const WgmmaForm& form : wgmma_forms())
      if (!unavailable(form, target)) ++counts[label_of(lowering_of(form))], ++all;
    const std::vector<std::string> expected{std::string(target.name),
                                            std::to_string(all),
                                            std::to_string(counts[Label::measured]),
                                            std::to_string(counts[Label::specified]),
                                            std::to_string(counts[Label::replayed]),
                                            std::to_string(counts[Label::published]),
                                            std::to_string(counts[Label::assumed])};
    CHECK(counted[i] == expected);
  }
}

}  // namespace
}  // namespace warpmat::support_test

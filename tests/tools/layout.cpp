#include <warpmat/isa/form.h>
#include <warpmat/warp/warp.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "catch.h"
#include "command.h"

namespace warpmat {
namespace {

using Json = nlohmann::json;

std::vector<std::string> layout_arguments(const Form& form, const Operand& operand, std::vector<std::string> more) {
  more.insert(more.begin(), {"layout", form.opcode, "--operand", std::string(name(operand.name))});
  return more;
}

std::string layout(const Form& form, const Operand& operand, const std::vector<std::string>& more) {
  const Outcome outcome = run_command(layout_arguments(form, operand, more));
  REQUIRE(outcome.err.empty());
  REQUIRE(outcome.status == 0);
  return outcome.out;
}

Element element_of(const Json& json) {
  return {json.at("row"), json.at("column"), json.at("matrix")};
}
Place place_of(const Json& json) {
  return {json.at("lane"), json.at("register"), json.at("bit")};
}

/// One form of each kind of fragment.
std::vector<const Form*> some_forms() {
  std::vector<const Form*> found;
  for (const char* opcode : {"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", "stmatrix.sync.aligned.m8n8.x1.shared.b16",
                             "movmatrix.sync.aligned.m8n8.trans.b16", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
                             "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32"})
    found.push_back(find_form(opcode));
  return found;
}

template <typename Visit>
void for_each_fragment(Visit visit) {
  for (const Form* form : some_forms())
    for (const Operand& operand : form->operands)
      if (operand.kind == OperandKind::fragment) visit(*form, operand);
}

TEST_CASE("layout --json holds the fragment both ways", "[tools]") {
  for_each_fragment([](const Form& form, const Operand& operand) {
    const Fragment& f = operand.fragment;
    const Json json = Json::parse(layout(form, operand, {"--json"}));
    REQUIRE(json.at("elements").size() == static_cast<std::size_t>(f.matrices() * f.rows() * f.columns()));
    for (const Json& e : json.at("elements")) CHECK(f.place(element_of(e)) == place_of(e));
    REQUIRE(json.at("lanes").size() == lanes);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      REQUIRE(json.at("lanes")[lane].size() == static_cast<std::size_t>(f.registers()));
      for (int reg = 0; reg < f.registers(); ++reg) {
        const Json& held = json.at("lanes")[lane][static_cast<std::size_t>(reg)];
        REQUIRE(held.size() == static_cast<std::size_t>(f.elements_per_register()));
        int bit = 0;
        for (const Json& e : held) {
          CHECK(element_of(e) == f.element({static_cast<int>(lane), reg, bit}));
          bit += f.element_bits;
        }
      }
    }
  });
}

/// The words of each line.
std::vector<std::vector<std::string>> words_of_lines(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::vector<std::string> cells;
    for (std::string cell; words >> cell;) cells.push_back(cell);
    rows.push_back(std::move(cells));
  }
  return rows;
}

TEST_CASE("layout prints the fragment both ways", "[tools]") {
  const Form& form = *find_form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
  const auto a = words_of_lines(layout(form, form.operand(OperandName::a), {}));
  // title, blank, caption, header, 16 rows, blank, caption, header, 32 lanes
  REQUIRE(a.size() == 4 + 16 + 3 + 32);
  CHECK(a[4 + 9] == std::vector<std::string>{"9", "4:1.0", "4:1.16", "5:1.0", "5:1.16", "6:1.0", "6:1.16", "7:1.0", "7:1.16", "4:3.0",
                                             "4:3.16", "5:3.0", "5:3.16", "6:3.0", "6:3.16", "7:3.0", "7:3.16"});
  CHECK(a[4 + 16 + 3 + 5] == std::vector<std::string>{"5", "1,2", "1,3", "9,2", "9,3", "1,10", "1,11", "9,10", "9,11"});
  const auto c = words_of_lines(layout(form, form.operand(OperandName::c), {}));
  CHECK(c[4 + 15] == std::vector<std::string>{"15", "28:2", "28:3", "29:2", "29:3", "30:2", "30:3", "31:2", "31:3"});
}

TEST_CASE("layout answers one question", "[tools]") {
  for_each_fragment([](const Form& form, const Operand& operand) {
    const Fragment& f = operand.fragment;
    const Element last{f.rows() - 1, f.columns() - 2, f.matrices() - 1};
    const std::vector<std::string> where{"--row",    std::to_string(last.row),   "--column", std::to_string(last.column),
                                         "--matrix", std::to_string(last.matrix)};
    const Place place = f.place(last);
    const std::string text = layout(form, operand, where);
    CHECK(text.find("lane " + std::to_string(place.lane) + ", register " + std::to_string(place.reg) + ", bits " +
                    std::to_string(place.bit) + " to ") != std::string::npos);

    const std::vector<std::string> what{"--json", "--lane", "13", "--register", std::to_string(f.registers() - 1)};
    const Json held = Json::parse(layout(form, operand, what));
    REQUIRE(held.size() == static_cast<std::size_t>(f.elements_per_register()));
    for (std::size_t i = 0; i < held.size(); ++i) {
      const Place inside{13, f.registers() - 1, static_cast<int>(i) * f.element_bits};
      CHECK(place_of(held[i]) == inside);
      CHECK(element_of(held[i]) == f.element(inside));
    }
  });
  const Form& form = *find_form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
  CHECK(layout(form, form.operand(OperandName::a), {"--row", "9", "--column", "3"}) ==
        "row 9, column 3: lane 5, register 1, bits 16 to 31\n");
}

TEST_CASE("layout refuses what is out of range, with the range", "[tools]") {
  const std::string opcode = "ldmatrix.sync.aligned.m8n8.x2.shared.b16";
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
      {{opcode, "--operand", "r", "--row", "8", "--column", "0"}, "--row must be 0 to 7"},
      {{opcode, "--operand", "r", "--row", "-1", "--column", "0"}, "--row must be 0 to 7"},
      {{opcode, "--operand", "r", "--row", "0", "--column", "8"}, "--column must be 0 to 7"},
      {{opcode, "--operand", "r", "--row", "0", "--column", "0", "--matrix", "2"}, "--matrix must be 0 to 1"},
      {{opcode, "--operand", "r", "--lane", "32", "--register", "0"}, "--lane must be 0 to 31"},
      {{opcode, "--operand", "r", "--lane", "0", "--register", "2"}, "--register must be 0 to 1"},
      {{opcode, "--operand", "p"}, "--operand can be r"},
      {{opcode, "--operand", "q"}, "--operand can be r"},
      {{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "--operand", "r"}, "--operand can be d, a, b, c"},
      {{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16", "--operand", "a"}, "nearest"},
  };
  for (auto [arguments, part] : wrong) {
    CAPTURE(arguments, part);
    arguments.insert(arguments.begin(), "layout");
    const Outcome outcome = run_command(arguments);
    CHECK(outcome.status == 1);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.starts_with("warpmat: error: "));
    CHECK(std::ranges::count(outcome.err, '\n') == 1);
    CHECK(outcome.err.find(part) != std::string::npos);
  }
}

}  // namespace
}  // namespace warpmat

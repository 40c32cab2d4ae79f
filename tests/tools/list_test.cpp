#include <warpmat/forms.h>
#include <warpmat/instruction.h>
#include <warpmat/wgmma.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "test.h"
#include "tools/report/floor.h"

namespace warpmat::list_test {
namespace {

using Json = nlohmann::json;

Json list_json(std::vector<std::string> options) {
  options.insert(options.begin(), {"list", "--json"});
  const Outcome outcome = run_command(options);
  REQUIRE(outcome.status == 0);
  REQUIRE(outcome.err.empty());
  return Json::parse(outcome.out);
}

/// The oldest target that has a form and, where its name has a suffix, the suffixes of all that have it.
std::string oldest_target(const Requirement& requirement) {
  if (requirement.baseline != 0) return "sm_" + std::to_string(requirement.baseline);
  return "sm_" + std::to_string(requirement.families.front()) + (requirement.architecture ? "a" : "a/f");
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    all.push_back(text.substr(begin, end - begin));
  return all;
}

TEST_CASE("list has every form, its operands and its lowerings", "[tools]") {
  const Json all = list_json({});
  REQUIRE(all.size() == forms().size() + wgmma_forms().size());
  for (std::size_t i = 0; i < forms().size(); ++i) {
    const Form& form = forms()[i];
    const Json& entry = all[i];
    CHECK(entry.at("opcode") == form.opcode);
    CHECK(entry.at("requires").at("target") == oldest_target(form.requirement));
    CHECK(entry.at("requires").at("ptx") == to_string(form.requirement.ptx));
    REQUIRE(entry.at("operands").size() == form.operands.size());
    for (std::size_t o = 0; o < form.operands.size(); ++o) {
      const Operand& operand = form.operands[o];
      const Json& listed = entry.at("operands")[o];
      CHECK(listed.at("name") == name(operand.name));
      CHECK(listed.at("kind") == name(operand.kind));
      if (operand.kind == OperandKind::selector || operand.kind == OperandKind::ids)
        CHECK(listed.at("choices") == operand.choices);
      else
        CHECK(listed.at("registers") == operand.registers());
    }
    CHECK_FALSE(entry.at("lowerings").empty());
    for (const Json& lowering : entry.at("lowerings")) {
      const Target& t = target(lowering.at("hardware").get<std::string>());
      const Lowering* const wanted = find_lowering(form, t.hardware);
      REQUIRE(wanted != nullptr);
      CHECK(lowering.at("machine") == machine_name(form, *wanted));
      CHECK(lowering.at("evidence") == name(label_of(*wanted)));
      CHECK(lowering.at("source") == wanted->source);
      const auto floor = find_floor(form, t.hardware);
      CHECK(lowering.at("floor").is_null() == !floor);
      if (floor) CHECK(lowering.at("floor").at("evidence") == name(floor->evidence));
    }
  }
}

TEST_CASE("list has every wgmma, its registers and how its bits are known", "[tools][wgmma]") {
  const Json all = list_json({"--target", "sm_90a"});
  for (std::size_t i = 0; i < wgmma_forms().size(); ++i) {
    const WgmmaForm& form = wgmma_forms()[i];
    const Json& entry = all[all.size() - wgmma_forms().size() + i];
    CHECK(entry.at("opcode") == form.opcode);
    CHECK(entry.at("requires").at("target") == "sm_90a");
    CHECK(entry.at("requires").at("ptx") == to_string(form.ptx));
    const Json &d = entry.at("operands")[0], &b = entry.at("operands")[2];
    const int bits = d.at("format") == "f16" ? 16 : 32;
    CHECK(d.at("registers") == 64 * form.shape.n * bits / 32 / 128);
    CHECK((d.at("rows") == 64 && d.at("columns") == form.shape.n));
    CHECK((b.at("kind") == "descriptor" && b.at("rows") == form.shape.k && b.at("columns") == form.shape.n));
    CHECK(entry.at("operands").size() == (form.opcode.find(".sp.") == std::string::npos ? 3 : 4));
    CHECK(entry.at("lowerings")[0].at("evidence") == name(label_of(lowering_of(form))));
  }
}

TEST_CASE("list --target has just the forms of that target", "[tools]") {
  for (const Target& t : targets()) {
    CAPTURE(t.name);
    std::vector<std::string> wanted, listed;
    for (const Form& form : forms())
      if (!unavailable(form, t)) wanted.push_back(form.opcode);
    for (const WgmmaForm& form : wgmma_forms())
      if (!unavailable(form, t)) wanted.push_back(form.opcode);
    for (const Json& entry : list_json({"--target", std::string(t.name)})) {
      listed.push_back(entry.at("opcode"));
      REQUIRE(entry.at("lowerings").size() == 1);
      CHECK(target(entry.at("lowerings")[0].at("hardware").get<std::string>()).hardware == t.hardware);
    }
    CHECK(listed == wanted);
  }
}

TEST_CASE("list prints a line for each form, columns aligned", "[tools]") {
  for (const char* const only : {"", "sm_75", "sm_90a", "sm_121a"}) {
    std::vector<std::string> arguments{"list"}, opcodes;
    if (*only != 0) arguments.insert(arguments.end(), {"--target", only});
    for (const Form& form : forms())
      if (*only == 0 || !unavailable(form, target(only))) opcodes.push_back(form.opcode);
    for (const WgmmaForm& form : wgmma_forms())
      if (*only == 0 || !unavailable(form, target(only))) opcodes.push_back(form.opcode);
    CAPTURE(only);
    const Outcome outcome = run_command(arguments);
    REQUIRE(outcome.status == 0);
    const std::vector<std::string> rows = lines(outcome.out);
    REQUIRE(rows.size() == opcodes.size() + 1);
    const std::size_t column = rows[0].find("needs");
    for (std::size_t i = 0; i < opcodes.size(); ++i) {
      CHECK(rows[i + 1].starts_with(opcodes[i] + " "));
      CHECK(rows[i + 1].substr(column, 3) == "sm_");
    }
  }
}

TEST_CASE("list --approximate says how the bits of the approximate instructions are known", "[tools]") {
  const auto has_line = [](const std::string& text, const std::string& instruction, const std::string& rest) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with(instruction + " ") && line.find(rest) != std::string::npos) return true;
    return false;
  };
  const std::string all = run_command({"list", "--approximate"}).out, one = run_command({"list", "--approximate", "--target", "sm_80"}).out;
  CHECK(has_line(all, "ex2.approx(.ftz)?.f32", "measured sm_90  "));
  CHECK(has_line(all, "ex2.approx(.ftz)?.f32", "H200: all 2^32 operands"));
  CHECK(has_line(all, "div.full(.ftz)?.f32", "H200: random pairs"));
  CHECK(has_line(all, "tanh.approx.f32", "assumed sm_75 sm_80 sm_86"));
  CHECK(has_line(one, "ex2.approx(.ftz)?.f32", "assumed sm_80  "));
  CHECK(one.find("measured") == std::string::npos);
  CHECK(one.find("bf16") == std::string::npos);
}

TEST_CASE("list --scalar has the scalar and machine instructions with a label on each hardware", "[tools]") {
  const Json all = list_json({"--scalar"}), approximate = list_json({"--approximate"}),
             of_one = list_json({"--scalar", "--target", "sm_80"});
  CHECK(all.size() > 400);
  CHECK(approximate.size() < 30);
  for (const Json first = list_json({}).front(); const Json& lowering : first.at("lowerings"))
    CHECK((lowering.at("compared") == 0) == (lowering.at("evidence") == "specified"));
  CHECK(of_one.size() < all.size());
  for (const Json& row : all) {
    CHECK_FALSE(row.at("opcode").get<std::string>().starts_with('%'));
    for (const Json& known : row.at("known")) CHECK(find_label(known.at("evidence").get<std::string>()).has_value());
  }
  for (const Json& row : of_one) CHECK(row.at("known").size() == 1);
  const Outcome text = run_command({"list", "--scalar", "--target", "sm_90a"});
  CHECK(text.out.find("mov.b128 ") != std::string::npos);
  CHECK(text.out.find("measured sm_90") != std::string::npos);
}

TEST_CASE("list takes filters: parts of names in PTX or SASS, regular expressions", "[tools]") {
  const auto opcodes = [](const std::vector<std::string>& filters) {
    std::vector<std::string> names;
    for (const Json& entry : list_json(filters)) names.push_back(entry.at("opcode"));
    return names;
  };
  std::size_t with_shape = 0;
  for (const Form& form : forms()) with_shape += form.opcode.find("m16n8k32") != std::string::npos;
  for (const WgmmaForm& form : wgmma_forms()) with_shape += form.opcode.find("m16n8k32") != std::string::npos;
  CHECK(opcodes({"m16n8k32"}).size() == with_shape);
  for (const std::string& opcode : opcodes({"m16n8k32", "E4M3.E5M2"})) {
    CAPTURE(opcode);
    CHECK(opcode.find("m16n8k32") != std::string::npos);
    CHECK(opcode.find("e4m3.e5m2") != std::string::npos);
  }
  CHECK(opcodes({"^HMMA\\.16816\\.F32$", "--target", "sm_80"}) ==
        std::vector<std::string>{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"});
  CHECK(lines(run_command({"list", "--scalar", "add.rn.f32"}).out).size() >= 2);  // a row for all roundings
  CHECK(lines(run_command({"list", "--scalar", "add.rn.f33"}).out).empty());
}

TEST_CASE("list has tcgen05.mma by its rows, with what each kind needs and how its bits are known", "[tools][tcgen05]") {
  const Json all = list_json({"tcgen05.mma"});
  REQUIRE(all.size() > 10);
  bool has_f16 = false;
  for (const Json& row : all) {
    CHECK(row.at("opcode").get<std::string>().starts_with("tcgen05.mma"));
    has_f16 = has_f16 || row.at("opcode").get<std::string>().find(".kind::f16") != std::string::npos;
    for (const Json& known : row.at("known")) CHECK((known.at("evidence") == "published" || known.at("evidence") == "assumed"));
  }
  CHECK(has_f16);
  CHECK(run_command({"list", "tcgen05.mma", "--target", "sm_100a"}).out.find("MMA-Sim") != std::string::npos);
}

}  // namespace
}  // namespace warpmat::list_test

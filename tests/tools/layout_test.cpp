#include <warpmat/program.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "catch.h"
#include "command.h"

namespace warpmat::layout_test {
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
  for (const char* opcode :
       {"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", "stmatrix.sync.aligned.m8n8.x1.shared.b16",
        "movmatrix.sync.aligned.m8n8.trans.b16", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32",
        "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", "ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8",
        "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32",
        "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0"}) {
    found.push_back(find_form(opcode));
    REQUIRE(found.back() != nullptr);
  }
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
    REQUIRE(json.at("lanes").size() == warp_size);
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      REQUIRE(json.at("lanes")[lane].size() == static_cast<std::size_t>(f.registers()));
      for (int reg = 0; reg < f.registers(); ++reg) {
        const Json& held = json.at("lanes")[lane][static_cast<std::size_t>(reg)];
        REQUIRE(held.size() == static_cast<std::size_t>(f.elements_per_register()));
        int bit = 0;
        for (const Json& e : held) {
          CHECK(element_of(e) == f.element({static_cast<int>(lane), reg, bit}));
          bit += f.element_bits();
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
  // title, label, blank, caption, header, 16 rows, blank, caption, header, 32 lanes
  REQUIRE(a.size() == 5 + 16 + 3 + 32);
  CHECK(a[5 + 9] == std::vector<std::string>{"9", "4:1.0", "4:1.16", "5:1.0", "5:1.16", "6:1.0", "6:1.16", "7:1.0", "7:1.16", "4:3.0",
                                             "4:3.16", "5:3.0", "5:3.16", "6:3.0", "6:3.16", "7:3.0", "7:3.16"});
  CHECK(a[5 + 16 + 3 + 5] == std::vector<std::string>{"5", "1,2", "1,3", "9,2", "9,3", "1,10", "1,11", "9,10", "9,11"});
  const auto c = words_of_lines(layout(form, form.operand(OperandName::c), {}));
  CHECK(c[5 + 15] == std::vector<std::string>{"15", "28:2", "28:3", "29:2", "29:3", "30:2", "30:3", "31:2", "31:3"});
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
                    std::to_string(place.bit + f.payload_shift()) + " to ") != std::string::npos);

    const std::vector<std::string> what{"--json", "--lane", "13", "--register", std::to_string(f.registers() - 1)};
    const Json held = Json::parse(layout(form, operand, what));
    REQUIRE(held.size() == static_cast<std::size_t>(f.elements_per_register()));
    for (std::size_t i = 0; i < held.size(); ++i) {
      const Place inside{13, f.registers() - 1, static_cast<int>(i) * f.element_bits()};
      CHECK(place_of(held[i]) == inside);
      CHECK(element_of(held[i]) == f.element(inside));
    }
  });
  const Form& form = *find_form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
  CHECK(layout(form, form.operand(OperandName::a), {"--row", "9", "--column", "3"}) ==
        "row 9, column 3: lane 5, register 1, bits 16 to 31\n");
}

TEST_CASE("layout names what chooses the matrix of metadata and of scale factors", "[tools]") {
  const auto answer = [](const char* opcode, OperandName operand, const std::vector<std::string>& question) {
    const Form& form = *find_form(opcode);
    return layout(form, form.operand(operand), question);
  };
  const char* const sparse = "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32";
  const char* const scaled = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0";
  const char* const volta = "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32";
  CHECK(answer(sparse, OperandName::e, {"--row", "9", "--column", "5", "--matrix", "1"}) ==
        "selector 1, row 9, column 5: lane 7, register 0, bits 20 to 23\n");
  CHECK(answer(scaled, OperandName::scale_a, {"--row", "9", "--column", "1", "--matrix", "3"}) ==
        "ids 3 = {2, 1}, row 9, column 1: lane 7, register 0, bits 24 to 31\n");
  CHECK(answer(scaled, OperandName::scale_b, {"--row", "0", "--column", "7", "--matrix", "4"}) ==
        "ids 4 = {0, 2}, row 0, column 7: lane 30, register 0, bits 0 to 7\n");
  CHECK(answer(volta, OperandName::a, {"--row", "0", "--column", "0", "--matrix", "1"}) ==
        "product 1, row 0, column 0: lane 4, register 0, bits 0 to 15\n");
  CHECK(answer("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32", OperandName::a, {"--row", "3", "--column", "5"}) ==
        "row 3, column 5: lane 13, register 0, bits 10 to 13\n");
  const std::string table = answer(scaled, OperandName::scale_a, {});
  CHECK(table.find("Row and column of ids 3 = {2, 1} -> ") != std::string::npos);
  CHECK(table.find("ids 0 to 3, each of 16 rows and 2 columns of 8-bit elements in 1 32-bit register\n") != std::string::npos);
}

TEST_CASE("layout --target sm_70 shows Volta's fragments of wmma, with how they are known", "[tools]") {
  const Form& load = *find_form("wmma.load.b.sync.aligned.col.m16n16k16.f16");
  const Operand& r = load.operand(OperandName::r);
  CHECK(layout(load, r, {"--row", "5", "--column", "14", "--target", "sm_70"}) ==
        "row 5, column 14: lane 26, register 2, bits 16 to 31; also in lane 30\n");
  CHECK(layout(load, r, {"--row", "5", "--column", "14"}) == layout(load, r, {"--row", "5", "--column", "14", "--target", "sm_90"}));
  CHECK(layout(load, r, {"--target", "sm_70"}).find("Known: published sm_70: GPGPU-Sim, arXiv 1811.08309; wmma_extension.\n") !=
        std::string::npos);
  CHECK(layout(load, r, {}).find("sm_70") == std::string::npos);
  const Form& wide = *find_form("wmma.store.d.sync.aligned.row.m8n32k16.f32");
  CHECK(Json::parse(layout(wide, wide.operand(OperandName::r), {"--json", "--target", "sm_70"})).at("known") ==
        "assumed sm_70: octets as of m16n16k16 on sm_70");
  const Form& bytes = *find_form("wmma.load.a.sync.aligned.row.m16n16k16.s8");
  const Outcome refused = run_command(layout_arguments(bytes, bytes.operand(OperandName::r), {"--target", "sm_70"}));
  CHECK(refused.status != 0);
  CHECK(refused.err.find("needs sm_72 or later") != std::string::npos);
}

TEST_CASE("layout shows the rows in memory", "[tools]") {
  const Form& halves = *find_form("stmatrix.sync.aligned.m8n8.x2.shared.b16");
  const Operand& p = halves.operand(OperandName::p);
  const std::string text = layout(halves, p, {});
  CHECK(text.starts_with("Operand p of " + halves.opcode + ": addresses of 16 rows of 16 bytes in shared memory\n"));
  CHECK(text.find("\n  13       1    5\n") != std::string::npos);
  CHECK(text.find("\nAddresses in lanes 16 to 31 are ignored; up to sm_75 they must be valid.\n") != std::string::npos);
  CHECK(text.find("\n3       bytes 6 to 7\n") != std::string::npos);
  CHECK(text.find("padding") == std::string::npos);
  CHECK(layout(halves, p, {"--row", "5", "--column", "3", "--matrix", "1"}) ==
        "matrix 1, row 5, column 3: bytes 6 to 7 of the row whose address lane 13 holds\n");

  const Form& sixes = *find_form("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8x16.b6x16_p32");
  const std::string all = layout(sixes, sixes.operand(OperandName::p), {});
  CHECK(all.find("ignored") == std::string::npos);
  CHECK(all.find("\n5       bits 30 to 35\n") != std::string::npos);
  CHECK(all.ends_with("Bytes 12 to 15 of a row are padding.\n"));
}

/// The number in `count` bits of `bytes` from bit `first` on.
std::uint32_t bits_of(const std::uint8_t* bytes, std::size_t first, std::size_t count) {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < count; ++i) bits |= static_cast<std::uint32_t>(bytes[(first + i) / 8] >> (first + i) % 8 & 1) << i;
  return bits;
}

TEST_CASE("what layout says of rows and of registers is what ldmatrix does", "[tools]") {
  for (const char* opcode :
       {"ldmatrix.sync.aligned.m8n8.x4.shared.b16", "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16",
        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8", "ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8x16.b6x16_p32",
        "ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b4x16_p64"}) {
    CAPTURE(opcode);
    const Form& form = *find_form(opcode);
    std::string registers = "r0";
    for (int i = 1; i < form.operand(OperandName::r).registers(); ++i) registers += ", r" + std::to_string(i);
    const Program program = parse(form.opcode + " {" + registers + "}, [p];", "sm_100a");
    Warp warp(program, 32 * 16);
    std::mt19937 random(9);
    for (std::uint8_t& byte : warp.shared().bytes()) byte = static_cast<std::uint8_t>(random());
    for (std::uint32_t lane = 0; lane < warp_size; ++lane) warp.reg("p")[lane] = 16 * (31 - lane);
    run(warp);

    const Json held = Json::parse(layout(form, form.operand(OperandName::r), {"--json"})).at("elements");
    const Json rows = Json::parse(layout(form, form.operand(OperandName::p), {"--json"}));
    REQUIRE(rows.at("elements").size() == held.size());
    for (std::size_t i = 0; i < held.size(); ++i) {
      const Json &in_register = held[i], &in_memory = rows.at("elements")[i];
      REQUIRE(element_of(in_register) == element_of(in_memory));
      const std::size_t lane = in_memory.at("lane");
      const std::uint32_t word =
          warp.reg("r" + std::to_string(in_register.at("register").get<int>()))[in_register.at("lane").get<std::size_t>()];
      const std::uint32_t loaded = word >> in_register.at("bit").get<int>() & ((1u << in_register.at("element_bits").get<int>()) - 1);
      CHECK(loaded == bits_of(&warp.shared().bytes()[16 * (31 - lane)], in_memory.at("bit"), in_memory.at("element_bits")));
      CHECK(rows.at("lanes").at(lane) == Json{{"matrix", in_memory.at("matrix")}, {"row", in_memory.at("row")}});
    }
  }
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
      {{opcode, "--operand", "p", "--row", "8", "--column", "0"}, "--row must be 0 to 7"},
      {{opcode, "--operand", "p", "--lane", "16", "--register", "0"}, "--lane must be 0 to 15"},
      {{opcode, "--operand", "p", "--lane", "0", "--register", "1"}, "--register must be 0 to 0"},
      {{opcode, "--operand", "q"}, "--operand can be r, p"},
      {{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "--operand", "r"}, "--operand can be d, a, b, c"},
      {{"mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "--operand", "selector"}, "--operand can be d, a, b, c, e"},
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

TEST_CASE("layout answers for SASS names, and for a part of an opcode where all completions lie alike", "[tools][layout]") {
  const std::string opcode = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
  const auto layout = [](const std::string& spelling, const std::string& operand) {
    return run_command({"layout", spelling, "--operand", operand, "--row", "9", "--column", "2"});
  };
  const std::string whole = layout(opcode, "a").out;
  REQUIRE(whole == "row 9, column 2: lane 5, register 1, bits 0 to 15\n");
  for (const char* spelling :
       {"HMMA.16816.F32", "hmma.16816.f32", "HMMA.16816", "mma.m16n8k16.f16", "m16n8k16.f16.f32", "mma.f16.m16n8k16"}) {
    CAPTURE(spelling);
    const Outcome outcome = layout(spelling, "A");
    CHECK(outcome.status == 0);
    CHECK(outcome.out == whole);
    CHECK((outcome.err.empty() || outcome.err.find("and operand a lies alike in all of them\n") != std::string::npos));
  }
  CHECK(layout("mma.m16n8k32.e4m3", "a").out == "row 9, column 2: lane 4, register 1, bits 16 to 23\n");
  CHECK(layout("wgmma.m64n64k16.bf16", "d").out.find("row 9, column 2: warp 0, lane 5, ") != std::string::npos);
  CHECK(layout("mma.m16n8k16", "a").err.find("' may be ") != std::string::npos);
  CHECK(layout("mma.m16n8k16", "a").err.find("operand a lies in ") != std::string::npos);
  CHECK(layout("mma.m16n8k33", "a").err.find("no such form of mma; the nearest is ") != std::string::npos);
  CHECK(layout("HMMA.99", "a").err.find("'HMMA.99' is in no opcode of ldmatrix, stmatrix, movmatrix, mma, wmma and wgmma") !=
        std::string::npos);
  CHECK(layout("HMMA.16816.F32", "z").err.find("has no matrix operand z; --operand can be ") != std::string::npos);
  CHECK(layout("tile.ptx", "a").err.find("is a file, and this command takes one instruction") != std::string::npos);
}

}  // namespace
}  // namespace warpmat::layout_test

#include <warpmat/program.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "test.h"

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

}  // namespace
}  // namespace warpmat::layout_test

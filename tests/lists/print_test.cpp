#include <warpmat/program.h>

#include "lists/diagnostics.h"
#include "lists/random_program.h"
#include "test.h"

namespace warpmat::print_test {
namespace {

/// Parses, prints and parses again.
void check_round_trip(const std::string& text, std::string_view target_name = {}) {
  INFO(text);
  for (const Diagnostic& error : diagnostics(text, target_name)) FAIL_CHECK(error.format("program"));
  const Program program = parse(text, target_name);
  const std::string printed = print(program);
  INFO(printed);
  const Program again = parse(printed);
  CHECK(same_contents(again, program));
  CHECK(again.version() == std::max(program.version(), program.target()->since));  // a version that knows the target
  CHECK(print(again) == printed);
}

TEST_CASE("print: the whole of a program") {
  const Program program = parse(
      "mov.u32 lane, %laneid; .shared .align 16 .b16 tile[64], rest; .shared .u32 count; // remark\n"
      "ldmatrix.b16.shared::cta.x2.trans.sync.m8n8.aligned {a, _}, [lane+0x10+-4];\n"
      "st.shared.b32 [tile+-4], 0x1F; mov.b64 wide, -1; cvt.rn.f16x2.f32 pair, 1.5, 0f00000000;",
      "sm_90a");
  CHECK(print(program) ==
        ".version 9.1\n"
        ".target sm_90a\n"
        ".reg .b32 lane;\n"
        ".reg .b32 a;\n"
        ".reg .b64 wide;\n"
        ".reg .b32 pair;\n"
        ".shared .align 16 .b16 tile[64];\n"
        ".shared .align 16 .b16 rest;\n"
        ".shared .align 4 .u32 count;\n"
        "mov.u32 lane, %laneid;\n"
        "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {a, _}, [lane+12];\n"
        "st.shared.b32 [tile+-4], 0x1F;\n"
        "mov.b64 wide, -1;\n"
        "cvt.rn.f16x2.f32 pair, 1.5, 0f00000000;\n");
  const Statement& store = program.statements()[2];
  CHECK(print(program, store) == "st.shared.b32 [tile+-4], 0x1F;");
  const Program places = parse(".shared .b16 tile[64], rest[4]; .shared .u32 count; mov.u32 a, count; ld.shared.u32 b, [rest+4];", "sm_80");
  CHECK(print(places, places.statements()[0], "all") == "mov.u32 a, all+136;");
  CHECK(print(places, places.statements()[1], "all") == "ld.shared.u32 b, [all+132];");
  CHECK(print(program).starts_with(print_declarations(program) + "mov.u32 lane"));
}

TEST_CASE("print: what is hard to print comes back") {
  check_round_trip(".target sm_80\n");
  check_round_trip(".shared .b16 tile[64][64]; load: ld.shared.b32 a, [tile]; mov.u32 b, a;", "sm_80");
  CHECK(print(parse(".shared .b16 t[2][3];\nx: mov.u32 a, t;", "sm_80")).ends_with(".shared .align 2 .b16 t[2][3];\nx: mov.u32 a, t;\n"));
  check_round_trip("mov.u32 a, b;", "sm_80");
  check_round_trip(".version 6.5\n.target sm_75\nmov.u32 a, 1;", "sm_90a");  // sm_90a is younger than PTX 6.5
  check_round_trip(".shared .b8 v[8]; mov.u32 a, v+2147483647+2147483647+2147483647; ld.shared.b32 b, [a+2147483647+2147483647];",
                   "sm_90a");
  check_round_trip(".shared .b8 v[8]; ld.shared.b32 a, [b+9223372036854775807]; ld.shared.b32 a, [b+-9223372036854775808];", "sm_90a");
  check_round_trip(".shared .b8 v[8]; mov.u64 a, v+-2147483647+-2147483647; ld.shared.b32 b, [v+-2147483647+-9];", "sm_90a");
}

TEST_CASE("print: the programs of tests/programs come back") {
  int programs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_path("tests/programs"))) {
    if (entry.path().extension() != ".ptx") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    check_round_trip(text.str());
    ++programs;
  }
  CHECK(programs >= 12);
}

TEST_CASE("print: random programs over all forms and scalar instructions come back") {
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) check_round_trip(random_program(random, 20, i % 2 == 0));
}

const Program& program() {
  static const Program parsed = parse(
      "rows: ldmatrix.sync.aligned.m8n8.x4.shared.b16 {a0, a1, a2, a3}, [p];\n"
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1}, {d0, d1, d2, d3};\n"
      "product: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1}, {d0, d1, d2, d3};\n"
      "sum: add.u32 p, p, 16;\n",
      "sm_80");
  return parsed;
}

TEST_CASE("statements are named by numbers, by mnemonics and by their labels", "[names]") {
  for (const char* name : {"2", "mma.1", "product"}) CHECK(find_statement(program(), name) == 2);
  for (const char* name : {"0", "ldmatrix.0", "rows"}) CHECK(find_statement(program(), name) == 0);
  CHECK(find_operand_place(program(), "product.a") == OperandPlace{2, OperandName::a});
  CHECK(find_operand_place(program(), "mma.1.a") == OperandPlace{2, OperandName::a});
  CHECK(statement_name(program(), 0) == "rows");
  CHECK(statement_name(program(), 1) == "mma.0");
  CHECK(statement_name(program(), 2) == "product");
  CHECK(statements_with(program(), OperandName::b) == "1 (mma.0), 2 (product) have it");
}

TEST_CASE("names that name nothing are refused with those that there are", "[names]") {
  const std::string all = "0 (rows), 1 (mma.0), 2 (product)";
  for (const char* name : {"sum", "mma", "mma.2", "3", "", "Product"}) {
    INFO(name);
    CHECK_THROWS_WITH(find_statement(program(), name),
                      "the program has no matrix instruction '" + std::string(name) + "'; its matrix instructions are " + all);
  }
  CHECK_THROWS_WITH(find_operand_place(program(), "mma.0.q"), "mma.0 has no operand 'q'; it has d, a, b, c");
  CHECK_THROWS_WITH(find_operand_place(program(), "product."), "product has no operand ''; it has d, a, b, c");
  CHECK_THROWS_WITH(find_operand_place(program(), "produkt.a"),
                    "the program has no matrix instruction 'produkt'; its matrix instructions are " + all);
  CHECK_THROWS_WITH(
      find_operand_place(program(), "a"),
      "'a' is no operand: one is written 0.a or mma.0.a, a matrix instruction and the operand's name; the program's are " + all);
  CHECK_THROWS_AS(find_statement(program(), "sum"), std::invalid_argument);
}

}  // namespace
}  // namespace warpmat::print_test

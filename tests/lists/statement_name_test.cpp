#include <warpmat/program.h>

#include "test.h"

namespace warpmat::statement_name_test {
namespace {

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
}  // namespace warpmat::statement_name_test

#include <warpmat/lower/operand_rules.h>

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::operand_rules_test {
namespace {

using code::Objection;
using code::Seat;
using code::SeatedItem;
using Why = Objection::Kind;

const DataType& type(std::string_view name) {
  return *find_ptx_type(name);
}

syntax::Operand number(std::string_view text, bool negative = false) {
  syntax::Operand operand{syntax::Operand::Kind::number};
  operand.text = text;
  operand.negative = negative;
  return operand;
}

std::optional<Why> why(const std::optional<Objection>& objection) {
  return objection ? std::optional(objection->kind) : std::nullopt;
}

TEST_CASE("operand rules: a register has as many bits as the type, at least 16, or more where it may be wider", "[ptx][operands]") {
  struct Case {
    int bits;
    const char* type;
    bool may_be_wider, fits;
  };
  for (const Case& c : {Case{32, "u32", false, true}, Case{64, "u32", false, false}, Case{64, "u32", true, true},
                        Case{16, "u32", true, false}, Case{16, "u8", false, true}, Case{32, "u8", false, false}, Case{32, "u8", true, true},
                        Case{1, "pred", false, true}, Case{32, "pred", true, false}, Case{1, "u8", true, false}}) {
    INFO(c.bits << " " << c.type << " " << c.may_be_wider);
    CHECK(code::fits_width(c.bits, type(c.type), c.may_be_wider) == c.fits);
  }
}

TEST_CASE("operand rules: an integer gives its low bits; other numbers fit their type", "[ptx][operands]") {
  CHECK(code::number_bits(number("4294967297"), type("u32")) == 1);
  CHECK(code::number_bits(number("1", true), type("u16")) == 0xffff);
  CHECK(code::number_bits(number("0f3F800000"), type("f64")) == 0x3f800000);
  CHECK(code::number_bits(number("1.0"), type("f32")) == 0x3f800000);
  CHECK(code::number_bits(number("1"), type("f32")) == std::nullopt);
  syntax::Operand expression = number("3-5");
  expression.value = static_cast<std::uint64_t>(-2);
  CHECK(code::number_bits(expression, type("s32")) == 0xfffffffe);
}

TEST_CASE("operand rules: what may stand at a seat", "[ptx][operands]") {
  const Seat source{.role = "a source", .instruction = "add", .type = &type("u32"), .accepts = accepts_integers};
  CHECK(why(code::judge_register(source, type("b32"), 32)) == std::nullopt);
  CHECK(why(code::judge_register(source, type("f32"), 32)) == Why::type);
  CHECK(why(code::judge_register(source, type("u64"), 64)) == Why::width);
  CHECK(why(code::judge_register(source, type("f64"), 64)) == Why::type);
  CHECK(why(code::judge_variable(source)) == Why::variable_place);
  syntax::Operand inverted{syntax::Operand::Kind::name};
  inverted.inverted = true;
  CHECK(why(code::judge_name(source, inverted)) == Why::no_name);
  Seat half{.role = "the result", .instruction = "cvt", .type = &type("f16"), .accepts = accepts_floating, .written = true};
  half.may_be_wider = true;
  CHECK(why(code::judge_register(half, type("f32"), 32)) == Why::type);  // as ptxas: "Arguments mismatch"
  CHECK(why(code::judge_register(half, type("f16"), 16)) == std::nullopt);
  const SeatedItem word{SeatedItem::Kind::register_, &type("u32")}, real{SeatedItem::Kind::register_, &type("f32")},
      wide{SeatedItem::Kind::register_, &type("u64")}, nothing{SeatedItem::Kind::discard};
  CHECK(why(code::judge_vector(source, std::vector{word, word, nothing})) == std::nullopt);
  CHECK(why(code::judge_vector(source, std::vector{word, wide})) == Why::vector_width);
  CHECK(why(code::judge_vector(source, std::vector{word, real})) == Why::vector_class);
  CHECK(why(code::judge_vector(source, std::vector{nothing, nothing})) == Why::vector_discarded);
}

TEST_CASE("operand rules: an objection names the seat or the instruction", "[ptx][operands]") {
  const Seat seat{.role = "operand", .instruction = "mma", .name = OperandName::a, .type = &type("b32"), .accepts = accepts_untyped};
  CHECK(seat.text() == "operand a of mma");
  CHECK(Seat{.role = "the address"}.text() == "the address");
  syntax::Operand given{syntax::Operand::Kind::name};
  given.text = "x";
  CHECK(code::text_of({.kind = Why::type, .declared = &type("u32")}, seat, given, "mma.sync") ==
        "'x' is a register of .u32, which mma.sync does not take for .b32");
  CHECK(code::text_of({Why::only_numbers}, seat, given, "mma.sync") == "operand a of mma needs a register");
}

// ptxas 13.0 takes and refuses the same.
TEST_CASE("operand rules: a matrix operand takes registers of several types, but of one width and class", "[ptx][operands]") {
  const auto error = [](const std::string& declared, const std::string& a) {
    return message_of([&] {
      Kernel(module_of("", ".reg .f32 %d<4>; .reg .b32 %b<2>; " + declared +
                               " mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, " + a +
                               ", {%b0, %b1}, {%d0, %d1, %d2, %d3};"),
             "k");
    });
  };
  CHECK(error(".reg .u32 %u; .reg .s32 %s; .reg .b32 %c;", "{%u, %c, %s, %c}") == "nothing");
  CHECK(error(".reg .f32 %f; .reg .b32 %c;", "{%f, %c, %f, %c}") == "nothing");
  CHECK_THAT(error(".reg .u32 %u;", "{%u, %u, %u, %u}"), ContainsSubstring("'%u' is a register of .u32"));
  CHECK_THAT(error(".reg .u32 %u; .reg .f32 %f;", "{%u, %f, %u, %f}"), ContainsSubstring("only apart from each other"));
  CHECK_THAT(error(".reg .u64 %u; .reg .s64 %s;", "{%u, %s, %u, %s}"), ContainsSubstring("64 bits"));
}

}  // namespace
}  // namespace warpmat::operand_rules_test

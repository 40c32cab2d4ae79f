#include "gpu/models/variant.h"

#include "test.h"

namespace warpmat::variant_test {
namespace {

std::string refusal(const std::string& text) {
  try {
    parse_variant(text);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return {};
}

const Form& product() {
  return *find_form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
}
const Lowering& row_of(const Form& form) {
  return *find_lowering(form, Hardware::sm_90);
}

TEST_CASE("a model is written and read as text", "[mutants]") {
  for (const char* text : {"table", "hopper", "ampere:fraction_bits=25", "hopper:floor_f16=none", "table:products_normalised,cut_sticky",
                           "volta:step_bytes=16,floor_f32=-133,zero_terms_aligned"}) {
    CAPTURE(text);
    CHECK(parse_variant(text).text() == text);
  }
}

TEST_CASE("a wrong model is refused with what would be right", "[mutants]") {
  CHECK(refusal("hoper") == "no model 'hoper'; there are table, volta, ampere, hopper, ada_fp8, blackwell_fp4, hopper_k4");
  CHECK(refusal("") == "no model ''; there are table, volta, ampere, hopper, ada_fp8, blackwell_fp4, hopper_k4");
  CHECK(refusal("hopper:") == "no deviation ''; 'warpmat distinguish --help' lists them");
  CHECK(refusal("hopper:bits=3") == "no constant 'bits'; there are step_bytes, fraction_bits, result_fraction_bits, floor_f32, floor_f16");
  CHECK(refusal("hopper:fraction_bits=99") == "fraction_bits=99: it must be a number from 1 to 50");
  CHECK(refusal("hopper:floor_f32=x") == "floor_f32=x: it must be a number from -400 to 127, or none");
}

TEST_CASE("a variant of a row has the row's semantics, and the constants and deviations that were asked for", "[mutants]") {
  const VariedLowering varied(product(), row_of(product()), parse_variant("ampere:fraction_bits=30,cut_down"));
  CHECK(varied.lowering().semantics == Semantics::dot);
  CHECK(varied.lowering().model->fraction_bits == 30);
  CHECK(varied.lowering().model->step_bytes == dot_models::ampere.step_bytes);
  CHECK(varied.deviations() == Deviations{Deviation::cut_down});
}

TEST_CASE("a variant that does not fit the form is refused", "[mutants]") {
  const Form& integers = *find_form("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32");
  CHECK_THROWS_AS(VariedLowering(integers, row_of(integers), parse_variant("hopper")), std::invalid_argument);
  CHECK_THROWS_AS(VariedLowering(product(), row_of(product()), parse_variant("table:clamp_added")), std::invalid_argument);
  CHECK_THROWS_AS(VariedLowering(product(), row_of(product()), parse_variant("table:floor_f16=-20")), std::invalid_argument);
  CHECK_NOTHROW(VariedLowering(integers, row_of(integers), parse_variant("table:clamp_added")));
}

}  // namespace
}  // namespace warpmat::variant_test

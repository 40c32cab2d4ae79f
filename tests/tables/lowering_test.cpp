#include <warpmat/instruction.h>

#include "test.h"

namespace warpmat::lowering_test {
namespace {

bool computes_in_floating_point(const Form& form) {
  return multiplies(form.mnemonic) && !is_integer(row(*form.operand(OperandName::a).format));
}

/// Whether the form goes through a matrix unit's own arithmetic, not through IEEE operations.
bool uses_dot_model(const Form& form, const Lowering& lowering) {
  return computes_in_floating_point(form) && lowering.semantics != Semantics::f64_chain && lowering.semantics != Semantics::m8n8k4_fma;
}

/// Calls `visit(form, target)` for every form on every target that has it.
template <typename Visit>
void for_each_available(Visit visit) {
  for (const Form& form : forms())
    for (const Target& target : targets())
      if (!unavailable(form, target)) visit(form, target);
}

TEST_CASE("every form has a lowering on every target that has the form") {
  std::size_t pairs = 0;
  for_each_available([&](const Form& form, const Target& target) {
    CAPTURE(form.opcode, target.name);
    const Lowering* lowering = find_lowering(form, target.hardware);
    REQUIRE(lowering != nullptr);
    CHECK_FALSE(lowering->machine.empty());
    CHECK_FALSE(lowering->source.empty());
    CHECK((lowering->model != nullptr) == uses_dot_model(form, *lowering));
    CHECK(Instruction(form, target) == Instruction(form.opcode, target.name));
    ++pairs;
  });
  CHECK(pairs > forms().size());
}

TEST_CASE("every row of the lowering table serves some form on some target") {
  std::set<const Lowering*> used;
  for_each_available([&](const Form& form, const Target& target) { used.insert(find_lowering(form, target.hardware)); });
  for (const Lowering* lowering : lowerings()) {
    CAPTURE(lowering->machine, lowering->source);
    CHECK(used.contains(lowering));
  }
  CHECK(used.size() == lowerings().size());
}

TEST_CASE("hardware adds 16- and 19-bit products as it was measured or published to do") {
  struct Row {
    Hardware hardware;
    int step_bytes, fraction_bits;
    Evidence evidence, of_f16 = evidence;
  };
  using enum Hardware;
  using enum Evidence;
  constexpr Row rows[] = {{sm_75, 16, 24, published},
                          {sm_80, 16, 24, replayed},
                          {sm_86, 16, 24, replayed},
                          {sm_87, 16, 24, assumed},
                          {sm_88, 16, 24, assumed},
                          {sm_89, 16, 24, replayed},
                          {sm_90, 32, 25, measured},
                          {sm_100, 32, 25, replayed},
                          {sm_103, 32, 25, assumed},
                          {sm_110, 32, 25, assumed},
                          {sm_120, 32, 25, published, replayed},
                          {sm_121, 32, 25, assumed}};
  for (const Row& r : rows)
    for (const Form& form : forms()) {
      const Target& target = *std::ranges::find(targets(), r.hardware, &Target::hardware);
      if (form.mnemonic != Mnemonic::mma || !computes_in_floating_point(form) || unavailable(form, target) || form.shape.m != 16 ||
          form.sparsity != Sparsity::dense)
        continue;
      if (const int bits = row(form.format(OperandName::a)).bits; bits < 16 || bits > 32) continue;
      CAPTURE(form.opcode, target.name);
      const Lowering& lowering = *find_lowering(form, r.hardware);
      CHECK(lowering.model->step_bytes == r.step_bytes);
      CHECK(lowering.model->fraction_bits == r.fraction_bits);
      CHECK(lowering.model->result_fraction_bits == 23);
      CHECK(lowering.evidence == (form.format(OperandName::a) == Format::f16 ? r.of_f16 : r.evidence));
    }
}

TEST_CASE("a form has a lowering on just the hardware of which some target has the form") {
  std::size_t without = 0;
  for (const Form& form : forms())
    for (const Target& target : targets()) {
      const bool had =
          std::ranges::any_of(targets(), [&](const Target& t) { return t.hardware == target.hardware && !unavailable(form, t); });
      CAPTURE(form.opcode, target.name);
      CHECK((find_lowering(form, target.hardware) != nullptr) == had);
      without += !had;
    }
  CHECK(without > 0);
  // A row of Turing's integers fits each of these but for the form itself.
  CHECK(find_lowering(*find_form("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32"), Hardware::sm_75) == nullptr);
  CHECK(find_lowering(*find_form("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64"), Hardware::sm_80) == nullptr);
}

TEST_CASE("a result may be discarded except where ptxas 13.0 was found to refuse that") {
  const auto allowed = [](const char* opcode, Hardware hardware) {
    const Form& form = *find_form(opcode);
    return find_lowering(form, hardware)->exceptions.discardable;
  };
  using enum Hardware;
  for (const char* fp8 : {"mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e5m2.f32", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32",
                          "mma.sp.sync.aligned.m16n8k64.row.col.f32.e5m2.e4m3.f32"}) {
    CAPTURE(fp8);
    for (const Hardware hardware : {sm_90, sm_100, sm_103, sm_110}) CHECK_FALSE(allowed(fp8, hardware));
    for (const Hardware hardware : {sm_89, sm_120, sm_121}) CHECK(allowed(fp8, hardware));
  }
  for (const char* f64 : {"mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64", "mma.sync.aligned.m16n8k16.row.col.rz.f64.f64.f64.f64"}) {
    CAPTURE(f64);
    for (const Hardware hardware : {sm_100, sm_103, sm_110, sm_120, sm_121}) CHECK_FALSE(allowed(f64, hardware));
    CHECK(allowed(f64, sm_90));
  }
  for (const Hardware hardware : {sm_80, sm_90, sm_100, sm_120}) {
    CHECK_FALSE(allowed("wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32", hardware));
    CHECK(allowed("wmma.mma.sync.aligned.row.col.m16n16k16.f16.f32", hardware));
    CHECK(allowed("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", hardware));
    CHECK(allowed("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", hardware));  // on the f32 cores
    CHECK(allowed("mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32", hardware));  // two IMMA
    CHECK(allowed("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc", hardware));
  }
}

}  // namespace
}  // namespace warpmat::lowering_test

#include <warpmat/execute/instruction.h>

#include <stdexcept>
#include <string>

#include "catch.h"

using namespace warpmat;

namespace {

std::string why_not(const std::string& opcode, const std::string& target) {
  try {
    Instruction(opcode, target);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("an instruction knows its form, its target and its lowering") {
  const Instruction mma("mma.sync.aligned.row.col.m16n8k16.f32.f16.f16.f32", "sm_90a");
  CHECK(&mma.form() == find_form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"));
  CHECK(&mma.target() == find_target("sm_90a"));
  CHECK(&mma.lowering() == find_lowering(mma.form(), Hardware::sm_90));
  CHECK(mma == Instruction(mma.form(), mma.target()));
  CHECK_FALSE(mma == Instruction(mma.form(), target("sm_90")));
  CHECK_FALSE(mma == Instruction("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "sm_90a"));
}

TEST_CASE("an instruction that does not exist cannot be made, and the reason says what would be right") {
  CHECK(why_not("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_80").empty());
  CHECK(why_not("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_75") ==
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 needs sm_80 or later; the target is sm_75");
  CHECK(why_not("stmatrix.sync.aligned.m8n8.x1.shared.b16", "sm_89").find("needs sm_90") != std::string::npos);
  CHECK(why_not("mma.sync", "sm_90") == explain_unknown_opcode("mma.sync"));
  const std::string unknown = why_not("movmatrix.sync.aligned.m8n8.trans.b16", "sm_99");
  CHECK(unknown.find("unknown target 'sm_99'") != std::string::npos);
  CHECK(unknown.find("sm_90a") != std::string::npos);
  CHECK_THROWS_AS(Instruction(*find_form("movmatrix.sync.aligned.m8n8.trans.b16"), target("sm_90"), PtxVersion{7, 7}),
                  std::invalid_argument);
  CHECK_NOTHROW(Instruction(*find_form("movmatrix.sync.aligned.m8n8.trans.b16"), target("sm_90"), PtxVersion{7, 8}));
}

TEST_CASE("machine instructions have their names") {
  const auto named = [](const char* opcode) {
    const Instruction instruction(opcode, "sm_90");
    return machine_name(instruction.form(), instruction.lowering());
  };
  CHECK(named("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32") == "HMMA.16816");
  CHECK(named("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32") == "HMMA.1684");
  CHECK(named("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32") == "IMMA.16832");
  CHECK(named("ldmatrix.sync.aligned.m8n8.x4.shared.b16") == "LDSM");
  CHECK(named("stmatrix.sync.aligned.m8n8.x4.shared.b16") == "STSM");
  CHECK(named("movmatrix.sync.aligned.m8n8.trans.b16") == "MOVM");
}

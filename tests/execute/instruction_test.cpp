#include <warpmat/instruction.h>

#include <warpmat/tables/form_row.h>

#include "execute/warp_arrays.h"
#include "test.h"

namespace warpmat::instruction_test {
namespace {

std::string why_not(const std::string& opcode, const std::string& target) {
  try {
    Instruction(opcode, target);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

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
  CHECK(why_not("mma.sync", "sm_90") == explain_unknown_instruction("mma.sync", InstructionKind::matrix));
  const std::string unknown = why_not("movmatrix.sync.aligned.m8n8.trans.b16", "sm_99");
  CHECK(unknown.find("unknown target 'sm_99'") != std::string::npos);
  CHECK(unknown.find("sm_90a") != std::string::npos);
  CHECK_THROWS_AS(Instruction(*find_form("movmatrix.sync.aligned.m8n8.trans.b16"), target("sm_90"), PtxVersion{7, 7}),
                  std::invalid_argument);
  CHECK_NOTHROW(Instruction(*find_form("movmatrix.sync.aligned.m8n8.trans.b16"), target("sm_90"), PtxVersion{7, 8}));
}

TEST_CASE("an unknown opcode is explained by all instructions, or by those of one kind") {
  const auto explained = [](const char* opcode, std::optional<InstructionKind> kind = std::nullopt) {
    return explain_unknown_instruction(opcode, kind);
  };
  const char* const product = "wgmma.mma_async.sync.aligned.m64n8k15.f32.f16.f16";
  CHECK(explained(product) == explained(product, InstructionKind::warpgroup));
  CHECK(explained(product).find("nearest is wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16:") != std::string::npos);
  CHECK(explained("mma.sync") == explained("mma.sync", InstructionKind::matrix));
  CHECK(explained("add.rn.f33").find("the nearest is add") != std::string::npos);
  // An instruction of another kind is none of these.
  CHECK(explained("add.rn.f32", InstructionKind::matrix).find("the matrix instructions are") != std::string::npos);
  CHECK(explained("add.rn.f32", InstructionKind::warpgroup).find("a warpgroup's product is") != std::string::npos);
}

TEST_CASE("an instruction does not depend on the Form and the Target that it was made from") {
  // One place for a copy of one form after another: an instruction of the first must not answer for the second.
  std::optional<Form> form;
  std::optional<Target> on;
  std::vector<Instruction> made;
  const char* const opcodes[] = {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
                                 "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"};
  for (const char* opcode : opcodes) {
    form.emplace(*find_form(opcode));
    on.emplace(target("sm_90a"));
    made.emplace_back(*form, *on);
  }
  form.reset();
  on.reset();
  for (std::size_t i = 0; i < made.size(); ++i) {
    const Instruction& mma = made[i];
    CHECK(mma == Instruction(opcodes[i], "sm_90a"));
    CHECK(&mma.form() == find_form(opcodes[i]));
    CHECK(&mma.target() == find_target("sm_90a"));
    WarpArrays warps(mma.form(), 2, std::nullopt, 7);
    WarpArrays expected = warps;
    expected.execute_each(Instruction(opcodes[i], "sm_90a"), 0, 2);
    execute(mma, warps.batch(), 2);
    CHECK(warps == expected);
  }
}

TEST_CASE("an operand of a form and what a trap says cannot be changed") {
  static_assert(!std::is_copy_assignable_v<Operand> && !std::is_aggregate_v<Operand> && !std::is_default_constructible_v<Operand>);
  static_assert(!std::is_copy_assignable_v<Trap> && std::is_copy_constructible_v<Trap>);
  static_assert(std::is_const_v<decltype(Trap::kind)> && std::is_const_v<decltype(Trap::site)>);
  static_assert(std::is_const_v<decltype(Trap::address)> && std::is_const_v<decltype(Trap::reason)>);
  const Trap trap(Trap::Kind::misaligned, std::nullopt, 3, 0x12, "must be aligned");
  const Trap named = trap.of(OperandName::p).at("warp 7", 7);
  CHECK((named.site.operand == OperandName::p && named.site.warp == 7 && named.site.lane == 3));
  CHECK(std::string(named.what()) == "warp 7: lane 3, address 0x12: must be aligned");
  CHECK(std::string(trap.of(OperandName::p).what()) == trap.what());
  CHECK((!trap.site.operand && trap.site.warp == 0));
}

TEST_CASE("a Form or a Target that was changed is refused") {
  static_assert(!std::is_copy_assignable_v<Form> && !std::is_aggregate_v<Form> && !std::is_default_constructible_v<Form>);
  static_assert(!std::is_copy_assignable_v<Target> && !std::is_copy_assignable_v<Lowering>);
  const Form copy = *find_form("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64");
  CHECK_NOTHROW(Instruction(copy, target("sm_90")));
  CHECK(listed(copy) == find_form(copy.opcode));
  FormRow row = FormRow::of(copy);  // internal: users cannot change one
  row.rounding = Rounding::up;
  const Form form = std::move(row).form();
  CHECK(listed(form) == nullptr);
  CHECK_THROWS_AS(Instruction(form, target("sm_90")), std::invalid_argument);
  const Target& sm_80 = target("sm_80");
  const Target on{sm_80.name, sm_80.number, sm_80.family, Hardware::sm_90, sm_80.features, sm_80.since};
  CHECK_THROWS_AS(Instruction(*find_form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"), on), std::invalid_argument);
}

TEST_CASE("what is missing in a call is named") {
  const Instruction mma("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "sm_90");
  FormRegisters registers(mma.form());
  const Batch complete = registers.batch();
  CHECK(problem(mma, complete) == std::nullopt);
  const auto problem_with = [&](auto change) {
    Batch changed = complete;
    change(changed);
    return problem(mma, changed).value_or("");
  };
  const std::string opcode = mma.form().opcode + ": ";
  CHECK(problem_with([](Batch& x) { x.source(OperandName::a) = x.source(OperandName::a).list().first(3); }) ==
        opcode + "operand a has 4 registers of 32 bits; 3 given");
  CHECK(problem_with([](Batch& x) { x.destination = {}; }) == opcode + "operand d has 4 registers of 32 bits; 0 given");
  CHECK(problem_with([](Batch& x) { x.source(OperandName::selector) = ConstRegisterList(); }) ==
        opcode + "operand selector has 1 register of 32 bits; 0 given");
  const std::uint32_t* const one_null[] = {registers[OperandName::c][0].data(), nullptr, registers[OperandName::c][2].data(),
                                           registers[OperandName::c][3].data()};
  CHECK(problem_with([&](Batch& x) { x.source(OperandName::c) = one_null; }) == opcode + "operand c: register 1 is null");
  const auto* between = reinterpret_cast<const std::uint32_t*>(reinterpret_cast<const char*>(registers[OperandName::e][0].data()) + 2);
  CHECK(problem_with([&](Batch& x) { x.source(OperandName::e) = std::span(&between, 1); }) ==
        opcode + "operand e: register 0 does not lie at a multiple of 4 bytes");
}

TEST_CASE("what is missing in a batch is named, and memory where it is addressed") {
  const Instruction load("ldmatrix.sync.aligned.m8n8.x4.b16", "sm_90");
  WarpArrays warps(load.form(), 2, std::nullopt, 8);
  const Batch complete = warps.batch();
  CHECK(problem(load, complete, 2) == std::nullopt);
  CHECK(load.problem(Call(), 0) == std::nullopt);
  const std::string opcode = load.form().opcode + ": ";
  Batch batch = complete;
  batch.destination = {};
  CHECK(problem(load, batch, 2) == opcode + "operand r has 4 registers of 32 bits; 0 given");
  batch = complete;
  batch.shared = nullptr;
  CHECK(problem(load, batch, 2) == opcode + "operand p addresses memory of 1024 bytes, which is null");
  FormRegisters registers(load.form());
  batch = registers.batch();
  CHECK(problem(load, batch) == opcode + "operand p addresses memory; none given");
  SharedMemory empty;
  batch.use(empty);
  CHECK(problem(load, batch) == std::nullopt);
  batch = registers.batch();
  batch.shared_bytes = 512;
  CHECK(problem(load, batch) == opcode + "operand p addresses memory of 512 bytes, which is null");
  SharedMemory memory(512);
  batch.use(memory);
  CHECK(problem(load, batch) == std::nullopt);
  const std::uint32_t* const wide[] = {registers[OperandName::p][0].data(), registers[OperandName::p][0].data()};
  batch.source(OperandName::p) = wide;
  CHECK(problem(load, batch) == opcode + "operand p has 1 register of 32 bits; 2 given");
  batch.wide_addresses = true;
  CHECK(problem(load, batch) == std::nullopt);
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

}  // namespace
}  // namespace warpmat::instruction_test

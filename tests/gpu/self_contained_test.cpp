#include "gpu/compare/self_contained.h"

#include "gpu/cases/cases.h"
#include "gpu/compare/random_states.h"
#include "gpu/runners/emulator_runner.h"
#include "lists/random_program.h"
#include "test.h"

namespace warpmat::self_contained_test {
namespace {

/// Warp `warp` of `initial` after `program`, as written by self_contained for another runner, equals the final state of the program.
bool tells_the_same(const Program& program, const WarpStates& initial, std::size_t warp, std::uint32_t base, std::uint32_t other_base) {
  WarpStates expected = initial;
  EmulatorRunner(base, 1).run(program, expected);
  const Program told = parse(self_contained(program, initial, warp, base));
  WarpStates found(told, 1);
  EmulatorRunner(other_base, 1).run(told, found);
  for (const NamedRegister& r : program.registers()) {
    const NamedRegister& same = *told.find_register(r.name);
    for (int word = 0; word < (r.type->bits > 32 ? 2 : 1); ++word)
      if (expected.registers_of(warp)[static_cast<std::size_t>(r.slot + word)] !=
          found.registers_of(0)[static_cast<std::size_t>(same.slot + word)])
        return false;
  }
  return std::ranges::equal(expected.shared_of(warp), found.shared_of(0).first(expected.shared_bytes));
}

TEST_CASE("every form's case can be written as a program without input", "[gpu]") {
  Tally tally;
  const Target& target = warpmat::target("sm_90a");
  for (const Form& form : forms()) {
    if (unavailable(form, target)) continue;
    const Program program = program_for(form, target);
    const WarpStates initial = make_case(program, form, operand_classes().front(), 5, 0, 3, 1024);
    tally.expect(tells_the_same(program, initial, 2, 1024, 1024), [&] { return form.opcode; });
    // Elsewhere the addresses are others, but not what is read through them.
    WarpStates expected = initial;
    EmulatorRunner(1024, 1).run(program, expected);
    const Program told = parse(self_contained(program, initial, 2, 1024));
    WarpStates found(told, 1);
    EmulatorRunner(0, 1).run(told, found);
    tally.expect(std::ranges::equal(expected.shared_of(2), found.shared_of(0).first(expected.shared_bytes)),
                 [&] { return form.opcode + ", memory"; });
    for (std::size_t i = 0; i < form.operands.size(); ++i)
      for (const Item& item : program.statements().front().operands()[i].items)
        if (form.operands[i].written)
          tally.expect(expected.registers_of(2)[static_cast<std::size_t>(item.slot)] ==
                           found.registers_of(0)[static_cast<std::size_t>(
                               told.find_register(program.registers()[static_cast<std::size_t>(item.index)].name)->slot)],
                       [&] { return form.opcode + ", result"; });
  }
  CHECK(tally.failures().empty());
}

TEST_CASE("a program with predicates can be written without input", "[gpu]") {
  const Program program = parse(".target sm_90\n.reg .pred p, q; .reg .b32 a; @p add.u32 a, a, 1; setp.eq.u32 q, a, 5; @!q not.pred p, p;");
  CHECK(tells_the_same(program, random_states(program, 2, 3, 0, 1024), 1, 1024, 0));
}

TEST_CASE("a program with registers of every width can be written without input", "[gpu]") {
  const Program program = parse(R"(
      .reg .b16 h, g; .reg .f32 f; .reg .f64 wide; .reg .u64 more; .reg .f16x2 pair; .reg .b32 warpmat_at, at;
      .shared .b8 odd[5]; .shared .align 8 .b64 cell[2];
      mov.b16 g, h; mov.u64 more, cell; mov.b64 wide, more; st.shared.b64 [cell+8], wide; mov.b32 warpmat_at, f; ld.shared.b8 at, [odd+3];
  )",
                                "sm_80");
  const WarpStates initial = random_states(program, 4, 9, 40, 2048);
  CHECK(tells_the_same(program, initial, 0, 2048, 2048));
  CHECK(tells_the_same(program, initial, 3, 2048, 2048));
  CHECK(tells_the_same(parse("mov.b32 a, b;", "sm_80"), random_states(parse("mov.b32 a, b;", "sm_80"), 1, 1, 0, 0), 0, 0, 1024));
}

}  // namespace
}  // namespace warpmat::self_contained_test

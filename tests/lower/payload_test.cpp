
#include <warpmat/forms.h>
#include <warpmat/lower/context.h>
#include <warpmat/lower/emit.h>
#include <warpmat/ptx/syntax/module.h>

#include "test.h"

namespace warpmat::payload_test {
namespace {

using namespace code;
using catalogue::Semantics;
using code::Program;

/// The program of an entry with that body. Each operation of `of` has the payload `instead`, where there is one.
Program program_with(const std::string& body, Semantics of = Semantics::nothing, const Payload* instead = nullptr) {
  const auto module = std::make_shared<const syntax::Module>(syntax::parse_module(
      ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k() {\n.reg .b32 %r;\n.reg .b64 %l;\n.reg .pred %p;\n" + body +
      "}\n"));
  return make_program(module, find_target("sm_90"), [&](ProgramDraft& draft, std::vector<Diagnostic>& errors) {
    draft.function_index(module->functions.front());
    resolve_function(draft, 0, errors);
    if (instead == nullptr) return;
    for (DraftOperation& operation : draft.functions.front().operations)
      if (operation.operation.semantics == of) operation.operation.payload = draft.program.add(*instead);
  });
}

const Operation& first_of(const Program& program, Semantics semantics) {
  for (const Operation& operation : program.operations)
    if (operation.semantics == semantics) return operation;
  throw std::logic_error("no such operation");
}

TEST_CASE("an operation has its payload by its type", "[ptx]") {
  const Program program = program_with(
      "mov.u32 %r, %tid.y; ld.volatile.global.u32 %r, [%l+12]; bar.sync 3; membar.cta; membar.gl;\n"
      "cp.async.wait_group 2; cp.async.wait_all; shfl.sync.idx.b32 %r, %r, 0, 31, -1;\n"
      "all: .branchtargets one, two; brx.idx %r, all; one: trap; two: exit;\n");
  CHECK(program.of<SpecialRegister>(first_of(program, Semantics::special)) == SpecialRegister::tid_y);
  const Access& access = program.access(first_of(program, Semantics::load));
  CHECK((access.space == Space::global && access.offset == 12 && access.ordered));
  CHECK(program.of<Barrier>(first_of(program, Semantics::barrier)).aligned);
  CHECK(program.of<TrapCause>(first_of(program, Semantics::trap)) == TrapCause::statement);
  CHECK(program.of<WarpExchange>(first_of(program, Semantics::exchange)).operation == WarpOperation::shuffle_index);
  std::vector<bool> orders;
  program.for_each<Fence>([&](const Fence& fence) { orders.push_back(fence.orders_clusters); });
  CHECK(orders == std::vector{false, true});
  CHECK(program.any<WaitGroups>([](const WaitGroups& wait) { return wait.pending == 2 && !wait.all; }));
  CHECK(program.any<WaitGroups>([](const WaitGroups& wait) { return wait.all; }));
  CHECK(program.any<BranchTable>([](const BranchTable& table) { return table.size() == 2; }));  // the last type
  CHECK_FALSE(program.any<Matrix>([](const Matrix&) { return true; }));
}

TEST_CASE("a program with the payload of another instruction is an error", "[ptx]") {
  const Payload access = LoadAccess{}, barrier = Barrier{}, fence = Fence{};
  const std::string body = "ld.global.u32 %r, [%l]; bar.sync 0; membar.gl; add.rn.f32 %r, %r, %r;\n";
  CHECK_NOTHROW(program_with(body, Semantics::barrier, &barrier));
  CHECK_NOTHROW(program_with(body, Semantics::load, &access));
  CHECK_THROWS_AS(program_with(body, Semantics::barrier, &access), std::logic_error);
  CHECK_THROWS_AS(program_with(body, Semantics::load, &barrier), std::logic_error);
  CHECK_THROWS_AS(program_with(body, Semantics::fence, &access), std::logic_error);
  CHECK_THROWS_AS(program_with(body, Semantics::compute, &fence), std::logic_error);
}

}  // namespace
}  // namespace warpmat::payload_test

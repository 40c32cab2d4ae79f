// Instructions and programs with static storage, made before main by objects that the linker puts before those of the library, and used in
// destructors after main.

#include "lifetime/check.h"

using namespace warpmat;

namespace {

/// Made first, so destroyed last, also after whatever the library would destroy.
struct LastAtExit {
  ~LastAtExit() {
    if (!lifetime::library_works()) lifetime::fail("the library does not work in the last destructor");
  }
} last_at_exit;

struct Fixture {
  explicit Fixture(const char* text) : program(parse(text, "sm_90a")) {}
  ~Fixture() {
    if (!lifetime::runs(program)) lifetime::fail("a program does not run in a destructor");
  }
  Program program;
} fixture(lifetime::program_text);

const Instruction mma(lifetime::mma_opcode, "sm_90");
const Instruction older(lifetime::mma_opcode, "sm_80");
const bool worked_before_main = lifetime::multiplies(mma) && lifetime::multiplies(older) && lifetime::runs(fixture.program);

}  // namespace

int main() {
  if (!worked_before_main) lifetime::fail("wrong results before main");
  if (!lifetime::multiplies(mma) || !lifetime::runs(fixture.program)) lifetime::fail("wrong results in main");
}

#include <warpmat/execute/instruction.h>

#include <cfenv>
#include <random>

#include "catch.h"
#include "execute/registers.h"

// A host may have floating-point exceptions that trap, as after feenableexcept. No instruction may raise one, on either path.

#if defined(__GLIBC__) && defined(__SSE2__)

using namespace warpmat;

namespace {

/// All exceptions trap while this lives.
class TrappingExceptions {
 public:
  TrappingExceptions() {
    std::fegetenv(&before_);
    std::feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(FE_ALL_EXCEPT);
  }
  ~TrappingExceptions() { std::fesetenv(&before_); }
  TrappingExceptions(const TrappingExceptions&) = delete;
  TrappingExceptions& operator=(const TrappingExceptions&) = delete;

 private:
  std::fenv_t before_;
};

}  // namespace

TEST_CASE("no form raises a floating-point exception in a host whose exceptions trap", "[execute]") {
  std::mt19937_64 random(1);
  int executed = 0;
  for (const Form& form : forms()) {
    if (!multiplies(form.mnemonic)) continue;
    for (const char* const name : {"sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a"}) {
      const Target& on = target(name);
      if (unavailable(form, on)) continue;
      const Instruction instruction(form, on);
      FormRegisters registers(form);
      registers.fill(random);
      CAPTURE(form.opcode, name);
      for (const Path path : {Path::reference, Path::fast}) {
        const TrappingExceptions trapping;
        instruction.execute(registers.arguments(), {.path = path});
      }
      ++executed;
    }
  }
  CHECK(executed > 1000);
}

#endif

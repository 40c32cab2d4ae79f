#include <warpmat/execute/fast/instruction_sets.h>
#include <warpmat/instruction.h>

#include <cfenv>

#include "execute/registers.h"
#include "test.h"

// A host may have floating-point exceptions that trap, as after feenableexcept. No instruction may raise one, on either path.

#if defined(__GLIBC__) && defined(__SSE2__)

#include <xmmintrin.h>

namespace warpmat::float_environment_test {

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

/// Executes every product on several hardwares, by the reference and by each instruction set, `during` around each. Returns the number of
/// calls.
template <typename During>
int execute_products(During during) {
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
      during([&] { execute(instruction, registers.batch(), 1, {.path = Path::reference}); });
      ++executed;
      for (const std::string_view set : instruction_sets()) {
        CAPTURE(set);
        use_instruction_set(set);
        during([&] { execute(instruction, registers.batch()); });
        ++executed;
      }
    }
  }
  use_best_instruction_set();
  return executed;
}

}  // namespace

TEST_CASE("no form raises a floating-point exception in a host whose exceptions trap", "[execute]") {
  const int executed = execute_products([](auto execute) {
    const TrappingExceptions trapping;
    execute();
  });
  CHECK(executed > 2000);
}

TEST_CASE("an instruction leaves the host's floating-point environment as it was: rounding, flushing, sticky flags", "[execute]") {
  constexpr unsigned nearest = 0x1f80, up = 0x5f80, flushing = 0x8040, inexact = 0x20;
  const unsigned before = _mm_getcsr();
  for (const unsigned environment : {nearest, nearest | inexact, up, nearest | flushing}) {
    CAPTURE(environment);
    int changed = 0;
    const int executed = execute_products([&](auto execute) {
      _mm_setcsr(environment);
      execute();
      changed += _mm_getcsr() == environment ? 0 : 1;
      _mm_setcsr(before);
    });
    CHECK(changed == 0);
    CHECK(executed > 2000);
  }
}

}  // namespace warpmat::float_environment_test

#endif

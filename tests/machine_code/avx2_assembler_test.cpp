// The writer of AVX2 for AVX-512: what it cannot write is an error, so that there is no code. What it writes, machine_code_test compares.

#if __has_include(<asmjit/x86.h>)

#include <warpmat/machine_code/avx2_assembler.h>

#include "test.h"

namespace warpmat::machine_code {
namespace {

struct Errors final : asmjit::ErrorHandler {
  void handleError(asmjit::Error, const char*, asmjit::BaseEmitter*) override { failed = true; }
  bool failed = false;
};

bool fails(const std::function<void(x86::Assembler&)>& write) {
  Errors errors;
  asmjit::CodeHolder holder;
  holder.init(asmjit::Environment::host());
  holder.setErrorHandler(&errors);
  Avx2Assembler assembler(holder, 0);
  write(assembler);
  assembler.ret();
  assembler.finish();
  return errors.failed;
}

}  // namespace

TEST_CASE("instructions beyond AVX2 are errors", "[machine_code]") {
  CHECK_FALSE(fails([](x86::Assembler& a) { a.vpaddd(x86::zmm31, x86::zmm30, x86::zmm0); }));
  CHECK_FALSE(fails([](x86::Assembler& a) { a.vpslld(x86::zmm0, x86::zmm1, 3); }));
  CHECK(fails([](x86::Assembler& a) { a.vpslld(x86::zmm0, x86::zmmword_ptr(x86::rcx), 3); }));  // AVX2 shifts no memory
  CHECK(fails([](x86::Assembler& a) { a.vpconflictd(x86::zmm0, x86::zmm1); }));
  CHECK(fails([](x86::Assembler& a) { a.k(x86::k6).vpaddd(x86::zmm0, x86::zmm1, x86::zmm2); }));
}

TEST_CASE("what has no value behind a label is not read there", "[machine_code]") {
  const auto make_mask = [](x86::Assembler& a) { a.vpcmpd(x86::k1, x86::zmm0, x86::zmm1, 1); };
  const auto read_mask = [](x86::Assembler& a) { a.k(x86::k1).vpblendmd(x86::zmm2, x86::zmm0, x86::zmm1); };
  const auto test = [&](bool labels) {
    return fails([&](x86::Assembler& a) {
      make_mask(a);
      if (labels) a.bind(a.newLabel());
      read_mask(a);
    });
  };
  CHECK_FALSE(test(false));
  CHECK(test(true));
  for (const bool jumps : {false, true}) {
    const bool failed = fails([&](x86::Assembler& a) {
      const asmjit::Label label = a.newLabel();
      a.vpaddd(x86::zmm0, x86::zmm8, x86::zmm9);
      if (jumps) a.jnz(label);
      a.bind(label);
      a.vpaddd(x86::zmm8, x86::zmm0, x86::zmm0);
    });
    CHECK(failed == jumps);
  }
}

}  // namespace warpmat::machine_code

#endif

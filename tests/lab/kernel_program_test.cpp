#include "gpu/lab/kernels/kernel_program.h"
#include "gpu/lab/kernels/warpgroup_program.h"

#include <warpmat/ir/code.h>
#include <warpmat/machine/internals.h>

#include "gpu/compare/compare_kernels.h"
#include "gpu/runners/scalar_case.h"
#include "test.h"

namespace warpmat::kernel_program_test {
namespace {

const Target& hopper() {
  return target("sm_90a");
}

TEST_CASE("a random kernel depends on seed and number alone", "[gpu]") {
  const KernelLaunch first = random_kernel(hopper(), 1, 7).complete(), again = random_kernel(hopper(), 1, 7).complete();
  CHECK(first.ptx == again.ptx);
  CHECK(first.buffers[0].bytes == again.buffers[0].bytes);
  CHECK(first.ptx != random_kernel(hopper(), 1, 8).complete().ptx);
  CHECK(first.ptx != random_kernel(hopper(), 2, 7).complete().ptx);
}

TEST_CASE("random kernels do not depend on the order of warps and blocks", "[gpu]") {
  EmulatorKernelRunner in_order(hopper()), several(hopper(), {.jobs = 3, .schedule = 5}), other(hopper(), {.schedule = 1234567});
  int divergent = 0, products = 0, plain = 0;
  for (std::uint64_t index = 0; index < 40; ++index) {
    INFO("kernel " << index);
    const KernelLaunch launch = random_kernel(hopper(), 3, index).complete();
    const KernelAnswer answer = in_order.run(launch);
    CHECK(compare_kernels(launch, answer, several.run(launch), 1).mismatches == 0);
    CHECK(compare_kernels(launch, answer, other.run(launch), 1).mismatches == 0);
    divergent += launch.ptx.find("bra $") != std::string::npos;
    products += launch.ptx.find("mul.rn.f") != std::string::npos;
    CHECK(launch.ptx.find("mul.f") == std::string::npos);
    plain += random_kernel(hopper(), 3, index, 24, DrawnSums::plain).complete().ptx.find("mul.f") != std::string::npos;
  }
  CHECK(divergent > 10);
  CHECK(products > 10);
  CHECK(plain > 10);
}

std::size_t statements_in_doubt(std::uint64_t seed, std::uint64_t index) {
  const KernelLaunch launch = random_kernel(hopper(), seed, index).complete();
  const Module module(launch.ptx);
  return program_of(Kernel(module, launch.entry, {.target = hopper().name})).doubted.size();
}

// Of 400,000 kernels with the seed 20261201 an H200 computed 132 otherwise. In these eight nothing was in doubt.
TEST_CASE("what ptxas makes of random kernels without a fused sum is in doubt where an H200 computed it otherwise", "[gpu][assembler]") {
  for (const std::uint64_t index : std::array<std::uint64_t, 8>{32262, 53815, 84372, 156569, 307784, 308792, 329710, 358706}) {
    CAPTURE(index);
    CHECK(statements_in_doubt(20261201, index) != 0);
  }
}

TEST_CASE("few random kernels without a fused sum have a statement in doubt", "[gpu][assembler]") {
  constexpr std::uint64_t kernels = 400;
  std::uint64_t in_doubt = 0;
  for (std::uint64_t index = 0; index < kernels; ++index) in_doubt += statements_in_doubt(5, index) != 0;
  CHECK(in_doubt < kernels / 3);
  if (std::getenv("WARPMAT_COUNTS") != nullptr) WARN(in_doubt << " of " << kernels << " kernels");
}

TEST_CASE("random kernels cover nearly all scalar instructions of the table", "[gpu]") {
  std::set<std::string> mnemonics, met;
  for (const ScalarCase& shown : scalar_cases(hopper(), {9, 0})) mnemonics.insert(shown.opcode.substr(0, shown.opcode.find('.')));
  for (std::uint64_t index = 0; index < 400; ++index) {
    const std::string text = random_kernel(hopper(), 4, index).complete().ptx;
    for (const std::string& mnemonic : mnemonics)
      if (text.find('\n' + mnemonic + '.') != std::string::npos) met.insert(mnemonic);
  }
  CHECK(mnemonics.size() > 60);
  CHECK(met.size() > mnemonics.size() * 9 / 10);
}

TEST_CASE("random kernels of a warpgroup run without a report, whatever the order of warps, and cover the variants of wgmma",
          "[gpu][wgmma]") {
  EmulatorKernelRunner in_order(hopper()), other(hopper(), {.schedule = 1234567});
  std::set<std::string> met;
  for (std::uint64_t index = 0; index < 25; ++index) {
    INFO("kernel " << index);
    const KernelLaunch launch = random_warpgroup_kernel(3, index).complete();
    CHECK(launch.ptx == random_warpgroup_kernel(3, index).complete().ptx);
    CHECK(compare_kernels(launch, in_order.run(launch), other.run(launch), 1).mismatches == 0);
    for (const char* part :
         {".sp.", ".f16.f16.f16 ", ".e4m3", ".s8", ".tf32", "%da", "{%a", "%never", "wait_group.sync.aligned 1", "st.shared.v4.b32 [%own"})
      if (launch.ptx.find(part) != std::string::npos) met.insert(part);
  }
  CHECK(met.size() == 10);
}

TEST_CASE("a kernel that fails is shortened to what makes it fail", "[gpu]") {
  KernelProgram kernel;
  kernel.units = {{{"a;"}, {}}, {{"loop;", "end;"}, {{{{"b;"}, {}}, {{"bad;"}, {}}}}}, {{"c;"}, {}}};
  const auto fails = [](const KernelProgram& program) { return program.complete().ptx.find("bad;") != std::string::npos; };
  CHECK(kernel.statements() == 6);
  CHECK(shrink(kernel, fails).complete().ptx == "loop;\nbad;\nend;\n");
}

}  // namespace
}  // namespace warpmat::kernel_program_test

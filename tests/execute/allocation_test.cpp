#include "case_count.h"

// Replacing the allocation functions would hide errors from AddressSanitizer.
#if !WARPMAT_SANITIZED

#include <warpmat/execute/instruction.h>

#include <array>
#include <random>

#include "catch.h"
#include "execute/registers.h"
#include "replaced_allocation.h"

using namespace warpmat;

namespace {

thread_local std::size_t allocations = 0;

// The whole test program counts its allocations here.
void before_allocation() {
  ++allocations;
}

}  // namespace

TEST_CASE("executing allocates nothing") {
  CHECK(allocations > 0);  // they are counted
  SharedMemory memory(2048);
  std::mt19937_64 random(60);
  for (const Form& form : forms()) {
    const Instruction instruction(form, target_with(form));
    FormRegisters registers(form);
    registers.fill(random);
    Arguments arguments = registers.arguments();
    arguments.shared = &memory;
    const std::size_t before = allocations;
    instruction.execute(arguments);
    const std::size_t after = allocations;
    CAPTURE(form.opcode);
    CHECK(after == before);
  }
}

TEST_CASE("executing a batch allocates nothing") {
  constexpr std::size_t count = 3;
  std::array<std::uint8_t, 2048> memory{};
  std::array<std::uint32_t, count * 16 * lanes> results{};
  std::mt19937_64 random(61);
  for (const Form& form : forms()) {
    const Instruction instruction(form, target_with(form));
    FormRegisters registers(form);
    registers.fill(random);
    Batch batch;
    for (const Operand& operand : form.operands)
      if (!operand.written) batch.source(operand.name).words = registers[operand.name][0].data();
    batch.destination = {results.data(), 16 * lanes};
    batch.shared = memory.data();
    batch.shared_bytes = memory.size();
    for (const Path path : {Path::fast, Path::reference}) {
      const std::size_t before = allocations;
      instruction.execute(batch, count, {.path = path});
      const std::size_t after = allocations;
      CAPTURE(form.opcode, path == Path::fast);
      CHECK(after == before);
    }
  }
}

#endif

// The stack that warpmat_execute needs: what warpmat_describe says is enough, and not much too much. Measured on a thread whose stack is
// painted before it begins. Sanitizers make frames of their own.

#if !WARPMAT_SANITIZED

#include <warpmat/c.h>

#include <warpmat/execute/fast/instruction_sets.h>
#include <warpmat/instruction.h>
#include <warpmat/wgmma.h>

#include <pthread.h>
#include <sys/mman.h>

#include "c/calls.h"
#include "c/wgmma_call.h"
#include "execute/warp_arrays.h"
#include "test.h"

namespace warpmat::stack_test {

namespace {

constexpr std::size_t stack_size = std::size_t{1} << 20;
constexpr std::uint8_t paint = 0xa7;

/// The bytes of stack that `action` needs, on a thread of its own.
std::size_t stack_of(void (*action)(void*), void* argument) {
  struct Work {
    void (*action)(void*);
    void* argument;
  } work{action, argument};
  auto* const stack = static_cast<std::uint8_t*>(mmap(nullptr, stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(stack != MAP_FAILED);
  std::memset(stack, paint, stack_size);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  REQUIRE(pthread_attr_setstack(&attributes, stack, stack_size) == 0);
  pthread_t thread;
  const auto run = [](void* work_of) -> void* {
    const auto& w = *static_cast<Work*>(work_of);
    w.action(w.argument);
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, run, &work) == 0);
  pthread_join(thread, nullptr);
  const auto* used = std::find_if(stack, stack + stack_size, [](std::uint8_t byte) { return byte != paint; });
  const auto bytes = static_cast<std::size_t>(stack + stack_size - used);
  munmap(stack, stack_size);
  pthread_attr_destroy(&attributes);
  return bytes;
}

/// Everything for one form that warpmat_execute is to be called with.
struct Calls {
  const warpmat_instruction* instruction = nullptr;
  std::vector<warpmat_registers> registers;
  warpmat_memory memory = sized<warpmat_memory>();
  warpmat_error error = sized<warpmat_error>();

  static void execute(void* self) {
    auto& calls = *static_cast<Calls*>(self);
    auto call = sized<warpmat_call>();
    call.operands = calls.registers.data();
    call.operand_count = calls.registers.size();
    call.memory = &calls.memory;
    for (const unsigned flags : {0u, WARPMAT_REFERENCE_PATH}) {
      call.flags = flags;
      call.offset = 0;
      warpmat_execute(calls.instruction, &call, 1, &calls.error);
      call.offset = 4;  // a trap, where there are addresses
      warpmat_execute(calls.instruction, &call, 1, &calls.error);
    }
  }
};

void do_nothing(void*) {}

struct BestAgain {
  ~BestAgain() { use_best_instruction_set(); }
};

/// Registers of `calls` that are no longer where they are copied from at once, and metadata that traps.
void stage(Calls& calls, const Form& form, std::uint32_t* undefined) {
  for (std::size_t i = 0; i < calls.registers.size(); ++i) {
    warpmat_registers& registers = calls.registers[i];
    registers.lane_stride = -1;
    registers.words = (form.operands[i].name == OperandName::e ? undefined : registers.words) + warp_size - 1;
  }
}

}  // namespace

TEST_CASE("C: the stack that an instruction needs", "[c]") {
  const BestAgain best_again;
  const std::size_t of_thread = stack_of(do_nothing, nullptr);
  std::vector<std::uint32_t> undefined(warp_size, 0xffffffff);
  for (const std::string_view set : instruction_sets()) {
    use_instruction_set(set);
    std::size_t most[2] = {0, 0}, stated[2] = {0, 0};
    for (const Form& form : forms()) {
      WarpArrays warps(form, 1, std::nullopt, 94);
      Calls calls;
      calls.instruction = warpmat_find(form.opcode.c_str(), std::string(target_with(form).name).c_str(), nullptr);
      REQUIRE(calls.instruction != nullptr);
      calls.registers = registers_of(form, warps);
      calls.memory = memory_of(warps);
      auto info = sized<warpmat_instruction_info>();
      REQUIRE(warpmat_describe(calls.instruction, &info) == WARPMAT_OK);
      const std::size_t kind = form.mnemonic == Mnemonic::mma || form.mnemonic == Mnemonic::wmma_mma ? 1 : 0;
      stated[kind] = info.stack_bytes;
      most[kind] = std::max(most[kind], stack_of(Calls::execute, &calls) - of_thread);
      stage(calls, form, undefined.data());
      most[kind] = std::max(most[kind], stack_of(Calls::execute, &calls) - of_thread);
    }
    for (const std::size_t kind : {0u, 1u}) {
      CAPTURE(set, kind, most[kind], stated[kind]);
      CHECK(most[kind] <= stated[kind]);
      CHECK(most[kind] >= stated[kind] / 8);
    }
  }
}

namespace {

/// Executes a wgmma whose matrices are in shared memory, and once more with an address outside of it: a trap.
struct WgmmaCalls {
  const warpmat_instruction* instruction = nullptr;
  warpmat_call inside{}, outside{};
  warpmat_error error = sized<warpmat_error>();

  static void execute(void* self) {
    auto& calls = *static_cast<WgmmaCalls*>(self);
    for (const unsigned flags : {0u, WARPMAT_REFERENCE_PATH})
      for (warpmat_call* const call : {&calls.inside, &calls.outside}) {
        call->flags = flags;
        const warpmat_status status = warpmat_execute(calls.instruction, call, 4, &calls.error);
        if (call == &calls.inside && status != WARPMAT_OK) calls.error.line = -1;
      }
  }
};

}  // namespace

TEST_CASE("C: the stack that a wgmma needs is that of an instruction", "[c]") {
  const BestAgain best_again;
  constexpr std::size_t stated = std::size_t{60} << 10;  // docs/use/linking.md
  const std::size_t of_thread = stack_of(do_nothing, nullptr);
  std::vector<std::uint8_t> shared(std::size_t{64} << 10, 0x38);
  std::vector<std::uint32_t> d(std::size_t{4} * 128 * warp_size, 0x3c003c00), metadata(std::size_t{4} * warp_size, 0x44444444);
  for (const std::string_view set : instruction_sets()) {
    use_instruction_set(set);
    std::size_t most = 0;
    for (const WgmmaForm& form : wgmma_forms()) {
      if (form.shape.n != 8 && form.shape.n != 256) continue;
      WgmmaCalls calls;
      calls.instruction = found(form.opcode.c_str(), "sm_90a");
      auto memory = sized<warpmat_memory>();
      memory.bytes = shared.data();
      memory.byte_count = shared.size();
      WgmmaCall inside{.instruction = calls.instruction, .memory = &memory};
      inside.d = WARPMAT_REGISTER_MAJOR(d.data(), 128 * warp_size);
      inside.e = WARPMAT_REGISTER_MAJOR(metadata.data(), warp_size);
      inside.a_descriptor = inside.b_descriptor = std::uint64_t{8} << 16 | std::uint64_t{16} << 32;
      WgmmaCall outside = inside;
      outside.a_descriptor = outside.b_descriptor = inside.a_descriptor | 0x3fff;
      calls.inside = inside.call();
      calls.outside = outside.call();
      most = std::max(most, stack_of(WgmmaCalls::execute, &calls) - of_thread);
      CAPTURE(form.opcode, calls.error.message);
      REQUIRE(calls.error.line == 0);
      REQUIRE(calls.error.status == WARPMAT_OUT_OF_RANGE);
    }
    CAPTURE(set, most);
    CHECK(most <= stated);
    CHECK(most >= stated / 8);
  }
}

TEST_CASE("C: the stack that a scalar instruction needs", "[c]") {
  const std::size_t of_thread = stack_of(do_nothing, nullptr);
  std::vector<std::uint32_t> words(std::size_t{64} * warp_size, 1);
  std::size_t most = 0;
  for (const char* const opcode : {"fma.rn.f32", "div.rn.f64", "madc.hi.cc.u64", "setp.lt.and.f64", "sin.approx.f32", "lop3.b32"}) {
    Calls calls;
    calls.instruction = warpmat_find(opcode, "sm_90a", nullptr);
    REQUIRE(calls.instruction != nullptr);
    auto info = sized<warpmat_instruction_info>();
    REQUIRE(warpmat_describe(calls.instruction, &info) == WARPMAT_OK);
    for (int i = 0; i < info.operands; ++i)
      calls.registers.push_back({words.data() + std::size_t{4} * static_cast<std::size_t>(i) * warp_size, nullptr, 0, warp_size, 1, 0});
    most = std::max(most, stack_of(Calls::execute, &calls) - of_thread);
    calls.registers.pop_back();  // an error
    most = std::max(most, stack_of(Calls::execute, &calls) - of_thread);
    CAPTURE(opcode, most, info.stack_bytes);
    CHECK(most <= info.stack_bytes);
  }
}

}  // namespace warpmat::stack_test

#else

#include "test.h"

TEST_CASE("warpmat_execute needs no more stack than warpmat_describe says") {
  WARN("skipped: the sanitizers make frames of their own");
}

#endif

// Checks::global: bytes of global memory that nobody has written.

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::global_check_test {
namespace {

constexpr std::uint64_t words = 64;

struct Outcome {
  std::string trap;
  std::vector<std::string> warnings;
  bool silent() const { return trap.empty() && warnings.empty(); }
};

/// A kernel of 32 threads with the buffers `in`, of which words 33 to 63 were never written, and `out`, which nobody has written. The
/// thread's number is in %t; %i and %o are the addresses of its words, and %v is word %t of `in`.
Kernel kernel_with(const std::string& body) {
  return Kernel(module_of(".param .u64 in, .param .u64 out, .param .align 64 .b8 map[128]",
                          fmt::format(R"(
    .shared .align 128 .b8 tile[1024];
    .shared .align 8 .b64 bar;
    .reg .b32 %t, %v, %w, %x, %r, %s<4>; .reg .b64 %i, %o, %a, %first, %l<4>; .reg .pred %p, %q; .reg .b16 %h<4>;
    .reg .f32 %f<4>;
    mov.u32 %t, %tid.x;
    ld.param.u64 %first, [in];
    ld.param.u64 %o, [out];
    mul.wide.u32 %a, %t, 4;
    add.u64 %i, %first, %a;
    add.u64 %o, %o, %a;
    mov.u32 %r, tile;
    mov.u32 %w, 0;
    ld.global.u32 %v, [%i];
    {}
    ret;
)",
                                      body),
                          "sm_90a"),
                "k");
}

class Memory {
 public:
  Memory() {
    in = memory.allocate(std::vector<std::uint32_t>(words, 5), "in");
    out = memory.allocate(words * 4, "out");
    memory.set_unwritten(in + 33 * 4, 31 * 4);
    memory.set_unwritten(out, words * 4);
  }
  Outcome run(const Kernel& kernel, const Checks& checks = {.global = true}, int jobs = 1) {
    const TensorMap map({.type = TensorMap::Type::u32, .address = in, .dims = {words}, .box = {words}});
    Outcome outcome;
    try {
      outcome.warnings =
          launch(kernel, {.grid = {1}, .block = {32}}, memory, {in, out, map.encode()}, {.jobs = jobs, .checks = checks}).warnings;
    } catch (const Trap& trap) {
      CHECK(trap.kind == Trap::Kind::unwritten);
      outcome.trap = trap.what();
    }
    return outcome;
  }

  DeviceMemory memory;
  std::uint64_t in, out;
};

Outcome outcome_of(const std::string& body, const Checks& checks = {.global = true}) {
  Memory memory;
  return memory.run(kernel_with(body), checks);
}

/// Every thread copies 16 bytes of `in`, from byte `from` on, to shared memory, and waits.
std::string async_copy(int from) {
  return fmt::format(R"(
    shl.b32 %s0, %t, 2; and.b32 %s0, %s0, 124; and.b32 %s1, %s0, 112; add.u32 %s1, %s1, %r; and.b64 %a, %a, 112; add.u64 %l0, %first, %a;
    cp.async.cg.shared.global [%s1], [%l0 + {}], 16; cp.async.wait_all; bar.sync 0;)",
                     from);
}

/// The whole of `in` comes to `tile` by a bulk copy.
const std::string bulk_copy = R"(
    mov.u32 %s2, bar;
    setp.ne.u32 %q, %t, 0;
    @!%q mbarrier.init.shared.b64 [%s2], 1;
    fence.mbarrier_init.release.cluster;
    bar.sync 0;
    @!%q mbarrier.arrive.expect_tx.shared.b64 %l3, [%s2], 256;
    @!%q cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r], [%first], 256, [%s2];
again:
    mbarrier.try_wait.parity.shared.b64 %p, [%s2], 0;
    @!%p bra again;)";

/// The same by a tensor map.
const std::string tensor_copy = R"(
    mov.u32 %s2, bar;
    setp.ne.u32 %q, %t, 0;
    mov.u64 %l2, map;
    cvta.param.u64 %l2, %l2;
    @!%q mbarrier.init.shared.b64 [%s2], 1;
    fence.mbarrier_init.release.cluster;
    bar.sync 0;
    @!%q mbarrier.arrive.expect_tx.shared.b64 %l3, [%s2], 256;
    @!%q cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r], [%l2, {%w}], [%s2];
again:
    mbarrier.try_wait.parity.shared.b64 %p, [%s2], 0;
    @!%p bra again;)";

const std::string unwritten = "ld.global.u32 %v, [%i + 128];";  // word 32 + %t of `in`, of which the first is written
const std::string branch = "setp.eq.u32 %p, %v, 5; @%p bra done; add.u32 %w, %w, 1; done:";

TEST_CASE("what nobody has written in global memory ends a launch where it decides, and what was written does not", "[checks]") {
  struct Case {
    std::string bad, good, word;
  };
  const std::string of_shared = "ld.shared.u32 %v, [%s3];" + branch;
  const Case cases[] = {
      {unwritten + branch, branch, "guard"},
      {unwritten + "and.b32 %v, %v, 3; cvt.u64.u32 %l0, %v; add.u64 %l0, %l0, %first; ld.global.u8 %w, [%l0];",
       "and.b32 %v, %v, 3; cvt.u64.u32 %l0, %v; add.u64 %l0, %l0, %first; ld.global.u8 %w, [%l0];", "address"},
      {unwritten + "setp.eq.u32 %p, %v, 5; @%p st.global.u32 [%o], 1;", "setp.eq.u32 %p, %v, 5; @%p st.global.u32 [%o], 1;", "guard"},
      {unwritten + "shfl.sync.idx.b32 %v, %v, 3, 31, -1;" + branch, "shfl.sync.idx.b32 %v, %v, 3, 31, -1;" + branch, "guard"},
      {unwritten + "mov.b32 {%h0, %h1}, %v; add.u16 %h0, %h0, 1; setp.eq.u16 %p, %h0, 5; @%p bra done; done:",
       "mov.b32 {%h0, %h1}, %v; add.u16 %h0, %h0, 1; setp.eq.u16 %p, %h0, 5; @%p bra done; done:", "guard"},
      {"ld.global.v2.u64 {%l1, %l2}, [%first + 144]; setp.eq.u64 %p, %l1, 5; @%p bra done; done:",
       "ld.global.v2.u64 {%l1, %l2}, [%first + 112]; setp.eq.u64 %p, %l1, 5; @%p bra done; done:", "guard"},
      // Of a register that is written in part nothing is said: structures have padding.
      {"ld.global.v2.u64 {%l1, %l2}, [%first + 128]; setp.eq.u64 %p, %l2, 5; @%p bra done; done:",
       "ld.global.v2.u64 {%l1, %l2}, [%first + 128]; setp.eq.u64 %p, %l1, 5; @%p bra done; done:", "guard"},
      // By way of shared memory, and of global memory.
      {unwritten + "mad.lo.u32 %s3, %t, 4, %r; st.shared.u32 [%s3], %v; ld.shared.u32 %v, [%s3];" + branch,
       "mad.lo.u32 %s3, %t, 4, %r; st.shared.u32 [%s3], %v; ld.shared.u32 %v, [%s3];" + branch, "guard"},
      // Of lanes that store to one place the first one's value stays.
      {unwritten + "shfl.sync.bfly.b32 %v, %v, 31, 31, -1; st.shared.u32 [%r], %v; ld.shared.u32 %v, [%r];" + branch,
       unwritten + "st.shared.u32 [%r], %v; ld.shared.u32 %v, [%r];" + branch, "guard"},
      {unwritten + "st.global.u32 [%o], %v; ld.global.u32 %v, [%o];" + branch, "st.global.u32 [%o], %v; ld.global.u32 %v, [%o];" + branch,
       "guard"},
      {"ld.global.u32 %v, [%o];" + branch, "st.global.u32 [%o], 3; ld.global.u32 %v, [%o];" + branch, "guard"},
      // By copies.
      {async_copy(128) + "add.u32 %s3, %r, %s0;" + of_shared, async_copy(0) + "add.u32 %s3, %r, %s0;" + of_shared, "guard"},
      {bulk_copy + "add.u32 %s3, %r, 132;" + of_shared, bulk_copy + "add.u32 %s3, %r, 128;" + of_shared, "guard"},
      {tensor_copy + "add.u32 %s3, %r, 132;" + of_shared, tensor_copy + "add.u32 %s3, %r, 128;" + of_shared, "guard"},
      // By atomics.
      {"atom.global.add.u32 %v, [%o], 1;" + branch, "st.global.u32 [%o], 3; atom.global.add.u32 %v, [%o], 1;" + branch, "guard"},
      {"atom.global.exch.b32 %v, [%o], 1;" + branch,
       "atom.global.exch.b32 %v, [%o], 1; atom.global.exch.b32 %w, [%o], 1; mov.u32 %v, %w; "
       "ld.global.u32 %v, [%o];" +
           branch,
       "guard"},
      {"atom.global.cas.b32 %v, [%o], 0, 1;" + branch, "st.global.u32 [%o], 0; atom.global.cas.b32 %v, [%o], 0, 1;" + branch, "guard"},
  };
  for (const Case& one : cases) {
    INFO(one.bad);
    const Outcome bad = outcome_of(one.bad), good = outcome_of(one.good);
    CHECK(contains(bad.trap, "nobody has written"));
    CHECK(contains(bad.trap, one.word));
    CHECK(good.silent());
    CHECK(outcome_of(one.bad, {}).silent());
    CHECK(outcome_of(one.bad, {.uninitialised = false, .global = true}).silent());
  }
}

TEST_CASE("what is computed from unwritten global memory and stored is a warning; what moves is not", "[checks]") {
  const std::string reason = "nobody has written";
  const std::string computed = unwritten + "add.u32 %v, %v, 1; st.global.u32 [%o], %v;";
  for (const std::string& body : {computed, unwritten + "mul.lo.u32 %v, %v, %v; st.global.u32 [%o], %v;",
                                  std::string("red.global.add.u32 [%o], 1;"), std::string("atom.global.add.u32 %w, [%o], 1;")}) {
    INFO(body);
    const Outcome outcome = outcome_of(body);
    CHECK(outcome.trap.empty());
    REQUIRE(outcome.warnings.size() == 1);
    CHECK(contains(outcome.warnings[0], reason));
  }
  for (const std::string& body :
       {unwritten + "st.global.u32 [%o], %v;", unwritten + "mov.b32 %w, %v; st.global.u32 [%o], %w;", unwritten + "add.u32 %v, %v, 1;",
        std::string("ld.global.v2.u32 {%v, %w}, [%first + 128]; st.global.v2.u32 [%first], {%v, %w};"),
        // a structure whose second half is padding
        "ld.global.u64 %l0, [%first + 128]; st.global.u64 [%first + 8], %l0; ld.global.u32 %v, [%first + 8];" + branch,
        std::string("red.global.add.u32 [%i], 1;")})
    CHECK(outcome_of(body).silent());
}

TEST_CASE("copies between unwritten buffers and launches keep what is unwritten", "[checks]") {
  Memory memory;
  const Kernel copies = kernel_with(unwritten + "st.global.u32 [%o], %v;"), reads = kernel_with("ld.global.u32 %v, [%o];" + branch);
  CHECK(memory.run(copies).silent());
  CHECK(contains(memory.run(reads).trap, "(4 bytes into buffer 'out'"));
  CHECK(memory.memory.find_unwritten(memory.out, 256)->bytes == 252);
  memory.memory.set_written(memory.out, 128);
  CHECK(memory.run(reads).silent());
  memory.memory.copy_written(memory.out, memory.out + 64, 128);
  CHECK(memory.memory.find_unwritten(memory.out, 256)->address == memory.out + 64);
  CHECK(memory.run(kernel_with(""), {}).silent());  // which does not follow stores: all counts as written
  CHECK_FALSE(memory.memory.find_unwritten(memory.out, 256));
}

TEST_CASE("memory of malloc() in a kernel is unwritten", "[checks][heap]") {
  const std::string declared = ".extern .func (.param .b64 result) malloc (.param .b64 bytes);\n";
  const auto trap_of = [&](const std::string& before) {
    const Module module = module_of(".param .u64 out", R"(
      .reg .b64 %l<4>; .reg .b32 %v; .reg .pred %p;
      { .param .b64 bytes; .param .b64 result; st.param.b64 [bytes], 40; call.uni (result), malloc, (bytes); ld.param.b64 %l1, [result]; }
    )" + before + "ld.global.u32 %v, [%l1 + 8]; setp.eq.u32 %p, %v, 5; @%p bra done; done: ret;",
                                    "sm_90", declared);
    DeviceMemory memory;
    try {
      launch(Kernel(module, "k"), {{1}, {1}}, memory, {std::uint64_t{0}}, {.checks = {.global = true}});
    } catch (const Trap& trap) {
      return std::string(trap.what());
    }
    return std::string();
  };
  CHECK(contains(trap_of(""), "nobody has written"));
  CHECK(trap_of("st.global.u32 [%l1 + 8], 1;").empty());
}

}  // namespace
}  // namespace warpmat::global_check_test

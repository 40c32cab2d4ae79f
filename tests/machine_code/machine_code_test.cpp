// Kernels as machine code leave what the interpreter leaves: bytes, counts of operations, errors; with AVX-512 and with AVX2, as far as the
// CPU has them.

#include <cfenv>

#include <warpmat/execute/fast/instruction_sets.h>
#include <warpmat/ir/code.h>
#include <warpmat/ir/machine_code.h>
#include <warpmat/launch/running_launch.h>
#include <warpmat/machine_code/use.h>

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::machine_code_test {
namespace {

std::vector<code::CompileProgram> compilers() {
  std::vector<code::CompileProgram> found;
  for (const bool avx2_alone : {false, true})
    if (const code::CompileProgram compile = find_program_compiler(avx2_alone); compile != nullptr)
      if (found.empty() || found.back() != compile) found.push_back(compile);
  return found;
}

/// All programs are compiled at once by `compile`, or none is where it is null.
class Compiling {
 public:
  explicit Compiling(code::CompileProgram compile) {
    own = compile;
    code::set_program_compiler(compile == nullptr ? nullptr : compile_all, code::CompileWhen::at_once);
  }
  ~Compiling() {
    use_machine_code();
    CHECK(refused.exchange(0) == 0);
  }
  Compiling(const Compiling&) = delete;
  Compiling& operator=(const Compiling&) = delete;

 private:
  static std::unique_ptr<const code::MachineCode> compile_all(const code::Program& program, bool all_lanes) {
    auto made = own(program, all_lanes);
    if (made == nullptr)
      ++refused;
    else
      for (std::size_t i = 0; i < program.operations.size(); ++i) places.push_back(made->place(static_cast<std::int32_t>(i)));
    return made;
  }
  static inline code::CompileProgram own = nullptr;

 public:
  static inline std::vector<code::MachineCode::Place> places;  ///< of each operation of all that was compiled

 private:
  static inline std::atomic<int> refused = 0;
};

struct Shape {
  std::uint32_t blocks, threads;
  std::uint32_t cluster = 1;
};

/// What a launch leaves, as text: its memory's digest, its operations, and its error.
struct Left {
  std::vector<std::uint64_t> memory;
  std::uint64_t operations = 0;
  std::string error;
  friend bool operator==(const Left&, const Left&) = default;
};

constexpr std::size_t inputs = 4096;  // wides

/// Values of which most are special for some type.
std::vector<std::uint64_t> make_inputs() {
  std::istringstream words(
      "0 1 80000000 7fffffff ffffffff 7f800000 ff800000 7fc00001 7f800001 00800000 007fffff 80000001 3f800000 "
      "bf800000 1f 20 21 40 7ff0000000000000 7ff8000000000001 8000000000000000 4f000000 cf000000 4effffff "
      "3ff0000000000000 000fffffffffffff 7ff0000000000001 ff");
  words >> std::hex;
  const std::vector<std::uint64_t> special{std::istream_iterator<std::uint64_t>(words), {}};
  std::mt19937_64 random(20261129);
  std::vector<std::uint64_t> values(inputs);
  for (std::uint64_t& value : values) {
    const std::uint64_t choice = random();
    value = choice % 4 == 0   ? special[choice / 4 % special.size()]
            : choice % 4 == 1 ? special[choice / 4 % special.size()] << 32 | special[choice / 256 % special.size()]
            : choice % 4 == 2 ? random() % 70
                              : random();
  }
  return values;
}

Left run(const Module& module, const Shape& shape, code::CompileProgram compile, const LaunchOptions& options = {}) {
  const Compiling compiling(compile);
  DeviceMemory memory;
  const std::uint64_t in = memory.allocate(make_inputs(), "in"), out = memory.allocate(8 * inputs, "out");
  Left left;
  try {
    const Kernel kernel(module, "k");
    left.operations =
        launch(kernel, {.grid = {shape.blocks}, .block = {shape.threads}, .cluster = {shape.cluster}}, memory, {in, out}, options)
            .operations;
  } catch (const std::exception& error) {
    left.error = error.what();
  }
  left.memory = memory.read<std::uint64_t>(out, inputs);
  return left;
}

/// A kernel whose threads have their numbers in %i, wides in %a, %b, %c, and the address of a wide of their own in %out.
Module kernel_of(const std::string& body, const std::string& before = "") {
  return module_of(".param .u64 in, .param .u64 out", R"(
    .reg .b32 %r<40>, %i, %t, %n; .reg .b64 %l<40>, %in, %out, %a, %b, %c, %d; .reg .b16 %h<20>; .reg .pred %p<20>; .reg .f32 %f<20>;
    .reg .f64 %g<20>; .reg .b32 %w, %x, %y, %z;
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
    mov.u32 %t, %tid.x; mov.u32 %r0, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %i, %r0, %n, %t;
    mul.wide.u32 %l0, %i, 8; add.u64 %l1, %in, %l0; add.u64 %out, %out, %l0;
    ld.global.u64 %a, [%l1]; ld.global.u64 %b, [%l1+8]; ld.global.u64 %c, [%l1+16]; mov.u64 %d, 5;
    cvt.u32.u64 %x, %a; cvt.u32.u64 %y, %b; cvt.u32.u64 %z, %c; mov.u32 %w, 9; and.b32 %r1, %i, 3; setp.eq.u32 %p1, %r1, 1;
)" + body + R"(
    st.global.u64 [%out], %d;
    ret;
)",
                   "sm_90", before);
}

void check_same(const Module& module, const Shape& shape, const LaunchOptions& options = {}) {
  const Left interpreted = run(module, shape, nullptr, options);
  for (const code::CompileProgram compile : compilers()) {
    const Left compiled = run(module, shape, compile, options);
    CHECK(compiled.error == interpreted.error);
    CHECK(compiled.operations == interpreted.operations);
    CHECK((compiled.memory == interpreted.memory));
  }
}

constexpr Shape whole{40, 64}, partial{37, 50}, more_warps{30, 128}, clusters{36, 64, 4};

}  // namespace

TEST_CASE("scalar statements as machine code give the interpreter's bits", "[machine_code]") {
  const std::vector<const char*> integers32{"u32", "s32"}, integers64{"u64", "s64"}, bits32{"b32"}, bits64{"b64"};
  std::vector<std::pair<std::string, bool>> statements;  // and whether the result is wide
  const auto add = [&](const std::string& opcode, const std::vector<const char*>& types, int sources, bool wide) {
    const char* const operands[] = {"", "{0}", "{0}, {1}", "{0}, {1}, {2}"};
    for (const char* type : types) {
      const bool f32 = type[0] == 'f' && type[1] == '3', f64 = type[0] == 'f' && !f32;
      const std::string text = fmt::format(fmt::runtime(operands[sources]),
                                           f32    ? "%f1"
                                           : f64  ? "%g1"
                                           : wide ? "%a"
                                                  : "%x",
                                           f32    ? "%f2"
                                           : f64  ? "%g2"
                                           : wide ? "%b"
                                                  : "%y",
                                           f32    ? "%f3"
                                           : f64  ? "%g3"
                                           : wide ? "%c"
                                                  : "%z");
      const std::string result = f32 ? "%f0" : f64 ? "%g0" : wide ? "%d" : "%w";
      statements.push_back({fmt::format("GUARD {}.{} {}, {};", opcode, type, result, text), wide || f64});
    }
  };
  for (const char* opcode : {"add", "sub", "mul.lo", "mul.hi", "min", "max", "div", "rem"}) {
    add(opcode, integers32, 2, false);
    add(opcode, integers64, 2, true);
  }
  for (const char* opcode : {"and", "or", "xor"}) {
    add(opcode, bits32, 2, false);
    add(opcode, bits64, 2, true);
  }
  add("not", bits32, 1, false);
  add("not", bits64, 1, true);
  for (const char* opcode : {"abs", "neg"}) {
    add(opcode, {"s32"}, 1, false);
    add(opcode, {"s64"}, 1, true);
  }
  add("mad.lo", integers32, 3, false);
  add("mad.lo", integers64, 3, true);
  for (const char* opcode : {"add", "sub", "mul", "div.rn", "min", "max", "add.ftz", "mul.ftz", "add.sat", "add.rz", "mul.rm", "sub.rp",
                             "max.NaN", "div.approx"})
    add(opcode, {"f32"}, 2, false);
  for (const char* opcode : {"neg", "abs", "sqrt.rn", "rcp.rn", "ex2.approx", "sin.approx", "neg.ftz"}) add(opcode, {"f32"}, 1, false);
  for (const char* opcode : {"fma.rn", "fma.rn.ftz", "fma.rz", "fma.rm", "fma.rp"}) add(opcode, {"f32"}, 3, false);
  for (const char* opcode : {"add", "sub", "mul", "div.rn", "min", "max", "add.rz"}) add(opcode, {"f64"}, 2, true);
  for (const char* opcode : {"sqrt.rn", "rcp.rn", "neg", "abs"}) add(opcode, {"f64"}, 1, true);
  add("fma.rn", {"f64"}, 3, true);
  const char* const narrow_statements = R"(
    shl.b32 %w, %x, %y; shr.u32 %w, %x, %y; shr.s32 %w, %x, %y; shl.b32 %w, %x, 7; lop3.b32 %w, %x, %y, %z, 0x5a; popc.b32 %w, %x;
    prmt.b32 %w, %x, %y, 0x5140; bfe.u32 %w, %x, %y, %z; shf.l.wrap.b32 %w, %x, %y, %z; shf.l.clamp.b32 %w, %x, %y, %z;
    shf.r.wrap.b32 %w, %x, %y, %z; shf.r.clamp.b32 %w, %x, %y, %z; cvt.rn.f32.s32 %f0, %x; cvt.rn.f32.u32 %f0, %x;
    cvt.rzi.s32.f32 %w, %f1; cvt.rni.s32.f32 %w, %f1; cvt.rzi.u32.f32 %w, %f1; cvt.rzi.ftz.s32.f32 %w, %f1; cvt.rn.f32.f64 %f0, %g1;
    selp.b32 %w, %x, %y, %p1; selp.f32 %f0, %f1, %f2, %p1; cvt.u32.u64 %w, %b; mov.u32 %w, %x; mov.u32 %w, %laneid;
    mov.u32 %w, %nctaid.x; mov.u32 %w, %lanemask_eq; mov.u32 %w, %lanemask_le; mov.u32 %w, %lanemask_lt; mov.u32 %w, %lanemask_ge;
    mov.u32 %w, %lanemask_gt; add.u16 %h0, %h1, %h2; sub.u16 %h0, %h1, %h2; mul.lo.u16 %h0, %h1, %h2; and.b16 %h0, %h1, %h2;
    xor.b16 %h0, %h1, %h2; setp.lt.s16 %p2, %h1, %h2; setp.lt.u16 %p2, %h1, %h2; cvt.u16.u8 %h0, %h1; cvt.s16.s8 %h0, %h1;
    cvt.u16.u32 %h0, %x; cvt.s32.s16 %w, %h1; cvt.u32.u16 %w, %h1; cvt.s32.s8 %w, %x; cvt.u32.u8 %w, %x; mov.b64 {%w, %r5}, %a;
    mov.b64 {_, %w}, %a; mov.b32 {%h0, %h1}, %x; mov.b32 {%h0, _}, %x; mov.b32 %w, {%h1, %h2}; cvt.f32.f16 %f0, %h1; cvt.f32.bf16 %f0, %h1;
    cvt.rn.f16.f32 %h0, %f1; cvt.rn.bf16.f32 %h0, %f1; cvt.rz.bf16.f32 %h0, %f1; cvt.sat.f32.f32 %f0, %f1; cvt.sat.ftz.f32.f32 %f0, %f1; cvt.rn.relu.f16.f32 %h0, %f1; cvt.rn.satfinite.f16.f32 %h0, %f1;
    setp.ltu.f64 %p2, %g1, %g2; setp.nan.f64 %p2, %g1, %g2; setp.lt.s32 %p2, %x, %y; setp.hs.u32 %p2, %x, %y; setp.ne.b32 %p2, %x, %y;
    setp.ge.s64 %p2, %a, %b; setp.lt.u64 %p2, %a, %b; setp.lt.f32 %p2, %f1, %f2; setp.geu.f32 %p2, %f1, %f2; setp.nan.f32 %p2, %f1, %f2;
    setp.num.f32 %p2, %f1, %f2; setp.neu.f32 %p2, %f1, %f2; setp.eq.ftz.f32 %p2, %f1, %f2; setp.gt.f64 %p2, %g1, %g2;
    setp.lt.and.s32 %p2, %x, %y, %p1; setp.lt.s32 %p2|%p3, %x, %y; and.pred %p2, %p1, %p4; or.pred %p2, %p1, %p4;
    xor.pred %p2, %p1, %p4; not.pred %p2, %p1;)";
  const char* const wide_statements = R"(
    shl.b64 %d, %a, %y; shr.u64 %d, %a, %y; shr.s64 %d, %a, %y; mul.wide.u32 %d, %x, %y; mul.wide.s32 %d, %x, %y;
    mad.wide.u32 %d, %x, %y, %c; mad.wide.s32 %d, %x, %y, %c; cvt.u64.u32 %d, %x; cvt.s64.s32 %d, %x; selp.b64 %d, %a, %b, %p1;
    mov.u64 %d, %a; mov.b64 %d, {%x, %y}; cvt.f64.f32 %g0, %f1; cvt.rn.f64.s32 %g0, %x; cvt.rn.f64.u32 %g0, %x;)";
  for (const bool wide : {false, true}) {
    std::istringstream in(wide ? wide_statements : narrow_statements);
    for (std::string statement; std::getline(in >> std::ws, statement, ';');) statements.push_back({"GUARD " + statement + ";", wide});
  }
  CHECK(statements.size() > 110);
  const std::string before = R"(
    mov.b32 %f0, %w; mov.b32 %f1, %x; mov.b32 %f2, %y; mov.b32 %f3, %z; mov.b64 %g0, %d; mov.b64 %g1, %a; mov.b64 %g2, %b; mov.b64 %g3, %c;
    setp.gt.u32 %p2, %x, 3; setp.lt.s32 %p4, %y, %z; setp.lt.s32 %p3, %z, %x;
    cvt.u16.u32 %h1, %x; cvt.u16.u32 %h2, %y; mov.b16 %h0, 3; mov.b32 %r5, 0;
)";
  const std::string behind = R"(
    cvt.u32.u16 %r6, %h0; add.u32 %w, %w, %r6; add.u32 %w, %w, %r5;
    selp.u32 %r2, 77, 0, %p2; selp.u32 %r3, 1000, 0, %p3; mov.b32 %r4, %f0; xor.b32 %w, %w, %r2; add.u32 %w, %w, %r3;
    mov.b64 %l3, %g0; xor.b64 %d, %d, %l3; mov.b64 %l4, {%w, %r4}; add.u64 %d, %d, %l4;
)";
  // registers that are the same in all lanes
  const std::string same = R"(
    mov.u32 %x, %ctaid.x; mad.lo.u32 %x, %x, 0x9e3779b9, 0x7f800001; mov.u32 %y, %ntid.x; sub.u32 %y, 30, %y; mov.u32 %z, 0xff800000; mov.u32 %w, %x;
    cvt.u64.u32 %a, %x; shl.b64 %a, %a, 31; mov.u64 %b, 0x7ff0000000000000; cvt.s64.s32 %c, %y; mov.u64 %d, %c;
)";
  for (const auto& [statement, wide] : statements)
    for (const char* guard : {"", "@%p1 ", "@!%p4 "})
      for (const std::string& registers : {std::string(), same}) {
        const std::string text = registers + before + guard + statement.substr(6);
        INFO(text);
        check_same(kernel_of(text + behind), whole);
      }
}

TEST_CASE("accesses, branches and barriers as machine code do what the interpreter does", "[machine_code]") {
  const char* const shared =
      ".shared .align 16 .b8 tile[4224]; .shared .align 4 .b8 odd[36]; .shared .align 16 .b8 more[512];\n"
      ".const .align 16 .u32 digits[8] = {3, 1, 4, 1, 5, 9, 2, 6};\n"
      ".func (.param .b64 result) twice(.param .b64 given) { .reg .b64 %q<2>; .local .b32 aside; ld.param.b64 %q0, [given];"
      "st.local.u32 [aside], %q0; add.u64 %q1, %q0, %q0; st.param.b64 [result], %q1; ret; }\n";
  const char* const bodies[] = {
      // rows, single words, and scattered words, whole and by some lanes
      "mov.u32 %r2, tile; shl.b32 %r3, %t, 2; add.u32 %r4, %r2, %r3; st.shared.u32 [%r4], %x; bar.sync 0; ld.shared.u32 %r5, [tile+8];"
      "xor.b32 %r6, %r3, 124; add.u32 %r6, %r6, %r2; ld.shared.u32 %r7, [%r6]; mov.b64 %d, {%r5, %r7};",
      "mov.u32 %r2, tile; mul.lo.u32 %r3, %t, 132; rem.u32 %r3, %r3, 4224; add.u32 %r4, %r2, %r3; st.shared.u32 [%r4], %x; bar.sync 0;"
      "ld.shared.u32 %r5, [%r4]; cvt.u64.u32 %d, %r5;",
      "mov.u32 %r2, tile; shl.b32 %r3, %t, 2; add.u32 %r4, %r2, %r3; st.shared.u32 [%r4+4], %x; @%p1 st.shared.u32 [%r4+4], %y; bar.sync 0;"
      "@!%p1 ld.shared.u32 %w, [%r4+4]; cvt.u64.u32 %d, %w;",
      "mov.u32 %r2, odd; and.b32 %r3, %t, 7; shl.b32 %r3, %r3, 2; add.u32 %r4, %r2, %r3; st.shared.u32 [%r4], %t; bar.sync 0;"
      "ld.shared.u32 %r5, [%r4]; cvt.u64.u32 %d, %r5;",
      // words that some lanes have stored, by the check's map; and what a value of none of them makes of others
      "mov.u32 %r2, more; shl.b32 %r3, %t, 2; add.u32 %r4, %r2, %r3; @%p1 st.shared.u32 [%r4], %x; bar.sync 0; ld.shared.u32 %r5, [%r4];"
      "setp.eq.u32 %p5, %r5, 7; @%p5 add.u64 %d, %d, 1;",
      "mov.u32 %r2, more; and.b32 %r3, %t, 31; shl.b32 %r3, %r3, 2; add.u32 %r4, %r2, %r3; st.shared.u32 [%r4+256], %x; @%p1 st.shared.u32 "
      "[%r4], %y; bar.sync 0; ld.shared.u32 %r5, [%r4]; st.shared.u32 [%r4+256], %r5; @!%p1 st.shared.u32 [%r4+256], %z; bar.sync 0;"
      "ld.shared.u32 %r6, [%r4+256]; cvt.u64.u32 %d, %r6; @%p1 ld.shared.u32 %r7, [%r4]; @!%p1 ld.shared.u32 %r7, [%r4+128];"
      "cvt.u64.u32 %l5, %r7; add.u64 %d, %d, %l5;",
      // registers that were the same in all lanes until the machine wrote them in some
      "mov.u32 %r3, 77; mov.u64 %l5, 78; @%p1 ld.volatile.global.u32 %r3, [%l1]; @!%p1 ld.volatile.global.u64 %l5, [%l1];"
      "cvt.u64.u32 %d, %r3; add.u64 %d, %d, %l5;",
      // updates
      "mov.u32 %r2, more; shl.b32 %r3, %t, 2; add.u32 %r4, %r2, %r3; st.shared.u32 [%r4], 0; bar.sync 0; and.b32 %r5, %x, 60;"
      "add.u32 %r5, %r5, %r2; red.shared.add.u32 [%r5], %t; @%p1 red.shared.add.u32 [%r5+64], 3; bar.sync 0; ld.shared.u32 %r6, [%r4];"
      "atom.shared.max.u32 %r7, [%r5], %y; cvt.u64.u32 %d, %r6;",
      "mov.u32 %r2, more; shl.b32 %r3, %t, 2; add.u32 %r4, %r2, %r3; st.shared.u32 [%r4], %x; bar.sync 0; and.b32 %r5, %y, 60;"
      "add.u32 %r5, %r5, %r2; red.shared.max.s32 [%r5], %y; @%p1 red.shared.max.s32 [%r5], %z; red.shared.min.u32 [%r5+64], %z;"
      "bar.sync 0; ld.shared.u32 %r6, [%r4]; cvt.u64.u32 %d, %r6;",
      "mov.u32 %r2, more; shl.b32 %r3, %t, 2; add.u32 %r4, %r2, %r3; st.shared.u32 [%r4], %x; bar.sync 0; and.b32 %r5, %y, 60;"
      "add.u32 %r5, %r5, %r2; red.shared.and.b32 [%r5], %y; @%p1 red.shared.or.b32 [%r5+64], %z; bar.sync 0; ld.shared.u32 %r6, [%r4];"
      "cvt.u64.u32 %d, %r6;",
      "sub.u64 %l6, %out, %l0; and.b32 %r2, %x, 15; mul.wide.u32 %l5, %r2, 8; add.u64 %l6, %l6, %l5; red.global.max.u64 [%l6+24576], %a;"
      "@%p1 red.global.min.s64 [%l6+24704], %a; red.global.or.b32 [%l6+24832], %x; @%p1 red.global.and.b64 [%l6+24960], %b;"
      "red.global.max.s32 [%l6+25088], %y; red.global.min.u32 [%l6+25216], %x; ret;",
      "rem.u32 %r2, %x, 64; mul.wide.u32 %l5, %r2, 8; add.u64 %l6, %out, %l5; sub.u64 %l6, %l6, %l0; red.global.add.u32 [%l6], 1;"
      "bar.sync 0; mov.u64 %d, %a; sub.u64 %out, %out, %l0; add.u64 %out, %out, %l0;"
      "setp.lt.u32 %p5, %i, 4000; @!%p5 ret;",
      // global memory: some lanes, other directions, wides, bytes, vectors
      "@%p1 ld.global.u64 %d, [%l1+24];",
      "xor.b32 %r2, %i, 31; mul.wide.u32 %l5, %r2, 8; add.u64 %l6, %in, %l5; ld.global.u64 %d, [%l6]; @%p1 ld.global.u32 %w, [%l6+4];"
      "cvt.u64.u32 %l7, %w; add.u64 %d, %d, %l7;",
      "mul.lo.u32 %r2, %i, 77; rem.u32 %r2, %r2, 4000; mul.wide.u32 %l5, %r2, 8; add.u64 %l6, %in, %l5; ld.global.u64 %d, [%l6];"
      "ld.global.u32 %r3, [%l6+4]; @%p1 ld.global.u32 %r3, [%l6]; @!%p1 ld.global.u64 %l7, [%l6+8]; cvt.u64.u32 %l8, %r3; xor.b64 %d, %d, "
      "%l8;"
      "@!%p1 xor.b64 %d, %d, %l7;",
      "mul.wide.u32 %l5, %i, 16; sub.u64 %l6, %out, %l0; add.u64 %l6, %l6, %l5; setp.gt.u32 %p5, %i, 2000; @%p5 ret; st.global.u64 [%l6], "
      "%a;"
      "st.global.u32 [%l6+8], %x; @%p1 st.global.u32 [%l6+12], %y; ret;",
      "shr.u32 %r2, %i, 1; mul.wide.u32 %l5, %r2, 8; sub.u64 %l6, %out, %l0; add.u64 %l6, %l6, %l5; st.global.u64 [%l6], %a; ret;",
      "ld.global.u8 %r2, [%l1+3]; ld.global.s16 %r3, [%l1+2]; ld.global.v2.u32 {%r4, %r5}, [%l1]; add.u32 %r2, %r2, %r3; xor.b32 %r4, %r4, "
      "%r5;"
      "mov.b64 %d, {%r2, %r4};",
      "mul.wide.u32 %l5, %i, 4; sub.u64 %l6, %out, %l0; add.u64 %l6, %l6, %l5; st.global.u32 [%l6], %x; setp.gt.u32 %p5, %x, 99; @%p5 ret;"
      "@%p1 st.global.u32 [%l6], %y; ret;",
      "mul.wide.u32 %l5, %i, 4; and.b32 %r2, %x, 3; mul.wide.u32 %l7, %r2, 4; sub.u64 %l6, %out, %l0; add.u64 %l6, %l6, %l5; and.b64 %l6, "
      "%l6,"
      "-16; add.u64 %l6, %l6, %l7; st.global.u32 [%l6], %t; @%p1 st.global.u32 [%l6+16384], %i; and.b64 %l6, %l6, -16; @%p1 st.global.u8"
      "[%l6+3], %y; cvt.u16.u32 %h1, %z; st.global.u16 [%l6+6], %h1; st.global.v2.u32 [%l6+8], {%x, %t};"
      "@!%p1 st.global.v4.u32 [%l6+16384], {%x, %y, %z, %t}; st.global.v2.f64 [%l6+8192], {%a, %b}; ret;",
      "and.b32 %r2, %y, 4092; cvt.u64.u32 %l5, %r2; add.u64 %l6, %in, %l5; ld.global.v4.u8 {%r3, %r4, %r5, %r6}, [%l6]; ld.global.s8 %r7, "
      "[%l6+1];"
      "@%p1 ld.global.v2.s8 {%r8, %r9}, [%l6+2]; mov.b32 %r8, 1; mov.b32 %r9, 2; @!%p1 ld.global.v2.u16 {%r8, %r9}, [%l6]; ld.global.s16 "
      "%h1, "
      "[%l6+2]; cvt.u32.u16 %r10, %h1; ld.global.s8 %h2, [%l6+3]; cvt.u32.u16 %r11, %h2; mad.lo.u32 %r3, %r3, 31, %r4; mad.lo.u32 %r3, "
      "%r3, 31,"
      "%r5; mad.lo.u32 %r3, %r3, 31, %r6; mad.lo.u32 %r3, %r3, 31, %r7; mad.lo.u32 %r3, %r3, 31, %r8; mad.lo.u32 %r3, %r3, 31, %r9;"
      "mad.lo.u32 %r3, %r3, 31, %r10; mad.lo.u32 %r3, %r3, 31, %r11; mov.b64 %d, {%r3, %r11};",
      "and.b64 %l5, %b, 16368; add.u64 %l6, %in, %l5; ld.global.v2.u64 {%l7, %l8}, [%l6]; add.u64 %d, %l7, %l8; mov.b32 %r3, 5;"
      "@%p1 ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%l6]; @%p1 add.u32 %r3, %r3, %r6; cvt.u64.u32 %l7, %r3; xor.b64 %d, %d, %l7;",
      "add.u64 %l6, %in, 32767; setp.eq.u32 %p5, %i, 40; selp.b64 %l6, %l6, %l1, %p5; ld.global.u8 %r3, [%l6]; cvt.u64.u32 %d, %r3;",
      "sub.u64 %l6, %out, %l0; and.b32 %r2, %x, 15; mul.wide.u32 %l5, %r2, 8; add.u64 %l6, %l6, %l5; red.global.add.u64 [%l6+24576], %a;"
      "@%p1 red.global.add.u32 [%l6+24580], %t; ret;",
      // one element for all lanes, for 16 of them, and rows of 16, as of blocks of 16 x 16 threads
      "mul.wide.u32 %l5, %r0, 8; add.u64 %l6, %in, %l5; ld.global.u64 %d, [%l6]; ld.global.u32 %r2, [%l6+4]; @%p1 ld.global.u32 %r2, [%l6];"
      "cvt.u64.u32 %l5, %r2; xor.b64 %d, %d, %l5;",
      "mul.wide.u32 %l5, %r0, 1024; add.u64 %l6, %in, %l5; ld.global.u32 %r2, [%l6]; ld.global.u64 %d, [%l6+512];",
      "and.b32 %r2, %t, 15; shr.u32 %r3, %t, 4; mul.wide.u32 %l5, %r2, 4; add.u64 %l6, %in, %l5; ld.global.u32 %r4, [%l6]; mul.wide.u32 "
      "%l7, %r3,"
      "4; add.u64 %l7, %l7, %in; ld.global.u32 %r5, [%l7+64]; shr.u32 %r3, %t, 3; and.b32 %r2, %t, 7; mul.wide.u32 %l5, %r2, 8; add.u64 "
      "%l6, "
      "%in, %l5; ld.global.u64 %d, [%l6+8]; mul.wide.u32 %l7, %r3, 8; add.u64 %l7, %l7, %in; ld.global.u64 %l8, [%l7+64]; add.u64 %d, %d, "
      "%l8;"
      "add.u64 %l7, %l7, %l5; ld.global.u64 %l8, [%l7]; add.u64 %d, %d, %l8; mov.b64 %l8, {%r4, %r5}; xor.b64 %d, %d, %l8;",
      "and.b32 %r2, %t, 15; sub.u64 %l6, %out, %l0; mul.wide.u32 %l5, %r2, 4; add.u64 %l5, %l6, %l5; mul.wide.u32 %l7, %r0, 256; add.u64 "
      "%l7, %l5, %l7; st.global.u32 [%l7], %t; and.b32 %r3, %t, 7; mul.wide.u32 %l5, %r3, 8; add.u64 %l6, %l6, %l5; mul.wide.u32 %l7, %r0,"
      "256; add.u64 %l6, %l6, %l7; st.global.u64 [%l6+64], %l0; shr.u32 %r3, %t, 4; mul.wide.u32 %l5, %r3, 32; add.u64 %l6, %l6, %l5;"
      "st.global.u64 [%l6+8192], %l0; ret;",
      // words in registers of 64 bits
      "ld.global.s32 %d, [%l1+4]; @%p1 ld.global.u32 %d, [%l1+12]; and.b64 %l5, %b, 4092; add.u64 %l6, %in, %l5; ld.global.s32 %l7, [%l6];"
      "add.u64 %d, %d, %l7; st.global.u32 [%out], %c; @!%p1 st.global.u32 [%out+4], %a; ld.global.s32 %l7, [%out]; ld.global.u32 %l8, "
      "[%out];"
      "mad.lo.u64 %d, %l7, %l8, %d;",
      // vectors of words one behind another, in rows and apart, whole and by some lanes
      "mul.wide.u32 %l5, %t, 16; add.u64 %l6, %in, %l5; ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%l6+32]; mul.wide.u32 %l7, %t, 8; add.u64 "
      "%l7, "
      "%in, %l7; ld.global.v2.f32 {%f1, %f2}, [%l7+8]; mov.u32 %r8, tile; shl.b32 %r9, %t, 4; add.u32 %r10, %r8, %r9; st.shared.v4.u32 "
      "[%r10], "
      "{%r5, %x, %r3, %r2}; bar.sync 0; xor.b32 %r9, %r9, 64; add.u32 %r11, %r8, %r9; ld.shared.v4.u32 {%r12, %r13, %r14, %r15}, [%r11];"
      "ld.shared.v4.u32 {%r16, %r17, %r18, %r19}, [%r10]; ld.shared.v2.u32 {%r20, %r21}, [%r10+8]; shl.b32 %r9, %t, 3; add.u32 %r11, %r8, "
      "%r9;"
      "ld.shared.v2.u32 {%r22, %r23}, [%r11]; bar.sync 0; st.shared.v2.u32 [%r11], {%y, %t}; @%p1 st.shared.v4.u32 [%r10], {%z, %t, %y, "
      "%x};"
      "bar.sync 0; ld.shared.v2.u32 {%r24, %r25}, [%r11]; mov.b32 %r26, %f1; mov.b32 %r27, %f2; mad.lo.u32 %r2, %r2, 31, %r3; mad.lo.u32 "
      "%r2, "
      "%r2, 31, %r4; mad.lo.u32 %r2, %r2, 31, %r12; mad.lo.u32 %r2, %r2, 31, %r13; mad.lo.u32 %r2, %r2, 31, %r14; mad.lo.u32 %r2, %r2, 31, "
      "%r15;"
      "mad.lo.u32 %r2, %r2, 31, %r16; mad.lo.u32 %r2, %r2, 31, %r17; mad.lo.u32 %r2, %r2, 31, %r18; mad.lo.u32 %r2, %r2, 31, %r19; "
      "mad.lo.u32 "
      "%r2, %r2, 31, %r20; mad.lo.u32 %r2, %r2, 31, %r21; mad.lo.u32 %r2, %r2, 31, %r22; mad.lo.u32 %r2, %r2, 31, %r23; mad.lo.u32 %r2, "
      "%r2, 31, "
      "%r24; mad.lo.u32 %r2, %r2, 31, %r25; mad.lo.u32 %r2, %r2, 31, %r26; mad.lo.u32 %r2, %r2, 31, %r27; mov.b64 %d, {%r2, %r5};",
      "mul.wide.u32 %l5, %i, 16; sub.u64 %l6, %out, %l0; add.u64 %l6, %l6, %l5; setp.ge.u32 %p5, %i, 2048; @%p5 ret; st.global.v4.u32 "
      "[%l6], {%x, "
      "%y, %z, %t}; @%p1 st.global.v2.u32 [%l6+8], {%t, %x}; ret;",
      "sub.u64 %l6, %out, %l0; add.u64 %l6, %l6, %l0; st.global.v2.u32 [%l6], {%y, %i}; ret;",
      // constant memory
      "ld.const.u32 %r2, [digits+8]; and.b32 %r3, %x, 28; mov.u64 %l5, digits; cvt.u64.u32 %l6, %r3; add.u64 %l6, %l5, %l6; ld.const.u32 "
      "%r4, "
      "[%l6]; @%p1 ld.const.u32 %r4, [digits+4]; ld.const.v2.u32 {%r5, %r6}, [digits+16]; and.b32 %r7, %r0, 7; mul.wide.u32 %l7, %r7, 4;"
      "add.u64 %l7, %l7, %l5; ld.const.u32 %r8, [%l7]; ld.const.u8 %r9, [%l6]; mad.lo.u32 %r2, %r2, 31, %r4; mad.lo.u32 %r2, %r2, 31, %r5;"
      "mad.lo.u32 %r2, %r2, 31, %r6; mad.lo.u32 %r2, %r2, 31, %r8; mov.b64 %d, {%r2, %r9};",
      "mov.u64 %l5, digits; mul.wide.u32 %l7, %r0, 4; add.u64 %l7, %l7, %l5; ld.const.u32 %r2, [%l7]; cvt.u64.u32 %d, %r2;",
      // local memory: each lane's own, by constant addresses and others, of all sizes, in functions, outside, misaligned
      ".local .align 16 .b8 own[67]; mov.u64 %l5, own; st.local.v4.u32 [own], {%x, %y, %z, %t}; st.local.u64 [%l5+16], %a; and.b32 %r2, "
      "%x, 28;"
      "cvt.u64.u32 %l6, %r2; add.u64 %l6, %l6, %l5; st.local.u32 [%l6+32], %y; @%p1 st.local.u16 [%l6+34], %t; ld.local.u32 %r3, [%l6];"
      "@!%p1 ld.local.u32 %r3, [%l6+32]; st.local.u8 [own+66], %z; ld.local.s8 %r4, [own+66]; ld.local.v2.u64 {%l7, %l8}, [own]; @%p1 "
      "ld.local.u8 "
      "%r4, [%l6+3]; ld.local.u64 %d, [own+16]; xor.b64 %d, %d, %l7; add.u64 %d, %d, %l8; mov.b64 %l8, {%r3, %r4}; add.u64 %d, %d, %l8;",
      "{ .param .b64 g; .param .b64 r; st.param.b64 [g], %a; call.uni (r), twice, (g); ld.param.b64 %d, [r]; }"
      "@%p1 bra ONCE; { .param .b64 g; .param .b64 r; st.param.b64 [g], %d; call (r), twice, (g); ld.param.b64 %d, [r]; } ONCE:",
      ".local .align 8 .b8 own[64]; mov.u64 %l5, own; setp.eq.u32 %p5, %i, 1500; @%p5 add.u64 %l5, %l5, 4096; st.local.u32 [%l5], %x;"
      "ld.local.u32 %w, [%l5]; cvt.u64.u32 %d, %w;",
      ".local .align 8 .b8 own[64]; mov.u64 %l5, own; setp.eq.u32 %p5, %i, 1500; @%p5 add.u64 %l5, %l5, 2; ld.local.u32 %w, [%l5];",
      // other sizes in shared memory, of which some bytes have not been written before
      "mov.u32 %r2, tile; shl.b32 %r3, %t, 3; add.u32 %r4, %r2, %r3; st.shared.u64 [%r4], %a; bar.sync 0; xor.b32 %r5, %r3, 120; add.u32 "
      "%r5, "
      "%r5, %r2; ld.shared.u64 %d, [%r5]; @%p1 ld.shared.s8 %w, [%r5+5]; ld.shared.v2.u16 {%r6, %r7}, [%r5+4]; cvt.u64.u32 %l5, %w; add.u64"
      "%d, %d, %l5; cvt.u64.u32 %l5, %r7; add.u64 %d, %d, %l5;",
      "mov.u32 %r2, tile; shl.b32 %r3, %t, 4; add.u32 %r4, %r2, %r3; @%p1 st.shared.u8 [%r4+1], %x; @!%p1 st.shared.u8 [%r4+1], %y;"
      "st.shared.v2.u32 [%r4+8], {%x, %z}; cvt.u16.u32 %h1, %z; st.shared.u16 [%r4+2], %h1; bar.sync 0; ld.shared.u8 %r5, [%r4+1];"
      "ld.shared.s16 %r6, [%r4+2]; ld.shared.v2.u32 {%r7, %r8}, [%r4+8]; add.u32 %r5, %r5, %r6; add.u32 %r7, %r7, %r8; mov.b64 %d, {%r5, "
      "%r7};",
      "mov.u32 %r2, tile; and.b32 %r3, %x, 124; add.u32 %r4, %r2, %r3; shl.b32 %r5, %t, 2; add.u32 %r5, %r5, %r2; st.shared.u32 [%r5], 7;"
      "st.shared.u32 [%r5+128], 8; bar.sync 0; st.shared.u32 [%r4], %t; @%p1 st.shared.u32 [%r4+128], %t; bar.sync 0; ld.shared.u32 %r6, "
      "[%r5];"
      "ld.shared.u32 %r7, [%r5+128]; mov.b64 %d, {%r6, %r7};",
      "mov.u32 %r2, tile; shl.b32 %r3, %t, 4; add.u32 %r4, %r2, %r3; st.shared.u16 [%r4], %h3; ld.shared.u32 %r5, [%r4]; cvt.u64.u32 %d, "
      "%r5;",
      // rows of wides and of vectors: initialised by them or by some lanes, from other rows on, beyond the end, one lane misaligned
      "mov.u32 %r2, tile; shl.b32 %r3, %t, 3; add.u32 %r4, %r2, %r3; st.shared.u64 [%r4+8], %a; bar.sync 0; ld.shared.u64 %d, [%r4+8];"
      "@%p1 st.shared.u64 [%r4+1024], %b; bar.sync 0; ld.shared.v2.u32 {%r5, %r6}, [%r4+8]; mov.b64 %l5, {%r6, %r5}; add.u64 %d, %d, %l5;"
      "setp.eq.u32 %p5, %r0, 3; @%p5 bra TAKE; ret; TAKE: ld.shared.u64 %l6, [%r4+1024]; add.u64 %d, %d, %l6;",
      "mov.u32 %r2, tile; shl.b32 %r3, %t, 4; add.u32 %r4, %r2, %r3; st.shared.v4.u32 [%r4+2096], {%x, %y, %z, %t}; bar.sync 0;"
      "ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r4+2096]; xor.b32 %r5, %r5, %r7; mov.b64 %d, {%r5, %r6};",
      "mov.u32 %r2, tile; shl.b32 %r3, %t, 4; setp.eq.u32 %p5, %i, 1500; @%p5 add.u32 %r3, %r3, 2; add.u32 %r4, %r2, %r3;"
      "st.shared.v4.u32 [%r4], {%x, %y, %z, %t};",
      "mov.u32 %r2, tile; shl.b32 %r3, %t, 3; setp.eq.u32 %p5, %i, 1500; add.u32 %r4, %r2, %r3; st.shared.v2.u32 [%r4], {%x, %y}; bar.sync "
      "0;"
      "@%p5 add.u32 %r4, %r4, 1; ld.shared.u64 %d, [%r4];",
      // NaNs that statement after statement passes on, read as bits at the end, before, and by some lanes
      "mov.b32 %f1, %x; mov.b32 %f2, %y; mov.b32 %f3, %z; add.f32 %f4, %f1, %f2; mul.f32 %f5, %f4, %f3; fma.rn.f32 %f6, %f5, %f4, %f1;"
      "neg.f32 %f7, %f6; max.f32 %f8, %f7, %f2; @%p1 sub.f32 %f5, %f8, %f3; abs.f32 %f9, %f5; setp.nan.f32 %p5, %f9, %f8; min.f32 %f10, "
      "%f9,"
      "%f8; selp.f32 %f11, %f10, %f7, %p5; ex2.approx.f32 %f12, %f7; add.f32 %f13, %f12, %f11; mov.b32 %r2, %f4; mov.b32 %r3, %f13;"
      "cvt.rzi.s32.f32 %r4, %f7; xor.b32 %r2, %r2, %r4; shfl.sync.bfly.b32 %r5, %f10, 3, 31, -1; xor.b32 %r3, %r3, %r5; mov.b64 %d, {%r2, "
      "%r3};",
      // exchanges: masks that are constants, registers, and of half of the lanes
      "shfl.sync.up.b32 %r2|%p2, %x, %y, %z, -1; shfl.sync.down.b32 %r3|%p3, %x, 3, 0x101f, -1; shfl.sync.idx.b32 %r4, %x, %y, 0x181f, -1;"
      "selp.b32 %r5, 1, 2, %p2; selp.b32 %r6, 4, 8, %p3; add.u32 %r2, %r2, %r5; add.u32 %r3, %r3, %r6; xor.b32 %r2, %r2, %r4; mov.b64 %d, "
      "{%r2, %r3};",
      "and.b32 %r2, %r0, 1; setp.eq.u32 %p5, %r2, 1; setp.lt.u32 %p6, %t, 16; selp.b32 %r9, 0xffff, 0xffff0000, %p6; and.b32 %r3, %t, 16;"
      "setp.eq.u32 %p6, %r3, 0; selp.b32 %r9, 0xffff, 0xffff0000, %p6; selp.b32 %r9, %r9, -1, %p5; redux.sync.add.s32 %r4, %x, %r9;"
      "shfl.sync.bfly.b32 %r5, %y, 7, 31, %r9; bar.warp.sync %r9; vote.sync.ballot.b32 %r6, %p1, %r9; add.u32 %r5, %r5, %r6; mov.b64 %d, "
      "{%r4, %r5};",
      "setp.gt.s32 %p2, %x, -1; vote.sync.all.pred %p3, %p2, -1; vote.sync.any.pred %p4, %p2, -1; vote.sync.uni.pred %p5, %p2, -1;"
      "setp.ge.u32 %p2, %t, 0; vote.sync.all.pred %p6, %p2, -1; vote.sync.uni.pred %p7, %p2, -1; vote.sync.any.pred %p8, !%p2, -1;"
      "selp.b32 %r2, 1, 0, %p3; selp.b32 %r3, 2, 0, %p4; selp.b32 %r4, 4, 0, %p5; selp.b32 %r5, 8, 0, %p6; selp.b32 %r6, 16, 0, %p7;"
      "selp.b32 %r7, 32, 0, %p8; add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; add.u32 %r2, %r2, %r5; add.u32 %r2, %r2, %r6; add.u32 %r2, "
      "%r2, %r7;"
      "bar.warp.sync -1; cvt.u64.u32 %d, %r2;",
      "redux.sync.add.u32 %r2, %x, -1; redux.sync.min.u32 %r3, %x, -1; redux.sync.max.u32 %r4, %x, -1; redux.sync.min.s32 %r5, %x, -1;"
      "redux.sync.max.s32 %r6, %x, -1; redux.sync.and.b32 %r7, %x, -1; redux.sync.or.b32 %r8, %x, -1; redux.sync.xor.b32 %r9, %x, -1;"
      "mad.lo.u32 %r2, %r2, 31, %r3; mad.lo.u32 %r2, %r2, 31, %r4; mad.lo.u32 %r2, %r2, 31, %r5; mad.lo.u32 %r2, %r2, 31, %r6; mad.lo.u32 "
      "%r2, %r2,"
      "31, %r7; mad.lo.u32 %r2, %r2, 31, %r8; mad.lo.u32 %r2, %r2, 31, %r9; mov.b64 %d, {%r2, %r9};",
      // lanes that separate once, twice, in loops, and leave early
      "@%p1 bra ONE; add.u32 %w, %x, 3; mul.lo.u32 %w, %w, %y; bra BOTH; ONE: sub.u32 %w, %y, 1; BOTH: cvt.u64.u32 %d, %w;",
      "@%p1 bra SKIP; setp.gt.u32 %p5, %x, 50; @%p5 bra SKIP; add.u32 %w, %x, 77; SKIP: cvt.u64.u32 %d, %w;",
      "and.b32 %r2, %x, 15; LOOP: add.u32 %w, %w, %r2; setp.eq.u32 %p5, %r2, 0; @%p5 bra DONE; sub.u32 %r2, %r2, 1; bra LOOP; DONE:"
      "cvt.u64.u32 %d, %w;",
      "setp.gt.u32 %p5, %t, 20; @%p5 ret; mov.u64 %d, %b;",
      "setp.gt.u32 %p5, %i, 20; @%p5 bra END; mov.u64 %d, %b; END:",
      // barriers in loops, warps that leave before others wait, calls of the machine between
      "mov.u32 %r2, tile; shl.b32 %r3, %t, 2; add.u32 %r4, %r2, %r3; mov.u32 %r5, 6; AGAIN: st.shared.u32 [%r4], %x; bar.sync 0;"
      "xor.b32 %r6, %r3, 64; add.u32 %r6, %r6, %r2; setp.lt.u32 %p5, %t, 16; @%p5 ld.shared.u32 %r7, [tile+12]; @!%p5 mov.u32 %r7, %x;"
      "add.u32 %x, %x, %r7; bar.sync 0; sub.u32 %r5, %r5, 1; setp.ne.u32 %p6, %r5, 0; @%p6 bra AGAIN; cvt.u64.u32 %d, %x;",
      "setp.lt.u32 %p5, %t, 32; @%p5 ret; bar.sync 0; mov.u64 %d, %c;",
      "shfl.sync.bfly.b32 %r2, %x, 5, 31, -1; vote.sync.ballot.b32 %r3, %p1, -1; mov.b64 %d, {%r2, %r3};",
      "mov.u32 %r2, %clock; mov.u32 %r3, %clock; sub.u32 %r4, %r3, %r2; cvt.u64.u32 %d, %r4;",
      // more operations than a slice has
      "mov.u32 %r2, 3000; LONG: mad.lo.u32 %w, %w, %x, %y; sub.u32 %r2, %r2, 1; setp.ne.u32 %p5, %r2, 0; @%p5 bra LONG; cvt.u64.u32 %d, "
      "%w;",
      "and.b32 %r2, %x, 1023; SOME: setp.eq.u32 %p5, %r2, 0; @%p5 bra OVER; mad.lo.u32 %w, %w, %x, %y; sub.u32 %r2, %r2, 1; bra SOME; OVER:"
      "cvt.u64.u32 %d, %w;",
      // warps that race: their order is the same
      "mov.u32 %r2, more; st.shared.u32 [%r2], %t; ld.shared.u32 %r3, [%r2]; cvt.u64.u32 %d, %r3; bar.sync 0;"
      "ld.shared.u32 %r4, [%r2]; mov.b64 %d, {%r3, %r4};",
      "mov.u32 %r2, more; mov.u32 %r5, 0; shr.u32 %r6, %t, 5; st.shared.u32 [%r2], 0; bar.sync 0; TURN: st.shared.u32 [%r2], %r6; bar.sync "
      "0;"
      "ld.shared.u32 %r3, [%r2]; mad.lo.u32 %w, %w, 10, %r3; bar.sync 0; add.u32 %r5, %r5, 1; setp.lt.u32 %p5, %r5, 5; @%p5 bra TURN;"
      "cvt.u64.u32 %d, %w;",
      "mov.u32 %r2, more; st.shared.u32 [%r2], 0; bar.sync 0; atom.shared.add.u32 %r3, [%r2], 1; cvt.u64.u32 %d, %r3;",
      // volatile accesses: once, in a loop that they do not end, by some lanes, of other sizes, and a warp that waits for another one
      "mov.u32 %r2, tile; shl.b32 %r3, %t, 2; add.u32 %r4, %r2, %r3; st.volatile.shared.u32 [%r4], %x; bar.sync 0; xor.b32 %r5, %r3, 64;"
      "add.u32 %r5, %r5, %r2; ld.volatile.shared.u32 %r6, [%r5]; bar.sync 0; @%p1 st.volatile.shared.u32 [%r4], %r6; bar.sync 0;"
      "@%p1 ld.volatile.shared.u32 %w, [%r5]; mov.b64 %d, {%r6, %w};",
      "mov.u32 %r2, tile; shl.b32 %r3, %t, 2; add.u32 %r4, %r2, %r3; st.volatile.shared.u32 [%r4], %x; mov.u32 %r5, 7; SUM:"
      "ld.volatile.shared.u32 %r6, [%r4]; mad.lo.u32 %r6, %r6, 3, %r5; st.volatile.shared.u32 [%r4], %r6; sub.u32 %r5, %r5, 1;"
      "setp.ne.u32 %p5, %r5, 0; @%p5 bra SUM; ld.volatile.shared.u32 %w, [%r4]; cvt.u64.u32 %d, %w;",
      "mov.u32 %r2, tile; shl.b32 %r3, %t, 3; add.u32 %r4, %r2, %r3; st.volatile.shared.u64 [%r4], %a; xor.b32 %r5, %r3, 120; add.u32 %r5,"
      "%r5, %r2; bar.sync 0; ld.volatile.shared.u64 %d, [%r5]; ld.volatile.shared.s8 %r6, [%r5+3]; ld.acquire.cta.shared.u32 %r7, [%r5];"
      "add.u32 %r6, %r6, %r7; cvt.u64.u32 %l5, %r6; add.u64 %d, %d, %l5;",
      "mov.u32 %r2, more; shr.u32 %r3, %t, 5; st.volatile.shared.u32 [%r2], 0; bar.sync 0; setp.ne.u32 %p5, %r3, 0; @%p5 bra READY;"
      "st.volatile.shared.u32 [%r2+4], %y; membar.cta; st.volatile.shared.u32 [%r2], 1; READY: ld.volatile.shared.u32 %r5, [%r2];"
      "setp.eq.u32 %p6, %r5, 0; @%p6 bra READY; ld.volatile.shared.u32 %w, [%r2+4]; cvt.u64.u32 %d, %w;",
      "mov.u32 %r2, tile; shl.b32 %r3, %t, 2; add.u32 %r4, %r2, %r3; @%p1 st.volatile.shared.u32 [%r4], %x; bar.sync 0;"
      "ld.volatile.shared.u32 %r5, [%r4]; cvt.u64.u32 %d, %r5;",
      "mov.u32 %r2, tile; add.u32 %r2, %r2, 8192; st.volatile.shared.u32 [%r2], %x;",
      // bits that change without a result
      "mov.u32 %r2, more; shl.b32 %r3, %t, 2; add.u32 %r4, %r2, %r3; st.shared.u32 [%r4], %y; bar.sync 0; and.b32 %r5, %x, 60;"
      "add.u32 %r5, %r5, %r2; red.shared.xor.b32 [%r5], %t; @%p1 red.shared.xor.b32 [%r5+64], %z; bar.sync 0; ld.shared.u32 %r6, [%r4];"
      "cvt.u64.u32 %d, %r6;",
      "sub.u64 %l6, %out, %l0; and.b32 %r2, %x, 15; mul.wide.u32 %l5, %r2, 8; add.u64 %l6, %l6, %l5; red.global.xor.b64 [%l6+24576], %a;"
      "@%p1 red.global.xor.b32 [%l6+24580], %t; ret;",
      // what ends a launch: uninitialised, outside, misaligned, a trap
      "mov.u32 %r2, tile; shl.b32 %r3, %t, 2; add.u32 %r4, %r2, %r3; @%p1 st.shared.u32 [%r4], %x; bar.sync 0; ld.shared.u32 %r5, [%r4];"
      "cvt.u64.u32 %d, %r5;",
      "setp.eq.u32 %p5, %i, 1500; @%p5 add.u64 %l1, %l1, 65536; ld.global.u64 %d, [%l1];",
      "setp.eq.u32 %p5, %i, 1500; @%p5 add.u64 %out, %out, 4;",
      "setp.eq.u32 %p5, %i, 1500; @%p5 trap;",
      "mov.u32 %r2, tile; add.u32 %r2, %r2, 8192; st.shared.u32 [%r2], %x;",
      "mov.u32 %r2, odd; shl.b32 %r3, %t, 2; add.u32 %r4, %r2, %r3; st.shared.u32 [%r4], %x;",
  };
  for (const char* body : bodies)
    for (const Shape& shape : {whole, partial, more_warps, clusters}) {
      INFO(body);
      INFO(shape.threads);
      const Module module = kernel_of(body, shared);
      check_same(module, shape);
      check_same(module, shape, {.checks = {.uninitialised = false}});
      check_same(module, shape, {.schedule = 7});
    }
}

TEST_CASE("machine code has the instructions that the kernels have", "[machine_code]") {
  const std::vector<std::string_view> sets = instruction_sets();
  if (std::ranges::find(sets, "AVX2") == sets.end()) return;  // there is no machine code
  const Module module = kernel_of("add.u64 %d, %a, %b; @%p1 bra OVER; mul.lo.u64 %d, %d, %b; OVER: max.u64 %d, %d, %c;");
  const auto places_of = [&](code::CompileProgram compile, std::string_view set) {
    use_instruction_set(set);
    Compiling::places.clear();
    const Left left = run(module, whole, compile, {.jobs = 1});
    use_best_instruction_set();
    CHECK((left == run(module, whole, nullptr)));
    std::vector<std::uint32_t> begins;
    for (const code::MachineCode::Place& place : Compiling::places) begins.push_back(place.code);
    return begins;
  };
  const auto narrow = places_of(find_program_compiler(true), sets.front());
  CHECK(narrow.empty() == (find_program_compiler(true) == nullptr));
  CHECK(places_of(find_program_compiler(false), "AVX2") == narrow);
  if (sets.front() == "AVX-512" && !narrow.empty()) CHECK(places_of(find_program_compiler(false), sets.front()) != narrow);
}

/// For each operation of a kernel with this body, its place in the code for whole warps, and in that for others.
std::vector<code::MachineCode::Place> places_of(code::CompileProgram compile, const std::string& body) {
  Compiling::places.clear();
  CHECK(run(kernel_of(body, ".shared .align 16 .u32 tile[64];"), {1, 32}, compile, {.jobs = 1}).error.empty());
  return Compiling::places;
}

TEST_CASE("the machine executes ordered loads of shared memory by which a loop goes on, and no others", "[machine_code]") {
  const std::string begin = "mov.u32 %r2, 0; mov.u32 %r3, tile; st.shared.u32 [%r3], 0; LOOP: ld.volatile.shared.u32 %r4, [tile];";
  const std::string end = "add.u32 %r2, %r2, 1; setp.lt.u32 %p5, %r2, 9; @%p5 bra LOOP;";
  const auto steps = [&](code::CompileProgram compile, const std::string& between) {
    return std::ranges::count_if(places_of(compile, begin + between + end), &code::MachineCode::Place::steps);
  };
  for (const code::CompileProgram compile : compilers()) {
    const auto others = steps(compile, "");
    CHECK(steps(compile, "add.u32 %w, %w, %r4; xor.b32 %r5, %r4, 3; mul.lo.u32 %x, %x, %r5;") == others);
    CHECK(steps(compile, "setp.ne.u32 %p6, %r4, 0; @%p6 bra LOOP;") == others + 2);
    CHECK(steps(compile, "add.u32 %r5, %r4, 1; mov.u32 %r6, %r5; setp.gt.u32 %p6, %r6, 1; @%p6 bra LOOP;") == others + 2);
    CHECK(steps(compile, "setp.ne.u32 %p6, %r4, 0; @%p6 add.u32 %r2, %r2, 1;") == others + 2);
    CHECK(steps(compile, "mov.u32 %r5, 7; @%p1 mov.u32 %r5, %r4; setp.eq.u32 %p6, %r5, 3; @%p6 bra LOOP;") == others + 2);
    CHECK(steps(compile,
                "add.u32 %r5, %r4, 1; st.shared.u32 [tile+8], %r5; add.u32 %r6, %r2, 5; setp.gt.u32 %p6, %r6, 100; @%p6 bra LOOP;") ==
          others);
  }
}

TEST_CASE("what is interpreted until the next entry ends at a branch, which may lead to one", "[machine_code]") {
  for (const code::CompileProgram compile : compilers()) {
    const std::string body = "mov.u32 %r2, 0; LOOP: add.u32 %r2, %r2, 1; xor.b32 %r3, %r2, 5; setp.lt.u32 %p5, %r2, 9; @%p5 bra LOOP; ret;";
    const std::vector<code::MachineCode::Place> places = places_of(compile, body);
    const auto head = std::ranges::find_if(places, [](const auto& place) { return place.code != 0 && place.to_next_entry == 4; });
    CHECK(head != places.end());  // LOOP
  }
}

const char* const adds_one = R"(
    .reg .b32 %i, %x; .reg .b64 %in, %out, %at;
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
    mov.u32 %i, %tid.x; mul.wide.u32 %at, %i, 4; add.u64 %in, %in, %at; add.u64 %out, %out, %at;
    ld.global.u32 %x, [%in]; add.u32 %x, %x, 1; st.global.u32 [%out], %x;
    ret;
)";

TEST_CASE("a launch that has ended, and has reported nothing, runs again with other arguments", "[machine_code]") {
  const Module module = module_of(".param .u64 in, .param .u64 out", adds_one, "sm_90");
  for (const code::CompileProgram compile : compilers()) {
    const Compiling compiling(compile);
    const Kernel kernel(module, "k");
    for (const int jobs : {1, 3}) {  // one thread compiles between its blocks; three need code that is there
      DeviceMemory memory;
      const std::uint64_t out = memory.allocate(160, "out"), sixes = memory.allocate(std::vector<std::uint32_t>(40, 6), "6");
      const LaunchOptions options{.jobs = jobs};
      RunningLaunch launch(kernel, {{5}, {40}}, memory, {sixes, out}, options);
      REQUIRE(launch.run(machine::Patience::brief));
      const std::uint64_t operations = launch.result().operations;
      for (std::uint32_t value = 10; value < 13; ++value) {
        REQUIRE(launch.can_repeat());
        std::uint64_t in = memory.allocate(std::vector<std::uint32_t>(40, value), "in"), to = out;
        void* const arguments[] = {&in, &to};
        launch.begin_again(arguments);
        REQUIRE(launch.run(machine::Patience::brief));
        CHECK(launch.result().operations == operations);
        CHECK(memory.read<std::uint32_t>(out, 40) == std::vector<std::uint32_t>(40, value + 1));
        memory.free(in);
      }
    }
  }
}

TEST_CASE("a launch runs again neither with checks that keep what they have seen, nor without code", "[machine_code]") {
  const Module module = module_of(".param .u64 in, .param .u64 out", adds_one, "sm_90");
  const auto repeats = [&](code::CompileProgram compile, const LaunchOptions& options) {
    const Compiling compiling(compile);
    DeviceMemory memory;
    const std::uint64_t in = memory.allocate(128, "in");
    RunningLaunch launch(Kernel(module, "k"), {{5}, {32}}, memory, {in, in}, options);
    REQUIRE(launch.run(machine::Patience::brief));
    static_cast<void>(launch.result());
    return launch.can_repeat();
  };
  CHECK_FALSE(repeats(nullptr, {.jobs = 1}));
  for (const code::CompileProgram compile : compilers()) {
    CHECK(repeats(compile, {.jobs = 1}));
    CHECK_FALSE(repeats(compile, {.jobs = 1, .most_seconds = 1000}));
    CHECK_FALSE(repeats(compile, {.jobs = 1, .checks = {.races = true}}));
    CHECK_FALSE(repeats(compile, {.jobs = 1, .checks = {.uninitialised = true, .global = true}}));
  }
}

TEST_CASE("what code knows of memory it knows no longer where that has gone", "[machine_code]") {
  const Module module = module_of(".param .u64 in, .param .u64 out", adds_one, "sm_90");
  for (const code::CompileProgram compile : compilers()) {
    const Compiling compiling(compile);
    const Kernel kernel(module, "k");
    for (const std::uint32_t blocks : {1u, 3u, 40u}) {
      DeviceMemory memory;
      const std::uint64_t out = memory.allocate(128, "out");
      std::uint64_t in = memory.allocate(std::vector<std::uint32_t>(32, 6), "in");
      const auto run_it = [&] { launch(kernel, {.grid = {blocks}, .block = {32}}, memory, {in, out}); };
      for (int i = 0; i < 3; ++i) run_it();
      CHECK(memory.read<std::uint32_t>(out, 32) == std::vector<std::uint32_t>(32, 7));
      memory.free(in);
      CHECK_THROWS_WITH(run_it(), ContainsSubstring("into buffer 'in' of 128 bytes"));
      in = memory.allocate(std::vector<std::uint32_t>(32, 8), "other");
      for (int i = 0; i < 2; ++i) run_it();
      CHECK(memory.read<std::uint32_t>(out, 32) == std::vector<std::uint32_t>(32, 9));
    }
  }
}

TEST_CASE("machine code rounds as PTX says, whatever the host's mode is, and raises nothing there", "[machine_code]") {
  const Module module = kernel_of("mov.b32 %f1, %x; mov.b32 %f2, %y; div.rn.f32 %f0, %f1, %f2; mov.b32 %w, %f0; cvt.u64.u32 %d, %w;");
  const Left expected = run(module, whole, nullptr);
  for (const code::CompileProgram compile : compilers())
    for (const int mode : {FE_UPWARD, FE_TOWARDZERO}) {
      std::fesetround(mode);
      std::feclearexcept(FE_ALL_EXCEPT);
      const Left left = run(module, whole, compile);
      const int raised = std::fetestexcept(FE_DIVBYZERO | FE_INVALID), kept = std::fegetround();
      std::fesetround(FE_TONEAREST);
      CHECK((left == expected));
      CHECK(raised == 0);
      CHECK(kept == mode);
    }
}

}  // namespace warpmat::machine_code_test

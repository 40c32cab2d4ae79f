#include <warpmat/instruction.h>

#include "execute/warp_arrays.h"
#include "test.h"

namespace warpmat::batch_test {
namespace {

/// A form of each kind: with one and two words a register, with metadata, with scale factors, and all that addresses memory.
const std::vector<const char*>& opcodes() {
  static const std::vector<const char*> all{
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
      "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16",
      "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32",
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32",
      "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64",
      "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
      "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32",
      "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3",
      "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e2m3.f32.ue8m0",
      "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
      "stmatrix.sync.aligned.m8n8.x4.shared.b16",
      "movmatrix.sync.aligned.m8n8.trans.b16",
  };
  return all;
}

Instruction instruction_named(const char* opcode) {
  const Form& form = *find_form(opcode);
  return {form, target_with(form)};
}

/// Makes warp `warp` trap: a wrong address, a metadata code that is not defined, an id out of range. False if nothing of the form's can.
bool spoil(WarpArrays& warps, const Form& form, std::size_t warp) {
  for (const OperandName name : {OperandName::p, OperandName::e, OperandName::ids_a}) {
    if (form.find_operand(name) == nullptr) continue;
    std::uint32_t* const word = warps.word(name, warp, 0);
    if (name == OperandName::p) word[5] += 1;
    if (name == OperandName::e) std::fill_n(word, warp_size, 0);
    if (name == OperandName::ids_a) std::fill_n(word, warp_size, 77);
    return true;
  }
  return false;
}

TEST_CASE("a batch may share a source among its warps") {
  for (const char* opcode : opcodes())
    for (const Operand& shared : find_form(opcode)->operands) {
      if (shared.written) continue;
      for (const Path path : {Path::fast, Path::reference}) {
        const Instruction instruction = instruction_named(opcode);
        CAPTURE(opcode, name(shared.name), path == Path::fast);
        WarpArrays warps(instruction.form(), 9, shared.name, 2);
        WarpArrays expected = warps;
        expected.execute_each(instruction, 0, 9);
        execute(instruction, warps.batch(), 9, {.path = path});
        CHECK(warps == expected);
      }
    }
}

TEST_CASE("a source that all warps share may be a result of one: the warps behind it read the result") {
  constexpr std::size_t count = 9, writer = 3;
  for (const char* opcode : {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32"})
    for (const Path path : {Path::fast, Path::reference}) {
      CAPTURE(opcode, path == Path::fast);
      const Instruction instruction = instruction_named(opcode);
      const std::size_t words = warp_size * static_cast<std::size_t>(instruction.form().operand(OperandName::a).words());
      WarpArrays warps(instruction.form(), count, OperandName::a, 3);
      WarpArrays expected = warps;
      expected.execute_each(instruction, 0, writer + 1);
      std::copy_n(expected.word(OperandName::d, writer, 0), words, expected.word(OperandName::a, 0, 0));
      expected.execute_each(instruction, writer + 1, count);
      std::copy_n(warps.word(OperandName::a, 0, 0), words, warps.word(OperandName::d, writer, 0));
      Batch batch = warps.batch();
      batch.source(OperandName::a) = {warps.word(OperandName::d, writer, 0), batch.source(OperandName::a).warp_stride()};
      execute(instruction, batch, count, {.path = path});
      for (std::size_t warp = 0; warp < count; ++warp)
        CHECK(std::equal(warps.word(OperandName::d, warp, 0), warps.word(OperandName::d, warp, 0) + words,
                         expected.word(OperandName::d, warp, 0)));
    }
}

TEST_CASE("registers that overlap at negative warp strides: both paths give the same bits") {
  struct Place {
    std::ptrdiff_t first, stride;  ///< in words
  };
  struct Case {
    const char* opcode;
    std::size_t warps;
    Place a, b, c, d;
  };
  for (const Case& each : {
           // D of the first warp, and of the second, overlaps A, which all share
           Case{"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 3, {2080, 0}, {0, 0}, {1024, 0}, {2048, -128}},
           Case{"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 3, {1900, 0}, {0, 0}, {1024, 0}, {2048, -128}},
           // registers of a warp take more words than the stride
           Case{"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", 4, {2048, -128}, {2304, -128}, {2048, -128}, {2816, -128}},
       }) {
    const Instruction instruction(each.opcode, "sm_90a");
    std::mt19937 random(1);
    std::vector<std::uint32_t> words(4096);
    for (std::uint32_t& word : words) word = 0x3c003c00 ^ (static_cast<std::uint32_t>(random()) & 0x80ff80ff);
    const auto executed = [&](Path path) {
      std::vector<std::uint32_t> own = words;
      const auto view = [&](const Place& place) { return RegisterView(own.data() + place.first, static_cast<std::size_t>(place.stride)); };
      Batch batch;
      batch.source(OperandName::a) = view(each.a);
      batch.source(OperandName::b) = view(each.b);
      batch.source(OperandName::c) = view(each.c);
      batch.destination = view(each.d);
      execute(instruction, batch, each.warps, {.path = path});
      return own;
    };
    CAPTURE(each.opcode, each.a.first);
    CHECK((executed(Path::fast) == executed(Path::reference)));
  }
}

TEST_CASE("a trap in a batch names the warp; those before it are executed, it and those after it are not") {
  constexpr std::size_t count = 21;
  int trapped = 0;
  for (const char* opcode : opcodes())
    for (const Path path : {Path::fast, Path::reference})
      for (const std::size_t bad : {std::size_t{0}, std::size_t{13}, count - 1}) {
        const Instruction instruction = instruction_named(opcode);
        CAPTURE(opcode, path == Path::fast, bad);
        WarpArrays warps(instruction.form(), count, std::nullopt, 4);
        if (!spoil(warps, instruction.form(), bad)) continue;
        WarpArrays expected = warps;
        expected.execute_each(instruction, 0, bad);
        std::string one, all;
        std::size_t named = count;
        try {
          expected.execute_each(instruction, bad, bad + 1);
        } catch (const Trap& trap) {
          one = trap.what();
        }
        try {
          execute(instruction, warps.batch(), count, {.path = path});
        } catch (const Trap& trap) {
          all = trap.what();
          named = static_cast<std::size_t>(trap.site.warp);
        }
        CHECK(one.starts_with("warp 0: "));  // the only one of its call
        CHECK(all == "warp " + std::to_string(bad) + one.substr(std::string("warp 0").size()));
        CHECK(named == bad);
        CHECK(warps == expected);
        ++trapped;
      }
  CHECK(trapped > 0);
}

TEST_CASE("an instruction executes batches on several threads at once") {
  constexpr std::size_t count = 64;
  for (const char* opcode : opcodes()) {
    const Instruction instruction = instruction_named(opcode);
    CAPTURE(opcode);
    std::vector<WarpArrays> warps;
    for (unsigned seed = 0; seed < 2; ++seed) warps.emplace_back(instruction.form(), count, std::nullopt, seed);
    std::vector<WarpArrays> expected = warps;
    for (WarpArrays& w : expected) w.execute_each(instruction, 0, count);
    {
      std::vector<std::jthread> threads;
      for (WarpArrays& w : warps)
        threads.emplace_back([&] {
          for (int round = 0; round < 20; ++round) execute(instruction, w.batch(), count);
        });
    }
    for (std::size_t i = 0; i < warps.size(); ++i) CHECK(warps[i] == expected[i]);
  }
}

}  // namespace
}  // namespace warpmat::batch_test

#include <warpmat/execute/instruction.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "catch.h"
#include "execute/registers.h"

using namespace warpmat;

namespace {

constexpr std::size_t memory_bytes = 1024;

/// A form of each kind: with one and two words a register, with metadata, with scale factors, and all that addresses memory.
const std::vector<const char*>& opcodes() {
  static const std::vector<const char*> all{
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
      "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16",
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

bool addresses_memory(const Form& form) { return form.find_operand(OperandName::p) != nullptr; }

/// Many warps' registers and memories with gaps between them, which nothing may change.
class WarpArrays {
 public:
  /// Random sources; all warps share the source `shared`.
  WarpArrays(const Form& form, std::size_t count, std::optional<OperandName> shared, unsigned seed) : form_(form), count_(count) {
    std::mt19937_64 random(seed);
    for (const Operand& operand : form.operands) {
      const auto words = static_cast<std::size_t>(operand.words()) * lanes;
      const std::size_t stride = operand.name == shared ? 0 : words + lanes * (1 + static_cast<std::size_t>(operand.name) % 3);
      std::vector<std::uint32_t>& place = of(operand.name);
      place.resize(words + stride * (count - 1), filler);
      for (std::size_t warp = 0; warp < (stride == 0 ? 1 : count); ++warp) {
        Registers registers(operand.words());
        fill_operand(form, operand, registers, random);
        if (operand.kind == OperandKind::address) fill_addresses(registers[0], random);
        for (std::size_t i = 0; i < registers.size(); ++i) std::ranges::copy(registers[i], place.data() + warp * stride + i * lanes);
      }
      strides_[static_cast<std::size_t>(operand.name)] = stride;
    }
    if (!addresses_memory(form)) return;
    memory.resize(memory_stride * count);
    for (std::uint8_t& byte : memory) byte = static_cast<std::uint8_t>(random());
  }

  Batch batch() {
    Batch out;
    for (const Operand& operand : form_.operands) {
      if (operand.written) {
        out.destination = of(operand.name).data();
        out.destination_stride = stride(operand.name);
      } else {
        out.source(operand.name) = {of(operand.name).data(), stride(operand.name)};
      }
    }
    out.shared = memory.data();
    out.shared_bytes = memory_of(0).size();
    out.shared_stride = memory.empty() ? 0 : memory_stride;
    out.shared_base = memory_base;
    return out;
  }

  /// What the batch must do, a warp at a time.
  void execute_each(const Instruction& instruction, std::size_t first, std::size_t last) {
    for (std::size_t warp = first; warp < last; ++warp) {
      FormRegisters registers(form_);
      for (const Operand& operand : form_.operands)
        for (std::size_t i = 0; i < registers[operand.name].size(); ++i)
          std::copy_n(word(operand.name, warp, i), lanes, registers[operand.name][i].begin());
      Arguments arguments = registers.arguments();
      SharedMemory shared = SharedMemory::borrowing(memory_of(warp), memory_base);
      arguments.shared = &shared;
      instruction.execute(arguments, Path::reference);
      for (const Operand& operand : form_.operands)
        for (std::size_t i = 0; operand.written && i < registers[operand.name].size(); ++i)
          std::ranges::copy(registers[operand.name][i], word(operand.name, warp, i));
    }
  }

  /// Word `index` of a warp's operand: 32 lanes.
  std::uint32_t* word(OperandName name, std::size_t warp, std::size_t index) { return of(name).data() + warp * stride(name) + index * lanes; }

  std::size_t count() const { return count_; }
  friend bool operator==(const WarpArrays& a, const WarpArrays& b) { return a.words_ == b.words_ && a.memory == b.memory; }

  static constexpr std::uint32_t memory_base = 256;
  std::vector<std::uint8_t> memory;  ///< empty where the form addresses none

 private:
  std::span<std::uint8_t> memory_of(std::size_t warp) {
    return memory.empty() ? std::span<std::uint8_t>() : std::span(memory).subspan(warp * memory_stride, memory_bytes);
  }

  static constexpr std::size_t memory_stride = memory_bytes + 48;
  static constexpr std::uint32_t filler = 0xdeadbeef;

  static void fill_addresses(Register& addresses, std::mt19937_64& random) {
    for (std::uint32_t& address : addresses)
      address = memory_base + static_cast<std::uint32_t>(random() % (memory_bytes / Form::row_bytes)) * Form::row_bytes;
  }

  std::vector<std::uint32_t>& of(OperandName name) { return words_[static_cast<std::size_t>(name)]; }
  std::size_t stride(OperandName name) const { return strides_[static_cast<std::size_t>(name)]; }

  const Form& form_;
  std::size_t count_;
  std::array<std::vector<std::uint32_t>, operand_names> words_;
  std::array<std::size_t, operand_names> strides_{};
};

/// Makes warp `warp` trap: a wrong address, a metadata code that is not defined, an id out of range. False if nothing of the form's can.
bool spoil(WarpArrays& warps, const Form& form, std::size_t warp) {
  for (const OperandName name : {OperandName::p, OperandName::e, OperandName::ids_a}) {
    if (form.find_operand(name) == nullptr) continue;
    std::uint32_t* const word = warps.word(name, warp, 0);
    if (name == OperandName::p) word[5] += 1;
    if (name == OperandName::e) std::fill_n(word, lanes, 0);
    if (name == OperandName::ids_a) std::fill_n(word, lanes, 77);
    return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a batch does what its warps do one after another, whatever the strides") {
  for (const char* opcode : opcodes())
    for (const Path path : {Path::fast, Path::reference})
      for (const std::size_t count : {1U, 2U, 21U}) {
        const Instruction instruction = instruction_named(opcode);
        CAPTURE(opcode, path == Path::fast, count);
        WarpArrays warps(instruction.form(), count, std::nullopt, 1);
        WarpArrays expected = warps;
        expected.execute_each(instruction, 0, count);
        instruction.execute(warps.batch(), count, path);
        CHECK(warps == expected);
      }
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
        instruction.execute(warps.batch(), 9, path);
        CHECK(warps == expected);
      }
    }
}

TEST_CASE("a batch may write over its accumulators") {
  for (const char* opcode : opcodes()) {
    const Instruction instruction = instruction_named(opcode);
    if (instruction.form().find_operand(OperandName::c) == nullptr) continue;
    for (const Path path : {Path::fast, Path::reference}) {
      CAPTURE(opcode, path == Path::fast);
      WarpArrays warps(instruction.form(), 9, std::nullopt, 3);
      WarpArrays expected = warps;
      expected.execute_each(instruction, 0, 9);
      Batch batch = warps.batch();
      batch.destination = warps.word(OperandName::c, 0, 0);
      batch.destination_stride = batch.source(OperandName::c).stride;
      instruction.execute(batch, 9, path);
      const std::size_t words = lanes * static_cast<std::size_t>(instruction.form().operand(OperandName::d).words());
      for (std::size_t warp = 0; warp < 9; ++warp)
        CHECK(std::equal(warps.word(OperandName::c, warp, 0), warps.word(OperandName::c, warp, 0) + words, expected.word(OperandName::d, warp, 0)));
    }
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
          instruction.execute(warps.batch(), count, path);
        } catch (const Trap& trap) {
          all = trap.what();
          named = trap.warp;
        }
        CHECK(!one.empty());
        CHECK(all == "warp " + std::to_string(bad) + ": " + one);
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
          for (int round = 0; round < 20; ++round) instruction.execute(w.batch(), count);
        });
    }
    for (std::size_t i = 0; i < warps.size(); ++i) CHECK(warps[i] == expected[i]);
  }
}

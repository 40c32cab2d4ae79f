// Placement of registers: unaligned, overlapping, inside the addressed memory.

#include "execute/warp_arrays.h"
#include "test.h"

namespace warpmat::placement_test {
namespace {

constexpr Path paths[] = {Path::fast, Path::reference};

// ---- C over D -----------------------------------------------------------------------------------------------------------------------

/// C and D of some warps in one array, at random places that overlap in every way, and the other sources apart.
class OverlappingWarps {
 public:
  static constexpr std::size_t count = 2;

  OverlappingWarps(const Form& form, std::mt19937_64& random) : sources_(form, count, std::nullopt, static_cast<unsigned>(random())) {
    const std::size_t c_words = warp_size * static_cast<std::size_t>(form.operand(OperandName::c).words());
    const std::size_t d_words = warp_size * static_cast<std::size_t>(form.operand(OperandName::d).words());
    const std::size_t grain = random() % 4 == 0 ? 1 : warp_size;  // mostly whole registers
    const auto draw = [&](std::size_t most) { return random() % (most / grain + 1) * grain; };
    c_ = {draw(d_words), draw(c_words + warp_size)};
    d_ = {draw(c_words), draw(d_words + warp_size)};
    words_.resize(std::max(c_.first + c_.stride * (count - 1) + c_words, d_.first + d_.stride * (count - 1) + d_words));
    for (std::uint32_t& word : words_) word = static_cast<std::uint32_t>(random());
  }

  std::vector<std::uint32_t> execute_batch(const Instruction& instruction, Path path) const {
    std::vector<std::uint32_t> words = words_;
    WarpArrays sources = sources_;
    Batch batch = sources.batch();
    batch.source(OperandName::c) = {words.data() + c_.first, c_.stride};
    batch.destination = {words.data() + d_.first, d_.stride};
    execute(instruction, batch, count, {.path = path});
    return words;
  }

  std::vector<std::uint32_t> execute_one_by_one(const Instruction& instruction, Path path) const {
    std::vector<std::uint32_t> words = words_;
    WarpArrays sources = sources_;
    for (std::size_t warp = 0; warp < count; ++warp) {
      Batch batch = sources.batch();
      for (ConstRegisterView& source : batch.sources)
        if (!source.is_empty()) source = source.from_warp(warp);
      batch.source(OperandName::c) = words.data() + c_.first + warp * c_.stride;
      batch.destination = words.data() + d_.first + warp * d_.stride;
      execute(instruction, batch, 1, {.path = path});
    }
    return words;
  }

 private:
  struct Position {
    std::size_t first = 0, stride = 0;
  };
  WarpArrays sources_;
  Position c_, d_;
  std::vector<std::uint32_t> words_;
};

TEST_CASE("C and D of a batch may overlap in any way: both paths, in batches and warp by warp, for every form and target") {
  std::mt19937_64 random(45);
  std::size_t drawn = 0;
  for (const Form& form : forms())
    for (const Target& target : targets()) {
      if (form.mnemonic != Mnemonic::mma || unavailable(form, target)) continue;
      const Instruction instruction(form, target);
      // Only where the instruction is a sequence does the order of reading and writing show.
      for (int draw = 0; draw < (instruction.lowering().semantics == Semantics::split_dot ? 2 : 1); ++draw, ++drawn) {
        const OverlappingWarps warps(form, random);
        const auto expected = warps.execute_one_by_one(instruction, Path::reference);
        CAPTURE(form.opcode, std::string(target.name), draw);
        CHECK(warps.execute_batch(instruction, Path::reference) == expected);
        CHECK(warps.execute_batch(instruction, Path::fast) == expected);
        CHECK(warps.execute_one_by_one(instruction, Path::fast) == expected);
      }
    }
  CHECK(drawn > 1000);
}

// ---- Registers in the memory --------------------------------------------------------------------------------------------------------

TEST_CASE("registers of ldmatrix and stmatrix may overlap the memory: all is read before anything is written") {
  std::mt19937_64 random(46);
  for (const Form& form : forms()) {
    if (form.mnemonic != Mnemonic::ldmatrix && form.mnemonic != Mnemonic::stmatrix) continue;
    const Instruction instruction(form, target_with(form));
    const Operand& r = form.operand(OperandName::r);
    const auto words = static_cast<std::size_t>(r.words());
    for (int draw = 0; draw < 8; ++draw) {
      WarpArrays original(form, 2, std::nullopt, static_cast<unsigned>(random()));
      // The same place in each warp's memory; whole words, as no register lies elsewhere.
      const std::size_t place = random() % (WarpArrays::memory_bytes - 4 * warp_size * (words + 1)) / 4 * 4;
      WarpArrays expected = original;
      if (!r.written)
        for (std::size_t warp = 0; warp < 2; ++warp)
          for (std::size_t i = 0; i < words; ++i)
            std::memcpy(expected.word(r.name, warp, i), original.memory_of(warp).data() + place + 4 * warp_size * i, 4 * warp_size);
      expected.execute_each(instruction, 0, 2);
      if (r.written)
        for (std::size_t warp = 0; warp < 2; ++warp)
          for (std::size_t i = 0; i < words; ++i)
            std::memcpy(expected.memory_of(warp).data() + place + 4 * warp_size * i, expected.word(r.name, warp, i), 4 * warp_size);
      for (const Path path : paths) {
        WarpArrays warps = original;
        Batch batch = warps.batch();
        auto* const registers = reinterpret_cast<std::uint32_t*>(warps.memory_of(0).data() + place);
        const std::size_t stride = batch.shared_stride / 4;
        if (r.written) {
          batch.destination = {registers, stride};
        } else {
          batch.source(r.name) = {registers, stride};
        }
        execute(instruction, batch, 2, {.path = path});
        CAPTURE(form.opcode, draw, path == Path::fast);
        CHECK(warps.memory == expected.memory);
      }
    }
  }
}

}  // namespace
}  // namespace warpmat::placement_test

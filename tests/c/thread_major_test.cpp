// Registers as a simulator keeps them, an array for each thread, through the C interface: the same bits as side by side.

#include <warpmat/execute/instruction.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "c/calls.h"
#include "catch.h"

using namespace warpmat;

namespace {

constexpr std::size_t count = 2;  // warps

/// The registers of some warps, an array for each thread: word i of an operand is in the register that numbers(operand)[i] says, a drawn
/// one.
class ThreadFile {
 public:
  ThreadFile(const Form& form, WarpArrays& from, std::mt19937_64& random) : form_(form) {
    std::vector<std::uint16_t> all(static_cast<std::size_t>(words_of(form)) + 3);
    std::iota(all.begin(), all.end(), std::uint16_t{0});
    if (random() % 2 == 0) std::ranges::shuffle(all, random);  // else an operand's lie side by side
    thread_words_ = all.size();
    words_.resize(count * lanes * thread_words_, filler);
    for (const Operand& operand : form.operands) {
      numbers(operand).assign(all.end() - operand.words(), all.end());
      std::ranges::sort(numbers(operand).begin(), numbers(operand).begin() + (random() % 2 == 0 ? operand.words() : 0));
      all.resize(all.size() - static_cast<std::size_t>(operand.words()));
    }
    for_each_word(from, [](std::uint32_t& word, std::uint32_t value) { word = value; });
  }

  std::vector<warpmat_registers> registers() {
    std::vector<warpmat_registers> out;
    for (const Operand& operand : form_.operands) {
      std::vector<std::uint16_t>& list = numbers(operand);
      out.push_back(WARPMAT_THREAD_MAJOR(words_.data(), static_cast<std::ptrdiff_t>(thread_words_), list.data(), list.size()));
    }
    return out;
  }

  /// Words that are not those of `warps`, and registers without a name that have changed.
  std::size_t differences(WarpArrays& warps) {
    std::size_t different = 0;
    for_each_word(warps, [&](std::uint32_t& word, std::uint32_t value) {
      different += word != value;
      word = filler;
    });
    return different + words_.size() - static_cast<std::size_t>(std::ranges::count(words_, filler));
  }

 private:
  static constexpr std::uint32_t filler = 0xdeadbeef;

  static int words_of(const Form& form) {
    int words = 0;
    for (const Operand& operand : form.operands) words += operand.words();
    return words;
  }
  std::vector<std::uint16_t>& numbers(const Operand& operand) { return numbers_[static_cast<std::size_t>(operand.name)]; }

  /// Calls visit(the word here, that of `warps`).
  template <typename Visit>
  void for_each_word(WarpArrays& warps, Visit visit) {
    for (const Operand& operand : form_.operands)
      for (std::size_t warp = 0; warp < count; ++warp)
        for (std::size_t i = 0; i < numbers(operand).size(); ++i)
          for (std::size_t lane = 0; lane < lanes; ++lane)
            visit(words_[(warp * lanes + lane) * thread_words_ + numbers(operand)[i]], warps.word(operand.name, warp, i)[lane]);
  }

  const Form& form_;
  std::size_t thread_words_ = 0;
  std::array<std::vector<std::uint16_t>, operand_name_count> numbers_;
  std::vector<std::uint32_t> words_;
};

}  // namespace

TEST_CASE("C: thread-major registers give the bits of register-major ones, for every form, on both paths") {
  std::mt19937_64 random(93);
  for (const Form& form : forms())
    for (const unsigned flags : {0u, WARPMAT_REFERENCE_PATH}) {
      const warpmat_instruction* instruction = found(form.opcode.c_str(), std::string(target_with(form).name).c_str());
      WarpArrays side_by_side(form, count, std::nullopt, static_cast<unsigned>(random()));
      WarpArrays memories = side_by_side;
      ThreadFile threads(form, side_by_side, random);
      auto error = sized<warpmat_error>();
      const auto execute = [&](const std::vector<warpmat_registers>& registers, WarpArrays& warps) {
        const warpmat_memory memory = memory_of(warps);
        warpmat_call call = call_of(registers, memory);
        call.flags = flags;
        return warpmat_execute(instruction, &call, count, &error);
      };
      CAPTURE(form.opcode, flags, error.message);
      CHECK(execute(registers_of(form, side_by_side), side_by_side) == WARPMAT_OK);
      CHECK(execute(threads.registers(), memories) == WARPMAT_OK);
      CHECK(threads.differences(side_by_side) == 0);
      CHECK(memories.memory == side_by_side.memory);
    }
}

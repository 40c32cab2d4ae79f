// Registers as a simulator keeps them, an array for each thread, through the C interface: the same bits as side by side.

#include <warpmat/instruction.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "c/calls.h"
#include "test.h"

namespace warpmat::thread_major_test {
namespace {

constexpr std::size_t count = 2;  // warps
constexpr warpmat_memory no_memory{};

/// The registers of some warps, an array for each thread: word i of an operand is in the register that numbers(operand)[i] says, a drawn
/// one, the next one, or, of some operands, consecutive ones.
class ThreadFile {
 public:
  ThreadFile(const Form& form, WarpArrays& from, bool drawn, std::mt19937_64& random) : form_(form) {
    std::vector<std::uint16_t> all(static_cast<std::size_t>(words_of(form)) + 3);
    std::iota(all.begin(), all.end(), std::uint16_t{0});
    thread_words_ = all.size();
    words_.resize(count * warp_size * thread_words_, filler);
    for (const Operand& operand : form.operands) {
      numbers(operand).assign(all.end() - operand.words(), all.end());
      all.resize(all.size() - static_cast<std::size_t>(operand.words()));
    }
    if (drawn) draw(random);
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

  /// Makes D consecutive registers from `shift` behind C's first on, so that it shares some with C, A or B.
  void move_d(int shift) {
    std::vector<std::uint16_t>& d = numbers(form_.operand(OperandName::d));
    const int last = static_cast<int>(thread_words_ - d.size());
    const int first = std::clamp(numbers(form_.operand(OperandName::c)).front() + shift, 0, last);
    std::iota(d.begin(), d.end(), static_cast<std::uint16_t>(first));
  }

  const std::vector<std::uint32_t>& words() const { return words_; }

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

  /// Draws which operands keep their row of registers; exchanges the registers of all others.
  void draw(std::mt19937_64& random) {
    std::vector<std::uint16_t*> exchanged;
    for (const Operand& operand : form_.operands)
      if (random() % 3 != 0)
        for (std::uint16_t& number : numbers(operand)) exchanged.push_back(&number);
    for (std::size_t i = exchanged.size(); i > 1; --i) std::swap(*exchanged[i - 1], *exchanged[random() % i]);
    for (const Operand& operand : form_.operands)
      if (random() % 2 == 0) std::ranges::sort(numbers(operand));
  }

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
          for (std::size_t lane = 0; lane < warp_size; ++lane)
            visit(words_[(warp * warp_size + lane) * thread_words_ + numbers(operand)[i]], warps.word(operand.name, warp, i)[lane]);
  }

  const Form& form_;
  std::size_t thread_words_ = 0;
  std::array<std::vector<std::uint16_t>, operand_name_count> numbers_;
  std::vector<std::uint32_t> words_;
};

/// Executes the form on `warps`, register-major, and on the same as arrays for each thread; checks that the bits are the same.
void check_thread_major(const Form& form, const Target& target, WarpArrays warps, bool drawn, unsigned flags, std::mt19937_64& random) {
  const warpmat_instruction* instruction = found(form.opcode.c_str(), std::string(target.name).c_str());
  WarpArrays memories = warps;
  ThreadFile threads(form, warps, drawn, random);
  auto error = sized<warpmat_error>();
  const auto execute = [&](const std::vector<warpmat_registers>& registers, WarpArrays& arrays) {
    const warpmat_memory memory = memory_of(arrays);
    warpmat_call call = call_of(registers, memory);
    call.flags = flags;
    return warpmat_execute(instruction, &call, count, &error);
  };
  CAPTURE(form.opcode, target.name, flags, drawn, error.message);
  CHECK(execute(registers_of(form, warps), warps) == WARPMAT_OK);
  CHECK(execute(threads.registers(), memories) == WARPMAT_OK);
  CHECK(threads.differences(warps) == 0);
  CHECK(memories.memory == warps.memory);
}

TEST_CASE("C: thread-major registers give the bits of register-major ones, for every form, on both paths") {
  std::mt19937_64 random(93);
  for (const Form& form : forms())
    for (const unsigned flags : {0u, WARPMAT_REFERENCE_PATH})
      for (const bool drawn : {false, true, true, true, true})
        check_thread_major(form, target_with(form), WarpArrays(form, count, std::nullopt, static_cast<unsigned>(random())), drawn, flags,
                           random);
}

TEST_CASE("C: f64 with NaNs and infinities has the bits of register-major registers, thread-major, also behind a warp without them") {
  std::mt19937_64 random(97);
  std::size_t tried = 0;
  for (const Form& form : forms()) {
    if (form.mnemonic != Mnemonic::mma || form.format(OperandName::d) != Format::f64) continue;
    WarpArrays warps(form, count, std::nullopt, static_cast<unsigned>(random()));
    for (const OperandName name : {OperandName::a, OperandName::b, OperandName::c})
      for (std::size_t upper = 1; upper < static_cast<std::size_t>(form.operand(name).words()); upper += 2)
        for (std::size_t lane = 0; lane < warp_size; ++lane) {
          warps.word(name, 0, upper)[lane] &= ~0x40000000u;  // below 2: warp 0 has numbers alone
          std::uint32_t &word = warps.word(name, 1, upper)[lane], &lower = warps.word(name, 1, upper - 1)[lane];
          const auto draw = random() % 16;
          if (draw < 2) word |= 0x7ff00001u;
          if (draw == 2) word = 0x7ff00000u | (word & 0x80000000u), lower = 0;
        }
    check_thread_major(form, target("sm_90a"), std::move(warps), false, 0, random);
    ++tried;
  }
  CHECK(tried >= 4);
}

TEST_CASE("C: D may be registers of the sources, thread-major: every product has the bits of the reference") {
  std::mt19937_64 random(95);
  std::size_t compared = 0;
  for (const Form& form : forms())
    for (const char* const name : {"sm_75", "sm_80", "sm_90a", "sm_120a"}) {
      if (!multiplies(form.mnemonic) || unavailable(form, target(name))) continue;
      const warpmat_instruction* const instruction = found(form.opcode.c_str(), name);
      WarpArrays warps(form, count, std::nullopt, static_cast<unsigned>(random()));
      for (const bool drawn : {false, true})
        for (const int shift : {-3, -1, 0, 1, 2}) {
          ThreadFile fast(form, warps, drawn, random);
          fast.move_d(shift);
          ThreadFile reference = fast;
          auto error = sized<warpmat_error>();
          const auto execute = [&](ThreadFile& threads, unsigned flags) {
            const std::vector<warpmat_registers> registers = threads.registers();
            warpmat_call call = call_of(registers, no_memory);
            call.flags = flags;
            return warpmat_execute(instruction, &call, count, &error);
          };
          CAPTURE(form.opcode, name, drawn, shift, error.message);
          REQUIRE(execute(fast, 0) == WARPMAT_OK);
          REQUIRE(execute(reference, WARPMAT_REFERENCE_PATH) == WARPMAT_OK);
          CHECK(fast.words() == reference.words());
          ++compared;
        }
    }
  CHECK(compared > 10000);
}

#if defined(__SSE2__)
TEST_CASE("C: a call on thread-major registers neither depends on the host's rounding, flushing and traps nor changes them") {
  constexpr unsigned usual = 0x1f80, up_and_flushing_with_flags = 0x5f80 | 0x8040 | 0x21, toward_zero = 0x7f80, all_trap = 0x0000;
  std::mt19937_64 random(96);
  for (const Form& form : forms())
    for (const char* const name : {"sm_75", "sm_80", "sm_90a", "sm_120a"}) {
      if (!multiplies(form.mnemonic) || unavailable(form, target(name))) continue;
      const warpmat_instruction* const instruction = found(form.opcode.c_str(), name);
      WarpArrays warps(form, count, std::nullopt, static_cast<unsigned>(random()));
      const ThreadFile before(form, warps, false, random);
      std::vector<std::uint32_t> expected;
      for (const unsigned control : {usual, up_and_flushing_with_flags, toward_zero, all_trap}) {
        ThreadFile threads = before;
        const std::vector<warpmat_registers> registers = threads.registers();
        const warpmat_call call = call_of(registers, no_memory);
        const unsigned own = _mm_getcsr();
        _mm_setcsr(control);
        const warpmat_status status = warpmat_execute(instruction, &call, count, nullptr);
        const unsigned after = _mm_getcsr();
        _mm_setcsr(own);
        CAPTURE(form.opcode, name, control);
        CHECK(status == WARPMAT_OK);
        CHECK(after == control);
        if (control == usual) expected = threads.words();
        CHECK(threads.words() == expected);
      }
    }
}
#endif

TEST_CASE("C: what kernels decline is executed from thread-major registers too: metadata that the ISA does not define") {
  std::mt19937_64 random(94);
  std::size_t forms_tried = 0;
  for (const Form& form : forms()) {
    const Target& hopper = target("sm_90a");
    if (form.sparsity == Sparsity::dense || unavailable(form, hopper)) continue;
    if (find_lowering(form, hopper.hardware)->exceptions.undefined_metadata == UndefinedMetadata::unknown) continue;
    if (form.format(OperandName::a) == Format::tf32) continue;  // it traps: the behaviour was not measured
    for (const bool drawn : {false, true}) {
      WarpArrays warps(form, count, std::nullopt, static_cast<unsigned>(random()));
      for (std::size_t lane = 0; lane < warp_size; ++lane)
        warps.word(OperandName::e, 1, 0)[lane] = 0;  // twice the first place; of warp 0 they stay
      check_thread_major(form, hopper, std::move(warps), drawn, WARPMAT_UNDEFINED_AS_HARDWARE, random);
    }
    ++forms_tried;
  }
  CHECK(forms_tried > 20);
}

}  // namespace
}  // namespace warpmat::thread_major_test

#pragma once

#include <cfenv>
#include <cstdint>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include <warpmat/formats.h>

namespace warpmat {

/// The control word of this thread's CPU: rounding and treatment of subnormal numbers. No mode traps exceptions. `Status` are the sticky
/// exception flags where they are a word of their own.
struct FloatControl {
#if defined(__SSE2__)  // MXCSR
  enum Mode : std::uint32_t { nearest = 0x1f80, down = 0x3f80, up = 0x5f80, toward_zero = 0x7f80 };
  static constexpr std::uint32_t flushing = 0x8000 | 0x0040;  ///< flush to zero, denormals are zeros
  static constexpr std::uint32_t flags = 0x003f;              ///< exception flags
  static std::uint32_t read() {
    return _mm_getcsr();
  }
  static void write(std::uint32_t word) {
    _mm_setcsr(word);
  }
  struct Status {};  ///< `flags` of the control word
  static Status read_status() {
    return {};
  }
  static void restore_status(Status) {}
  static void raise_status() {}
#elif defined(__aarch64__)  // FPCR
  enum Mode : std::uint64_t { nearest = 0, up = 1 << 22, down = 2 << 22, toward_zero = 3 << 22 };
  static constexpr std::uint64_t flushing = 0;  ///< this CPU flushes before rounding, so it loses some results that x86-64 and GPUs keep
  static constexpr std::uint64_t flags = 0;
  static std::uint64_t read() {
    std::uint64_t word;
    asm volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void write(std::uint64_t word) {
    asm volatile("msr fpcr, %0" : : "r"(word));
  }
  struct Status {
    std::uint64_t word;  ///< FPSR
  };
  static Status read_status() {
    Status status;
    asm volatile("mrs %0, fpsr" : "=r"(status.word));
    return status;
  }
  static void restore_status(Status before) {
    if (read_status().word != before.word) asm volatile("msr fpsr, %0" : : "r"(before.word));
  }
  static void raise_status() {
    restore_status({read_status().word | 0x9f});
  }
#else                       // other CPUs: rounding only; flushing stays as the caller set it
  enum Mode : int { nearest = FE_TONEAREST, down = FE_DOWNWARD, up = FE_UPWARD, toward_zero = FE_TOWARDZERO };
  static constexpr int flushing = 0, flags = 0;
  static int read() {
    return std::fegetround();
  }
  static void write(int word) {
    std::fesetround(word);
  }
  struct Status {
    std::fexcept_t flags;
  };
  static Status read_status() {
    Status status;
    std::fegetexceptflag(&status.flags, FE_ALL_EXCEPT);
    return status;
  }
  static void restore_status(Status before) {
    std::fesetexceptflag(&before.flags, FE_ALL_EXCEPT);
  }
  static void raise_status() {}
#endif
};

/// Sets the CPU's rounding and subnormal handling for a kernel. On destruction restores the caller's, and the caller's sticky exception
/// flags. It writes a word only if it differs, and does not read what it knows to differ: both wait for other instructions.
///
/// Arithmetic inside the scope stays there if its operands come from memory and its results go to memory: the compiler moves neither loads
/// nor stores across the ends. Arithmetic on variables may move.
class RoundingMode : private FloatControl {
 public:
  using FloatControl::Mode, FloatControl::nearest, FloatControl::down, FloatControl::up, FloatControl::toward_zero;

  /// `flush`, on x86-64 only: subnormal operands become zeros of their sign. So do results that would be below the smallest normal number
  /// if the exponent had no bound.
  explicit RoundingMode(Mode mode, bool flush = false) : before_(read()), status_(read_status()) {
    const auto wanted = static_cast<Word>(mode) | (flush ? flushing : Word{0});
    differs_ = (before_ & ~flags) != wanted;
    if (differs_) write(wanted);
    fence();
  }
  ~RoundingMode() {
    fence();
    if (differs_ || read() != before_) write(before_);
    restore_status(status_);
  }
  RoundingMode(const RoundingMode&) = delete;
  RoundingMode& operator=(const RoundingMode&) = delete;

 protected:
  void raise_all() {
    write(read() | flags);
    raise_status();
  }

 private:
  using Word = decltype(read());

  static void fence() { asm volatile("" ::: "memory"); }

  Word before_;
  bool differs_;  ///< what was wanted, from before_
  [[no_unique_address]] Status status_;
};

/// The CPU's mode of a rounding.
constexpr RoundingMode::Mode mode_of(Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest_even: return RoundingMode::nearest;
    case Rounding::toward_zero: return RoundingMode::toward_zero;
    case Rounding::down: return RoundingMode::down;
    case Rounding::up: return RoundingMode::up;
  }
  return RoundingMode::nearest;
}

/// Another rounding, without flushing, inside the scope of a RoundingMode: nothing is read, for which the CPU would wait for all
/// arithmetic before.
class InnerRoundingMode : private FloatControl {
 public:
  /// `outer` and `outer_flushes` are that RoundingMode's.
  InnerRoundingMode(Mode mode, Mode outer, bool outer_flushes) : outer_(static_cast<Word>(outer) | (outer_flushes ? flushing : Word{0})) {
    set(static_cast<Word>(mode));
  }
  ~InnerRoundingMode() { set(outer_); }
  InnerRoundingMode(const InnerRoundingMode&) = delete;
  InnerRoundingMode& operator=(const InnerRoundingMode&) = delete;

 private:
  using Word = decltype(read());

  static void set(Word word) {
    asm volatile("" ::: "memory");
    write(word);
    asm volatile("" ::: "memory");
  }

  Word outer_;
};

/// A RoundingMode around many operations, of which some have one of their own: all sticky flags are set meanwhile, so that none of
/// these has one to restore.
class OuterRoundingMode : public RoundingMode {
 public:
  explicit OuterRoundingMode(Mode mode) : RoundingMode(mode) { raise_all(); }
};

}  // namespace warpmat

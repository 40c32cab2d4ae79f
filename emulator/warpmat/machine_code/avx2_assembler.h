#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include <asmjit/x86.h>

namespace warpmat::machine_code {

namespace x86 = asmjit::x86;

/// Writes the code of AVX-512 instructions by those of AVX2: the rest of machine_code/ knows only the former. A vector of 64 bytes is two
/// halves, each with a place on the stack; the CPU's registers hold the halves that were used last. A mask is its bits, or vectors with a
/// lane of ones for each of them. Registers rsi and rdi are not kept.
///
/// What the writer is to keep to, or there is an error and so no code: behind a label, only k6 and k7 are read as they were before;
/// behind one that code comes to without a jump, neither are zmm0 to zmm7. An instruction that this does not know is an error, too.
class Avx2Assembler final : public x86::Assembler {
 public:
  /// What it needs of the stack, from [rsp + places_at] on. It is aligned to 64 bytes.
  static constexpr int vectors = 32, masks = 8, vector_bytes = 64;
  static constexpr int place_bytes = (vectors + 2 * masks + 1) * vector_bytes;

  Avx2Assembler(asmjit::CodeHolder& holder, int places_at);

  asmjit::Error _emit(asmjit::InstId id, const asmjit::Operand_& o0, const asmjit::Operand_& o1, const asmjit::Operand_& o2,
                      const asmjit::Operand_* more) override;
  asmjit::Error bind(const asmjit::Label& label) override;

  /// Nothing reads the vectors from here on that have these numbers.
  void forget_vectors(int first, int end);
  /// Writes what lies behind the code: ways to labels, and constants.
  void finish();

 private:
  using Operand = asmjit::Operand_;
  using InstId = asmjit::InstId;
  using Ymm = x86::Ymm;

  /// An instruction as the writer wrote it.
  struct Instruction {
    InstId id = 0;
    std::array<Operand, 6> operands;
    int mask = -1;  ///< of the lanes that it writes
    bool zeroing = false;
    const Operand& operator[](int i) const { return operands[static_cast<std::size_t>(i)]; }
  };
  using Expand = void (Avx2Assembler::*)(const Instruction&);

  // ---- Halves: 2 * vector + half. Vectors behind the 32 are those of masks.
  struct Cached {
    int half = -1;
    bool dirty = false;  ///< memory has another value
    std::uint64_t used = 0;
  };
  /// Where memory has a half that is not in its place: where the writer loaded it from, or stored it to.
  struct Home {
    enum Base : std::uint8_t { place, frame, constants };
    Base base = place;
    std::int32_t offset = 0;
    friend bool operator==(const Home&, const Home&) = default;
  };
  static constexpr int cached_registers = 12, temporaries = 8;
  static Ymm t(std::uint32_t i) { return x86::ymm(cached_registers + i); }  ///< free within an instruction, for i from 0 to 3

  x86::Mem place(int half) const;
  x86::Mem memory_of(int half) const;
  static Home home_of(const Operand& memory, int half);
  /// Registers stay valid until the end of the instruction. Sources are to be read before the result is written.
  Ymm read(int half);
  Ymm write(int half);
  Ymm modify(int half);
  int find_cached(int half) const;
  int find_room();
  void store(Cached& cached, std::uint32_t i);
  void flush();

  template <typename... Operands>
  void put(InstId id, const Operands&... operands) {
    const std::array<Operand, 6> all{operands...};
    put_all(id, all);
  }
  asmjit::Error put_all(InstId id, const std::array<Operand, 6>& operands);
  void fail() { reportError(asmjit::kErrorInvalidInstruction); }

  // ---- Operands
  static bool is_general(const Operand& operand) { return operand.isReg() && operand.as<asmjit::BaseReg>().isGroup(asmjit::RegGroup::kGp); }
  static int halves_of(const Operand& operand);
  static int half_of(const Operand& operand, int half);
  static x86::Mem memory_half(const Operand& operand, int half);
  /// A register, or memory where the half is nowhere else.
  Operand source(const Operand& operand, int half);
  Ymm read(const Operand& operand, int half) { return read(half_of(operand, half)); }
  Ymm write(const Operand& operand, int half) { return write(half_of(operand, half)); }
  /// 16 bytes of the lower half.
  x86::Xmm quarter(const Operand& operand, int which, const Ymm& room);
  void ones(const Ymm& to);
  void zeros(const Ymm& to) { put(x86::Inst::kIdVpxor, to, to, to); }
  Operand lane(const Operand& vector, std::uint32_t bytes);
  x86::Mem constant(std::uint32_t value);
  void signs_of_wides(const Ymm& to);

  static const Expand* find_expand(InstId id);
  static InstId find_same(InstId id);
  void expand(const Instruction& instruction);
  void by_halves(const Instruction& instruction, InstId own);

  // ---- Computations: avx2_computations.cpp
  void multiply_wides(const Instruction& i);
  void absolute_wides(const Instruction& i);
  void order_wides(const Instruction& i);
  void shift_signed_wides(const Instruction& i);
  void multiply_add(const Instruction& i);
  void logic(const Instruction& i);
  void two_inputs(const Ymm& to, unsigned table, const Ymm& b, const Ymm& c);
  void float_of_unsigned(const Instruction& i);
  void double_of_unsigned(const Instruction& i);
  void widen(const Instruction& i);
  void narrow(const Instruction& i);
  void narrow_words(const Instruction& i);
  void narrow_floats(const Instruction& i);
  void extract(const Instruction& i);
  void insert(const Instruction& i);
  void broadcast(const Instruction& i);
  void move_lane(const Instruction& i);
  void join(const Instruction& i);
  void permute(const Instruction& i);
  void test_bits(const Instruction& i);

  // ---- Masks: avx2_masks.cpp
  struct Mask {
    enum Static : std::uint8_t { none, zero, all };
    Static known = none;
    bool bits = false, words = false, wides = false;  ///< which of its forms have its value
    bool raw = false;                                 ///< lanes of vectors that it has are not zero, but may not be all ones
    int at = 0;                                       ///< whose places
  };
  Mask& mask(const Operand& operand) { return now_.mask[operand.id()]; }
  x86::Mem mask_bits(int at) const;
  static int half_of_mask(int at, int bytes, int half);
  /// Its form for lanes of that many bytes.
  Ymm lanes_of_mask(int number, int bytes, int half);
  void load_bits(const x86::Gp& to, const Mask& mask);
  void fill_lanes(const Mask& mask);
  Mask& begin_mask(const Operand& operand);
  void store_bits(const Operand& operand, const x86::Gp& from);
  void move_mask(const Instruction& i);
  void shift_mask(const Instruction& i);
  void invert_mask(const Instruction& i);
  void set_mask(const Instruction& i);
  void or_masks(const Instruction& i);
  void test_masks(const Instruction& i);
  void unpack_masks(const Instruction& i);
  void compare(const Instruction& i);
  bool compare_half(const Instruction& i, const Ymm& to, int half);
  void compare_unsigned_wides(const Ymm& to, const Ymm& a, const Ymm& b);
  void finish_compare(const Instruction& i, int bytes, int half, const Ymm& to, bool inverted);

  // ---- Memory, and lanes of a mask: avx2_moves.cpp
  void move(const Instruction& i);
  void set_home(int half, const Home& home, bool anew);
  void move_masked(const Instruction& i, int bytes);
  void blend(const Instruction& i);
  void gather(const Instruction& i);
  void gather_half(const Instruction& i, int half);
  void gather_words_by_wides(const Instruction& i);
  void scatter(const Instruction& i);

  // ---- Jumps: avx2_jumps.cpp
  using Undefined = std::bitset<2 * temporaries>;  ///< halves that have no value
  /// Where the code is.
  struct State {
    std::array<Cached, cached_registers> cached{};
    std::array<Mask, masks> mask{};
    std::array<Home, 2 * vectors> home{};
    Undefined undefined{};
  };
  /// A jump to `target` by way of `own`, in that state.
  struct Jump {
    asmjit::Label own, target;
    State state;
  };
  /// What is where behind a label, and which of the first halves have no value.
  struct Target {
    std::array<Cached, cached_registers> cached{};
    std::array<Home, 2 * vectors> home{};
    Undefined undefined{};
  };
  void jump(InstId id, const asmjit::Label& label);
  asmjit::Label way_to(const asmjit::Label& label);
  bool make_way(const Target& target, bool writes);
  static std::array<Home, 2 * vectors> common_homes(const std::vector<Jump>& jumps);
  bool move_home(const Target& target, int half, bool writes);
  void end_path();
  static bool is_undefined(int half, const Undefined& undefined);
  void write_ways();
  void embed_constants();

  int places_at_;
  std::uint64_t time_ = 0;
  State now_;
  bool reachable_ = true;
  std::map<std::uint32_t, std::vector<Jump>> waiting_;  ///< by label: jumps to one that is not bound yet
  std::map<std::uint32_t, Target> targets_;             ///< those that are
  std::set<std::uint32_t> plain_;                       ///< labels to which a jump came with nothing in registers
  std::vector<Jump> ways_;                              ///< to be written
  asmjit::Label constants_;
  std::vector<std::uint32_t> values_;
};

}  // namespace warpmat::machine_code

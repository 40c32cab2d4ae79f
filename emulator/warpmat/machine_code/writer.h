#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <asmjit/x86.h>

#include <warpmat/ir/code.h>
#include <warpmat/ir/machine_code.h>
#include <warpmat/machine_code/avx2_assembler.h>
#include <warpmat/scalar/kernel.h>

namespace warpmat::machine_code {

namespace x86 = asmjit::x86;
using code::CodeContext;
using code::Operation;
using code::RegisterClass;
using code::Slot;

/// Whose instructions the code has.
enum class Vectors : std::uint8_t { avx2, avx512 };

/// A register of a warp in the CPU's registers: 2 vectors of 16 words, or 4 of 8 wides. One whose lanes are equal has one vector, which
/// each part is.
struct Rows {
  std::array<x86::Zmm, 4> part;
  int parts = 0;
  bool uniform = false;
};

/// Calls each(p) for the vectors of a result.
template <typename Each>
void for_parts(const Rows& result, Each each) {
  for (std::size_t p = 0; p < (result.uniform ? 1 : static_cast<std::size_t>(result.parts)); ++p) each(p);
}

/// The tables behind the code, in vectors.
enum class Table : std::uint8_t { words_apart, wides_apart_4, wides_apart_8, lanes, nan, row_bits };

// The registers of the CPU that the code keeps. All others are free between two operations; k1 to k5 and zmm0 to zmm7 within
// one. What reads, makes or stores a register of the warp may clobber k1.
inline const x86::Gp frame = x86::rbx, constants = x86::r12, context = x86::r13, left = x86::r14d, known = x86::r15, shared = x86::rbp;

/// Writes the code of operations. Registers of the warp that an operation has read or written stay in the CPU's until those are used again.
/// A result is stored, of the active lanes, where something else than this piece of code may read it: before the machine executes an
/// operation, and at the end of the piece where it is live. So memory holds what the interpreter would have left, but for registers that
/// nothing reads any more.
class Writer {
 public:
  /// Whether something may read these bytes later.
  using IsLive = std::function<bool(Slot slot, int bytes)>;

  /// `modifiers` lives as long as the code.
  Writer(asmjit::CodeHolder& holder, const code::Program& program, bool all_lanes, Vectors vectors,
         std::deque<scalar::Modifiers>& modifiers);

  x86::Assembler& a() { return assembler_; }
  const code::Program& program() const { return program_; }
  /// Whether an instruction may round in a direction of its own.
  bool has_directions() const { return halves_ == nullptr; }

  // ---- The operation
  /// Begins operation `number`, behind which `ahead` more of its piece follow.
  void begin(std::int32_t number, std::int32_t ahead);
  std::int32_t number() const { return number_; }
  const Operation& operation() const { return program_.operations[static_cast<std::size_t>(number_)]; }
  /// Whether lanes of the warp may not execute it: results of those stay.
  bool masked() const { return masked_; }
  Slot result_slot(int i) const { return slots()[i]; }
  Slot source_slot(int i) const { return slots()[operation().results + i]; }

  Rows source(int i, RegisterClass register_class) { return row_at(source_slot(i), register_class); }
  /// A row of f32, for code whose result does not depend on which NaN is where.
  Rows float_source(int i) { return row_at(source_slot(i), RegisterClass::word, true); }
  /// `any_nan`: NaNs of f32 may be others than the canonical one.
  Rows row_at(Slot slot, RegisterClass register_class, bool any_nan = false);
  /// Vectors for a result, whose contents are not those of any source.
  Rows result(RegisterClass register_class) { return result(register_class, lane_wise_ && uniform_sources_); }
  /// Of the same in all lanes, but where lanes keep what they have.
  Rows result(RegisterClass register_class, bool uniform);
  /// From here on a lane of a result depends on that lane of the sources alone, or no longer.
  void set_lane_wise(bool lane_wise) { lane_wise_ = lane_wise; }
  /// Those are result `i` now, in the lanes that execute.
  void commit(const Rows& rows, int i = 0) { hold_result(rows, i); }
  /// The same of f32: its NaNs become the canonical one where something else than float_source() reads them.
  void commit_float(const Rows& rows);
  /// The predicate of a result is eax.
  void commit_predicate(int i = 0);
  /// The lanes that execute: in r8d; k6 and k7: the first and the last 16 of them. Clobbers ecx.
  void load_mask();
  /// Those of `part` of a row of words or wides: k6, k7, or k3. All lanes, without load_mask(), where it is not masked.
  x86::KReg lanes_of(RegisterClass kind, int part);
  /// Before code that may jump over a result: its register is in memory, as it was, and commit_stored() leaves it there.
  void store_result(int i = 0) { store_overlap(result_slot(i), 4 * vector_bytes); }
  /// commit(), and no vectors hold the result then.
  void commit_stored(const Rows& rows, int i = 0);
  /// Memory has what vectors have of a source, or of all registers.
  void store_source(int i) { store_overlap(source_slot(i), 4 * vector_bytes); }
  void store_all();
  /// From memory.
  void load(const Rows& rows, Slot slot);

  // ---- Pieces
  /// Registers, which the machine may write where it executes an operation, are the same in all lanes no longer.
  void forget_uniform();
  /// The piece ends: of what vectors have, memory gets what is live.
  void end_piece(const IsLive& is_live);
  /// The label of the next piece, from where all registers are in memory: for vectors to have what was passed on, they are loaded there.
  void bind_entry(const asmjit::Label& piece);
  /// A place behind all code that ends the piece and jumps to another.
  asmjit::Label ending_to(const asmjit::Label& piece, IsLive is_live);

  /// k1 and k2: the first and the last 16 lanes of a predicate; `part` of 8 lanes in k1.
  void predicate_words(Slot slot);
  void predicate_part(Slot slot, int part);
  x86::Mem predicate(Slot slot) const;
  x86::Mem vector(Slot slot, int part) const;
  x86::Mem table(Table which, int part = 0);

  // ---- Leaving
  /// Has the machine execute the operation: all vectors are free then.
  void execute_outside();
  /// Whether call_row() can execute the operation.
  bool is_row() const;
  /// Calls the operation's function or kernel.
  void call_row();
  /// A place on the stack of the code's own, from byte `at` of some 500 on; call_row() uses it, too.
  x86::Mem scratch(int at) const;
  /// execute_outside() where the code jumps to the label that is returned. Then the code goes on behind the operation, with what vectors
  /// hold at the end of it: to be called by end_outside().
  asmjit::Label begin_outside();
  void end_outside();
  /// Ends the run before operation `number`, of whose piece `unused` operations were counted down.
  void leave_before(std::int32_t number, std::int32_t unused);
  /// The label of a place behind all code that leaves so, with what vectors hold now.
  asmjit::Label leaving_before(std::int32_t number, std::int32_t unused);
  /// Before the operation itself.
  asmjit::Label leaving_here() { return leaving_before(number_, ahead_ + 1); }
  /// Code that lies behind all other, where it is not in the way.
  void behind(std::function<void()> write) { behind_.push_back(std::move(write)); }
  void forget();
  /// Vectors that hold what nothing reads any more are free.
  void forget_dead(const IsLive& is_live);

  void begin_code();
  /// Writes what lies behind the code.
  void end_code();

 private:
  /// Inactive lanes of a dirty row have any contents. store_row() gives them what memory has.
  struct Held {
    bool is_held = false;
    Slot slot = 0;
    int parts = 0;
    bool uniform = false;
    bool dirty = false;    ///< memory has another value
    bool any_nan = false;  ///< NaNs of f32 are to become the canonical one
    std::uint64_t used = 0;

    /// Its second half is in the next row, which holds nothing else.
    bool has_two_rows() const { return is_held && parts == 4 && !uniform; }
  };
  static constexpr int first_vector = 8, held_rows = 12, vector_bytes = 64;
  using AllHeld = std::array<Held, held_rows>;

  void begin_stack();
  const Slot* slots() const { return program_.slots.data() + operation().slots; }
  int find_room(int parts);
  Rows rows_of(int row, int parts, bool uniform) const;
  /// The row that holds what is in this one.
  int holder(int row) const { return row % 2 != 0 && held_[static_cast<std::size_t>(row) - 1].has_two_rows() ? row - 1 : row; }
  std::uint64_t last_use(int row) const;
  void forget_overlap(Slot slot, int bytes);
  void store_overlap(Slot slot, int bytes);
  void make_canonical(const Rows& rows);
  void settle_nans(int row);
  void store_row(int row);
  void load_all(const AllHeld& all);
  void load_lanes();
  void merge(const x86::Zmm& part, const asmjit::Operand& from, const x86::KReg& lanes, RegisterClass kind);
  void keep_others(const Rows& rows, Slot slot);
  int find_held(Slot slot, int parts) const;
  void call_outside();
  void find_aside(int i);
  void take_aside(int i);
  Held& hold(const Rows& rows, Slot slot);
  Held& hold_result(const Rows& rows, int i);

  std::unique_ptr<x86::Assembler> made_;
  Avx2Assembler* halves_;  ///< the same, where the CPU's vectors are those of AVX2
  x86::Assembler& assembler_;
  const code::Program& program_;
  bool all_lanes_;
  bool masked_ = false, lane_wise_ = false, uniform_sources_ = true;
  std::int32_t number_ = 0, ahead_ = 0;
  std::deque<scalar::Modifiers>& modifiers_;  ///< of kernels, where the code finds them
  std::uint64_t time_ = 0, begun_at_ = 0;
  AllHeld held_{}, held_outside_{};  ///< now; when begin_outside() was called
  asmjit::Label leave_, tables_, outside_, continue_;
  std::vector<std::function<void()>> behind_;
};

/// Null: nothing of it is worth it.
std::unique_ptr<const code::MachineCode> compile(const code::Program& program, bool all_lanes, Vectors vectors);

/// Writes the operation's code where there is a row for it: rows.cpp. False: nothing is written.
bool write_computation(Writer& writer);
/// A load or store, in the usual case: accesses.cpp, elements.cpp.
bool write_access(Writer& writer);
/// An atomic operation that gives no result: updates.cpp.
bool write_update(Writer& writer);
/// A special register that needs no look: rows.cpp.
bool write_special(Writer& writer);
/// Each 32-bit word of the vector becomes `value`, by way of eax.
inline void fill(Writer& w, const x86::Zmm& vector, std::uint32_t value) {
  w.a().mov(x86::eax, value);
  w.a().vpbroadcastd(vector, x86::eax);
}
/// `to` becomes `value` in the lanes in which `of` has a NaN of f32. Clobbers k1.
inline void replace_nans(Writer& w, const x86::Zmm& to, const x86::Zmm& of, const asmjit::Operand& value) {
  constexpr std::uint8_t unordered = 3;
  w.a().vcmpps(x86::k1, of, of, unordered);
  w.a().k(x86::k1).emit(x86::Inst::kIdVmovdqa32, to, value);
}
/// Whether all lanes of a warp can execute an operation across lanes in one step: exchanges.cpp. Then this writes it.
bool exchanges_at_once(const code::Program& program, const Operation& operation);
void write_exchange(Writer& writer);

}  // namespace warpmat::machine_code

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <warpmat/forms.h>
#include <warpmat/version.h>
#include <warpmat/warp.h>

namespace warpmat {

// ---- Registers and options ----

/// 32-bit registers in the order in which an operand lists them; a 64-bit register is two, low half first. Each pointer addresses 32
/// consecutive words, lanes 0 to 31; any alignment of a 32-bit word is allowed.
using RegisterList = std::span<std::uint32_t* const>;
using ConstRegisterList = std::span<const std::uint32_t* const>;

/// The behaviour if the ISA leaves it undefined: undefined metadata codes and selectors, ids out of range, nonzero padding of 6- and 4-bit
/// elements.
enum class Undefined : std::uint8_t {
  trap,      ///< throws Trap naming lane and operand
  hardware,  ///< does what was measured on the target's hardware; traps if nothing was measured
};

/// The implementation that computes. Both give the same bits.
enum class Path : std::uint8_t {
  fast,       ///< vector instructions (docs/inside/fast-path.md); the reference where those decline
  reference,  ///< element by element, as docs/reference/numerics.md describes it
};

/// Options of an Instruction, a program or a runner. Execution needs less than 60 KiB of stack.
struct ExecutionOptions {
  Path path = Path::fast;
  Undefined undefined = Undefined::trap;
};

// ---- Views of registers ----

/// A view of the 32-bit words of one operand for many warps: the one way in which callers, kernels and the reference say where registers
/// are. Word i, as InstructionOperand::words counts, of lane l of warp w is words[number(i) * word_stride + l * lane_stride + w *
/// warp_stride], where number(i) is numbers[i], or i without `numbers`; of a list of registers it is list[i][l + w * warp_stride]. Strides
/// count 32-bit words. Any alignment of a 32-bit word is allowed.
template <typename Word>
class BasicRegisterView {
 public:
  /// No words: an operand that is left out.
  constexpr BasicRegisterView() = default;
  /// `warp_stride` 0: all warps share the words. Strides are modulo 2^64, so they may be negative. `numbers`: one for each word.
  constexpr BasicRegisterView(Word* words, std::size_t warp_stride = 0, std::ptrdiff_t word_stride = warp_size,
                              std::ptrdiff_t lane_stride = 1, const std::uint16_t* numbers = nullptr)
      : words_(words), warp_stride_(warp_stride), word_stride_(word_stride), lane_stride_(lane_stride), numbers_(numbers) {}
  /// Registers anywhere: a RegisterList or another range of pointers, which must outlive the view; one without pointers is no words.
  template <typename List>
  requires(std::is_constructible_v<std::span<Word* const>, const List&>) constexpr BasicRegisterView(const List& list,
                                                                                                     std::size_t warp_stride = 0)
      : BasicRegisterView(std::span<Word* const>(list), warp_stride, 0) {}
  /// Registers that are written may be read.
  template <typename Written>
  requires(std::is_same_v<const Written, Word>) constexpr BasicRegisterView(const BasicRegisterView<Written>& view)
      : words_(nullptr),
        warp_stride_(view.warp_stride_),
        word_stride_(view.word_stride_),
        lane_stride_(view.lane_stride_),
        numbers_(view.numbers_),
        list_size_(view.list_size_) {
    if (list_size_ != 0)
      list_ = view.list_;
    else
      words_ = view.words_;
  }

  /// Each register is 32 consecutive lanes; `warp_words` words a warp.
  static constexpr BasicRegisterView register_major(Word* words, std::size_t warp_words) { return {words, warp_words}; }
  /// An array of `thread_words` registers for each thread; `numbers`: those that the instruction names.
  static constexpr BasicRegisterView thread_major(Word* words, std::size_t thread_words, const std::uint16_t* numbers = nullptr) {
    return {words, warp_size * thread_words, 1, static_cast<std::ptrdiff_t>(thread_words), numbers};
  }
  /// All lanes of all warps read the same words.
  static constexpr BasicRegisterView immediate(Word* words) requires(std::is_const_v<Word>) { return {words, 0, 1, 0}; }

  constexpr bool is_empty() const { return list_size_ == 0 && words_ == nullptr; }
  /// nullptr of a list.
  constexpr Word* words() const { return list_size_ == 0 ? words_ : nullptr; }
  constexpr std::size_t warp_stride() const { return warp_stride_; }
  constexpr std::ptrdiff_t word_stride() const { return word_stride_; }  ///< 0 of a list
  constexpr std::ptrdiff_t lane_stride() const { return lane_stride_; }
  constexpr const std::uint16_t* numbers() const { return numbers_; }

  constexpr bool is_list() const { return list_size_ != 0; }
  /// Registers of a list; 0 of another view, which does not know how many words it has.
  constexpr std::size_t list_size() const { return list_size_; }
  /// The registers of warp 0. Precondition: is_list().
  constexpr std::span<Word* const> list() const { return {list_, list_size_}; }

  /// Whether each register is 32 consecutive lanes, and registers stand in their order.
  constexpr bool is_register_major() const { return word_stride_ == warp_size && lane_stride_ == 1 && numbers_ == nullptr; }
  /// Word `index` of lane 0 of warp `warp`.
  constexpr Word* word(int index, std::size_t warp = 0) const {
    Word* const of_first = list_size_ != 0 ? list_[index] : words_ + (numbers_ == nullptr ? index : numbers_[index]) * word_stride_;
    return of_first + static_cast<std::ptrdiff_t>(warp * warp_stride_);
  }
  /// Word `index` of lane `lane` of warp 0.
  constexpr Word& at(int index, int lane) const { return word(index)[lane * lane_stride_]; }
  /// From warp `warp` on. Precondition: neither is_list() nor is_empty().
  constexpr BasicRegisterView from_warp(std::size_t warp) const {
    return {words_ + static_cast<std::ptrdiff_t>(warp * warp_stride_), warp_stride_, word_stride_, lane_stride_, numbers_};
  }

 private:
  template <typename Other>
  friend class BasicRegisterView;

  constexpr BasicRegisterView(std::span<Word* const> list, std::size_t warp_stride, std::ptrdiff_t word_stride)
      : words_(nullptr), warp_stride_(warp_stride), word_stride_(word_stride), list_size_(list.size()) {
    if (!list.empty()) list_ = list.data();
  }

  union {
    Word* words_ = nullptr;
    Word* const* list_;  ///< if list_size_ is not 0
  };
  std::size_t warp_stride_ = 0;
  std::ptrdiff_t word_stride_ = warp_size;
  std::ptrdiff_t lane_stride_ = 1;
  const std::uint16_t* numbers_ = nullptr;
  std::size_t list_size_ = 0;
};
using RegisterView = BasicRegisterView<std::uint32_t>;
using ConstRegisterView = BasicRegisterView<const std::uint32_t>;

/// The bits of one element of a fragment of warp 0, in the low bits of the result. Of several copies it reads the first, as wmma.mma does
/// [H200].
[[nodiscard]] WARPMAT_API std::uint64_t read_element(const Fragment& fragment, const ConstRegisterView& registers, const Element& element);

/// Replaces one element and its copies; the other bits of their registers are unchanged.
WARPMAT_API void write_element(const Fragment& fragment, const RegisterView& registers, const Element& element, std::uint64_t bits);

// ---- Memory and warps ----

/// The caller's memory behind callbacks. An instruction checks every address, then passes each access to a callback, in the order of
/// accesses(): of ldmatrix and stmatrix a row, lane 0's first; of wmma.load and wmma.store a part of a row, register by register. A
/// callback that returns false causes a Trap. A load has then changed nothing; a store has written what came before.
struct RowMemory {
  /// `bytes` bytes that `lane` of warp `warp` addresses (ldmatrix, stmatrix) or has in its registers (wmma).
  using Read = bool (*)(void* user, std::size_t warp, int lane, std::uint64_t address, std::uint8_t* row, std::size_t bytes);
  using Write = bool (*)(void* user, std::size_t warp, int lane, std::uint64_t address, const std::uint8_t* row, std::size_t bytes);

  Read read = nullptr;               ///< for ldmatrix and wmma.load
  Write write = nullptr;             ///< for stmatrix and wmma.store
  void* user = nullptr;              ///< the first argument of the callbacks
  std::uint64_t base = 0;            ///< rows must be inside the `bytes` bytes from `base` on
  std::uint64_t bytes = UINT64_MAX;  ///< the default allows all addresses
};

/// The memories of many warps for instructions that address memory, and their addressing.
struct CallMemory {
  std::uint8_t* shared = nullptr;  ///< warp w's memory: shared_bytes bytes from shared + w * shared_stride on, at address shared_base
  std::size_t shared_bytes = 0, shared_stride = 0;
  std::uint64_t shared_base = 0;
  const RowMemory* rows = nullptr;  ///< the memory of all warps, instead of `shared`
  std::int64_t offset = 0;          ///< added to each address of p: PTX's [register+offset]
  bool wide_addresses = false;      ///< p has two words: addresses of 64 bits, low half first

  /// `memory` is that of the only warp, or of all. It may be empty, unlike a null pointer, which is no memory.
  void use(SharedMemory& memory) {
    static std::uint8_t no_bytes = 0;
    shared = memory.size() == 0 ? &no_bytes : memory.bytes().data();
    shared_bytes = memory.size();
    shared_stride = 0;
    shared_base = memory.base();
  }
};

// ---- Operands of any instruction ----

/// One operand of an instruction of any kind: what a caller lays out words for. A value of up to 32 bits is the low bits of one word of
/// each lane; one of 64 or 128 bits is two or four words, the low one first; a predicate and the carry are one word, 0 for false, else
/// true, and written as 0 or 1.
class WARPMAT_API InstructionOperand {
 public:
  enum class Kind : std::uint8_t {
    fragment,    ///< registers that hold a matrix, sparse metadata or scale factors
    address,     ///< an address of memory for each lane, or one that is the same in all
    selector,    ///< a number from 0 to choices() - 1
    ids,         ///< {byte-id, thread-id}
    stride,      ///< elements between rows or columns in memory
    value,       ///< of a scalar instruction: a number or bits of type()
    predicate,   ///< of a scalar instruction, and wgmma's scale-d
    carry,       ///< CC.CF, which the text does not write; of sub and subc the borrow
    number,      ///< an immediate, the same in all lanes: lane 0's word counts
    descriptor,  ///< of a matrix in shared memory, 64 bits; lane 0's of the first warp counts
  };

  /// An operand of a matrix instruction.
  InstructionOperand(const Form& form, const Operand& operand);

  std::string_view name() const { return name_; }  ///< "d", "scale-a", "a-desc"
  Kind kind() const { return kind_; }
  /// Whether the instruction reads it, and whether it writes it; d of wgmma is both.
  bool is_read() const { return read_; }
  bool is_written() const { return written_; }
  /// Whether it may be left out: a view without words.
  bool is_optional() const { return optional_; }
  /// Whether PTX writes it behind the operand before it, after |: setp.lt.s32 p|q.
  bool is_paired() const { return paired_; }
  /// Registers that PTX writes, each of register_bits() bits: 1 for a predicate and the carry.
  int registers() const { return registers_; }
  int register_bits() const { return register_bits_; }
  /// The same in 32-bit words a lane.
  int words() const { return registers_ * words_of_register(); }
  /// Of a scalar instruction's value or predicate; else nullptr.
  const DataType* type() const { return type_; }
  /// Of a matrix instruction's operand, and of wgmma's that are one; else nothing.
  std::optional<OperandName> matrix_name() const { return matrix_name_; }
  int choices() const { return choices_; }
  /// The registers that PTX takes for it, by their types, and whether they may be wider than type(): in cvt, ld and st.
  const Accepts& accepts() const { return accepts_; }
  bool may_be_wider() const { return may_be_wider_; }

  friend bool operator==(const InstructionOperand&, const InstructionOperand&) = default;

 private:
  friend struct InstructionOperands;
  InstructionOperand() = default;
  int words_of_register() const { return (register_bits_ + 31) / 32; }

  std::string_view name_;
  const DataType* type_ = nullptr;
  std::optional<OperandName> matrix_name_;
  int registers_ = 1, register_bits_ = 32, choices_ = 0;
  Kind kind_ = Kind::value;
  Accepts accepts_{};
  bool read_ = true, written_ = false, optional_ = false, paired_ = false, may_be_wider_ = false;
};

/// "fragment", "value".
[[nodiscard]] WARPMAT_API std::string_view name(InstructionOperand::Kind kind);

/// The registers and memories of one or many warps for an instruction of any kind: operands[i] is of Instruction::operands()[i]. Optional
/// ones at the end may be missing. Operands that are only read are not written: read_only() makes views of const words fit.
///
/// Registers and memories may overlap in any way: a call gives the results of executing its warps in order. An instruction reads all
/// sources of a warp before it writes, except where the hardware executes a sequence that does not (docs/reference/numerics.md): the
/// additions of an fp8 mma on a target without a unit for fp8, and wmma.mma. A register of wmma.mma's D may be a register of a source, but
/// if two share words of some lanes only, or of different lanes, results are not defined: they may depend on how the views are written.
struct Call : CallMemory {
  std::span<const RegisterView> operands;
};

/// The view of an operand that the instruction reads and does not write.
[[nodiscard]] WARPMAT_API RegisterView read_only(const ConstRegisterView& words);

// ---- Instructions ----

class FastPath;
class ListedWarps;
class ScalarForm;
class StagedWarp;
class Wgmma;
class WgmmaForm;
struct OperandWords;

/// How many threads execute an instruction together.
enum class InstructionKind : std::uint8_t {
  matrix,     ///< a warp: mma, ldmatrix, stmatrix, movmatrix, wmma
  warpgroup,  ///< four warps: wgmma.mma_async, as if statement and wait followed each other
  scalar,     ///< each lane by itself: add, cvt, setp
  // Statements of a list (program.h) or of a kernel alone: described here, and problem() refuses every call.
  load,   ///< each lane, from shared memory: ld.shared
  store,  ///< each lane, to shared memory: st.shared
  lanes,  ///< a warp, whose lanes exchange values or wait for each other: shfl, vote, match, redux, elect, activemask, bar.warp.sync
};

/// Whether no call executes instructions of the kind: they are statements.
constexpr bool needs_program(InstructionKind kind) {
  return kind == InstructionKind::load || kind == InstructionKind::store || kind == InstructionKind::lanes;
}

/// An instruction on a target, ready to execute: cheap to copy, immutable, thread-safe. find() makes one.
class WARPMAT_API Instruction {
 public:
  /// The matrix instruction, as find() but for other kinds: form() is there. Throws std::invalid_argument for an unknown opcode or target,
  /// or a form that the target lacks. The message says what would be right.
  Instruction(std::string_view opcode, std::string_view target_name);
  /// Throws std::invalid_argument if `form` is not available for `target` and `version`, or if either is not a copy of a row of its table.
  /// Keeps no reference to the two objects.
  Instruction(const Form& form, const Target& target, PtxVersion version = newest_ptx);
  Instruction(const WgmmaForm& form, const Target& target, PtxVersion version = newest_ptx);

  InstructionKind kind() const { return kind_; }
  /// Its canonical spelling.
  [[nodiscard]] std::string_view opcode() const;
  /// In PTX order; implicit operands (the carry) come last. They last until the process ends.
  [[nodiscard]] std::span<const InstructionOperand> operands() const;
  /// Warps that execute it together: 4 for a warpgroup, else 1.
  int warps() const { return kind_ == InstructionKind::warpgroup ? 4 : 1; }
  /// Bytes that each lane loads or stores; 0 of other kinds than load and store.
  [[nodiscard]] int access_bytes() const;
  /// Which targets have it with all of operands(), and the oldest PTX version.
  [[nodiscard]] Requirement requirement() const;
  /// How its bits are known on the target.
  [[nodiscard]] Label label() const;
  [[nodiscard]] std::string_view source() const;

  // Rows of the tables; they last until the process ends. Precondition of form() and lowering(): kind() is matrix; of wgmma(): warpgroup.
  const Form& form() const { return *form_; }
  const Target& target() const { return *target_; }
  const Lowering& lowering() const { return *lowering_; }
  const WgmmaForm& wgmma() const { return *wgmma_; }

  /// Executes on `warps` warps in order, a multiple of warps(). Precondition: problem(call, warps) is nothing. A warpgroup's call allocates
  /// memory; others neither allocate nor lock unless they throw or a callback does.
  ///
  /// Throws Trap naming the warp for a wrong address and, unless `options` ask for the hardware's behaviour, for operands that the ISA
  /// leaves undefined: metadata, padding, ids, a selector. Earlier warps are then executed; that warp and later ones are unchanged, except
  /// for rows that a RowMemory accepted before it refused one.
  void execute(const Call& call, std::size_t warps = 1, const ExecutionOptions& options = {}) const;
  /// Nothing if `call` has all registers and memory that the instruction reads and writes; else what is wrong and what would be right. Each
  /// operand needs InstructionOperand::words() words, p two for 64-bit addresses. None may be null; each must be a multiple of four bytes.
  /// Of a kind that needs_program() always that. If assertions are compiled in, each execution asserts this.
  [[nodiscard]] std::optional<std::string> problem(const Call& call, std::size_t warps = 1) const;

  friend bool operator==(const Instruction&, const Instruction&) = default;

 private:
  friend class ListedWarps;
  friend class ScalarForm;
  friend class StagedWarp;
  friend class Wgmma;

  explicit Instruction(const ScalarForm& form, const Target& target);
  void execute_matrix(const Call& call, std::size_t warps, const ExecutionOptions& options) const;

  // nullptr where the kind has none
  const Form* form_ = nullptr;
  const Target* target_ = nullptr;
  const Lowering* lowering_ = nullptr;
  const FastPath* fast_ = nullptr;       ///< nullptr also if there is none
  const OperandWords* words_ = nullptr;  ///< of form_'s operands
  const WgmmaForm* wgmma_ = nullptr;
  const ScalarForm* scalar_ = nullptr;
  InstructionKind kind_ = InstructionKind::matrix;
};

/// The instruction that `opcode` spells on a target: mma, ldmatrix, stmatrix, movmatrix, wmma, wgmma.mma_async, scalar instructions that
/// compute (add.rn.f32, cvt.rn.satfinite.e4m3x2.f32, setp.lt.and.s32), and the memory and warp instructions that only
/// programs execute (ld.shared.b32, shfl.sync.idx.b32). Qualifiers may have any order that ptxas accepts. Throws std::invalid_argument for
/// an unknown opcode or target, or an instruction that the target lacks; the message says what would be right.
///
/// A scalar instruction is executed by itself: where ptxas may fuse an add without a rounding with a product, that is the program's.
[[nodiscard]] WARPMAT_API Instruction find(std::string_view opcode, std::string_view target_name);

/// Why find() knows no such instruction, on any target: one sentence, with the nearest. With `kind`, matrix or warpgroup, why none of that
/// kind is such, which may be an instruction of another. Precondition: no target has it.
[[nodiscard]] WARPMAT_API std::string explain_unknown_instruction(std::string_view opcode,
                                                                  std::optional<InstructionKind> kind = std::nullopt);

// ---- Accesses to memory ----

/// An access of an instruction to memory: contiguous bytes. For timing models and caches.
struct MemoryAccess {
  Space space = Space::shared;  ///< generic: the opcode names none
  bool writes = false;
  std::uint32_t bytes = 0;
  std::uint64_t address = 0;
  int lane = 0;  ///< ldmatrix, stmatrix: whose address it is; wmma: whose register it is; -1: the matrix unit's, of wgmma
  OperandName operand = OperandName::r;  ///< whose elements the bytes are
  int reg = -1, bit = 0;                 ///< wmma: where the bytes begin in the lane's registers; reg is -1 elsewhere
  Element element;                       ///< the first of the elements

  friend bool operator==(const MemoryAccess&, const MemoryAccess&) = default;
};

/// Accesses of one warp; 0 for forms that address no memory. It does not depend on addresses.
[[nodiscard]] WARPMAT_API std::size_t access_count(const Form& form);

/// The accesses of warp `warp` of a call, in the order in which callbacks of RowMemory see them, without executing; of wgmma those of the
/// four warps from `warp` on, A's warp by warp, then B's. Of `call` it reads p, the stride, descriptors and immediates, `offset` and
/// `wide_addresses`, no memory; other operands may be empty. Throws Trap for what execute() refuses before it looks for the memory: an
/// address that is misaligned, or of wmma not the same in all lanes; std::invalid_argument for immediates that wgmma lacks.
[[nodiscard]] WARPMAT_API std::vector<MemoryAccess> accesses(const Instruction& instruction, const Call& call, std::size_t warp = 0);

}  // namespace warpmat

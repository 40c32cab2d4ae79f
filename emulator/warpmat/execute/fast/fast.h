#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <warpmat/execute/operands/batch.h>
#include <warpmat/forms.h>
#include <warpmat/instruction.h>

namespace warpmat {

// The fast path: the same results as the execute functions (execute/reference/execute.h), by vector instructions.
//
// The lowering table defines what is computed. A plan repeats it in the numbers that a kernel needs, computed once for a form on a
// hardware. A kernel may decline a warp that it does not support; the reference then executes it. Kernels are compiled for several
// instruction sets; each call uses the best one of the CPU.

/// Whether two registers of 32 lanes share a word.
inline bool overlap(const std::uint32_t* a, const std::uint32_t* b) {
  const auto from = reinterpret_cast<std::uintptr_t>(a), other = reinterpret_cast<std::uintptr_t>(b);
  return (from < other ? other - from : from - other) < sizeof(std::uint32_t) * warp_size;
}

/// Many warps for one instruction. Views are lists. If count is 1, d, a, b and c of mma may also be lane by lane, where a kernel takes them
/// so (FastPath::takes_lanes): word i of a lane is words()[lane * lane_stride() + i], and lanes share no word. The caller of a kernel that
/// writes registers of D before it has read all of C (FloatPlan::split) has then found that they share no word.
struct Warps {
  const ConstRegisterView* sources;    ///< by OperandName, as far as the form has operands
  const RegisterView& written;         ///< d, or r of ldmatrix
  const CallMemory* memory = nullptr;  ///< of instructions that address memory: bytes within 32-bit addresses
  std::size_t count = 1;
  bool apart = false;  ///< the written registers share no word
  // Consecutive statements of one warp, for products alone, at most 32: warp w is the statement w.
  std::size_t step = 0;                  ///< pointers in each list from a statement's registers to the next one's; warp strides are 0
  std::uint32_t same_a = 0, same_b = 0;  ///< bit w: A's, or B's, registers are those of statement w - 1, which does not write them

  /// The warps of a batch of lists.
  static Warps of(const Batch& batch, std::size_t count = 1) { return {batch.sources.data(), batch.destination, &batch, count}; }

  const ConstRegisterView& view(OperandName name) const { return sources[static_cast<std::size_t>(name)]; }

  // As WarpWords has them.
  const std::uint32_t* source(OperandName name, int word, std::size_t warp) const;
  std::uint32_t* destination(int word, std::size_t warp) const;

  bool keeps_a(std::size_t warp) const { return step != 0 && (same_a >> warp & 1) != 0; }
  bool keeps_b(std::size_t warp) const { return step != 0 && (same_b >> warp & 1) != 0; }
};

/// The registers of an operand of one of many warps. A kernel finds them before it stores anything: a store may change `Warps`, as far as
/// the compiler knows.
template <class Word>
struct RegisterPointers {
  Word* const* first_warp;  ///< a pointer for each register
  std::ptrdiff_t distance;  ///< in words, from the first warp's
  Word* operator[](int word) const { return first_warp[word] + distance; }
};

/// The registers of one of many warps: its place in lists is found once for all operands.
class WarpWords {
 public:
  WarpWords(const Warps& warps, std::size_t warp) : warps_(&warps), warp_(warp), first_(warp * warps.step) {}

  /// Of each word of an operand, its 32 lanes.
  RegisterPointers<const std::uint32_t> source(OperandName name) const { return pointers(warps_->view(name)); }
  RegisterPointers<std::uint32_t> destination() const { return pointers(warps_->written); }

  const std::uint32_t* source(OperandName name, int word) const { return source(name)[word]; }
  std::uint32_t* destination(int word) const { return destination()[word]; }

 private:
  /// Strides may be negative, as that of registers in descending order: two's complement.
  template <class Word>
  RegisterPointers<Word> pointers(const BasicRegisterView<Word>& list) const {
    return {list.list().data() + first_, static_cast<std::ptrdiff_t>(warp_ * list.warp_stride())};
  }

  const Warps* warps_;
  std::size_t warp_, first_;
};

inline const std::uint32_t* Warps::source(OperandName name, int word, std::size_t warp) const {
  return WarpWords(*this, warp).source(name, word);
}
inline std::uint32_t* Warps::destination(int word, std::size_t warp) const {
  return WarpWords(*this, warp).destination(word);
}

// Capacity of the kernels; larger products have no plan.
/// 32-bit words of a row of the stored A, and of a column of B; twice as many for B if A is sparse
inline constexpr int max_row_words = 8;
inline constexpr int max_groups = max_row_words * 8 / static_cast<int>(group_elements);  ///< of products of 4-bit elements, in a row
inline constexpr int max_f64_k = 16;

/// How a kernel decodes the elements of A or B: row(Format) and Fragment in other words.
struct Elements {
  int bits = 0;   ///< of the element
  int shift = 0;  ///< first bit in the container
  int fraction_bits = 0;
  int exponent_bits = 0;
  int bias = 0;
  int largest = 0;                                                ///< magnitude of the largest finite number
  bool has_one_nan = false;                                       ///< all ones
  alignas(16) std::array<std::int8_t, 16> subnormal_exponents{};  ///< by fraction, of formats of at most 8 bits
};

/// The place of a bit field: the lane and the lowest bit.
struct BitPlace {
  std::uint8_t lane = 0, bit = 0;
};

/// Lanes and bits of a row's metadata. A place is the sum of three: by row, by piece of the row's codes and by selector.
struct MetadataPlan {
  std::array<std::int32_t, 16> row_lanes;
  std::array<std::uint32_t, 16> row_bits;
  std::array<BitPlace, 4> pieces, selectors;
  int piece_bits = 0, piece_count = 0, selector_count = 0;
  bool ordered = false;
  bool pairs = false;  ///< one of two elements is stored, not two of four
};

/// Lanes and bits of the scale factors of a row of A or a column of B. A place is the sum of two: by line and by the matrix that ids
/// select. If groups of products have their own factors, a third is added, by group.
struct ScalePlan {
  std::array<BitPlace, 16> lines, matrices;
  std::array<BitPlace, max_groups> groups;
};

/// Semantics::dot and Semantics::split_dot of 16x8 products.
struct FloatPlan {
  Elements a, b;
  int container_bits = 0;        ///< of A's and B's elements: 8, 16 or 32
  bool wide = false;             ///< a product can leave the range of a float: bf16, tf32
  int a_words = 0;               ///< 32-bit words of a row of the stored A
  int b_words = 0;               ///< of a column of B
  int step_words = 0;            ///< words of a row of the stored A that one step takes
  bool split = false;            ///< two steps from zero, with elements 0 and 1 of each four, then 2 and 3; C is added at the end
  int fraction_bits = 0;         ///< see DotModel
  int result_fraction_bits = 0;  ///< see DotModel
  int floor = no_floor;          ///< see DotModel; for D's format
  bool f16_accumulator = false;
  std::uint32_t padding_a = 0, padding_b = 0;  ///< bits of a word outside all elements; they must be zero
  bool sparse = false;
  MetadataPlan metadata;
  bool scaled = false;  ///< one ue8m0 factor for each row of A and column of B
  ScalePlan scale_a, scale_b;
};

/// Semantics::grouped_dot. Elements are counted in units of their format's smallest number.
struct GroupedPlan {
  struct Factor {
    double value = 0;  ///< times the unit of the elements it multiplies
    int exponent = 0;  ///< see Value; bounds::no_exponent for a zero
  };

  alignas(16) std::array<std::int8_t, 16> elements{};  ///< by code
  std::vector<Factor> factors;                         ///< by code; of A and B
  int a_words = 0, b_words = 0;                        ///< 32-bit words of a row of the stored A and of a column of B
  int fraction_bits = 0;                               ///< see DotModel
  ScalePlan scale_a, scale_b;
  bool sparse = false;
  MetadataPlan metadata;
};

/// Semantics::m8n8k4_dot and Semantics::m8n8k4_fma.
struct M8n8k4Plan {
  bool fused = false;     ///< Semantics::m8n8k4_fma
  bool a_along_k = true;  ///< a lane holds the elements of a row of A for all k; else those of four rows for one k
  bool b_along_k = true;  ///< the same for columns of B
  bool f16_c = false, f16_d = false;
  std::uint32_t nan = 0;   ///< D's
  int fraction_bits = 0;   ///< see DotModel
  int floor = no_floor;    ///< see DotModel; for D's format
  int least_exponent = 0;  ///< of numbers of A and B
  int min_c_exponent = 0;  ///< of numbers of C after conversion to D's format
};

/// Semantics::integer_dot and Semantics::bit_dot.
struct IntegerPlan {
  int rows = 16;         ///< 16 or 8
  int element_bits = 8;  ///< 8, 4 or 1
  bool signed_a = false, signed_b = false;
  int a_words = 0, b_words = 0;  ///< 32-bit words of a row of the stored A and of a column of B
  bool saturate = false;
  bool bit_xor = false;  ///< for 1-bit elements: xor instead of and
  bool sparse = false;
  MetadataPlan metadata;
};

/// Semantics::f64_chain.
struct F64Plan {
  int rows = 16;  ///< 16 or 8
  int k = 0;
  Rounding rounding = Rounding::nearest_even;
};

/// wmma.mma: one or two products of mma in sequence, each with its own registers of D.
struct TilePlan {
  std::variant<FloatPlan, IntegerPlan, F64Plan> product;
  const Form* tile = nullptr;  ///< the form of mma that multiplies a tile
  int tiles = 1;
  bool transposed = false;       ///< A of a tile is wmma's B, and B is wmma's A
  int a_words = 0, b_words = 0;  ///< 32-bit registers of A and of B of a tile
  int a_next = 0, b_next = 0;    ///< registers from one tile's A or B to the next tile's; 0: all tiles share them
  int c_words = 0;               ///< registers of C and of D of a tile
  // For C or D of f16 with tiles of f32:
  bool widens_c = false;
  bool narrows_d = false;
};

/// Semantics::ldmatrix, Semantics::stmatrix, Semantics::movmatrix.
struct MovePlan {
  enum class Kind : std::uint8_t { load, store, move } kind = Kind::load;
  int matrices = 1;
  int address_lanes = 0;    ///< lanes whose addresses are checked
  int row_lanes = 0;        ///< lanes that address a row
  bool transposed = false;  ///< of 8x8 matrices of 16-bit elements
  int memory_bits = 16;     ///< of an element in memory
  /// For elements that are bytes in registers: byte i of the output is byte table[i] of the input. Loads read the rows, each unpacked to 16
  /// bytes, and write the registers, lane by lane. Stores write the rows and read the register of the row's matrix.
  std::vector<std::uint16_t> table;
};

/// Plans of `form` under `lowering`; nothing if another kernel computes it.
std::optional<FloatPlan> float_plan(const Form& form, const Lowering& lowering);
std::optional<GroupedPlan> grouped_plan(const Form& form, const Lowering& lowering);
std::optional<M8n8k4Plan> m8n8k4_plan(const Form& form, const Lowering& lowering);
std::optional<IntegerPlan> integer_plan(const Form& form, const Lowering& lowering);
std::optional<F64Plan> f64_plan(const Form& form, const Lowering& lowering);
std::optional<MovePlan> move_plan(const Form& form, const Lowering& lowering);
std::optional<TilePlan> tile_plan(const Form& form, const Lowering& lowering);

// Kernels execute warps in order and return how many. They return fewer than all if they decline the next warp, which is then unchanged.

std::size_t fast_float_dot(const FloatPlan& plan, const Form& form, const Warps& warps);
std::size_t fast_grouped_dot(const GroupedPlan& plan, const Form& form, const Warps& warps);
std::size_t fast_m8n8k4_dot(const M8n8k4Plan& plan, const Form& form, const Warps& warps);
std::size_t fast_integer_dot(const IntegerPlan& plan, const Form& form, const Warps& warps);
std::size_t fast_f64(const F64Plan& plan, const Form& form, const Warps& warps);
std::size_t fast_move(const MovePlan& plan, const Form& form, const Warps& warps);
std::size_t fast_tiled_dot(const TilePlan& plan, const Form& form, const Warps& warps);

/// Products that follow each other: each has the same D as the one before, and adds to it. `chain` has the warps of each, at most
/// max_chain, as lists without step. All warps of one product have the same A: its stride is 0. D shares no word with A and B. Returns
/// false, having done nothing, for plans without such a kernel.
inline constexpr std::size_t max_chain = 4;
bool fast_float_chain(const FloatPlan& plan, const Form& form, std::span<const Warps> chain);
bool fast_integer_chain(const IntegerPlan& plan, const Form& form, std::span<const Warps> chain);

/// The operands of an mma that has no others, in their order.
inline constexpr std::array product_order{OperandName::d, OperandName::a, OperandName::b, OperandName::c};

/// The kernel of a form on a hardware, with its plan.
class FastPath {
 public:
  using Plan = std::variant<FloatPlan, GroupedPlan, M8n8k4Plan, IntegerPlan, F64Plan, MovePlan, TilePlan>;
  FastPath(const Form& form, Plan plan);

  /// Executes warps as the kernels do. Declines also if destination registers overlap, because the order of writing would be visible.
  std::size_t execute(const Warps& warps) const;

  /// As fast_float_chain() and fast_integer_chain().
  bool execute_chain(std::span<const Warps> chain) const;

  /// Whether it is that of an mma of the operands d, a, b and c alone.
  bool is_product() const { return product_; }

  /// Whether the kernel supports operand `name` lane by lane, as Warps says, or all of product_order; if wants_all_lanes, it supports all
  /// of them or none.
  bool takes_lanes(OperandName name) const { return lanes_[static_cast<std::size_t>(name)]; }
  bool takes_all_lanes() const { return all_lanes_; }
  bool wants_all_lanes() const { return std::holds_alternative<F64Plan>(plan_); }

  /// The plan of ldmatrix, stmatrix and movmatrix, else nullptr.
  const MovePlan* moves() const { return std::get_if<MovePlan>(&plan_); }

 private:
  const Form& form_;
  Plan plan_;
  std::array<bool, operand_name_count> lanes_{};
  bool product_, all_lanes_ = false;
};

/// The fast path of `form`, a form of the table itself, under `lowering`, or nullptr. The first call makes it; it is never destroyed.
/// Threads may call this at once; it takes no lock. If memory is exhausted, a later call makes it.
const FastPath* find_fast_path(const Form& form, const Lowering& lowering);

}  // namespace warpmat

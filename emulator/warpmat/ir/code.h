#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <warpmat/ir/machine_code.h>
#include <warpmat/ir/payloads.h>
#include <warpmat/ptx/catalogue/names.h>
#include <warpmat/ptx/catalogue/row.h>
#include <warpmat/scalar/kernel.h>
#include <warpmat/version.h>

namespace warpmat::syntax {
struct Module;
struct Statement;
}  // namespace warpmat::syntax

namespace warpmat::code {

// A kernel in the machine's form: a flat array of operations, decoded once. resolve.h makes it from an entry of a module.

/// How a run of operations in all lanes of a warp executes one of them, which has no guard.
enum class Shortcut : std::uint8_t {
  none,             ///< not in such a run
  function,         ///< calls Operation::function: one result, fewer than fewest_slots operands
  kernel,           ///< the same of Operation::kernel
  copies_words,     ///< the row of slot 1 is that of slot 0, of 32 bits a lane
  copies_wides,     ///< the same of 64 bits
  keeps,            ///< a copy of a register to its own place
  loads_word,       ///< a load of a parameter, whose ParameterRow is that of slot 2; unless an observer asks for accesses
  loads_wide,       ///< the same of 64 bits
  special_register  ///< a special register that does not count operations: no clock
};

/// The value of a predicate that, as a source, decides the result whatever the other is: false of and.pred, true of or.pred.
enum class Decides : std::uint8_t { none, by_false, by_true };

/// One operation. Its operands are Program::slots from `slots` on: first the results, then the sources.
struct Operation {
  catalogue::WarpFunction function = nullptr;  ///< compute: this, or
  scalar::Function kernel = nullptr;           ///< this, with its scalar::Modifiers
  catalogue::Semantics semantics = catalogue::Semantics::compute;
  std::uint8_t results = 0, sources = 0;
  bool guarded = false, guard_inverted = false;
  bool converges = false;           ///< convergence point: lanes that a branch separated converge here
  bool prepares = false;            ///< not its statement's own operation: computes a value for that, widens its result, ends the function
  std::uint8_t result_classes = 0;  ///< two bits for each of the first four results: its RegisterClass
  Shortcut shortcut = Shortcut::none;
  Decides decides = Decides::none;
  Slot guard = 0;
  std::uint32_t slots = 0;
  std::int32_t target = -1;  ///< branch: an index of Program::operations
  /// branch, branch_table: the convergence point of its lanes, or -1: the lanes do not converge before they exit
  std::int32_t converges_at = -1;
  std::uint32_t payload = 0;    ///< of Program::payloads, where it has one: Program::of()
  std::uint32_t statement = 0;  ///< of Program::statements

  RegisterClass result_class(int i) const { return static_cast<RegisterClass>(result_classes >> 2 * i & 3); }
};

/// A variable, or a parameter of a .func, in a lane's local memory.
struct LocalVariable {
  std::string_view name;
  std::uint32_t offset = 0;  ///< in the function's local memory
};

struct Function {
  std::string_view name;
  std::int32_t first = 0, last = 0;  ///< operations, `last` excluded
  std::uint32_t frame_bytes = 0;     ///< of registers
  std::uint32_t local_bytes = 0;     ///< of a lane's local memory
  std::vector<LocalVariable> locals;
};

/// A variable of the module or a shared variable.
struct Variable {
  std::string_view name;
  Space space = Space::global;
  std::uint64_t address = 0;   ///< shared: its address; global and constant: offset of its contents in Program::module_bytes
  std::uint64_t bytes = 0;     ///< 0: a shared array without a size, which extends to the end of shared memory
  std::uint64_t contents = 0;  ///< of its first bytes in Program::module_bytes; those behind them are zero
};

/// Bytes of a module's variable or of a constant that hold an address. The launch knows it after placing the module's variables.
struct Relocation {
  std::size_t at = 0;  ///< byte offset into Program::module_bytes or Program::constants
  int bytes = 8;
  std::uint64_t shift = 0;   ///< right shift of the address
  int variable = 0;          ///< of Program::module_variables
  std::uint64_t addend = 0;  ///< added to its address
};

/// A constant that is an address in the block's shared memory. In a cluster's blocks the rank is added to it.
struct OwnAddress {
  std::size_t at = 0;  ///< byte offset into Program::constants
  bool wide = false;   ///< of 64 bits
};

/// A constant that is a parameter's value, in all lanes: a load of a parameter is a copy of it. The launch fills it.
struct ParameterRow {
  std::size_t at = 0;        ///< byte offset into Program::constants
  std::uint32_t offset = 0;  ///< in the parameters
  std::uint8_t bytes = 4;    ///< there: 1, 2, 4 or 8
  std::uint8_t bits = 32;    ///< of the register: 16, 32 or 64
  bool sign_extend = false;  ///< bytes to bits
  bool operator==(const ParameterRow&) const = default;
};

/// A register that the text of a function names.
struct PlacedRegister {
  int function = 0;
  std::string name;       ///< "%r5", "%v.x"
  std::string_view type;  ///< "b32", "pred"
  RegisterClass register_class = RegisterClass::word;
  Slot slot = 0;
  bool written = false;  ///< an operation writes it: else the assembler has removed what did
};

/// A parameter of the entry.
struct Parameter {
  std::string_view name;
  std::uint32_t offset = 0, bytes = 0, alignment = 1;
  std::string_view type;  ///< "u64", or "b8" for structs
  bool pointer = false;
};

struct Limits {
  std::int64_t max_threads[3] = {0, 0, 0};       ///< .maxntid: their product bounds the block; 0: no limit
  std::int64_t required_threads[3] = {0, 0, 0};  ///< .reqntid
  std::int64_t required_cluster[3] = {0, 0, 0};  ///< .reqnctapercluster
  std::int64_t max_cluster_blocks = 0;           ///< .maxclusterrank
  std::int64_t registers = 0;  ///< of a thread at the start, if .maxnreg, or .maxntid with .minnctapersm, define it; else 0

  /// The cluster size of a launch: that for which the entry is compiled, else the launch's own.
  Dim3 cluster(Dim3 own) const {
    if (required_cluster[0] <= 0) return own;
    const auto size = [&](int i) { return static_cast<std::uint32_t>(required_cluster[i]); };
    return {size(0), size(1), size(2)};
  }
};

/// What the assembler made of a statement without the instruction that the statement names.
struct Folded {
  enum class Kind : std::uint8_t {
    constant,  ///< its result is `bits`
    divided,   ///< by a number: a product with its reciprocal, `bits`
    inverted,  ///< rcp or div of what rcp or ex2 computed: another instruction
    scaled,    ///< mul by a power of two, `bits`: a part of the product that it reads
  };
  std::uint32_t statement = 0;
  Kind kind = Kind::constant;
  std::uint64_t bits = 0;
};

/// A statement whose bits on a GPU may be others: what the assembler makes of it is not known well enough to execute it so.
struct Doubt {
  enum class Why : std::uint8_t {
    sum,           ///< a product whose sums the assembler may fuse or not: beside branches, guards, equal products
    sum_open,      ///< a sum that machine code leaves to the rule
    sum_inferred,  ///< a sum that other instructions than its own decide
    sign,          ///< of a NaN, which may keep its payload through neg, abs, min or max; of f64, which of two NaNs stays
    converted,     ///< a store or shift of a number's bits, which may be converted to an integer
    constant,      ///< with an operand that is a number or may be known, for which there is something simpler
    flushed,       ///< cvt.ftz.f64.f32, to whose .ftz the product before it may come
    matrix_sum,    ///< a matrix product whose C may be fused with a product
    merged_logic,  ///< logic that may be merged wrongly with other statements on the same operands
    shuffle,       ///< of a value that all lanes have in common, which may be left out; a vote, which may be moved behind a branch or exit
    misplaced,     ///< may be left out, or be executed before or after a statement that changes its operands or guard
  };
  std::uint32_t statement = 0;
  Why why = Why::sum;
  friend bool operator==(const Doubt&, const Doubt&) = default;
};

/// Where the registers of all functions that a kernel may reach lie, and how much local memory their calls need.
struct CallTree {
  /// By function: the offset of its registers among `level_bytes`, those of all functions. Splits of a warp may be in several functions at
  /// once, whose registers have other sizes, so each function has a place of its own; recursion takes the next level.
  std::vector<std::uint32_t> frame_offsets;
  std::uint64_t level_bytes = 0;
  std::uint64_t local_bytes = 0;  ///< of a lane, of the deepest calls; of all functions where some recur through others
  bool recursive = false;

  /// Of registers and local memory, where a warp has them for calls of calls. A GPU has fewer.
  std::uint64_t levels() const { return recursive ? 64 : 1; }
};

struct Program {
  std::shared_ptr<const syntax::Module> module;
  const Target* target = nullptr;
  std::string_view entry;

  std::vector<Operation> operations;
  std::vector<Slot> slots;
  std::vector<Payload> payloads;    ///< copies of an operation share theirs
  std::uint32_t payload_types = 0;  ///< of the payloads: a bit for each type of Payload
  std::vector<Function> functions;  ///< the entry first
  std::vector<const syntax::Statement*> statements;
  std::vector<catalogue::Spelling> spellings{1};  ///< of opcodes; the first, of matrix instructions, says nothing
  std::vector<std::uint32_t> spelled;             ///< by statement: the number of its opcode's

  std::vector<std::uint64_t> constants;  ///< the constants' bytes; Slot ~offset
  std::vector<Relocation> constant_relocations;
  std::vector<OwnAddress> own_addresses;
  std::vector<ParameterRow> parameter_rows;
  std::vector<std::uint8_t> module_bytes;  ///< initial contents of the module's .global and .const variables
  std::vector<Relocation> module_relocations;
  std::vector<Variable> module_variables, shared_variables;

  bool keeps_registers = false;           ///< KernelOptions::keep_registers
  std::vector<PlacedRegister> registers;  ///< with keeps_registers those that an operation reads or writes; else none
  std::vector<Parameter> parameters;
  std::uint32_t parameter_bytes = 0;
  std::uint32_t shared_base = 0;  ///< address of the first byte of shared memory
  /// The system's bytes from shared_base on, which a block has where the program asks for their place: cooperative groups keep the barriers
  /// of tiles of several warps in them. The kernel's own variables lie behind.
  std::uint32_t reserved_shared = 0;
  std::uint32_t shared_bytes = 0;    ///< of static variables, behind reserved_shared
  std::uint32_t dynamic_offset = 0;  ///< offset of .extern .shared from the first static variable
  Limits limits;
  bool clears_registers = true;      ///< an operation may read a register that none has written: it is zero
  bool orders_clusters = true;       ///< an operation may have an order among clusters (machine/grid.h)
  bool reads_thread_indices = true;  ///< %tid.x, .y or .z
  bool reads_clock = false;          ///< a register that counts operations
  std::uint64_t executed = 0;        ///< the Semantics of the operations, a bit each: executes()
  CallTree call_tree;
  std::string assembler;                  ///< who decided about the bits that PTX leaves open; empty: the rule
  std::vector<std::uint32_t> contracted;  ///< statements (adds) executed as part of an fma
  std::vector<Folded> folded;             ///< in the order of the functions and their operations
  std::vector<Doubt> doubted;
  std::vector<std::uint32_t> differs;  ///< statements about which the rule says otherwise than the assembler
  std::shared_ptr<HotCode> hot_code = std::make_shared<HotCode>();

  /// The payload of an operation, of the type that its semantics has. Valid until the next add().
  template <typename P>
  const P& of(const Operation& operation) const {
    return *held<P>(payloads[operation.payload]);
  }
  template <typename P>
  P& of(const Operation& operation) {
    return *held<P>(payloads[operation.payload]);
  }
  /// What the payload of any access has.
  const Access& access(const Operation& operation) const { return access_in(payloads[operation.payload]); }
  Access& access(const Operation& operation) { return const_cast<Access&>(std::as_const(*this).access(operation)); }
  /// A new payload: what Operation::payload is for it.
  std::uint32_t add(Payload payload);
  /// The largest power of two up to 16 at whose multiples all variables of shared memory begin: accesses of so many bytes are in one.
  std::uint32_t shared_alignment() const;
  /// Calls visit() with each payload of that type.
  template <typename P, typename Visit>
  void for_each(Visit visit) const {
    for (const Payload& payload : payloads)
      if (const P* const found = std::get_if<P>(&payload)) visit(*found);
  }
  /// Whether is() is true for one of that type.
  template <typename P, typename Is>
  bool any(Is is) const {
    constexpr std::size_t number = number_among<P>(static_cast<const Payload*>(nullptr));
    static_assert(number < std::variant_size_v<Payload> && std::variant_size_v<Payload> <= 32);
    if ((payload_types >> number & 1) == 0) return false;
    return std::ranges::any_of(payloads, [&](const Payload& payload) {
      const P* const found = std::get_if<P>(&payload);
      return found != nullptr && is(*found);
    });
  }

  /// What its statement spells: for bodies of operations, whose payload has what more than one asks for, or what is computed.
  const catalogue::Spelling& spelling(const Operation& operation) const { return spellings[spelled[operation.statement]]; }
  bool has(const Operation& operation, catalogue::Qualifier qualifier) const { return spelling(operation).qualifiers.has(qualifier); }

  /// Whether it has operations of that kind.
  bool executes(catalogue::Semantics semantics) const { return (executed >> static_cast<int>(semantics) & 1) != 0; }

 private:
  /// std::get_if of what is known to hold a P: the loop that executes asks nothing.
  template <typename P, typename Any>
  static auto held(Any& payload) {
    auto* const found = std::get_if<P>(&payload);
    assert(found != nullptr);
    if (found == nullptr) __builtin_unreachable();
    return found;
  }
  /// All types of accesses begin with what they have in common, so the compiler asks nothing here, either.
  static const Access& access_in(const Payload& payload) {
    if (const auto* const load = std::get_if<LoadAccess>(&payload)) return *load;
    if (const auto* const store = std::get_if<StoreAccess>(&payload)) return *store;
    if (const auto* const atomic = std::get_if<AtomicAccess>(&payload)) return *atomic;
    if (const auto* const multimem = std::get_if<MultimemAccess>(&payload)) return *multimem;
    return *held<CopyAccess>(payload);
  }
};

/// Whether others may see in which order clusters execute an access or a fence.
WARPMAT_LOCAL inline bool may_have_order(const Program& program, const Operation& operation) {
  switch (operation.semantics) {
    case catalogue::Semantics::fence: return program.of<Fence>(operation).orders_clusters;
    case catalogue::Semantics::multimem: return true;
    case catalogue::Semantics::atomic: return may_have_order(program.of<AtomicAccess>(operation));
    case catalogue::Semantics::load:
    case catalogue::Semantics::store: {
      const Access& access = program.access(operation);
      return is_shared_by_clusters(access.space) && access.ordered && !access.within_block;
    }
    default: return false;
  }
}

}  // namespace warpmat::code

#include <warpmat/lower/emit.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <warpmat/ir/call_tree.h>
#include <warpmat/ir/product_runs.h>
#include <warpmat/ir/row_loads.h>
#include <warpmat/lower/arithmetic.h>
#include <warpmat/lower/control_flow.h>
#include <warpmat/lower/frame.h>
#include <warpmat/lower/polling_loops.h>
#include <warpmat/lower/shared_bases.h>

namespace warpmat::code {

using catalogue::Semantics;

namespace {

/// Whether an operation may have an order among clusters: accesses and sums that others observe, fences, what works on the launch's heap,
/// and what takes another cluster.
bool may_order_clusters(const Program& program) {
  const auto may_be_ordered = [&](const Operation& operation) { return may_have_order(program, operation); };
  const auto is_ordered_copy = [](const BulkCopy& copy) { return copy.kind == BulkCopy::Kind::cancel || !copy.reductions.empty(); };
  return std::ranges::any_of(program.operations, may_be_ordered) || program.any<BulkCopy>(is_ordered_copy) ||
         program.any<Call>([](const Call& call) { return call.uses_launch(); });
}

/// How a source decides the result of this operation, whose results are known.
Decides decides(const DraftOperation& draft, const Operation& operation) {
  if (operation.prepares || operation.results != 1 || operation.sources != 2) return Decides::none;
  if (operation.result_class(0) != RegisterClass::predicate) return Decides::none;
  if (is_of(draft, catalogue::Name::and_)) return Decides::by_false;
  return is_of(draft, catalogue::Name::or_) ? Decides::by_true : Decides::none;
}

/// By Semantics the number of the operation's type among those of Payload; of one that has no payload, the number of these.
constexpr std::size_t payload_numbers[]{
#define WARPMAT_OPERATION(name, payload, maker, facts) number_among<payload>(static_cast<const Payload*>(nullptr)),
#include <warpmat/ptx/catalogue/operations.inc>
};

/// Whether the operation's payload has the type that its semantics reads: Program::of() asks no more.
bool has_its_payload(const Program& program, const Operation& operation) {
  const std::size_t number = payload_numbers[static_cast<std::size_t>(operation.semantics)];
  if (number == std::variant_size_v<Payload> || (catalogue::computes(operation.semantics) && operation.kernel == nullptr)) return true;
  return operation.payload < program.payloads.size() && program.payloads[operation.payload].index() == number;
}

bool accesses_global_memory(const Payload& payload) {
  return std::visit(
      []<typename P>(const P& access) {
        if constexpr (std::is_base_of_v<Access, P>)
          return access.space == Space::global || access.space == Space::generic;
        else
          return false;
      },
      payload);
}

class Emitter {
 public:
  explicit Emitter(ProgramDraft& draft) : draft_(draft), program_(draft.program) {}

  void emit() {
    place_constants();
    for (const DraftFunction& function : draft_.functions) {
      blocks_.push_back(find_blocks(function));
      frames_.push_back(place_registers(function, blocks_.back(), Liveness(function, blocks_.back()), program_.keeps_registers));
    }
    reserve_operations();
    for (std::size_t i = 0; i < draft_.functions.size(); ++i) emit_function(i);
    for (std::size_t i = 0; program_.keeps_registers && i < draft_.functions.size(); ++i) name_registers(i);
    put_accesses_first();
    note_operations();
    program_.call_tree = make_call_tree(program_);
    program_.orders_clusters = may_order_clusters(program_);
    program_.clears_registers = frames_.size() > 1 || frames_.front().reads_unwritten;
  }

 private:
  /// Constants are consecutive, each the same in all lanes.
  void place_constants() {
    const std::vector<std::uint64_t> shared = draft_.symbols.place_shared(program_);
    draft_.symbols.place_module(program_);
    bound_shared_accesses(draft_, shared);
    std::size_t end = 0;  // bytes
    for (const Constants::Constant& constant : draft_.constants.all()) {
      constant_slots_.push_back(~static_cast<Slot>(end));
      const std::size_t size = bytes(constant.register_class), at = end;
      end = (end + size + register_alignment - 1) / register_alignment * register_alignment;
      program_.constants.resize(end / 8);
      std::uint64_t low = constant.low;
      if (constant.symbol.kind == Symbol::Kind::shared) low += shared[static_cast<std::size_t>(constant.symbol.index)];
      if (constant.symbol.kind == Symbol::Kind::shared || constant.symbol.kind == Symbol::Kind::block)
        program_.own_addresses.push_back({at, constant.register_class == RegisterClass::wide});
      if (constant.symbol.kind == Symbol::Kind::module)
        program_.constant_relocations.push_back(
            {at, constant.register_class == RegisterClass::wide ? 8 : 4, 0, constant.symbol.index, low});
      fill(at, constant, low);
    }
  }

  void fill(std::size_t at, const Constants::Constant& constant, std::uint64_t low) {
    std::uint64_t* const to = program_.constants.data() + at / 8;
    switch (constant.register_class) {
      case RegisterClass::predicate: *to = low & 0xffffffff; break;
      case RegisterClass::word: std::fill_n(to, warp_size / 2, (low & 0xffffffff) << 32 | (low & 0xffffffff)); break;
      case RegisterClass::wide: std::fill_n(to, warp_size, low); break;
      case RegisterClass::quad:
        std::fill_n(to, warp_size, low);
        std::fill_n(to + warp_size, warp_size, constant.high);
        break;
    }
  }

  void reserve_operations() {
    std::size_t operations = 0;
    for (const DraftFunction& function : draft_.functions) operations += function.operations.size();
    program_.operations.reserve(operations);
    program_.slots.reserve(operations * fewest_slots);
  }

  /// Accesses to global memory get the first payloads: what the machine knows of an access is at its payload's number modulo some dozens.
  void put_accesses_first() {
    std::vector<Payload>& payloads = program_.payloads;
    std::vector<std::uint32_t> order(payloads.size()), number(payloads.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_partition(order.begin(), order.end(), [&](std::uint32_t i) { return accesses_global_memory(payloads[i]); });
    std::vector<Payload> sorted;
    sorted.reserve(payloads.size());
    for (const std::uint32_t i : order) {
      number[i] = static_cast<std::uint32_t>(sorted.size());
      sorted.push_back(std::move(payloads[i]));
    }
    payloads = std::move(sorted);
    for (Operation& operation : program_.operations)
      if (operation.payload < number.size()) operation.payload = number[operation.payload];
  }

  void note_operations() {
    static_assert(std::size(payload_numbers) <= 64);
    program_.reads_thread_indices = false;
    for (const Operation& operation : program_.operations) {
      program_.executed |= std::uint64_t{1} << static_cast<int>(operation.semantics);
      if (operation.semantics != Semantics::special) continue;
      const auto read = program_.of<SpecialRegister>(operation);
      program_.reads_thread_indices |= is_thread_index(read);
      program_.reads_clock |= is_clock(read);
    }
  }

  Slot slot(std::size_t function, Value value) const {
    return is_constant(value) ? constant_slots_[static_cast<std::size_t>(~value)]
                              : frames_[function].slots[static_cast<std::size_t>(value)];
  }

  void emit_function(std::size_t index) {
    const DraftFunction& function = draft_.functions[index];
    const auto first = static_cast<std::int32_t>(program_.operations.size());
    const auto size = static_cast<std::int32_t>(function.operations.size());
    constexpr std::uint32_t local_alignment = 16;
    program_.functions.push_back({function.source->name, first, first + size, frames_[index].bytes,
                                  (function.local_bytes + local_alignment - 1) / local_alignment * local_alignment, function.locals});
    for (const DraftOperation& draft : function.operations) emit_operation(index, draft, first);
    add_convergence(index, first);
    mark_unused_results(index, first);
    mark_shortcuts(first);
    if (program_.any<Matrix>([](const Matrix&) { return true; })) {
      mark_product_runs(program_, first);
      mark_row_loads(program_, first);
    }
    add_parameter_rows(first);
  }

  /// Adds the function's named registers that have a place.
  void name_registers(std::size_t index) {
    const DraftFunction& function = draft_.functions[index];
    std::vector<bool> read(function.registers.size()), written(function.registers.size());
    for (const DraftOperation& operation : function.operations) {
      for_each_read(operation, [&](Value value) { read[static_cast<std::size_t>(value)] = true; });
      for (const Value value : operation.results) written[static_cast<std::size_t>(value)] = true;
    }
    for (const std::vector<Value>* formal : {&function.parameter_registers, &function.return_registers})
      for (const Value value : *formal)
        if (!is_constant(value)) written[static_cast<std::size_t>(value)] = true;
    for (const DeclaredRegisters& declared : function.declared)
      for (std::int64_t i = 0; i < std::max<std::int64_t>(declared.count, 1); ++i)
        for (int element = 0; element < declared.vector; ++element) {
          const Value value = declared.first + static_cast<Value>(i * declared.vector + element);
          const auto at = static_cast<std::size_t>(value);
          if (!read[at] && !written[at]) continue;
          std::string name(declared.name);
          if (declared.count != 0) name += std::to_string(i);
          if (declared.vector != 1) name += {'.', "xyzw"[element]};
          const DraftRegister& kind = function.registers[at];
          program_.registers.push_back(
              {static_cast<int>(index), std::move(name), kind.type->name, kind.register_class, slot(index, value), written[at]});
        }
  }

  void emit_operation(std::size_t index, const DraftOperation& draft, std::int32_t first) {
    const DraftFunction& function = draft_.functions[index];
    Operation operation = draft.operation;
    operation.results = static_cast<std::uint8_t>(draft.results.size());
    operation.sources = static_cast<std::uint8_t>(draft.sources.size());
    operation.slots = static_cast<std::uint32_t>(program_.slots.size());
    if (operation.guarded) operation.guard = slot(index, draft.guard);
    for (std::size_t i = 0; i < draft.results.size(); ++i) {
      program_.slots.push_back(slot(index, draft.results[i]));
      const RegisterClass register_class = function.registers[static_cast<std::size_t>(draft.results[i])].register_class;
      if (i < 4) operation.result_classes = static_cast<std::uint8_t>(operation.result_classes | static_cast<int>(register_class) << 2 * i);
    }
    operation.decides = decides(draft, operation);
    for (const Value value : draft.sources) program_.slots.push_back(slot(index, value));
    program_.slots.resize(std::max<std::size_t>(program_.slots.size(), operation.slots + fewest_slots));
    if (draft.label >= 0) operation.target = first + function.labels[static_cast<std::size_t>(draft.label)];
    if (operation.semantics == Semantics::branch_table) {
      BranchTable table;
      for (const int label : draft.table) table.push_back(first + function.labels[static_cast<std::size_t>(label)]);
      operation.payload = program_.add(std::move(table));
    }
    if (operation.semantics == Semantics::call) add_register_copies(index, draft);
    if (!has_its_payload(program_, operation))
      throw std::logic_error(fmt::format("{} has the payload of another instruction", program_.statements[operation.statement]->opcode));
    program_.operations.push_back(operation);
  }

  void add_register_copies(std::size_t caller, const DraftOperation& draft) {
    Call& call = program_.of<Call>(draft.operation);
    const auto callee = static_cast<std::size_t>(call.function);
    const DraftFunction& function = draft_.functions[callee];
    const auto pair = [&](const std::vector<Value>& given, const std::vector<Value>& formal, std::vector<RegisterCopy>& copies) {
      std::size_t next = 0;
      for (const Value value : formal) {
        if (is_constant(value)) continue;
        copies.push_back(
            {slot(caller, given[next++]), slot(callee, value), function.registers[static_cast<std::size_t>(value)].register_class});
      }
    };
    pair(draft.sources, function.parameter_registers, call.register_arguments);
    pair(draft.results, function.return_registers, call.register_returns);
  }

  /// Sets the convergence point of the lanes that a branch separates: the block on all their paths. Lanes that exit there wait for no
  /// others: these may need them to be gone (`if (i >= n) return;` before a barrier).
  void add_convergence(std::size_t index, std::int32_t first) {
    const DraftFunction& function = draft_.functions[index];
    const std::vector<Block>& blocks = blocks_[index];
    const std::vector<int> dominators = immediate_post_dominators(blocks);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      Operation& last = program_.operations[static_cast<std::size_t>(first + blocks[b].last - 1)];
      if (last.semantics == Semantics::branch && last.guarded && only_exits(function, blocks, block_at(blocks, last.target - first))) {
        last.semantics = Semantics::exit;  // as with ptxas: these lanes exit before the others continue
        continue;
      }
      const bool divides = (last.semantics == Semantics::branch && last.guarded) || last.semantics == Semantics::branch_table;
      if (!divides || dominators[b] < 0 || only_exits(function, blocks, dominators[b])) continue;
      last.converges_at = first + blocks[static_cast<std::size_t>(dominators[b])].first;
      program_.operations[static_cast<std::size_t>(last.converges_at)].converges = true;
    }
  }

  /// An atomic operation without readers of its result needs no order among others of its kind.
  void mark_unused_results(std::size_t index, std::int32_t first) {
    const DraftFunction& function = draft_.functions[index];
    std::vector<bool> read(function.registers.size());
    for (const DraftOperation& operation : function.operations) {
      for (const Value value : operation.sources)
        if (!is_constant(value)) read[static_cast<std::size_t>(value)] = true;
      if (operation.operation.guarded && !is_constant(operation.guard)) read[static_cast<std::size_t>(operation.guard)] = true;
    }
    for (std::size_t i = 0; i < function.operations.size(); ++i) {
      const DraftOperation& operation = function.operations[i];
      if (operation.operation.semantics != Semantics::atomic) continue;
      auto& access = program_.of<AtomicAccess>(program_.operations[static_cast<std::size_t>(first) + i]);
      access.result_used = std::ranges::any_of(operation.results, [&](Value value) { return read[static_cast<std::size_t>(value)]; });
    }
  }

  void mark_shortcuts(std::int32_t first) {
    catalogue::WarpFunction copy_words = nullptr, copy_wides = nullptr;  // once an operation computes
    for (Operation& operation : std::span(program_.operations).subspan(static_cast<std::size_t>(first))) {
      if (operation.guarded || operation.results != 1 || operation.sources >= fewest_slots) continue;
      if (operation.semantics == Semantics::special && operation.sources == 0 && !is_clock(program_.of<SpecialRegister>(operation)))
        operation.shortcut = Shortcut::special_register;
      if (!catalogue::computes(operation.semantics)) continue;
      if (copy_words == nullptr) {
        copy_words = draft_.find_match("mov.b32")->pattern->row.function;
        copy_wides = draft_.find_match("mov.b64")->pattern->row.function;
      }
      operation.shortcut = operation.kernel != nullptr ? Shortcut::kernel : Shortcut::function;
      if (operation.kernel != nullptr || (operation.function != copy_words && operation.function != copy_wides)) continue;
      const Slot* const slot = program_.slots.data() + operation.slots;
      operation.shortcut = slot[0] == slot[1]                 ? Shortcut::keeps
                           : operation.function == copy_words ? Shortcut::copies_words
                                                              : Shortcut::copies_wides;
    }
  }

  void add_parameter_rows(std::int32_t first) {
    for (Operation& operation : std::span(program_.operations).subspan(static_cast<std::size_t>(first))) {
      if (operation.semantics != Semantics::load || operation.guarded) continue;
      const auto& access = program_.of<LoadAccess>(operation);
      const Slot address = program_.slots[operation.slots + 1];
      if (access.space != Space::param || !access.uniform || access.ordered || access.relative || access.vector != 1 ||
          access.narrow_address || access.bytes > 8 || access.register_bits > 64 || address >= 0)
        continue;
      const std::uint64_t offset = program_.constants[static_cast<std::size_t>(~address) / 8] + static_cast<std::uint64_t>(access.offset);
      if (offset % access.bytes != 0 || offset > program_.parameter_bytes || access.bytes > program_.parameter_bytes - offset) continue;
      program_.slots[operation.slots + 2] =
          parameter_row({0, static_cast<std::uint32_t>(offset), access.bytes, access.register_bits, access.sign_extend});
      operation.shortcut = access.register_bits <= 32 ? Shortcut::loads_word : Shortcut::loads_wide;
    }
  }

  /// `row` has no place yet.
  Slot parameter_row(ParameterRow row) {
    for (const ParameterRow& other : program_.parameter_rows) {
      row.at = other.at;
      if (row == other) return ~static_cast<Slot>(row.at);
    }
    row.at = program_.constants.size() * 8;
    program_.constants.resize(program_.constants.size() + static_cast<std::size_t>(warp_size * (row.bits <= 32 ? 4 : 8) / 8));
    program_.parameter_rows.push_back(row);
    return ~static_cast<Slot>(row.at);
  }

  ProgramDraft& draft_;
  Program& program_;
  std::vector<Slot> constant_slots_;
  std::vector<std::vector<Block>> blocks_;
  std::vector<Frame> frames_;
};

/// Assigns places to all registers, constants, variables and labels of the functions, and writes the operations of `draft.program`.
void emit(ProgramDraft& draft) {
  Emitter(draft).emit();
}

}  // namespace

Program make_program(std::shared_ptr<const syntax::Module> module, const Target* target, const Resolve& resolve) {
  ProgramDraft draft{.program = {}, .constants = {}, .symbols = ModuleSymbols(*module), .functions = {}, .kernels = {}, .matches = {}};
  draft.program.module = module;
  draft.program.target = target;
  std::vector<Diagnostic> errors;
  try {
    resolve(draft, errors);
    if (errors.empty()) mark_polling_loops(draft);
    if (errors.empty()) emit(draft);
  } catch (const StatementError& error) {
    errors.push_back(diagnose(*module->text, error.location, error.message));
  }
  if (!errors.empty()) throw SyntaxError(std::move(errors));
  return std::move(draft.program);
}

}  // namespace warpmat::code

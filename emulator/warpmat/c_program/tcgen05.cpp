// Statements of tcgen05 in C.

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <warpmat/c/accesses.h>
#include <warpmat/c/fields.h>
#include <warpmat/c_program/handles.h>
#include <warpmat/lower/tensor_fields.h>
#include <warpmat/lower/tensor_statement.h>
#include <warpmat/machine/tensor_transfer.h>
#include <warpmat/machine/tensor_work.h>
#include <warpmat/ptx/catalogue/evidence.h>
#include <warpmat/ptx/catalogue/restrictions.h>

using namespace warpmat;
using namespace warpmat::c;
using namespace warpmat::machine;
using code::TensorStatement;
using TensorAction = TensorStatement::Action;

struct warpmat_tcgen05 {
  std::string opcode, evidence, source;
  code::TensorStatement statement;  ///< what its opcode says
};

namespace {

/// The action of a statement that touches tensor memory; nothing for others.
std::optional<warpmat_tcgen05_action> action_of(TensorAction action) {
  switch (action) {
    case TensorAction::multiply: return WARPMAT_TCGEN05_MMA;
    case TensorAction::copy: return WARPMAT_TCGEN05_CP;
    case TensorAction::shift: return WARPMAT_TCGEN05_SHIFT;
    case TensorAction::load: return WARPMAT_TCGEN05_LD;
    case TensorAction::store: return WARPMAT_TCGEN05_ST;
    default: return std::nullopt;
  }
}

bool is_transfer(const TensorStatement& statement) {
  return statement.action == TensorAction::load || statement.action == TensorAction::store;
}

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument(what);
}

/// As done(); but descriptors and places in tensor memory are arguments of these calls, so that their misuse is a wrong argument.
template <typename Act>
warpmat_status done_with_arguments(warpmat_error* error, Act act) {
  return done(error, [&] {
    try {
      act();
    } catch (const Trap& trap) {
      if (trap.kind != Trap::Kind::misuse) throw;
      refuse(trap.reason);
    }
  });
}

// ---- Where a call's work is

TensorStatement statement_of(const warpmat_tcgen05& tcgen05, const warpmat_tcgen05_call& call) {
  TensorStatement statement = tcgen05.statement;
  statement.a_in_tensor_memory = call.a_in_tensor_memory != 0;
  statement.scale_d = static_cast<std::uint8_t>(call.scale_d);
  statement.masks_columns = call.zero_columns != nullptr;
  statement.transfer.second_columns = call.second_columns;
  return statement;
}

/// Throws std::invalid_argument for what goes with other statements alone.
void check_product(const TensorStatement& statement, const warpmat_tcgen05_call& call) {
  constexpr int most = 15;
  if (call.scale_d < 0 || call.scale_d > most) refuse(fmt::format("scale_d is a number from 0 to {}; it is {}", most, call.scale_d));
  if (call.scale_d != 0 && (statement.kind->of_tile != Kind::plain || statement.kind->results.front().format == Format::s32))
    refuse("scale_d goes with kind::f16 and kind::tf32");
  if (statement.masks_columns && !statement.variant.weights) refuse("zero_columns goes with .ws");
  if (call.disabled_lanes != nullptr && (statement.variant.weights || statement.kind->scaled()))
    refuse("disabled_lanes goes with neither .ws nor scale factors");
  if (statement.shifts_a && !statement.a_in_tensor_memory) refuse(".ashift goes with an A in tensor memory");
}

void check_columns(TensorCell at, int columns, const char* what) {
  if (at.lane < tensor_lanes && at.column + columns <= tensor_columns) return;
  throw Trap(Trap::Kind::out_of_range, OperandName::p, -1,
             static_cast<std::uint64_t>(at.lane) << 16 | static_cast<std::uint64_t>(at.column),
             fmt::format("{} takes {} columns from column {} on; tensor memory has {} lanes of {} columns", what, columns, at.column,
                         tensor_lanes, tensor_columns));
}

/// The work of a mma, cp or shift; without what it takes from shared memory.
PendingTensorWork placed_work(const TensorStatement& statement, const warpmat_tcgen05_call& call) {
  PendingTensorWork work{.group = statement.variant.group};
  const CheckColumns check = check_columns;
  if (statement.action == TensorAction::copy) {
    place_copy(statement, call.address, check, work);
    decode_source(call.source_descriptor, work);
  } else if (statement.action == TensorAction::shift) {
    place_shift(call.address, check, work);
  } else {
    check_product(statement, call);
    const TensorOperands operands{.d = call.address,
                                  .metadata = call.metadata,
                                  .scale_a = call.scale_a,
                                  .scale_b = call.scale_b,
                                  .a = statement.a_in_tensor_memory ? call.a_address : call.a_descriptor,
                                  .b = call.b_descriptor,
                                  .instruction = call.instruction_descriptor,
                                  .mask = call.zero_columns == nullptr ? 0 : *call.zero_columns};
    place_product(statement, operands, check, work);
    decode_matrices(statement, operands, work);
    work.accumulates = call.accumulate != 0;
    for (int block = 0; call.disabled_lanes != nullptr && block < work.group; ++block)
      std::copy_n(call.disabled_lanes + 4 * block, 4, work.disabled[static_cast<std::size_t>(block)].begin());
  }
  return work;
}

/// What a ld or st touches.
std::vector<TensorRegion> placed_transfer(const Transfer& transfer, const warpmat_tcgen05_call& call) {
  if (call.warp < 0) refuse("warp is negative");
  const TensorCell at = in_own_lanes(tensor_place(call.address), call.warp);
  if (const auto problem = transfer_problem(transfer, at, call.warp)) refuse(*problem);
  std::vector<TensorRegion> regions = regions_of(transfer, at);
  for (const TensorRegion& region : regions) {
    if (region.first_column < 0) refuse("second_columns leads below column 0");
    check_columns({at.lane, region.first_column}, region.columns, "the rectangle");
  }
  return regions;
}

// ---- The caller's memory

/// Calls visit(lane, first_column, columns) for the lanes of a region.
template <typename Visit>
void for_each_lane(const TensorRegion& region, Visit visit) {
  for (int lane = 0; lane < tensor_lanes; ++lane)
    if ((region.lanes[static_cast<std::size_t>(lane / tensor_quarter)] >> lane % tensor_quarter & 1) != 0)
      visit(lane, region.first_column, region.columns);
}

std::uint32_t& callers_word(const warpmat_tensor_memory& memory, int lane, int column) {
  return memory.words[lane * memory.lane_stride + column * memory.column_stride];
}

void read(const warpmat_tensor_memory& from, std::span<const TensorRegion> regions, TensorMemory& to) {
  for (const TensorRegion& region : regions)
    for_each_lane(region, [&](int lane, int first, int columns) {
      for (int column = first; column < first + columns; ++column) to.word(lane, column) = callers_word(from, lane, column);
    });
}

void write_back(const TensorMemory& from, std::span<const TensorRegion> regions, const warpmat_tensor_memory& to) {
  for (const TensorRegion& region : regions)
    for_each_lane(region, [&](int lane, int first, int columns) {
      for (int column = first; column < first + columns; ++column) callers_word(to, lane, column) = from.word(lane, column);
    });
}

void check_tensor_memory(const warpmat_tcgen05_call& call, int blocks) {
  if (call.tensor == nullptr) refuse("tensor is null");
  for (int i = 0; i < blocks; ++i)
    if (call.tensor[i].words == nullptr || reinterpret_cast<std::uintptr_t>(call.tensor[i].words) % alignof(std::uint32_t) != 0)
      refuse("the words of tensor memory are null, or do not lie at a multiple of 4 bytes");
}

std::vector<SharedMemory> shared_memories(const warpmat_tcgen05_call& call, int blocks) {
  std::vector<SharedMemory> memories;
  if (call.shared == nullptr) refuse("shared is null");
  for (int i = 0; i < blocks; ++i) {
    const warpmat_memory& memory = call.shared[i];
    if (!WARPMAT_HAS_SIZE(&memory, user) || memory.bytes == nullptr || memory.base > UINT32_MAX)
      refuse("shared memory must be bytes from an address below 2^32 on: whole warpmat_memory structs");
    memories.push_back(
        SharedMemory::borrowing({memory.bytes, static_cast<std::size_t>(memory.byte_count)}, static_cast<std::uint32_t>(memory.base)));
  }
  return memories;
}

int registers_of(const TensorStatement& statement) {
  return statement.transfer.registers() + (statement.reduction != TensorStatement::Reduction::none ? 1 : 0);
}

void check_registers(const warpmat_registers* registers, const TensorStatement& statement) {
  if (registers == nullptr || registers->words == nullptr) refuse("registers is null, or its words are");
  if (reinterpret_cast<std::uintptr_t>(registers->words) % alignof(std::uint32_t) != 0)
    refuse("the registers do not lie at a multiple of 4 bytes");
  if (registers->numbers != nullptr && registers->number_count < static_cast<std::size_t>(registers_of(statement)))
    refuse("the list of register numbers is too short");
  if (statement.action == TensorAction::load && registers->lane_stride == 0)
    refuse("the registers are written, so their lane_stride cannot be 0");
}

std::uint32_t& callers_register(const warpmat_registers& registers, int reg, int lane) {
  const std::ptrdiff_t number = registers.numbers == nullptr ? reg : registers.numbers[reg];
  return registers.words[number * registers.word_stride + lane * registers.lane_stride];
}

// ---- Execution

void execute_transfer(const TensorStatement& statement, const warpmat_tcgen05_call& call) {
  const std::vector<TensorRegion> regions = placed_transfer(statement.transfer, call);
  check_tensor_memory(call, 1);
  check_registers(call.registers, statement);
  TensorMemory memory;
  read(call.tensor[0], regions, memory);
  const TensorCell at = in_own_lanes(tensor_place(call.address), call.warp);
  if (statement.action == TensorAction::store) {
    perform_store(stored_words(statement.transfer, at, [&](int reg, int lane) { return callers_register(*call.registers, reg, lane); }),
                  memory);
    return write_back(memory, regions, call.tensor[0]);
  }
  std::vector<Register> loaded(static_cast<std::size_t>(registers_of(statement)));
  load_registers(statement, at, memory, [&](int reg) { return loaded[static_cast<std::size_t>(reg)].data(); });
  for (int reg = 0; reg < registers_of(statement); ++reg)
    for (int lane = 0; lane < warp_size; ++lane)
      callers_register(*call.registers, reg, lane) = loaded[static_cast<std::size_t>(reg)][static_cast<std::size_t>(lane)];
}

void execute_work(const TensorStatement& statement, const warpmat_tcgen05_call& call) {
  PendingTensorWork work = placed_work(statement, call);
  check_tensor_memory(call, work.group);
  if (work.kind != PendingTensorWork::Kind::shift) work.shared = shared_operands(work, shared_memories(call, work.group));
  const ExecutionOptions options{(call.flags & WARPMAT_REFERENCE_PATH) != 0 ? Path::reference : Path::fast,
                                 (call.flags & WARPMAT_UNDEFINED_AS_HARDWARE) != 0 ? Undefined::hardware : Undefined::trap};
  std::vector<TensorMemory> memories(static_cast<std::size_t>(work.group));
  for (std::size_t block = 0; block < memories.size(); ++block) {
    read(call.tensor[block], work.reads, memories[block]);
    read(call.tensor[block], work.writes, memories[block]);
    perform(work, block, memories[block], options);
  }
  for (std::size_t block = 0; block < memories.size(); ++block) write_back(memories[block], work.writes, call.tensor[block]);
}

constexpr unsigned known_flags = WARPMAT_UNDEFINED_AS_HARDWARE | WARPMAT_REFERENCE_PATH;

/// Throws std::invalid_argument for null, or a call of another size or with unknown flags.
void check_call(const warpmat_tcgen05* tcgen05, const warpmat_tcgen05_call* call) {
  if (tcgen05 == nullptr) refuse("the statement is null");
  if (call == nullptr) refuse("the call is null");
  if (!WARPMAT_HAS_SIZE(call, flags)) refuse("call->size is not that of a warpmat_tcgen05_call");
  if ((call->flags & ~known_flags) != 0) refuse(fmt::format("flags {:#x} are not known", call->flags & ~known_flags));
}

// ---- Accesses

void add_regions(std::span<const TensorRegion> regions, OperandName operand, int block, bool writes, std::vector<MemoryAccess>& all) {
  for (const TensorRegion& region : regions)
    for_each_lane(region, [&](int lane, int first, int columns) {
      all.push_back({.space = Space::generic,  // tensor_access says which
                     .writes = writes,
                     .bytes = static_cast<std::uint32_t>(columns) * 4,
                     .address = static_cast<std::uint64_t>(lane) << 16 | static_cast<std::uint64_t>(first),
                     .lane = lane,
                     .operand = operand,
                     .reg = block,
                     .element = {lane, first, 0}});
    });
}

/// The operands of work.reads, in its order.
std::vector<OperandName> read_operands(const PendingTensorWork& work) {
  std::vector<OperandName> operands;
  if (work.a_place) operands.push_back(OperandName::a);
  if (work.kind != PendingTensorWork::Kind::product) return operands;
  if (work.product.sparse()) operands.push_back(OperandName::e);
  if (work.product.scale_vector != 0) operands.insert(operands.end(), {OperandName::scale_a, OperandName::scale_b});
  return operands;
}

std::vector<MemoryAccess> accesses_of_block(const PendingTensorWork& work, int block) {
  std::vector<MemoryAccess> all = shared_accesses(work);
  for (MemoryAccess& access : all) access.reg = block;
  const std::vector<OperandName> operands = read_operands(work);
  for (std::size_t i = 0; i < operands.size(); ++i) add_regions({&work.reads[i], 1}, operands[i], block, false, all);
  const bool product = work.kind == PendingTensorWork::Kind::product;
  const OperandName written = product ? OperandName::d : OperandName::p;
  if ((product && work.accumulates) || work.kind == PendingTensorWork::Kind::shift) add_regions(work.writes, written, block, false, all);
  add_regions(work.writes, written, block, true, all);
  return all;
}

std::vector<MemoryAccess> accesses_of(const TensorStatement& statement, const warpmat_tcgen05_call& call) {
  std::vector<MemoryAccess> all;
  if (is_transfer(statement)) {
    add_regions(placed_transfer(statement.transfer, call), OperandName::r, 0, statement.action == TensorAction::store, all);
    return all;
  }
  const PendingTensorWork work = placed_work(statement, call);
  for (int block = 0; block < work.group; ++block) {
    const std::vector<MemoryAccess> of_block = accesses_of_block(work, block);
    all.insert(all.end(), of_block.begin(), of_block.end());
  }
  return all;
}

// ---- Queries

TensorProduct product_of(const warpmat_tcgen05* tcgen05, std::uint32_t descriptor) {
  if (tcgen05 == nullptr || tcgen05->statement.action != TensorAction::multiply) refuse("an instruction descriptor goes with tcgen05.mma");
  const DecodedTensorProduct decoded = decode_tensor_product(*tcgen05->statement.kind, tcgen05->statement.variant, descriptor);
  if (decoded.problem) refuse(*decoded.problem);
  return decoded.product;
}

const char* format_name(const TensorProduct& product, OperandName operand) {
  return row(product.tile->format(operand)).name.data();
}

/// The target or card of that name, or nullptr, having reported it.
const Target* target_of(const char* target, warpmat_error* error) {
  const Target* const found = find_target_or_card(target);
  if (found == nullptr) report(error, WARPMAT_UNKNOWN_TARGET, fmt::format("unknown target '{}'; warpmat_target_name lists them", target));
  return found;
}

/// What `text` is, or nothing, having reported why.
std::optional<warpmat_tcgen05> made(const std::string& text, const Target& target, warpmat_error* error) {
  const auto match = catalogue::find_row(text);
  if (!match || match->pattern->row.semantics != catalogue::Semantics::tensor_memory) {
    report(error, WARPMAT_UNKNOWN_OPCODE,
           match ? fmt::format("{} is no statement of tcgen05", text) : catalogue::explain_unknown_row(text));
    return std::nullopt;
  }
  auto problem = catalogue::refusal(*match, target, newest_ptx);
  code::DescribedTensorStatement described;
  if (!problem) described = code::describe_tensor_statement(*match, target);
  if (!problem) problem = described.problem;
  if (problem) {
    report(error, WARPMAT_UNAVAILABLE, *problem);
    return std::nullopt;
  }
  if (!action_of(described.statement.action)) {
    report(error, WARPMAT_UNKNOWN_OPCODE, fmt::format("{} touches no tensor memory: a kernel executes it", text));
    return std::nullopt;
  }
  const catalogue::RowEvidence evidence = catalogue::evidence_of(*match->pattern, target.hardware);
  return warpmat_tcgen05{text, std::string(name(evidence.label)), std::string(evidence.source), described.statement};
}

}  // namespace

warpmat_tcgen05* warpmat_tcgen05_create(const char* opcode, const char* target, warpmat_error* error) {
  warpmat_tcgen05* out = nullptr;
  if (opcode == nullptr || target == nullptr) {
    report(error, WARPMAT_BAD_ARGUMENT, "the statement's and the target's name must not be null");
    return nullptr;
  }
  done_with_arguments(error, [&] {
    const Target* const on = target_of(target, error);
    if (auto statement = on != nullptr ? made(opcode, *on, error) : std::nullopt) out = new warpmat_tcgen05(std::move(*statement));
  });
  return out;
}

warpmat_tcgen05* warpmat_tcgen05_create_fields(const warpmat_fields* fields, const char* target, warpmat_error* error) {
  warpmat_tcgen05* out = nullptr;
  if (target == nullptr) {
    report(error, WARPMAT_BAD_ARGUMENT, "the target's name must not be null");
    return nullptr;
  }
  done_with_arguments(error, [&] {
    const Target* const on = target_of(target, error);
    const std::optional<OpcodeFields> wanted = on != nullptr ? read_fields(fields, error) : std::nullopt;
    const FieldTable& table = code::tensor_fields();
    const std::optional<std::size_t> found = wanted ? find_one(table, *wanted, *on, error) : std::nullopt;
    if (!found) return;
    if (auto statement = made(table.entries()[*found].opcode, *on, error)) out = new warpmat_tcgen05(std::move(*statement));
  });
  return out;
}

void warpmat_tcgen05_free(warpmat_tcgen05* tcgen05) {
  delete tcgen05;
}

warpmat_status warpmat_tcgen05_describe(const warpmat_tcgen05* tcgen05, warpmat_tcgen05_info* info) {
  if (tcgen05 == nullptr || info == nullptr || !WARPMAT_HAS_SIZE(info, scaled)) return WARPMAT_BAD_ARGUMENT;
  const TensorStatement& statement = tcgen05->statement;
  const bool multiplies = statement.action == TensorAction::multiply;
  warpmat_tcgen05_info out{};
  out.opcode = tcgen05->opcode.c_str();
  out.evidence = tcgen05->evidence.c_str();
  out.source = tcgen05->source.c_str();
  out.action = *action_of(statement.action);
  out.blocks = statement.variant.group;
  out.sparse = multiplies && statement.variant.sparse;
  out.scaled = multiplies && statement.kind->scaled();
  if (is_transfer(statement)) {
    out.registers = registers_of(statement);
    out.lanes = statement.transfer.shape->lanes;
    out.columns = statement.transfer.columns();
  } else if (statement.action == TensorAction::copy) {
    out.lanes = statement.shape->rows;
    out.columns = statement.shape->columns;
  } else if (statement.action == TensorAction::shift) {
    out.lanes = tensor_quarter;
    out.columns = shifted_columns;
  }
  copy_out(out, info);
  return WARPMAT_OK;
}

warpmat_status warpmat_tcgen05_product_of(const warpmat_tcgen05* tcgen05, uint32_t instruction_descriptor, warpmat_tcgen05_product* product,
                                          warpmat_error* error) {
  return done_with_arguments(error, [&] {
    if (product == nullptr || !WARPMAT_HAS_SIZE(product, source)) refuse("product->size is not that of a warpmat_tcgen05_product");
    const TensorProduct found = product_of(tcgen05, instruction_descriptor);
    warpmat_tcgen05_product out{};
    out.m = found.shape.m;
    out.n = found.shape.n;
    out.k = found.shape.k;
    out.d = format_name(found, OperandName::d);
    out.a = format_name(found, OperandName::a);
    out.b = format_name(found, OperandName::b);
    out.rows = found.path->rows;
    out.b_columns = found.b_columns();
    out.d_columns = found.d_columns();
    out.a_columns = a_columns(found);
    out.scale_vector = found.scale_vector;
    out.transpose_a = found.major_a == Major::mn;
    out.transpose_b = found.major_b == Major::mn;
    out.evidence = tcgen05->evidence.c_str();
    out.source = tcgen05->source.c_str();
    copy_out(out, product);
  });
}

warpmat_status warpmat_tcgen05_cell_of(const warpmat_tcgen05* tcgen05, uint32_t instruction_descriptor, int row, int column,
                                       warpmat_tensor_cell* cell) {
  return done_with_arguments(nullptr, [&] {
    const TensorProduct product = product_of(tcgen05, instruction_descriptor);
    if (cell == nullptr || row < 0 || row >= product.shape.m || column < 0 || column >= product.shape.n) refuse("no such element");
    const DataPath& path = *product.path;
    *cell = {row / path.rows, path.first_lane(column / product.d_columns()) + path.lane(row % path.rows), column % product.d_columns()};
  });
}

warpmat_status warpmat_tcgen05_register_cell(const warpmat_tcgen05* tcgen05, int64_t second_columns, int lane, int reg, int half,
                                             warpmat_tensor_cell* cell) {
  return done_with_arguments(nullptr, [&] {
    if (tcgen05 == nullptr || !is_transfer(tcgen05->statement)) refuse("registers go with tcgen05.ld and .st");
    if (second_columns <= -tensor_columns || second_columns >= tensor_columns) refuse("second_columns leads beyond tensor memory");
    Transfer transfer = tcgen05->statement.transfer;
    transfer.second_columns = second_columns;
    if (cell == nullptr || lane < 0 || lane >= warp_size || reg < 0 || reg >= transfer.registers() || half < 0 ||
        half > (transfer.halves ? 1 : 0))
      refuse("no such register");
    const TensorCell found = transfer.place(lane, reg, half);
    *cell = {0, found.lane, found.column};
  });
}

warpmat_status warpmat_tcgen05_execute(const warpmat_tcgen05* tcgen05, const warpmat_tcgen05_call* call, warpmat_error* error) {
  return done_with_arguments(error, [&] {
    check_call(tcgen05, call);
    const TensorStatement statement = statement_of(*tcgen05, *call);
    is_transfer(statement) ? execute_transfer(statement, *call) : execute_work(statement, *call);
  });
}

warpmat_status warpmat_tcgen05_accesses(const warpmat_tcgen05* tcgen05, const warpmat_tcgen05_call* call, warpmat_memory_access* list,
                                        size_t capacity, size_t* count, warpmat_error* error) {
  return done_with_arguments(error, [&] {
    check_call(tcgen05, call);
    if (count == nullptr) refuse("count is null");
    const std::vector<MemoryAccess> all = accesses_of(statement_of(*tcgen05, *call), *call);
    *count = all.size();
    if (list == nullptr) return;
    copy_accesses(all, {list, capacity});
    for (std::size_t i = 0; i < std::min(all.size(), capacity); ++i)
      if (all[i].lane >= 0) list[i].space = WARPMAT_SPACE_TENSOR;
  });
}

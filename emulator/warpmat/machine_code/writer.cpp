#include <warpmat/machine_code/writer.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace warpmat::machine_code {
namespace {

constexpr std::array saved{x86::rbx, x86::rbp, x86::r12, x86::r13, x86::r14, x86::r15};
/// The pointers to a row's results and sources, each list with a null behind it, and what the code keeps for itself.
constexpr int most_results = 2, most_sources = 6;
constexpr int results_at = 0, sources_at = 8 * (most_results + 1), scratch_at = sources_at + 8 * (most_sources + 1);
constexpr int result_bytes = 256, scratch_bytes = most_results * result_bytes + 64;
constexpr int stack_bytes = scratch_at + scratch_bytes + 8;
// Where vectors are halves, these have places above, and the stack begins at a multiple of a vector; what it was lies behind them.
constexpr int halves_at = (stack_bytes + 63) / 64 * 64, stack_at = halves_at + Avx2Assembler::place_bytes;
static_assert(stack_bytes % 16 == 8);  // aligns calls: 6 registers and the return address lie above

int parts_of(RegisterClass register_class) {
  return register_class == RegisterClass::wide ? 4 : 2;
}

RegisterClass class_of(const Rows& rows) {
  return rows.parts == 2 ? RegisterClass::word : RegisterClass::wide;
}

x86::Mem member(std::size_t offset, std::uint32_t size) {
  return x86::Mem(context, static_cast<std::int32_t>(offset), size);
}

constexpr std::uint32_t words_of(Table table) {
  if (table == Table::nan) return 1;
  return table == Table::wides_apart_4 || table == Table::wides_apart_8 ? 4 : 2;  // vectors
}

}  // namespace

Writer::Writer(asmjit::CodeHolder& holder, const code::Program& program, bool all_lanes, Vectors vectors,
               std::deque<scalar::Modifiers>& modifiers)
    : made_(vectors == Vectors::avx512 ? std::make_unique<x86::Assembler>(&holder) : std::make_unique<Avx2Assembler>(holder, halves_at)),
      halves_(vectors == Vectors::avx2 ? static_cast<Avx2Assembler*>(made_.get()) : nullptr),
      assembler_(*made_),
      program_(program),
      all_lanes_(all_lanes),
      modifiers_(modifiers),
      leave_(assembler_.newLabel()),
      tables_(assembler_.newLabel()) {}

void Writer::begin_stack() {
  if (halves_ == nullptr) {
    assembler_.sub(x86::rsp, stack_bytes);
    return;
  }
  assembler_.mov(x86::rax, x86::rsp);
  assembler_.sub(x86::rsp, stack_at + 8);
  assembler_.and_(x86::rsp, -vector_bytes);
  assembler_.mov(x86::qword_ptr(x86::rsp, stack_at), x86::rax);
}

void Writer::begin_code() {
  for (const x86::Gp& gp : saved) assembler_.push(gp);
  begin_stack();
  assembler_.mov(context, x86::rdi);
  assembler_.mov(frame, member(offsetof(CodeContext, frame), 8));
  assembler_.mov(constants, member(offsetof(CodeContext, constants), 8));
  assembler_.mov(known, member(offsetof(CodeContext, known), 8));
  assembler_.mov(shared, member(offsetof(CodeContext, shared), 8));
  assembler_.mov(left, member(offsetof(CodeContext, left), 4));
  assembler_.jmp(x86::rsi);
}

void Writer::end_code() {
  for (std::size_t i = 0; i < behind_.size(); ++i) {
    const std::function<void()> write = behind_[i];  // it may add another, and so move them
    write();
  }
  assembler_.bind(leave_);
  assembler_.mov(member(offsetof(CodeContext, left), 4), left);
  assembler_.vzeroupper();
  halves_ == nullptr ? assembler_.add(x86::rsp, stack_bytes) : assembler_.mov(x86::rsp, x86::qword_ptr(x86::rsp, stack_at));
  for (auto gp = saved.rbegin(); gp != saved.rend(); ++gp) assembler_.pop(*gp);
  assembler_.ret();
  if (halves_ != nullptr) halves_->finish();
  assembler_.align(asmjit::AlignMode::kData, vector_bytes);
  assembler_.bind(tables_);
  const auto words = [&](std::uint32_t count, auto value) {
    for (std::uint32_t i = 0; i < count; ++i) assembler_.embedUInt32(value(i));
  };
  const auto wides = [&](std::uint64_t apart) {
    for (std::uint64_t i = 0; i < 32; ++i) assembler_.embedUInt64(i * apart);
  };
  words(32, [](std::uint32_t i) { return 4 * i; });
  wides(4);
  wides(8);
  words(32, [](std::uint32_t i) { return i; });
  words(16, [](std::uint32_t) { return 0x7fffffffU; });
  for (const std::uint32_t first : {0U, 4U, 8U, 12U})  // the bits of 128 bytes from a multiple of 4 on, in a map of bytes
    words(8, [&](std::uint32_t i) {
      const auto bits_of = [&](std::uint32_t cell) {
        return cell == 0 ? 0xffffU << first & 0xffff : cell < 8 ? 0xffffU : cell == 8 ? 0xffffU >> (16 - first) : 0;
      };
      return bits_of(2 * i) | bits_of(2 * i + 1) << 16;
    });
}

x86::Mem Writer::table(Table which, int part) {
  std::uint32_t before = 0;
  for (int i = 0; i < static_cast<int>(which); ++i) before += words_of(static_cast<Table>(i));
  return x86::zmmword_ptr(tables_, (static_cast<int>(before) + part) * vector_bytes);
}

void Writer::begin(std::int32_t number, std::int32_t ahead) {
  number_ = number;
  ahead_ = ahead;
  begun_at_ = ++time_;
  masked_ = operation().guarded || !all_lanes_;
  lane_wise_ = false;
  uniform_sources_ = true;
  if (halves_ != nullptr) halves_->forget_vectors(0, first_vector);
}

void Writer::forget() {
  for (Held& held : held_) held.is_held = false;
  if (halves_ != nullptr) halves_->forget_vectors(0, Avx2Assembler::vectors);
}

void Writer::forget_dead(const IsLive& is_live) {
  for (int i = 0; i < held_rows; ++i) {
    Held& held = held_[static_cast<std::size_t>(i)];
    if (!held.is_held || held.slot < 0 || is_live(held.slot, held.parts * vector_bytes)) continue;
    const int first = first_vector + 2 * i;
    if (halves_ != nullptr) halves_->forget_vectors(first, first + (held.has_two_rows() ? 4 : 2));
    held = {};
  }
}

void Writer::load_lanes() {
  const Operation& op = operation();
  assembler_.mov(x86::r8d, member(offsetof(CodeContext, lanes), 4));
  if (!op.guarded) return;
  assembler_.mov(x86::ecx, predicate(op.guard));
  if (op.guard_inverted) assembler_.not_(x86::ecx);
  assembler_.and_(x86::r8d, x86::ecx);
}

void Writer::load_mask() {
  load_lanes();
  assembler_.kmovd(x86::k6, x86::r8d);
  assembler_.kshiftrd(x86::k7, x86::k6, 16);
}

void Writer::make_canonical(const Rows& rows) {
  for_parts(rows, [&](std::size_t p) { replace_nans(*this, rows.part[p], rows.part[p], table(Table::nan)); });
}

void Writer::settle_nans(int row) {
  Held& held = held_[static_cast<std::size_t>(row)];
  if (held.any_nan) make_canonical(rows_of(row, held.parts, held.uniform));
  held.any_nan = false;
}

void Writer::store_row(int row) {
  Held& held = held_[static_cast<std::size_t>(row)];
  if (!held.is_held || !held.dirty) return;
  settle_nans(row);
  const Rows rows = rows_of(row, held.parts, held.uniform);
  for (int p = 0; p < rows.parts; ++p) {
    const x86::Zmm& part = rows.part[static_cast<std::size_t>(p)];
    if (!all_lanes_) {
      x86::Mem lanes = member(offsetof(CodeContext, lanes), static_cast<std::uint32_t>(4 / rows.parts));
      lanes.addOffset(p * 4 / rows.parts);
      rows.parts == 2 ? assembler_.kmovw(x86::k1, lanes) : assembler_.kmovb(x86::k1, lanes);
      merge(part, vector(held.slot, p), x86::k1, class_of(rows));
    }
    assembler_.vmovdqu32(vector(held.slot, p), part);
  }
  held.dirty = false;
}

/// All lanes of the vector but these get what is there.
void Writer::merge(const x86::Zmm& part, const asmjit::Operand& from, const x86::KReg& lanes, RegisterClass kind) {
  assembler_.knotw(x86::k1, lanes);
  assembler_.k(x86::k1).emit(kind == RegisterClass::word ? x86::Inst::kIdVmovdqu32 : x86::Inst::kIdVmovdqu64, part, from);
}

void Writer::store_all() {
  for (int i = 0; i < held_rows; ++i) store_row(i);
}

void Writer::store_overlap(Slot slot, int bytes) {
  for (int i = 0; i < held_rows; ++i) {
    const Held& held = held_[static_cast<std::size_t>(i)];
    if (held.is_held && held.slot >= 0 && held.slot < slot + bytes && slot < held.slot + held.parts * vector_bytes) store_row(i);
  }
}

void Writer::load(const Rows& rows, Slot slot) {
  for_parts(rows, [&](std::size_t p) { assembler_.vmovdqu32(rows.part[p], vector(slot, static_cast<int>(p))); });
}

void Writer::load_all(const AllHeld& all) {
  for (int i = 0; i < held_rows; ++i) {
    const Held& held = all[static_cast<std::size_t>(i)];
    if (held.is_held) load(rows_of(i, held.parts, held.uniform), held.slot);
  }
}

void Writer::forget_uniform() {
  for (int i = 0; i < held_rows; ++i) {
    Held& held = held_[static_cast<std::size_t>(i)];
    if (!held.is_held || !held.uniform || held.slot < 0) continue;
    store_row(i);
    held.is_held = false;
  }
}

void Writer::end_piece(const IsLive& is_live) {
  forget_dead(is_live);
  store_all();
  forget();
}

void Writer::bind_entry(const asmjit::Label& piece) {
  if (std::ranges::none_of(held_, &Held::is_held)) {
    forget();
    return static_cast<void>(assembler_.bind(piece));
  }
  const asmjit::Label here = assembler_.newLabel();
  assembler_.bind(here);
  behind_.push_back([this, piece, here, held = held_] {
    assembler_.bind(piece);
    load_all(held);
    assembler_.jmp(here);
  });
}

asmjit::Label Writer::ending_to(const asmjit::Label& piece, IsLive is_live) {
  const asmjit::Label label = assembler_.newLabel();
  behind_.push_back([this, piece, label, held = held_, is_live = std::move(is_live)] {
    assembler_.bind(label);
    held_ = held;
    end_piece(is_live);
    assembler_.jmp(piece);
  });
  return label;
}

x86::Mem Writer::predicate(Slot slot) const {
  return slot >= 0 ? x86::dword_ptr(frame, slot) : x86::dword_ptr(constants, ~slot);
}

x86::Mem Writer::vector(Slot slot, int part) const {
  return slot >= 0 ? x86::zmmword_ptr(frame, slot + vector_bytes * part) : x86::zmmword_ptr(constants, ~slot + vector_bytes * part);
}

Rows Writer::rows_of(int row, int parts, bool uniform) const {
  Rows rows;
  rows.parts = parts;
  rows.uniform = uniform;
  for (int i = 0; i < parts; ++i)
    rows.part[static_cast<std::size_t>(i)] = x86::zmm(static_cast<std::uint32_t>(first_vector + 2 * row + (uniform ? 0 : i)));
  return rows;
}

/// When the row was used last: never if it is free.
std::uint64_t Writer::last_use(int row) const {
  const Held &own = held_[static_cast<std::size_t>(row)], &whole = held_[static_cast<std::size_t>(holder(row))];
  const std::uint64_t used = std::max(own.used, whole.used);
  return used >= begun_at_ || whole.is_held ? used : 0;
}

/// The row that has not been used for the longest time, of a wide the pair of rows; none that this operation uses.
int Writer::find_room(int parts) {
  const int step = parts / 2;
  int best = -1;
  std::uint64_t oldest = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < held_rows; i += step) {
    const std::uint64_t used = step == 1 ? last_use(i) : std::max(last_use(i), last_use(i + 1));
    if (used >= begun_at_ || used >= oldest) continue;
    oldest = used;
    best = i;
  }
  for (int j = best; j < best + step; ++j) {
    const int held = holder(j);
    store_row(held);
    held_[static_cast<std::size_t>(held)].is_held = false;
    held_[static_cast<std::size_t>(j)] = {.used = begun_at_};
  }
  return best;
}

/// The row that holds the register; -1: none.
int Writer::find_held(Slot slot, int parts) const {
  const auto found =
      std::ranges::find_if(held_, [&](const Held& held) { return held.is_held && held.slot == slot && held.parts == parts; });
  return found == held_.end() ? -1 : static_cast<int>(found - held_.begin());
}

Rows Writer::row_at(Slot slot, RegisterClass register_class, bool any_nan) {
  const int parts = parts_of(register_class);
  if (const int i = find_held(slot, parts); i >= 0) {
    Held& held = held_[static_cast<std::size_t>(i)];
    held.used = begun_at_;
    uniform_sources_ &= held.uniform;
    if (!any_nan) settle_nans(i);
    return rows_of(i, parts, held.uniform);
  }
  const bool uniform = slot < 0;
  uniform_sources_ &= uniform;
  const int row = find_room(uniform ? 2 : parts);
  store_overlap(slot, parts * vector_bytes);
  const Rows rows = rows_of(row, parts, uniform);
  load(rows, slot);
  hold(rows, slot);
  return rows;
}

Rows Writer::result(RegisterClass register_class, bool uniform) {
  const int parts = parts_of(register_class);
  uniform &= !masked_;
  return rows_of(find_room(uniform ? 2 : parts), parts, uniform);
}

void Writer::forget_overlap(Slot slot, int bytes) {
  for (Held& held : held_)
    if (held.is_held && held.slot >= 0 && held.slot < slot + bytes && slot < held.slot + held.parts * vector_bytes) held.is_held = false;
}

Writer::Held& Writer::hold(const Rows& rows, Slot slot) {
  const std::size_t row = (rows.part[0].id() - first_vector) / 2;
  held_[row] = {.is_held = true, .slot = slot, .parts = rows.parts, .uniform = rows.uniform, .used = begun_at_};
  if (held_[row].has_two_rows()) held_[row + 1] = {};
  return held_[row];
}

Writer::Held& Writer::hold_result(const Rows& rows, int i) {
  const Slot slot = result_slot(i);
  if (operation().guarded) keep_others(rows, slot);
  forget_overlap(slot, rows.parts * vector_bytes);
  Held& held = hold(rows, slot);
  held.dirty = true;
  return held;
}

void Writer::commit_float(const Rows& rows) {
  if (operation().guarded) make_canonical(rows);  // the lanes that do not execute keep what they have, and so a NaN of any bits
  hold_result(rows, 0).any_nan = !operation().guarded;
}

void Writer::commit_stored(const Rows& rows, int i) {
  const Slot slot = result_slot(i);
  if (masked_) load_mask();
  for (int p = 0; p < rows.parts; ++p) {
    const x86::Zmm& part = rows.part[static_cast<std::size_t>(p)];
    if (masked_) merge(part, vector(slot, p), lanes_of(class_of(rows), p), class_of(rows));
    assembler_.vmovdqu32(vector(slot, p), part);
  }
  forget_overlap(slot, rows.parts * vector_bytes);
}

x86::KReg Writer::lanes_of(RegisterClass kind, int part) {
  if (!masked_) {
    assembler_.kxnorw(x86::k3, x86::k3, x86::k3);
    return x86::k3;
  }
  if (part == 0) return x86::k6;
  if (kind == RegisterClass::word) return x86::k7;
  assembler_.kshiftrd(x86::k3, x86::k6, static_cast<std::uint8_t>(8 * part));
  return x86::k3;
}

/// Lanes that do not execute get what the register has.
void Writer::keep_others(const Rows& rows, Slot slot) {
  load_mask();
  const int held = find_held(slot, rows.parts);
  if (held >= 0)
    settle_nans(held);
  else
    store_overlap(slot, rows.parts * vector_bytes);
  for (int p = 0; p < rows.parts; ++p) {
    asmjit::Operand old = vector(slot, p);
    if (held >= 0) old = rows_of(held, rows.parts, held_[static_cast<std::size_t>(held)].uniform).part[static_cast<std::size_t>(p)];
    merge(rows.part[static_cast<std::size_t>(p)], old, lanes_of(class_of(rows), p), class_of(rows));
  }
}

void Writer::commit_predicate(int i) {
  const Slot slot = result_slot(i);
  if (masked_) {
    load_lanes();
    assembler_.mov(x86::ecx, predicate(slot));
    assembler_.xor_(x86::eax, x86::ecx);
    assembler_.and_(x86::eax, x86::r8d);
    assembler_.xor_(x86::eax, x86::ecx);
  }
  store_overlap(slot, 4);  // of a register that has been there
  forget_overlap(slot, 4);
  assembler_.mov(predicate(slot), x86::eax);
}

void Writer::predicate_words(Slot slot) {
  x86::Mem mem = predicate(slot);
  mem.setSize(2);
  assembler_.kmovw(x86::k1, mem);
  mem.addOffset(2);
  assembler_.kmovw(x86::k2, mem);
}

void Writer::predicate_part(Slot slot, int part) {
  x86::Mem mem = predicate(slot);
  mem.setSize(1);
  mem.addOffset(part);
  assembler_.kmovb(x86::k1, mem);
}

void Writer::call_outside() {
  assembler_.mov(x86::rdi, context);
  assembler_.mov(x86::esi, number_);
  assembler_.mov(x86::edx, ahead_);
  assembler_.mov(member(offsetof(CodeContext, left), 4), left);
  assembler_.vzeroupper();
  assembler_.call(member(offsetof(CodeContext, execute), 8));
  assembler_.test(x86::eax, x86::eax);
  assembler_.jnz(leaving_before(number_ + 1, ahead_));
}

bool Writer::is_row() const {
  const Operation& op = operation();
  if (!catalogue::computes(op.semantics) || (op.kernel == nullptr && op.function == nullptr)) return false;
  if (op.results < 1 || op.results > most_results || op.sources > most_sources) return false;
  if (op.results > 1 && op.guarded) return false;  // a result may be the guard
  for (int i = 0; i < op.results; ++i)
    if (op.result_class(i) == RegisterClass::quad) return false;
  return true;
}

x86::Mem Writer::scratch(int at) const {
  return x86::ptr(x86::rsp, scratch_at + at);
}

void Writer::call_row() {
  const Operation& op = operation();
  store_all();
  const bool aside = masked_ || op.results > 1;  // results go to a place aside: lanes keep others, or a result is a source of the next
  const auto place = [&](Slot slot, int at) {
    slot >= 0 ? assembler_.lea(x86::rax, x86::ptr(frame, slot)) : assembler_.lea(x86::rax, x86::ptr(constants, ~slot));
    assembler_.mov(x86::qword_ptr(x86::rsp, at), x86::rax);
  };
  for (int i = 0; i < op.results && aside; ++i) {
    find_aside(i);
    assembler_.mov(x86::qword_ptr(x86::rsp, results_at + 8 * i), x86::rax);
  }
  if (!aside) place(result_slot(0), results_at);
  for (int i = 0; i < op.sources; ++i) place(source_slot(i), sources_at + 8 * i);
  assembler_.mov(x86::qword_ptr(x86::rsp, results_at + 8 * op.results), 0);
  assembler_.mov(x86::qword_ptr(x86::rsp, sources_at + 8 * op.sources), 0);
  assembler_.lea(x86::rdi, x86::ptr(x86::rsp, results_at));
  assembler_.lea(x86::rsi, x86::ptr(x86::rsp, sources_at));
  std::uint64_t function = 0;
  if (op.kernel != nullptr) {
    function = reinterpret_cast<std::uint64_t>(op.kernel);
    assembler_.mov(x86::rdx, reinterpret_cast<std::uint64_t>(&modifiers_.emplace_back(program_.of<scalar::Modifiers>(op))));
  } else {
    function = reinterpret_cast<std::uint64_t>(op.function);
  }
  assembler_.vzeroupper();
  assembler_.mov(x86::rax, function);
  assembler_.call(x86::rax);
  forget();
  for (int i = 0; i < op.results && aside; ++i) take_aside(i);
}

/// rax: where a row puts result `i` aside.
void Writer::find_aside(int i) {
  assembler_.lea(x86::rax, scratch(vector_bytes - 1 + result_bytes * i));
  assembler_.and_(x86::rax, -vector_bytes);
}

void Writer::take_aside(int i) {
  const RegisterClass kind = operation().result_class(i);
  if (kind == RegisterClass::predicate) {
    find_aside(i);
    assembler_.mov(x86::eax, x86::dword_ptr(x86::rax));
    return commit_predicate(i);
  }
  const Rows rows = result(kind);
  find_aside(i);
  for (int p = 0; p < rows.parts; ++p)
    assembler_.vmovdqu32(rows.part[static_cast<std::size_t>(p)], x86::zmmword_ptr(x86::rax, vector_bytes * p));
  commit(rows, i);
}

void Writer::execute_outside() {
  store_all();
  call_outside();
  forget();
}

asmjit::Label Writer::begin_outside() {
  held_outside_ = held_;
  outside_ = assembler_.newLabel();
  continue_ = assembler_.newLabel();
  return outside_;
}

void Writer::end_outside() {
  assembler_.bind(continue_);
  behind_.push_back([this, number = number_, ahead = ahead_, from = outside_, to = continue_, before = held_outside_, held = held_] {
    assembler_.bind(from);
    number_ = number;
    ahead_ = ahead;
    held_ = before;
    store_all();
    call_outside();
    load_all(held);
    assembler_.jmp(to);
  });
}

void Writer::leave_before(std::int32_t number, std::int32_t unused) {
  assembler_.mov(member(offsetof(CodeContext, pc), 4), number);
  if (unused != 0) assembler_.add(left, unused);
  assembler_.jmp(leave_);
}

asmjit::Label Writer::leaving_before(std::int32_t number, std::int32_t unused) {
  const asmjit::Label label = assembler_.newLabel();
  behind_.push_back([this, number, unused, label, held = held_] {
    assembler_.bind(label);
    held_ = held;
    store_all();
    leave_before(number, unused);
  });
  return label;
}

}  // namespace warpmat::machine_code

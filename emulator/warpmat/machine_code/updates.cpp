// Atomic operations that give no result.

#include <warpmat/machine_code/addresses.h>

namespace warpmat::machine_code {
namespace {

using code::AtomicOperation;

/// Sums and exclusive ors: an instruction of the CPU makes them in memory, which changes where the operand is not 0.
bool is_in_memory(const code::AtomicAccess& access) {
  return access.operation == AtomicOperation::add || access.operation == AtomicOperation::bit_xor;
}

void combine_in_memory(x86::Assembler& a, const code::AtomicAccess& access, const x86::Mem& at, const x86::Gp& value) {
  access.operation == AtomicOperation::add ? a.add(at, value) : a.xor_(at, value);
}

/// `value` becomes what any other operation makes of it and `old`.
void combine(Writer& w, const code::AtomicAccess& access, const x86::Gp& value, const x86::Gp& old) {
  x86::Assembler& a = w.a();
  const bool is_signed = access.type->is_signed_integer();
  switch (access.operation) {
    case AtomicOperation::bit_and: a.and_(value, old); break;
    case AtomicOperation::bit_or: a.or_(value, old); break;
    case AtomicOperation::min: a.cmp(value, old), is_signed ? a.cmovg(value, old) : a.cmova(value, old); break;
    default: a.cmp(value, old), is_signed ? a.cmovl(value, old) : a.cmovb(value, old);  // max
  }
}

bool combines(AtomicOperation operation) {
  return operation <= AtomicOperation::max || (operation >= AtomicOperation::bit_and && operation <= AtomicOperation::bit_xor);
}

/// Combines a lane's word with that at its address in ecx, which has 32 bits; r9d makes the address an offset. r10d: the bits that change,
/// where that is not a sum's or an exclusive or's.
void update_word(Writer& w, const code::AtomicAccess& access, const x86::Mem& value) {
  x86::Assembler& a = w.a();
  a.add(x86::ecx, x86::r9d);
  a.mov(x86::eax, value);
  const x86::Mem at = x86::dword_ptr(shared, x86::rcx);
  if (is_in_memory(access)) return combine_in_memory(a, access, at, x86::eax);
  a.mov(x86::r11d, at);
  combine(w, access, x86::eax, x86::r11d);
  a.mov(at, x86::eax);
  a.xor_(x86::eax, x86::r11d);
  a.or_(x86::r10d, x86::eax);
}

/// The lower word of a lane's register of so many bits; element_of() is that of lane edx.
x86::Mem lane_of(Writer& w, int source, int lane, std::uint32_t register_bits) {
  x86::Mem mem = w.vector(w.source_slot(source), 0);
  mem.setSize(4);
  mem.addOffset(lane * static_cast<int>(register_bits / 8));
  return mem;
}

/// Words and wides of global memory: atomic, as other blocks may run at the same time. What stays as it was is no progress.
bool write_global_update(Writer& w, const code::AtomicAccess& access) {
  x86::Assembler& a = w.a();
  const Rows addresses = w.source(0, RegisterClass::wide);
  const asmjit::Label otherwise = w.begin_outside(), skip = a.newLabel(), next = a.newLabel();
  w.store_source(1);
  w.load_mask();
  a.test(x86::r8d, x86::r8d);
  a.jz(skip);
  find_wide_offsets(w, access, addresses, otherwise);
  for (int p = 0; p < 4; ++p) a.vmovdqu64(w.scratch(p * vector_bytes), x86::zmm(static_cast<std::uint32_t>(p)));
  a.xor_(x86::r10d, x86::r10d);
  a.bind(next);
  a.tzcnt(x86::edx, x86::r8d);
  x86::Mem offset = w.scratch(0);
  offset.setIndex(x86::rdx, 3);
  a.mov(x86::rax, offset);
  const auto sized = [&](const x86::Gp& wide) { return access.bytes == 8 ? wide : x86::Gp(wide.r32()); };
  const x86::Gp value = sized(x86::r9), old = sized(x86::rax), next_value = sized(x86::r11);
  a.mov(value, element_of(w, 1, access.register_bits, access.bytes));
  a.lea(x86::rdx, x86::ptr(x86::rcx, x86::rax));
  const x86::Mem place = x86::ptr(x86::rdx, 0, access.bytes);
  if (is_in_memory(access)) {
    combine_in_memory(a.lock(), access, place, value);
    a.or_(x86::r10, x86::r9);
  } else {
    const asmjit::Label again = a.newLabel();
    a.mov(old, place);
    a.bind(again);
    a.mov(next_value, value);
    combine(w, access, next_value, old);
    a.lock().cmpxchg(place, next_value);
    a.jnz(again);
    a.xor_(next_value, old);
    a.or_(x86::r10, x86::r11);
  }
  a.blsr(x86::r8d, x86::r8d);
  a.jnz(next);
  a.test(x86::r10, x86::r10);
  a.jz(skip);
  note_store(w);
  a.bind(skip);
  w.end_outside();
  return true;
}

}  // namespace

/// Integers: one lane after the other, as several may have one word.
bool write_update(Writer& w) {
  const auto& access = w.program().of<code::AtomicAccess>(w.operation());
  if (!combines(access.operation) || access.arithmetic != nullptr || access.result_used || access.register_bits != 8 * access.bytes ||
      access.vector != 1 || access.relative || w.operation().sources != 2 || access.offset < 0 || access.offset > largest_shared)
    return false;
  if (access.space == Space::global && !access.narrow_address && access.bytes >= 4) return write_global_update(w, access);
  if (access.space != Space::shared || access.bytes != 4) return false;
  x86::Assembler& a = w.a();
  const Rows addresses = w.source(0, address_class(access));
  const asmjit::Label otherwise = w.begin_outside(), skip = a.newLabel();
  w.store_source(0);
  w.store_source(1);
  w.load_mask();
  a.test(x86::r8d, x86::r8d);
  a.jz(skip);
  find_shared_offsets(w, access, addresses, otherwise);
  check_lanes(w, access, otherwise, otherwise);
  a.mov(x86::r9d, static_cast<std::uint32_t>(access.offset));
  a.sub(x86::r9d, field(context, offsetof(CodeContext, shared_base), 4));
  const std::uint32_t address_bits = access.narrow_address ? 32 : 64;
  if (!is_in_memory(access)) a.xor_(x86::r10d, x86::r10d);
  if (!w.masked() && is_in_memory(access)) {
    for (int lane = 0; lane < 32; ++lane) {
      a.mov(x86::ecx, lane_of(w, 0, lane, address_bits));
      update_word(w, access, lane_of(w, 1, lane, 32));
    }
  } else {
    const asmjit::Label next = a.newLabel();
    a.bind(next);
    a.tzcnt(x86::edx, x86::r8d);
    a.mov(x86::ecx, element_of(w, 0, address_bits, 4));
    update_word(w, access, element_of(w, 1, 32, 4));
    a.blsr(x86::r8d, x86::r8d);
    a.jnz(next);
  }
  if (!is_in_memory(access)) {
    a.test(x86::r10d, x86::r10d);
    a.jz(skip);
  }
  note_store(w);
  a.bind(skip);
  w.end_outside();
  return true;
}

}  // namespace warpmat::machine_code

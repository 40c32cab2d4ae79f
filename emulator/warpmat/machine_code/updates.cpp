// Atomic operations that give no result.

#include <warpmat/machine_code/addresses.h>

namespace warpmat::machine_code {
namespace {

bool adds(const code::AtomicAccess& access) {
  return access.operation == code::AtomicOperation::add;
}

/// Adds a lane's word to that at its address in ecx, which has 32 bits, or flips its bits there; r9d makes the address an offset.
void update_word(Writer& w, const code::AtomicAccess& access, const x86::Mem& value) {
  w.a().add(x86::ecx, x86::r9d);
  w.a().mov(x86::eax, value);
  const x86::Mem at = x86::dword_ptr(shared, x86::rcx);
  adds(access) ? w.a().add(at, x86::eax) : w.a().xor_(at, x86::eax);
}

x86::Mem lane_of(Writer& w, int source, int lane, int bytes) {
  x86::Mem mem = w.vector(w.source_slot(source), 0);
  mem.setSize(4);
  mem.addOffset(bytes * lane);
  return mem;
}

/// red.global.add and xor of words and wides: atomic, as other blocks may run at the same time. Zeros are no progress.
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
  const x86::Gp value = access.bytes == 8 ? x86::Gp(x86::r9) : x86::Gp(x86::r9d);
  a.mov(value, element_of(w, 1, access.register_bits, access.bytes));
  const x86::Mem place = x86::ptr(x86::rcx, x86::rax, 0, 0, access.bytes);
  adds(access) ? a.lock().add(place, value) : a.lock().xor_(place, value);
  a.or_(x86::r10, x86::r9);
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

/// red.add and xor of words: one lane after the other, as several may have one word.
bool write_update(Writer& w) {
  const auto& access = w.program().of<code::AtomicAccess>(w.operation());
  const bool does = adds(access) || access.operation == code::AtomicOperation::bit_xor;
  if (!does || access.arithmetic != nullptr || access.result_used || access.register_bits != 8 * access.bytes || access.vector != 1 ||
      access.relative || w.operation().sources != 2 || access.offset < 0 || access.offset > largest_shared)
    return false;
  if (access.space == Space::global && !access.narrow_address && access.bytes >= 4) return write_global_update(w, access);
  if (access.space != Space::shared || access.bytes != 4) return false;
  x86::Assembler& a = w.a();
  const Rows addresses = w.source(0, address_class(access));
  const asmjit::Label otherwise = w.begin_outside(), skip = a.newLabel();
  const int address_bytes = access.narrow_address ? 4 : 8;
  w.store_source(0);
  w.store_source(1);
  w.load_mask();
  a.test(x86::r8d, x86::r8d);
  a.jz(skip);
  find_shared_offsets(w, access, addresses, otherwise);
  check_lanes(w, access, otherwise, otherwise);
  a.mov(x86::r9d, static_cast<std::uint32_t>(access.offset));
  a.sub(x86::r9d, field(context, offsetof(CodeContext, shared_base), 4));
  if (!w.masked()) {
    for (int lane = 0; lane < 32; ++lane) {
      a.mov(x86::ecx, lane_of(w, 0, lane, address_bytes));
      update_word(w, access, lane_of(w, 1, lane, 4));
    }
  } else {
    const asmjit::Label next = a.newLabel();
    a.bind(next);
    a.tzcnt(x86::edx, x86::r8d);
    x86::Mem address = lane_of(w, 0, 0, address_bytes), value = lane_of(w, 1, 0, 4);
    address.setIndex(x86::rdx, access.narrow_address ? 2 : 3);
    value.setIndex(x86::rdx, 2);
    a.mov(x86::ecx, address);
    update_word(w, access, value);
    a.blsr(x86::r8d, x86::r8d);
    a.jnz(next);
  }
  note_store(w);
  a.bind(skip);
  w.end_outside();
  return true;
}

}  // namespace warpmat::machine_code

// Loads and stores of rows of words or wides, in the usual cases. All others are the machine's.

#include <array>
#include <limits>

#include <warpmat/machine_code/addresses.h>
#include <warpmat/machine_code/elements.h>

namespace warpmat::machine_code {
namespace {

/// Where the lanes' elements are: from rcx on, one after another.
void move_row(Writer& w, const Rows& rows) {
  for (int p = 0; p < rows.parts; ++p) {
    const x86::Mem memory = x86::zmmword_ptr(x86::rcx, p * vector_bytes);
    const x86::Zmm& part = rows.part[static_cast<std::size_t>(p)];
    is_load(w) ? w.a().vmovdqu32(part, memory) : w.a().vmovdqu32(memory, part);
  }
}

/// Loads the elements of vector `v` from rcx + the lanes' offsets.
void gather(Writer& w, const Rows& rows, RegisterClass kind, std::uint32_t v) {
  x86::Assembler& a = w.a();
  const auto lanes_to_k1 = [&](std::uint32_t p) { a.kmovw(x86::k1, w.lanes_of(RegisterClass::wide, static_cast<int>(p))); };
  if (kind == RegisterClass::wide) {
    lanes_to_k1(v);
    return static_cast<void>(a.k(x86::k1).vpgatherqq(rows.part[v], x86::ptr(x86::rcx, x86::zmm(v))));
  }
  lanes_to_k1(2 * v);
  a.k(x86::k1).vpgatherqd(rows.part[v].ymm(), x86::ptr(x86::rcx, x86::zmm(2 * v)));
  lanes_to_k1(2 * v + 1);
  a.k(x86::k1).vpgatherqd(x86::ymm7, x86::ptr(x86::rcx, x86::zmm(2 * v + 1)));
  a.vinserti64x4(rows.part[v], rows.part[v], x86::ymm7, 1);
}

/// The same of all lanes. scratch() has the offsets of all vectors but the first. A vector of a row that is consecutive, or one element, as
/// of blocks of 16 x 16 threads, is one load.
void load_vector(Writer& w, const Rows& rows, RegisterClass kind, std::uint32_t v) {
  constexpr std::uint8_t differs = 4;
  x86::Assembler& a = w.a();
  const bool words = kind == RegisterClass::word;
  const std::uint32_t offsets = words ? 2 : 1, first = v * offsets;
  const asmjit::Label apart = a.newLabel(), scattered = a.newLabel(), done = a.newLabel();
  const x86::Mem from = x86::ptr(x86::rcx, x86::rax);
  for (std::uint32_t p = first; p < first + offsets && v > 0; ++p)  // those of the first vector are here: no label came before
    a.vmovdqu64(x86::zmm(p), w.scratch(static_cast<int>(p) * vector_bytes));
  a.vmovq(x86::rax, x86::xmm(first));
  a.vpbroadcastq(x86::zmm4, x86::xmm(first));
  for (std::uint32_t i = 0; i < offsets; ++i) {
    a.vpsubq(x86::zmm(5 + i), x86::zmm(first + i), x86::zmm4);
    a.vpcmpq(x86::k(1 + i), x86::zmm(5 + i), w.table(words ? Table::wides_apart_4 : Table::wides_apart_8, static_cast<int>(i)), differs);
  }
  a.kortestb(x86::k1, x86::k(offsets));
  a.jnz(apart);
  a.vmovdqu32(rows.part[v], from);
  a.jmp(done);
  a.bind(apart);
  if (words) a.vporq(x86::zmm5, x86::zmm5, x86::zmm6);
  a.vptestmq(x86::k1, x86::zmm5, x86::zmm5);
  a.kortestb(x86::k1, x86::k1);
  a.jnz(scattered);
  words ? a.vpbroadcastd(rows.part[v], from) : a.vpbroadcastq(rows.part[v], from);
  a.jmp(done);
  a.bind(scattered);
  gather(w, rows, kind, v);
  a.bind(done);
}

/// Stores the elements of all lanes, where each vector of them is consecutive, as of blocks of 16 x 16 threads. Two may have one place, so
/// they come as in for_storing_lanes(): 32 lanes of words or 16 of wides at a time, the last ones first.
void store_vectors(Writer& w, const Rows& rows, RegisterClass kind, const asmjit::Label& otherwise) {
  constexpr std::uint8_t differs = 4;
  x86::Assembler& a = w.a();
  const bool words = kind == RegisterClass::word;
  const std::uint32_t offsets = words ? 2 : 1;
  a.kxorb(x86::k2, x86::k2, x86::k2);
  for (std::uint32_t p = 0; p < 4; ++p) {
    if (p % offsets == 0) a.vpbroadcastq(x86::zmm4, x86::xmm(p));
    a.vpaddq(x86::zmm5, x86::zmm4, w.table(words ? Table::wides_apart_4 : Table::wides_apart_8, static_cast<int>(p % offsets)));
    a.vpcmpq(x86::k1, x86::zmm5, x86::zmm(p), differs);
    a.korb(x86::k2, x86::k2, x86::k1);
  }
  a.kortestb(x86::k2, x86::k2);
  a.jnz(otherwise);
  for (const std::uint32_t v : {1U, 0U, 3U, 2U}) {
    if (v >= static_cast<std::uint32_t>(rows.parts)) continue;
    a.vmovq(x86::rax, x86::xmm(v * offsets));
    a.vmovdqu32(x86::zmmword_ptr(x86::rcx, x86::rax), rows.part[v]);
  }
}

/// Stores the elements of all lanes, whose offsets rise from lane to lane: no two have one place.
void scatter(Writer& w, const Rows& rows, RegisterClass kind, const asmjit::Label& otherwise) {
  constexpr std::uint8_t not_above = 2;
  x86::Assembler& a = w.a();
  a.mov(x86::eax, 0xfe);  // nothing lies before lane 0
  a.kmovd(x86::k3, x86::eax);
  a.kxorb(x86::k2, x86::k2, x86::k2);
  for (std::uint32_t p = 0; p < 4; ++p) {
    a.valignq(x86::zmm7, x86::zmm(p), p == 0 ? x86::zmm0 : x86::zmm(p - 1), 7);
    p == 0 ? a.k(x86::k3).vpcmpuq(x86::k1, x86::zmm0, x86::zmm7, not_above) : a.vpcmpuq(x86::k1, x86::zmm(p), x86::zmm7, not_above);
    a.korb(x86::k2, x86::k2, x86::k1);
  }
  a.kortestb(x86::k2, x86::k2);
  a.jnz(otherwise);
  for (std::uint32_t p = 0; p < 4; ++p) {
    a.kxnorw(x86::k1, x86::k1, x86::k1);
    if (kind == RegisterClass::wide) {
      a.k(x86::k1).vpscatterqq(x86::ptr(x86::rcx, x86::zmm(p)), rows.part[p]);
      continue;
    }
    if (p % 2 != 0) a.vextracti64x4(x86::ymm7, rows.part[p / 2], 1);
    a.k(x86::k1).vpscatterqd(x86::ptr(x86::rcx, x86::zmm(p)), p % 2 == 0 ? rows.part[p / 2].ymm() : x86::ymm7);
  }
}

/// Memory gets the elements, which only vectors may have.
void store_element(Writer& w, const Rows& rows) {
  const Slot slot = w.source_slot(1);
  for (int p = 0; p < rows.parts && slot >= 0; ++p) w.a().vmovdqu32(w.vector(slot, p), rows.part[static_cast<std::size_t>(p)]);
}

/// Behind all other code: the access where the lanes are not consecutive.
void write_apart(Writer& w, const Access& access, RegisterClass kind, const Rows& addresses, const Rows& rows, const asmjit::Label& apart,
                 const asmjit::Label& done, const asmjit::Label& otherwise) {
  const std::int32_t number = w.number();
  w.behind([=, &w, &access] {
    w.begin(number, 0);
    w.a().bind(apart);
    find_wide_offsets(w, access, addresses, otherwise);
    if (is_load(w)) {
      for (std::uint32_t p = kind == RegisterClass::word ? 2 : 1; p < 4 && !w.masked(); ++p)
        w.a().vmovdqu64(w.scratch(static_cast<int>(p) * vector_bytes), x86::zmm(p));
      for (std::uint32_t v = 0; v < static_cast<std::uint32_t>(rows.parts); ++v)
        w.masked() ? gather(w, rows, kind, v) : load_vector(w, rows, kind, v);
    } else {
      const asmjit::Label scattered = w.a().newLabel(), each = w.a().newLabel();
      if (!w.masked()) {
        store_vectors(w, rows, kind, scattered);
        w.a().jmp(done);
        w.a().bind(scattered);
        scatter(w, rows, kind, each);
        w.a().jmp(done);
      }
      w.a().bind(each);
      if (!w.masked()) store_element(w, rows);
      store_each_global(w, access);
    }
    w.a().jmp(done);
  });
}

/// Has the CPU fetch the row at rcx and some more steps of the size of the last one: it foresees no step that leaves a page.
void fetch_ahead(Writer& w, int row_bytes) {
  constexpr std::uint8_t steps_log = 2;
  x86::Assembler& a = w.a();
  a.mov(x86::rdx, x86::rcx);
  a.sub(x86::rdx, known_memory(w, offsetof(KnownMemory, last)));
  a.mov(known_memory(w, offsetof(KnownMemory, last)), x86::rcx);
  for (int at = 0; at < row_bytes; at += vector_bytes) a.prefetcht0(x86::ptr(x86::rcx, x86::rdx, steps_log, at));
}

/// rcx, an aligned address from which `bytes` lie in the memory that the access has met, becomes their place.
void find_place(Writer& w, const Access& access, std::int32_t bytes, const asmjit::Label& otherwise) {
  x86::Assembler& a = w.a();
  a.test(x86::ecx, access.bytes - 1);
  a.jnz(otherwise);
  a.sub(x86::rcx, known_memory(w, offsetof(KnownMemory, address)));
  a.mov(x86::rdx, known_memory(w, offsetof(KnownMemory, bytes)));
  a.sub(x86::rdx, bytes);
  a.jb(otherwise);
  a.cmp(x86::rcx, x86::rdx);
  a.ja(otherwise);
  a.add(x86::rcx, known_memory(w, offsetof(KnownMemory, data)));
}

/// One element for all lanes.
void write_same(Writer& w, const Access& access, RegisterClass kind) {
  x86::Assembler& a = w.a();
  const Rows addresses = w.source(0, RegisterClass::wide), rows = w.result(kind, true);
  const asmjit::Label otherwise = w.begin_outside();
  a.vmovq(x86::rcx, addresses.part[0].xmm());
  if (access.offset != 0) a.add(x86::rcx, static_cast<std::int32_t>(access.offset));
  find_place(w, access, access.bytes, otherwise);
  const x86::Mem from = x86::ptr(x86::rcx);
  kind == RegisterClass::word ? a.vpbroadcastd(rows.part[0], from) : a.vpbroadcastq(rows.part[0], from);
  w.commit(rows);
  w.end_outside();
}

/// Elements of all lanes in global memory, where they are consecutive in a buffer that the access has met before.
void write_global(Writer& w, const Access& access, RegisterClass kind) {
  x86::Assembler& a = w.a();
  const int row_bytes = access.bytes * 32;
  const Rows addresses = w.source(0, RegisterClass::wide);
  if (addresses.uniform && is_load(w)) return write_same(w, access, kind);
  const Rows rows = is_load(w) ? w.result(kind) : w.source(1, kind);
  const asmjit::Label otherwise = w.begin_outside(), apart = a.newLabel(), done = a.newLabel();
  a.vpbroadcastq(x86::zmm0, addresses.part[0].xmm());
  for (int p = 0; p < 4; ++p) {
    a.vpaddq(x86::zmm1, x86::zmm0, w.table(access.bytes == 8 ? Table::wides_apart_8 : Table::wides_apart_4, p));
    const x86::Zmm& part = addresses.part[static_cast<std::size_t>(p)];
    if (p == 0)
      a.vpxorq(x86::zmm2, x86::zmm1, part);
    else
      a.vpternlogq(x86::zmm2, x86::zmm1, part, 0xf6);  // or of the difference
  }
  a.vptestmq(x86::k1, x86::zmm2, x86::zmm2);
  a.vmovq(x86::rcx, addresses.part[0].xmm());
  if (access.offset != 0) a.add(x86::rcx, static_cast<std::int32_t>(access.offset));
  a.kortestb(x86::k1, x86::k1);
  a.jnz(apart);
  find_place(w, access, row_bytes, otherwise);
  if (is_load(w)) fetch_ahead(w, row_bytes);
  move_row(w, rows);
  a.bind(done);
  is_load(w) ? w.commit(rows) : note_store(w);
  w.end_outside();
  write_apart(w, access, kind, addresses, rows, apart, done, otherwise);
}

/// Loads the words of the lanes that execute, at their offsets.
void gather_words(Writer& w, const Rows& rows) {
  for (int p = 0; p < 2; ++p) {
    w.a().kmovw(x86::k1, w.lanes_of(RegisterClass::word, p));
    w.a().k(x86::k1).vpgatherdd(rows.part[static_cast<std::size_t>(p)], x86::ptr(shared, p == 0 ? x86::zmm0 : x86::zmm1));
  }
}

/// Goes on where the words are consecutive and may be accessed without telling, with their place in rcx; jumps to `apart` where they are
/// not consecutive, with the first offset in rcx.
void check_shared_row(Writer& w, const Access& access, const asmjit::Label& apart, const asmjit::Label& otherwise) {
  x86::Assembler& a = w.a();
  a.vmovd(x86::ecx, x86::xmm0);
  a.vpbroadcastd(x86::zmm2, x86::xmm0);
  a.vpsubd(x86::zmm3, x86::zmm0, x86::zmm2);
  a.vpsubd(x86::zmm4, x86::zmm1, x86::zmm2);
  a.vpcmpd(x86::k1, x86::zmm3, w.table(Table::words_apart, 0), 4);
  a.vpcmpd(x86::k2, x86::zmm4, w.table(Table::words_apart, 1), 4);
  a.kortestw(x86::k1, x86::k2);
  a.jnz(apart);
  check_consecutive(w, access, otherwise);
  a.add(x86::rcx, shared);
}

/// Loads one word into all lanes; jumps to `scattered` where lanes have others.
void load_same_word(Writer& w, const Rows& rows, const asmjit::Label& scattered, const asmjit::Label& otherwise) {
  x86::Assembler& a = w.a();
  a.vpord(x86::zmm3, x86::zmm3, x86::zmm4);
  a.vptestmd(x86::k1, x86::zmm3, x86::zmm3);
  a.kortestw(x86::k1, x86::k1);
  a.jnz(scattered);
  a.cmp(x86::ecx, x86::edx);
  a.ja(otherwise);
  a.test(x86::ecx, 3);
  a.jnz(otherwise);
  a.mov(x86::rdx, field(context, offsetof(CodeContext, plain_bytes), 8));
  a.mov(x86::eax, x86::ecx);
  a.shr(x86::eax, 4);
  a.movzx(x86::eax, x86::word_ptr(x86::rdx, x86::rax, 1));
  a.add(x86::rcx, shared);
  a.vpbroadcastd(rows.part[0], x86::dword_ptr(x86::rcx));
  a.sub(x86::rcx, shared);
  a.and_(x86::ecx, 15);
  a.shr(x86::eax, x86::cl);
  a.not_(x86::eax);
  a.test(x86::eax, 15);
  a.jnz(otherwise);
  a.vmovdqa32(rows.part[1], rows.part[0]);
}

/// Words of all lanes in the block's shared memory.
void write_shared(Writer& w, const Access& access) {
  x86::Assembler& a = w.a();
  const Rows addresses = w.source(0, address_class(access));
  const Rows rows = is_load(w) ? w.result(RegisterClass::word) : w.source(1, RegisterClass::word);
  const asmjit::Label otherwise = w.begin_outside();
  const asmjit::Label same = a.newLabel(), scattered = a.newLabel(), done = a.newLabel();
  if (!is_load(w)) {
    find_shared_offsets(w, access, addresses, otherwise);
    check_shared_row(w, access, scattered, otherwise);
    move_row(w, rows);
    a.bind(done);
    note_store(w);
    w.end_outside();
    return w.behind([&w, &access, rows, scattered, done, otherwise, number = w.number()] {
      w.begin(number, 0);
      const asmjit::Label fresh = w.a().newLabel();
      w.a().bind(scattered);
      store_element(w, rows);
      check_lanes(w, access, otherwise, fresh);
      store_each_shared(w, access, fresh, otherwise);
      w.a().jmp(done);
    });
  }
  find_shared_offsets(w, access, addresses, otherwise);
  check_shared_row(w, access, same, otherwise);
  move_row(w, rows);
  a.bind(done);
  w.commit(rows);
  w.end_outside();
  w.behind([&w, &access, rows, same, scattered, done, otherwise, number = w.number()] {
    w.begin(number, 0);
    w.a().bind(same);
    load_same_word(w, rows, scattered, otherwise);
    w.a().jmp(done);
    w.a().bind(scattered);
    check_lanes(w, access, otherwise, otherwise);
    gather_words(w, rows);
    w.a().jmp(done);
  });
}

/// Elements at rcx + their lanes' numbers times their size.
void move_lanes(Writer& w, const Rows& rows, RegisterClass kind) {
  x86::Assembler& a = w.a();
  for (int p = 0; p < rows.parts; ++p) {
    const x86::Mem memory = x86::zmmword_ptr(x86::rcx, p * vector_bytes);
    const x86::Zmm& part = rows.part[static_cast<std::size_t>(p)];
    const x86::KReg lanes = w.lanes_of(kind, p);
    if (is_load(w))
      kind == RegisterClass::word ? a.k(lanes).z().vmovdqu32(part, memory) : a.k(lanes).z().vmovdqu64(part, memory);
    else
      kind == RegisterClass::word ? a.k(lanes).vmovdqu32(memory, part) : a.k(lanes).vmovdqu64(memory, part);
  }
}

/// The operand's element of the first lane that executes is in `to`; ecx is that lane.
void find_first(Writer& w, const x86::Gp& to, int bytes) {
  const Slot slot = w.source_slot(0);
  w.a().tzcnt(x86::ecx, x86::r8d);
  w.a().mov(to, slot >= 0 ? x86::ptr(frame, x86::rcx, bytes == 8 ? 3 : 2, slot) : x86::ptr(constants, x86::rcx, bytes == 8 ? 3 : 2, ~slot));
}

/// The same of global memory as write_global(), for the lanes that execute: each has the place in a row that its number says.
void write_global_lanes(Writer& w, const Access& access, RegisterClass kind) {
  x86::Assembler& a = w.a();
  const std::uint32_t shift = access.bytes == 8 ? 3 : 2;
  const Rows addresses = w.source(0, RegisterClass::wide);
  const Rows rows = is_load(w) ? w.result(kind) : w.source(1, kind);
  const asmjit::Label otherwise = w.begin_outside(), skip = a.newLabel(), apart = a.newLabel(), done = a.newLabel();
  w.store_source(0);
  is_load(w) ? w.store_result() : w.store_source(1);
  w.load_mask();
  a.test(x86::r8d, x86::r8d);
  a.jz(skip);
  find_first(w, x86::rax, 8);
  a.mov(x86::edx, x86::ecx);
  a.shl(x86::edx, shift);
  a.sub(x86::rax, x86::rdx);  // where lane 0's element would be
  a.vpbroadcastq(x86::zmm0, x86::rax);
  a.kxorb(x86::k2, x86::k2, x86::k2);
  for (int p = 0; p < 4; ++p) {
    a.vpaddq(x86::zmm1, x86::zmm0, w.table(access.bytes == 8 ? Table::wides_apart_8 : Table::wides_apart_4, p));
    a.k(w.lanes_of(RegisterClass::wide, p)).vpcmpq(x86::k1, x86::zmm1, addresses.part[static_cast<std::size_t>(p)], 4);
    a.korb(x86::k2, x86::k2, x86::k1);
  }
  a.kortestb(x86::k2, x86::k2);
  a.jnz(apart);
  if (access.offset != 0) a.add(x86::rax, static_cast<std::int32_t>(access.offset));
  a.sub(x86::rax, known_memory(w, offsetof(KnownMemory, address)));
  a.test(x86::eax, access.bytes - 1);  // buffers begin at multiples of 8
  a.jnz(otherwise);
  a.add(x86::rdx, x86::rax);  // the first byte
  a.cmp(x86::rdx, known_memory(w, offsetof(KnownMemory, bytes)));
  a.jae(otherwise);
  a.lzcnt(x86::edx, x86::r8d);
  a.neg(x86::rdx);
  a.add(x86::rdx, 32);
  a.shl(x86::rdx, shift);
  a.add(x86::rdx, x86::rax);  // behind the last byte
  a.cmp(x86::rdx, known_memory(w, offsetof(KnownMemory, bytes)));
  a.ja(otherwise);
  a.mov(x86::rcx, x86::rax);
  a.add(x86::rcx, known_memory(w, offsetof(KnownMemory, data)));
  move_lanes(w, rows, kind);
  a.bind(done);
  is_load(w) ? w.commit_stored(rows) : note_store(w);
  a.bind(skip);
  w.end_outside();
  write_apart(w, access, kind, addresses, rows, apart, done, otherwise);
}

/// The same of shared memory as write_shared(). Lanes may be scattered.
void write_shared_lanes(Writer& w, const Access& access) {
  x86::Assembler& a = w.a();
  const Rows addresses = w.source(0, address_class(access));
  const Rows rows = is_load(w) ? w.result(RegisterClass::word) : Rows{};
  const asmjit::Label otherwise = w.begin_outside(), skip = a.newLabel(), fresh = a.newLabel();
  is_load(w) ? w.store_result() : w.store_source(1);
  w.load_mask();
  a.test(x86::r8d, x86::r8d);
  a.jz(skip);
  find_shared_offsets(w, access, addresses, otherwise);
  if (is_load(w)) {
    check_lanes(w, access, otherwise, otherwise);
    gather_words(w, rows);
    w.commit_stored(rows);
  } else {
    check_lanes(w, access, otherwise, fresh);
    store_each_shared(w, access, fresh, otherwise);
    note_store(w);
  }
  a.bind(skip);
  w.end_outside();
}

/// Whether its addresses have a form that the code knows.
bool has_usual_addresses(const Access& access) {
  if (access.offset < std::numeric_limits<std::int32_t>::min() || access.offset > std::numeric_limits<std::int32_t>::max()) return false;
  switch (access.space) {
    case Space::shared: return !access.relative;
    case Space::local: return !access.narrow_address;
    case Space::global:
    case Space::constant:
    case Space::generic: return !access.relative && !access.narrow_address;
    default: return false;
  }
}

/// Whether it may reach across two variables, of which a check is told.
bool may_cross(const Writer& w, const Access& access) {
  return access.space == Space::shared && std::uint32_t{access.bytes} * access.vector > w.program().shared_alignment();
}

}  // namespace

bool write_access(Writer& w) {
  const Access& access = w.program().access(w.operation());
  const Operation& op = w.operation();
  if (!has_usual_addresses(access) || may_cross(w, access)) return false;
  const bool in_shared = access.space == Space::shared, in_local = access.space == Space::local;
  const bool words = access.bytes == 4 && access.register_bits == 32, wides = access.bytes == 8 && access.register_bits == 64;
  if (access.vector == 1 && !in_local && (words || (wides && !in_shared))) {
    const RegisterClass kind = words ? RegisterClass::word : RegisterClass::wide;
    if (in_shared)
      w.masked() ? write_shared_lanes(w, access) : write_shared(w, access);
    else
      w.masked() ? write_global_lanes(w, access, kind) : write_global(w, access, kind);
    return true;
  }
  if (!has_usual_elements(access, is_load(w) ? op.results : op.sources - 1)) return false;
  is_load(w) ? write_elements_load(w, in_shared) : write_elements_store(w, in_shared);
  return true;
}

}  // namespace warpmat::machine_code

// Loads and stores, in the usual cases, with every check: the bytes are inside, aligned, and concern no observer. All others are the
// machine's.

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include <warpmat/machine_code/writer.h>

namespace warpmat::machine_code {
namespace {

using code::Access;
using code::KnownMemory;
constexpr int vector_bytes = 64;
constexpr std::int64_t largest_shared = 1 << 24;  // offsets of addresses

x86::Mem field(const x86::Gp& base, std::size_t offset, std::uint32_t size) {
  return x86::Mem(base, static_cast<std::int32_t>(offset), size);
}

RegisterClass address_class(const Access& access) {
  return access.narrow_address ? RegisterClass::word : RegisterClass::wide;
}

bool is_load(const Writer& w) {
  return w.operation().semantics == catalogue::Semantics::load;
}

/// Where the lanes' elements are: from rcx on, one after another.
void move_row(Writer& w, const Rows& rows) {
  for (int p = 0; p < rows.parts; ++p) {
    const x86::Mem memory = x86::zmmword_ptr(x86::rcx, p * vector_bytes);
    const x86::Zmm& part = rows.part[static_cast<std::size_t>(p)];
    is_load(w) ? w.a().vmovdqu32(part, memory) : w.a().vmovdqu32(memory, part);
  }
}

void note_store(Writer& w) {
  w.a().mov(field(context, offsetof(CodeContext, stored), 4), 1);
}

x86::Mem known_memory(Writer& w, std::size_t offset) {
  return field(known, w.operation().payload % code::known_memories * sizeof(KnownMemory) + offset, 8);
}

/// The lanes of a vector of words or wides, `part` of a row: k6, k7, or k3. All of them where nothing is masked.
x86::KReg lanes_of(Writer& w, RegisterClass kind, int part) {
  if (!w.masked()) {
    w.a().kxnorw(x86::k3, x86::k3, x86::k3);
    return x86::k3;
  }
  if (kind == RegisterClass::word) return part == 0 ? x86::k6 : x86::k7;
  if (part == 0) return x86::k6;
  w.a().kshiftrd(x86::k3, x86::k6, static_cast<std::uint8_t>(8 * part));
  return x86::k3;
}

/// The bytes of a lane: a power of two.
std::int32_t lane_bytes(const Access& access) {
  return access.bytes * access.vector;
}

/// What a load of a lane reads at least: a gather has no elements below 4 bytes.
std::int32_t read_bytes(const Access& access) {
  return std::max(lane_bytes(access), 4);
}

/// zmm0 to zmm3: the lanes' offsets in the buffer at rcx, where all that execute are inside and aligned.
void find_global_offsets(Writer& w, const Access& access, const Rows& addresses, const asmjit::Label& otherwise) {
  constexpr std::uint8_t above = 6;
  x86::Assembler& a = w.a();
  a.mov(x86::rax, access.offset);
  a.sub(x86::rax, known_memory(w, offsetof(KnownMemory, address)));
  a.vpbroadcastq(x86::zmm4, x86::rax);
  a.mov(x86::rdx, known_memory(w, offsetof(KnownMemory, bytes)));
  a.sub(x86::rdx, is_load(w) ? read_bytes(access) : lane_bytes(access));
  a.jb(otherwise);
  a.vpbroadcastq(x86::zmm5, x86::rdx);
  a.mov(x86::eax, lane_bytes(access) - 1);
  a.vpbroadcastq(x86::zmm6, x86::rax);
  a.kxorb(x86::k2, x86::k2, x86::k2);
  for (std::uint32_t p = 0; p < 4; ++p) {
    const x86::KReg lanes = lanes_of(w, RegisterClass::wide, static_cast<int>(p));
    a.vpaddq(x86::zmm(p), addresses.part[p], x86::zmm4);
    a.k(lanes).vpcmpuq(x86::k1, x86::zmm(p), x86::zmm5, above);
    a.korb(x86::k2, x86::k2, x86::k1);
    a.k(lanes).vptestmq(x86::k1, x86::zmm(p), x86::zmm6);
    a.korb(x86::k2, x86::k2, x86::k1);
  }
  a.kortestb(x86::k2, x86::k2);
  a.jnz(otherwise);
  a.mov(x86::rcx, known_memory(w, offsetof(KnownMemory, data)));
}

/// Loads each lane's element from rcx + its offset.
void gather(Writer& w, const Rows& rows, RegisterClass kind) {
  x86::Assembler& a = w.a();
  for (std::uint32_t p = 0; p < 4; ++p) {
    a.kmovw(x86::k1, lanes_of(w, RegisterClass::wide, static_cast<int>(p)));
    if (kind == RegisterClass::wide) {
      a.k(x86::k1).vpgatherqq(rows.part[p], x86::ptr(x86::rcx, x86::zmm(p)));
      continue;
    }
    const x86::Ymm to = p % 2 == 0 ? rows.part[p / 2].ymm() : x86::ymm7;
    a.k(x86::k1).vpgatherqd(to, x86::ptr(x86::rcx, x86::zmm(p)));
    if (p % 2 != 0) a.vinserti64x4(rows.part[p / 2], rows.part[p / 2], x86::ymm7, 1);
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

/// Calls write() in a loop over the lanes of r8d, with the lane in edx, in the order in which a store writes: for_each_storing_lane() of
/// the machine. It may use all registers but r8 and r10.
template <typename Write>
void for_storing_lanes(Writer& w, const Access& access, Write write) {
  x86::Assembler& a = w.a();
  const int lanes = 128 / std::max(lane_bytes(access), 4);  // at a time
  for (int first = 0; first < 32; first += lanes) {
    const asmjit::Label next = a.newLabel(), end = a.newLabel();
    a.mov(x86::r10d, x86::r8d);
    a.and_(x86::r10d, lanes == 32 ? 0xffffffff : ((std::uint32_t{1} << lanes) - 1) << first);
    a.jz(end);
    a.bind(next);
    a.lzcnt(x86::edx, x86::r10d);
    a.xor_(x86::edx, 31);
    write();
    a.btr(x86::r10d, x86::edx);
    a.test(x86::r10d, x86::r10d);
    a.jnz(next);
    a.bind(end);
  }
}

/// The element of the source in lane edx.
x86::Mem element_of(Writer& w, int source, std::uint32_t register_bits, std::uint32_t bytes) {
  x86::Mem mem = w.vector(w.source_slot(source), 0);
  mem.setSize(bytes);
  mem.setIndex(x86::rdx, register_bits == 64 ? 3 : 2);
  return mem;
}

/// Stores the elements of lane edx at `to`.
void store_lane(Writer& w, const Access& access, x86::Mem to) {
  x86::Assembler& a = w.a();
  for (int e = 0; e < access.vector; ++e, to.addOffset(access.bytes)) {
    const x86::Mem from = element_of(w, 1 + e, access.register_bits, access.bytes);
    to.setSize(access.bytes);
    switch (access.bytes) {
      case 1: a.mov(x86::r9b, from), a.mov(to, x86::r9b); break;
      case 2: a.mov(x86::r9w, from), a.mov(to, x86::r9w); break;
      case 4: a.mov(x86::r9d, from), a.mov(to, x86::r9d); break;
      default: a.mov(x86::r9, from), a.mov(to, x86::r9);
    }
  }
}

/// The lanes that execute are in r8d.
void find_lanes(Writer& w) {
  if (!w.masked()) w.a().mov(x86::r8d, -1);
}

/// Memory has the elements that store_lane() reads.
void store_elements(Writer& w, const Access& access) {
  for (int e = 0; e < access.vector; ++e) w.store_source(1 + e);
}

/// The same of one that only vectors may have.
void store_element(Writer& w, const Rows& rows) {
  const Slot slot = w.source_slot(1);
  for (int p = 0; p < rows.parts && slot >= 0; ++p) w.a().vmovdqu32(w.vector(slot, p), rows.part[static_cast<std::size_t>(p)]);
}

/// Stores lane by lane at rcx + the offsets of zmm0 to zmm3. Lanes may have one place.
void store_each_global(Writer& w, const Access& access) {
  x86::Assembler& a = w.a();
  for (int p = 0; p < 4; ++p) a.vmovdqu64(w.scratch(p * vector_bytes), x86::zmm(static_cast<std::uint32_t>(p)));
  find_lanes(w);
  for_storing_lanes(w, access, [&] {
    x86::Mem offset = w.scratch(0);
    offset.setIndex(x86::rdx, 3);
    a.mov(x86::rax, offset);
    store_lane(w, access, x86::ptr(x86::rcx, x86::rax));
  });
}

/// Behind all other code: the access where the lanes are not consecutive.
void write_apart(Writer& w, const Access& access, RegisterClass kind, const Rows& addresses, const Rows& rows, const asmjit::Label& apart,
                 const asmjit::Label& done, const asmjit::Label& otherwise) {
  const std::int32_t number = w.number();
  w.behind([=, &w, &access] {
    w.begin(number, 0);
    w.a().bind(apart);
    find_global_offsets(w, access, addresses, otherwise);
    if (is_load(w)) {
      gather(w, rows, kind);
    } else {
      const asmjit::Label each = w.a().newLabel();
      if (!w.masked()) {
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

/// Elements of all lanes in global memory, where they are consecutive in a buffer that the access has met before.
void write_global(Writer& w, const Access& access, RegisterClass kind) {
  x86::Assembler& a = w.a();
  const int row_bytes = access.bytes * 32;
  const Rows addresses = w.source(0, RegisterClass::wide);
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
  a.test(x86::ecx, access.bytes - 1);
  a.jnz(otherwise);
  a.sub(x86::rcx, known_memory(w, offsetof(KnownMemory, address)));
  a.cmp(x86::rcx, known_memory(w, offsetof(KnownMemory, bytes)));
  a.jae(otherwise);
  a.lea(x86::rdx, x86::ptr(x86::rcx, row_bytes));
  a.cmp(x86::rdx, known_memory(w, offsetof(KnownMemory, bytes)));
  a.ja(otherwise);
  a.add(x86::rcx, known_memory(w, offsetof(KnownMemory, data)));
  if (is_load(w)) fetch_ahead(w, row_bytes);
  move_row(w, rows);
  a.bind(done);
  is_load(w) ? w.commit(rows) : note_store(w);
  w.end_outside();
  write_apart(w, access, kind, addresses, rows, apart, done, otherwise);
}

/// zmm0, zmm1: each lane's offset in shared memory. edx: the largest that is inside.
void find_shared_offsets(Writer& w, const Access& access, const Rows& addresses, const asmjit::Label& otherwise) {
  x86::Assembler& a = w.a();
  for (std::size_t p = 0; p < 2 && !access.narrow_address; ++p) {  // the upper halves count for nothing
    const x86::Zmm& to = p == 0 ? x86::zmm0 : x86::zmm1;
    a.vpmovqd(to.ymm(), addresses.part[2 * p]);
    a.vpmovqd(x86::ymm2, addresses.part[2 * p + 1]);
    a.vinserti64x4(to, to, x86::ymm2, 1);
  }
  const x86::Zmm first = access.narrow_address ? addresses.part[0] : x86::zmm0,
                 second = access.narrow_address ? addresses.part[1] : x86::zmm1;
  a.mov(x86::eax, static_cast<std::uint32_t>(access.offset));
  a.sub(x86::eax, field(context, offsetof(CodeContext, shared_base), 4));
  a.vpbroadcastd(x86::zmm2, x86::eax);
  a.vpaddd(x86::zmm0, first, x86::zmm2);
  a.vpaddd(x86::zmm1, second, x86::zmm2);
  if (access.shared_end != Access::no_end)
    a.mov(x86::edx, access.shared_end);
  else
    a.mov(x86::edx, field(context, offsetof(CodeContext, shared_bytes), 4));
  a.sub(x86::edx, lane_bytes(access));
  a.jb(otherwise);
}

/// The bits of a lane's bytes in a map, from its first one on.
std::uint32_t map_bits(const Access& access) {
  return (std::uint32_t{1} << lane_bytes(access)) - 1;
}

/// Jumps where an offset of a lane that executes is beyond edx or not aligned, and to `fresh` where its bytes may not be accessed without
/// telling.
void check_lanes(Writer& w, const Access& access, const asmjit::Label& otherwise, const asmjit::Label& fresh) {
  constexpr std::uint8_t above = 6, differs = 4;
  x86::Assembler& a = w.a();
  a.vpbroadcastd(x86::zmm2, x86::edx);
  fill(w, x86::zmm3, static_cast<std::uint32_t>(lane_bytes(access)) - 1);
  for (int p = 0; p < 2; ++p) {
    const x86::Zmm offset = p == 0 ? x86::zmm0 : x86::zmm1;
    const x86::KReg lanes = lanes_of(w, RegisterClass::word, p);
    a.k(lanes).vpcmpud(x86::k1, offset, x86::zmm2, above);
    a.k(lanes).vptestmd(x86::k2, offset, x86::zmm3);
    a.kortestw(x86::k1, x86::k2);
    a.jnz(otherwise);
  }
  fill(w, x86::zmm4, 15);
  fill(w, x86::zmm3, map_bits(access));
  a.mov(x86::rdx, field(context, offsetof(CodeContext, plain_bytes), 8));
  for (int p = 0; p < 2; ++p) {
    const x86::Zmm offset = p == 0 ? x86::zmm0 : x86::zmm1;
    const x86::KReg lanes = lanes_of(w, RegisterClass::word, p);
    a.vpsrld(x86::zmm5, offset, 4);
    a.vpxord(x86::zmm7, x86::zmm7, x86::zmm7);
    a.kmovw(x86::k1, lanes);
    a.k(x86::k1).vpgatherdd(x86::zmm7, x86::ptr(x86::rdx, x86::zmm5, 1));
    a.vpandd(x86::zmm5, offset, x86::zmm4);
    a.vpsrlvd(x86::zmm7, x86::zmm7, x86::zmm5);
    a.vpandd(x86::zmm7, x86::zmm7, x86::zmm3);
    a.k(lanes).vpcmpud(x86::k1, x86::zmm7, x86::zmm3, differs);
    a.kortestw(x86::k1, x86::k1);
    a.jnz(fresh);
  }
}

/// Stores lane by lane at the offsets of zmm0 and zmm1, which check_lanes() has found good. At `fresh` come those whose bytes the map does
/// not have yet: the stores enter them where the block is one of those that let them.
void store_each_shared(Writer& w, const Access& access, const asmjit::Label& fresh, const asmjit::Label& otherwise) {
  x86::Assembler& a = w.a();
  const asmjit::Label done = a.newLabel();
  const auto store_all = [&](bool defines) {
    a.vmovdqu32(w.scratch(0), x86::zmm0);
    a.vmovdqu32(w.scratch(vector_bytes), x86::zmm1);
    find_lanes(w);
    for_storing_lanes(w, access, [&] {
      x86::Mem offset = w.scratch(0);
      offset.setIndex(x86::rdx, 2);
      a.mov(x86::eax, offset);
      store_lane(w, access, x86::ptr(shared, x86::rax));
      if (!defines) return;
      a.mov(x86::ecx, x86::eax);
      a.and_(x86::ecx, 15);
      a.shr(x86::eax, 4);
      a.mov(x86::r9d, map_bits(access));
      a.shl(x86::r9d, x86::cl);
      a.mov(x86::r11, field(context, offsetof(CodeContext, plain_bytes), 8));
      a.or_(x86::word_ptr(x86::r11, x86::rax, 1), x86::r9w);
    });
  };
  store_all(false);
  a.jmp(done);
  a.bind(fresh);
  a.cmp(field(context, offsetof(CodeContext, defines), 4), 0);
  a.je(otherwise);
  store_all(true);
  a.bind(done);
}

/// Loads the words of the lanes that execute, at their offsets.
void gather_words(Writer& w, const Rows& rows) {
  for (int p = 0; p < 2; ++p) {
    w.a().kmovw(x86::k1, lanes_of(w, RegisterClass::word, p));
    w.a().k(x86::k1).vpgatherdd(rows.part[static_cast<std::size_t>(p)], x86::ptr(shared, p == 0 ? x86::zmm0 : x86::zmm1));
  }
}

/// Goes on where the words are consecutive and may be accessed without telling, with their place in rcx; jumps to `apart` where they are
/// not consecutive, with the first offset in rcx.
void check_shared_row(Writer& w, const asmjit::Label& apart, const asmjit::Label& otherwise) {
  x86::Assembler& a = w.a();
  a.vmovd(x86::ecx, x86::xmm0);
  a.vpbroadcastd(x86::zmm2, x86::xmm0);
  a.vpsubd(x86::zmm3, x86::zmm0, x86::zmm2);
  a.vpsubd(x86::zmm4, x86::zmm1, x86::zmm2);
  a.vpcmpd(x86::k1, x86::zmm3, w.table(Table::words_apart, 0), 4);
  a.vpcmpd(x86::k2, x86::zmm4, w.table(Table::words_apart, 1), 4);
  a.kortestw(x86::k1, x86::k2);
  a.jnz(apart);
  a.lea(x86::eax, x86::ptr(x86::rcx, 124));
  a.cmp(x86::eax, x86::edx);
  a.ja(otherwise);
  a.cmp(x86::eax, 124);
  a.jb(otherwise);
  a.test(x86::ecx, 3);
  a.jnz(otherwise);
  a.lea(x86::rax, w.table(Table::row_bits));
  a.mov(x86::edx, x86::ecx);
  a.and_(x86::edx, 15);
  a.vmovdqu(x86::ymm2, x86::ymmword_ptr(x86::rax, x86::rdx, 3));
  a.mov(x86::eax, x86::ecx);
  a.shr(x86::eax, 4);
  a.mov(x86::rdx, field(context, offsetof(CodeContext, plain_bytes), 8));
  a.lea(x86::rdx, x86::ptr(x86::rdx, x86::rax, 1));
  a.vmovdqu(x86::ymm3, x86::ymmword_ptr(x86::rdx));
  a.vptest(x86::ymm3, x86::ymm2);
  if (is_load(w)) {
    a.jnc(otherwise);
  } else {
    const asmjit::Label fresh = a.newLabel(), plain = a.newLabel();
    a.jnc(fresh);
    a.bind(plain);
    w.behind([&a, fresh, plain, otherwise] {
      a.bind(fresh);
      a.cmp(field(context, offsetof(CodeContext, defines), 4), 0);
      a.je(otherwise);
      a.vpor(x86::ymm3, x86::ymm3, x86::ymm2);
      a.vmovdqu(x86::ymmword_ptr(x86::rdx), x86::ymm3);
      a.jmp(plain);
    });
  }
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
    check_shared_row(w, scattered, otherwise);
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
  check_shared_row(w, same, otherwise);
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

// ---- Accesses of some lanes

/// Elements at rcx + their lanes' numbers times their size.
void move_lanes(Writer& w, const Rows& rows, RegisterClass kind) {
  x86::Assembler& a = w.a();
  for (int p = 0; p < rows.parts; ++p) {
    const x86::Mem memory = x86::zmmword_ptr(x86::rcx, p * vector_bytes);
    const x86::Zmm& part = rows.part[static_cast<std::size_t>(p)];
    const x86::KReg lanes = lanes_of(w, kind, p);
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
    a.k(lanes_of(w, RegisterClass::wide, p)).vpcmpq(x86::k1, x86::zmm1, addresses.part[static_cast<std::size_t>(p)], 4);
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

// ---- Elements of other sizes, and vectors of elements

/// Whether rows and gathers can hold its elements.
bool has_usual_elements(const Access& access, int operands) {
  if (access.vector > 4 || operands != access.vector) return false;
  if (access.bytes == 8) return access.register_bits == 64 && access.vector <= 2;
  if (access.bytes == 4) return access.register_bits == 32;
  return (access.register_bits == 16 || access.register_bits == 32) && lane_bytes(access) <= 4;
}

/// The words at rcx + the lanes' offsets, zmm0 to zmm3 in global memory, zmm0 and zmm1 in shared memory; `at` bytes behind.
void gather_at(Writer& w, bool in_shared, const Rows& rows, int at) {
  x86::Assembler& a = w.a();
  for (std::uint32_t p = 0; p < 4; ++p) {
    const bool upper = p % 2 != 0;
    if (in_shared && rows.parts == 2) {
      if (p >= 2) return;
      a.kmovw(x86::k1, lanes_of(w, RegisterClass::word, static_cast<int>(p)));
      a.k(x86::k1).vpgatherdd(rows.part[p], x86::ptr(shared, x86::zmm(p), 0, at));
      continue;
    }
    a.kmovw(x86::k1, lanes_of(w, RegisterClass::wide, static_cast<int>(p)));
    if (in_shared) {
      if (upper) a.vextracti64x4(x86::ymm7, x86::zmm(p / 2), 1);
      a.k(x86::k1).vpgatherdq(rows.part[p], x86::ptr(shared, upper ? x86::ymm7 : x86::ymm(p / 2), 0, at));
    } else if (rows.parts == 4) {
      a.k(x86::k1).vpgatherqq(rows.part[p], x86::ptr(x86::rcx, x86::zmm(p), 0, at));
    } else {
      a.k(x86::k1).vpgatherqd(upper ? x86::ymm7 : rows.part[p / 2].ymm(), x86::ptr(x86::rcx, x86::zmm(p), 0, at));
      if (upper) a.vinserti64x4(rows.part[p / 2], rows.part[p / 2], x86::ymm7, 1);
    }
  }
}

/// Moves the offsets to multiples of 4, and leaves in zmm5, zmm6 the bits before the first element of each of the 32 words.
void align_offsets(Writer& w, bool in_shared) {
  x86::Assembler& a = w.a();
  a.mov(x86::eax, 3);
  if (in_shared) {
    a.vpbroadcastd(x86::zmm4, x86::eax);
    for (std::uint32_t p = 0; p < 2; ++p) {
      a.vpandd(x86::zmm(5 + p), x86::zmm(p), x86::zmm4);
      a.vpslld(x86::zmm(5 + p), x86::zmm(5 + p), 3);
      a.vpandnd(x86::zmm(p), x86::zmm4, x86::zmm(p));
    }
    return;
  }
  a.vpbroadcastq(x86::zmm4, x86::rax);
  for (std::uint32_t p = 0; p < 4; ++p) {
    a.vpandq(x86::zmm7, x86::zmm(p), x86::zmm4);
    a.vpsllq(x86::zmm7, x86::zmm7, 3);
    a.vpmovqd(x86::ymm7, x86::zmm7);
    const x86::Zmm& bits = p < 2 ? x86::zmm5 : x86::zmm6;
    if (p % 2 == 0)
      a.vmovdqa64(bits.ymm(), x86::ymm7);
    else
      a.vinserti64x4(bits, bits, x86::ymm7, 1);
    a.vpandnq(x86::zmm(p), x86::zmm4, x86::zmm(p));
  }
}

/// Elements of one or two bytes: of each lane's word, in the last result.
void split_words(Writer& w, const code::LoadAccess& access, const std::array<Rows, 4>& rows) {
  x86::Assembler& a = w.a();
  const Rows& words = rows[static_cast<std::size_t>(access.vector) - 1];
  const auto unused = static_cast<std::uint8_t>(32 - 8 * access.bytes);
  if (access.register_bits == 16) fill(w, x86::zmm4, 0xffff);
  for (std::size_t p = 0; p < 2; ++p)
    if (lane_bytes(access) < 4) a.vpsrlvd(words.part[p], words.part[p], x86::zmm(5 + static_cast<std::uint32_t>(p)));
  for (int e = 0; e < access.vector; ++e)
    for (std::size_t p = 0; p < 2; ++p) {
      const x86::Zmm& to = rows[static_cast<std::size_t>(e)].part[p];
      a.vpslld(to, words.part[p], static_cast<std::uint8_t>(unused - 8 * access.bytes * e));
      access.sign_extend ? a.vpsrad(to, to, unused) : a.vpsrld(to, to, unused);
      if (access.register_bits == 16 && access.sign_extend) a.vpandd(to, to, x86::zmm4);
    }
}

/// Loads the elements of the lanes that execute, whose offsets are good.
void gather_elements(Writer& w, const code::LoadAccess& access, bool in_shared, const std::array<Rows, 4>& rows) {
  if (access.bytes >= 4) {
    for (int e = 0; e < access.vector; ++e) gather_at(w, in_shared, rows[static_cast<std::size_t>(e)], e * access.bytes);
    return;
  }
  if (lane_bytes(access) < 4) align_offsets(w, in_shared);
  gather_at(w, in_shared, rows[static_cast<std::size_t>(access.vector) - 1], 0);
  split_words(w, access, rows);
}

/// The bytes of all lanes are good: zmm0 to zmm3 are their offsets.
void find_offsets(Writer& w, const Access& access, bool in_shared, const Rows& addresses, const asmjit::Label& otherwise,
                  const asmjit::Label& fresh) {
  if (!in_shared) return find_global_offsets(w, access, addresses, otherwise);
  find_shared_offsets(w, access, addresses, otherwise);
  check_lanes(w, access, otherwise, fresh);
}

void write_elements_load(Writer& w, bool in_shared) {
  x86::Assembler& a = w.a();
  const auto& access = w.program().of<code::LoadAccess>(w.operation());
  const Rows addresses = w.source(0, address_class(access));
  std::array<Rows, 4> rows;
  const auto each = [&](auto visit) {
    for (int e = 0; e < access.vector; ++e) visit(e, rows[static_cast<std::size_t>(e)]);
  };
  each([&](int, Rows& row) { row = w.result(access.register_bits == 64 ? RegisterClass::wide : RegisterClass::word); });
  const asmjit::Label otherwise = w.begin_outside(), skip = a.newLabel();
  if (w.masked()) {
    each([&](int e, Rows&) { w.store_result(e); });
    w.load_mask();
    a.test(x86::r8d, x86::r8d);
    a.jz(skip);
  }
  find_offsets(w, access, in_shared, addresses, otherwise, otherwise);
  gather_elements(w, access, in_shared, rows);
  each([&](int e, Rows& row) { w.masked() ? w.commit_stored(row, e) : w.commit(row, e); });
  a.bind(skip);
  w.end_outside();
}

void write_elements_store(Writer& w, bool in_shared) {
  x86::Assembler& a = w.a();
  const Access& access = w.program().access(w.operation());
  const Rows addresses = w.source(0, address_class(access));
  const asmjit::Label otherwise = w.begin_outside(), skip = a.newLabel(), fresh = a.newLabel();
  store_elements(w, access);
  if (w.masked()) {
    w.load_mask();
    a.test(x86::r8d, x86::r8d);
    a.jz(skip);
  }
  find_offsets(w, access, in_shared, addresses, otherwise, fresh);
  if (in_shared)
    store_each_shared(w, access, fresh, otherwise);
  else
    store_each_global(w, access);
  note_store(w);
  a.bind(skip);
  w.end_outside();
}

/// Adds a lane's word to that at its address in ecx, which has 32 bits; r9d makes it an offset.
void add_word(Writer& w, const x86::Mem& value) {
  w.a().add(x86::ecx, x86::r9d);
  w.a().mov(x86::eax, value);
  w.a().add(x86::dword_ptr(shared, x86::rcx), x86::eax);
}

x86::Mem lane_of(Writer& w, int source, int lane, int bytes) {
  x86::Mem mem = w.vector(w.source_slot(source), 0);
  mem.setSize(4);
  mem.addOffset(bytes * lane);
  return mem;
}

/// red.global.add of words and wides: atomic, as other blocks may run at the same time. Adding zeros is no progress.
bool write_global_update(Writer& w, const code::AtomicAccess& access) {
  x86::Assembler& a = w.a();
  const Rows addresses = w.source(0, RegisterClass::wide);
  const asmjit::Label otherwise = w.begin_outside(), skip = a.newLabel(), next = a.newLabel();
  w.store_source(1);
  w.load_mask();
  a.test(x86::r8d, x86::r8d);
  a.jz(skip);
  find_global_offsets(w, access, addresses, otherwise);
  for (int p = 0; p < 4; ++p) a.vmovdqu64(w.scratch(p * vector_bytes), x86::zmm(static_cast<std::uint32_t>(p)));
  a.xor_(x86::r10d, x86::r10d);
  a.bind(next);
  a.tzcnt(x86::edx, x86::r8d);
  x86::Mem offset = w.scratch(0);
  offset.setIndex(x86::rdx, 3);
  a.mov(x86::rax, offset);
  const x86::Gp value = access.bytes == 8 ? x86::Gp(x86::r9) : x86::Gp(x86::r9d);
  a.mov(value, element_of(w, 1, access.register_bits, access.bytes));
  a.lock().add(x86::ptr(x86::rcx, x86::rax, 0, 0, access.bytes), value);
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

/// red.add of words: one lane after the other, as several may have one word.
bool write_update(Writer& w) {
  const auto& access = w.program().of<code::AtomicAccess>(w.operation());
  const bool adds = access.operation == code::AtomicOperation::add && access.arithmetic == nullptr && !access.result_used;
  if (!adds || access.register_bits != 8 * access.bytes || access.vector != 1 || access.relative || w.operation().sources != 2 ||
      access.offset < 0 || access.offset > largest_shared)
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
      add_word(w, lane_of(w, 1, lane, 4));
    }
  } else {
    const asmjit::Label next = a.newLabel();
    a.bind(next);
    a.tzcnt(x86::edx, x86::r8d);
    x86::Mem address = lane_of(w, 0, 0, address_bytes), value = lane_of(w, 1, 0, 4);
    address.setIndex(x86::rdx, access.narrow_address ? 2 : 3);
    value.setIndex(x86::rdx, 2);
    a.mov(x86::ecx, address);
    add_word(w, value);
    a.blsr(x86::r8d, x86::r8d);
    a.jnz(next);
  }
  note_store(w);
  a.bind(skip);
  w.end_outside();
  return true;
}

bool write_access(Writer& w) {
  const Access& access = w.program().access(w.operation());
  const Operation& op = w.operation();
  if (access.ordered || access.relative) return false;
  if (access.offset < std::numeric_limits<std::int32_t>::min() || access.offset > std::numeric_limits<std::int32_t>::max()) return false;
  const bool in_shared = access.space == Space::shared;
  if (!in_shared && (access.narrow_address || (access.space != Space::global && access.space != Space::generic))) return false;
  const bool words = access.bytes == 4 && access.register_bits == 32, wides = access.bytes == 8 && access.register_bits == 64;
  if (access.vector == 1 && (words || (wides && !in_shared))) {
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

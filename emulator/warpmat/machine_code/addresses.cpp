// Addresses of lanes, in the usual cases, with every check: the bytes are inside, aligned, and concern no observer.

#include <warpmat/machine_code/addresses.h>

#include <algorithm>

namespace warpmat::machine_code {

x86::Mem known_memory(Writer& w, std::size_t offset) {
  return field(known, w.operation().payload % code::known_memories * sizeof(KnownMemory) + offset, 8);
}

namespace {

/// What a load of a lane reads at least: a gather has no elements below 4 bytes. Of those it reads the word around them, which a buffer may
/// end in, and a lane's local memory does not.
std::int32_t read_bytes(const Access& access) {
  return access.space == Space::local ? lane_bytes(access) : std::max(lane_bytes(access), 4);
}

/// zmm0 to zmm3: addresses + rax, where none that counts is above rdx less the bytes of a lane.
void add_and_check(Writer& w, const Access& access, const Rows& addresses, const asmjit::Label& otherwise) {
  constexpr std::uint8_t above = 6;
  x86::Assembler& a = w.a();
  a.vpbroadcastq(x86::zmm4, x86::rax);
  a.sub(x86::rdx, is_load(w) ? read_bytes(access) : lane_bytes(access));
  a.jb(otherwise);
  a.vpbroadcastq(x86::zmm5, x86::rdx);
  a.mov(x86::eax, lane_bytes(access) - 1);
  a.vpbroadcastq(x86::zmm6, x86::rax);
  a.kxorb(x86::k2, x86::k2, x86::k2);
  for (std::uint32_t p = 0; p < 4; ++p) {
    const x86::KReg lanes = w.lanes_of(RegisterClass::wide, static_cast<int>(p));
    a.vpaddq(x86::zmm(p), addresses.part[p], x86::zmm4);
    a.k(lanes).vpcmpuq(x86::k1, x86::zmm(p), x86::zmm5, above);
    a.korb(x86::k2, x86::k2, x86::k1);
    a.k(lanes).vptestmq(x86::k1, x86::zmm(p), x86::zmm6);
    a.korb(x86::k2, x86::k2, x86::k1);
  }
  a.kortestb(x86::k2, x86::k2);
  a.jnz(otherwise);
}

/// Each lane has its own memory, behind that of the lane before.
void find_local_offsets(Writer& w, const Access& access, const Rows& addresses, const asmjit::Label& otherwise) {
  x86::Assembler& a = w.a();
  a.mov(x86::rax, access.offset);
  if (access.relative) a.add(x86::rax, field(context, offsetof(CodeContext, local_frame), 8));
  a.mov(x86::rdx, field(context, offsetof(CodeContext, local_bytes), 8));
  add_and_check(w, access, addresses, otherwise);
  a.vpbroadcastq(x86::zmm4, field(context, offsetof(CodeContext, local_bytes), 8));
  for (int p = 0; p < 4; ++p) {
    const x86::Zmm offset = x86::zmm(static_cast<std::uint32_t>(p));
    a.vpmuludq(x86::zmm5, x86::zmm4, w.table(Table::wides_apart_4, p));
    a.vpsrlq(x86::zmm5, x86::zmm5, 2);
    a.vpaddq(offset, offset, x86::zmm5);
  }
  a.mov(x86::rcx, field(context, offsetof(CodeContext, local), 8));
}

}  // namespace

void find_wide_offsets(Writer& w, const Access& access, const Rows& addresses, const asmjit::Label& otherwise) {
  if (access.space == Space::local) return find_local_offsets(w, access, addresses, otherwise);
  x86::Assembler& a = w.a();
  a.mov(x86::rax, access.offset);
  a.sub(x86::rax, known_memory(w, offsetof(KnownMemory, address)));
  a.mov(x86::rdx, known_memory(w, offsetof(KnownMemory, bytes)));
  add_and_check(w, access, addresses, otherwise);
  a.mov(x86::rcx, known_memory(w, offsetof(KnownMemory, data)));
}

namespace {

/// Calls write() in a loop over the lanes that execute, with the lane in edx, in the order in which a store writes:
/// for_each_storing_lane() of the machine. Those of a masked store are in r8d. write() may use all registers but r8 and r10.
template <typename Write>
void for_storing_lanes(Writer& w, const Access& access, Write write) {
  x86::Assembler& a = w.a();
  const int lanes = 128 / std::max(lane_bytes(access), 4);  // at a time
  for (int first = 0; first < 32; first += lanes) {
    const asmjit::Label next = a.newLabel(), end = a.newLabel();
    if (!w.masked()) {
      a.mov(x86::edx, first + lanes - 1);
      a.bind(next);
      write();
      a.sub(x86::edx, 1);
      a.cmp(x86::edx, first);
      a.jge(next);
      continue;
    }
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

}  // namespace

x86::Mem element_of(Writer& w, int source, std::uint32_t register_bits, std::uint32_t bytes) {
  x86::Mem mem = w.vector(w.source_slot(source), 0);
  mem.setSize(bytes);
  mem.setIndex(x86::rdx, register_bits == 64 ? 3 : 2);
  return mem;
}

namespace {

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

}  // namespace

void store_each_global(Writer& w, const Access& access) {
  x86::Assembler& a = w.a();
  for (int p = 0; p < 4; ++p) a.vmovdqu64(w.scratch(p * vector_bytes), x86::zmm(static_cast<std::uint32_t>(p)));
  for_storing_lanes(w, access, [&] {
    x86::Mem offset = w.scratch(0);
    offset.setIndex(x86::rdx, 3);
    a.mov(x86::rax, offset);
    store_lane(w, access, x86::ptr(x86::rcx, x86::rax));
  });
}

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

namespace {

/// The bits of a lane's bytes in a map, from its first one on.
std::uint32_t map_bits(const Access& access) {
  return (std::uint32_t{1} << lane_bytes(access)) - 1;
}

}  // namespace

void check_lanes(Writer& w, const Access& access, const asmjit::Label& otherwise, const asmjit::Label& fresh) {
  constexpr std::uint8_t above = 6, differs = 4;
  x86::Assembler& a = w.a();
  a.vpbroadcastd(x86::zmm2, x86::edx);
  fill(w, x86::zmm3, static_cast<std::uint32_t>(lane_bytes(access)) - 1);
  for (int p = 0; p < 2; ++p) {
    const x86::Zmm offset = p == 0 ? x86::zmm0 : x86::zmm1;
    const x86::KReg lanes = w.lanes_of(RegisterClass::word, p);
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
    const x86::KReg lanes = w.lanes_of(RegisterClass::word, p);
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

void check_consecutive(Writer& w, const Access& access, const asmjit::Label& otherwise) {
  x86::Assembler& a = w.a();
  const int bytes = lane_bytes(access), last = 31 * bytes;
  a.lea(x86::eax, x86::ptr(x86::rcx, last));
  a.cmp(x86::eax, x86::edx);
  a.ja(otherwise);
  a.cmp(x86::eax, last);
  a.jb(otherwise);
  a.test(x86::ecx, bytes - 1);
  a.jnz(otherwise);
  a.mov(x86::edx, x86::ecx);
  if (bytes == 4) {  // the bits of the bytes begin within one of the map's
    a.lea(x86::rax, w.table(Table::row_bits));
    a.and_(x86::edx, 15);
    a.vmovdqu(x86::ymm2, x86::ymmword_ptr(x86::rax, x86::rdx, 3));
    a.mov(x86::edx, x86::ecx);
    a.and_(x86::edx, -16);
  } else {
    a.vpternlogd(x86::zmm2, x86::zmm2, x86::zmm2, 0xff);
  }
  a.shr(x86::edx, 3);
  a.add(x86::rdx, field(context, offsetof(CodeContext, plain_bytes), 8));
  const x86::Mem map = x86::ymmword_ptr(x86::rdx), behind = x86::ymmword_ptr(x86::rdx, 32);
  a.vmovdqu(x86::ymm3, map);
  if (bytes == 16) a.vpandd(x86::ymm3, x86::ymm3, behind);
  a.vptest(x86::ymm3, x86::ymm2);
  if (is_load(w)) return static_cast<void>(a.jnc(otherwise));
  const asmjit::Label fresh = a.newLabel(), plain = a.newLabel();
  a.jnc(fresh);
  a.bind(plain);
  w.behind([&a, bytes, map, behind, fresh, plain, otherwise] {
    a.bind(fresh);
    a.cmp(field(context, offsetof(CodeContext, defines), 4), 0);
    a.je(otherwise);
    if (bytes == 4) a.vpord(x86::ymm2, x86::ymm2, x86::ymm3);
    a.vmovdqu(map, x86::ymm2);
    if (bytes == 16) a.vmovdqu(behind, x86::ymm2);
    a.jmp(plain);
  });
}

void store_each_shared(Writer& w, const Access& access, const asmjit::Label& fresh, const asmjit::Label& otherwise) {
  x86::Assembler& a = w.a();
  const asmjit::Label done = a.newLabel();
  const auto store_all = [&](bool defines) {
    a.vmovdqu32(w.scratch(0), x86::zmm0);
    a.vmovdqu32(w.scratch(vector_bytes), x86::zmm1);
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

}  // namespace warpmat::machine_code

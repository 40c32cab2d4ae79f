// Loads and stores, in the usual cases, with every check: the bytes are inside, aligned, and concern no observer. All others are the machine's.

#include <cstddef>
#include <limits>

#include <warpmat/machine_code/writer.h>

namespace warpmat::machine_code {
namespace {

using code::Access;
using code::KnownMemory;
constexpr int vector_bytes = 64;

x86::Mem field(const x86::Gp& base, std::size_t offset, std::uint32_t size) {
  return x86::Mem(base, static_cast<std::int32_t>(offset), size);
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

/// Elements of all lanes in global memory, where they are consecutive in a buffer that the access has met before.
void write_global(Writer& w, const Access& access, RegisterClass kind) {
  x86::Assembler& a = w.a();
  const int row_bytes = access.bytes * 32;
  const Rows addresses = w.source(0, RegisterClass::wide);
  const Rows rows = is_load(w) ? w.result(kind) : w.source(1, kind);
  const asmjit::Label otherwise = w.begin_outside();
  const auto known_at = [&](std::size_t offset) {
    return field(known, w.operation().payload % code::known_memories * sizeof(KnownMemory) + offset, 8);
  };
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
  a.jnz(otherwise);
  a.test(x86::ecx, access.bytes - 1);
  a.jnz(otherwise);
  a.sub(x86::rcx, known_at(offsetof(KnownMemory, address)));
  a.cmp(x86::rcx, known_at(offsetof(KnownMemory, bytes)));
  a.jae(otherwise);
  a.lea(x86::rdx, x86::ptr(x86::rcx, row_bytes));
  a.cmp(x86::rdx, known_at(offsetof(KnownMemory, bytes)));
  a.ja(otherwise);
  a.add(x86::rcx, known_at(offsetof(KnownMemory, data)));
  move_row(w, rows);
  is_load(w) ? w.commit(rows) : note_store(w);
  w.end_outside();
}

/// zmm0, zmm1: each lane's offset in shared memory; zmm2, zmm3: whether one is bad.
void find_shared_offsets(Writer& w, const Access& access, const Rows& addresses, const asmjit::Label& otherwise) {
  x86::Assembler& a = w.a();
  const std::uint32_t add = static_cast<std::uint32_t>(access.offset) - w.program().shared_base;
  a.mov(x86::eax, add);
  a.vpbroadcastd(x86::zmm2, x86::eax);
  a.vpaddd(x86::zmm0, addresses.part[0], x86::zmm2);
  a.vpaddd(x86::zmm1, addresses.part[1], x86::zmm2);
  if (access.shared_end != Access::no_end)
    a.mov(x86::edx, access.shared_end);
  else
    a.mov(x86::edx, field(context, offsetof(CodeContext, shared_bytes), 4));
  a.sub(x86::edx, 4);
  a.jb(otherwise);
}

/// Jumps where an offset is beyond edx or no multiple of 4.
void check_shared_offsets(Writer& w, const asmjit::Label& otherwise) {
  constexpr std::uint8_t above = 6;
  x86::Assembler& a = w.a();
  a.vpbroadcastd(x86::zmm2, x86::edx);
  a.vpcmpud(x86::k1, x86::zmm0, x86::zmm2, above);
  a.vpcmpud(x86::k2, x86::zmm1, x86::zmm2, above);
  a.korw(x86::k1, x86::k1, x86::k2);
  a.vpord(x86::zmm3, x86::zmm0, x86::zmm1);
  a.mov(x86::eax, 3);
  a.vpbroadcastd(x86::zmm2, x86::eax);
  a.vptestmd(x86::k2, x86::zmm3, x86::zmm2);
  a.kortestw(x86::k1, x86::k2);
  a.jnz(otherwise);
}

/// Jumps where a lane's word may not be accessed without telling. rdx: the map.
void check_plain_words(Writer& w, const asmjit::Label& otherwise) {
  x86::Assembler& a = w.a();
  a.mov(x86::eax, 15);
  a.vpbroadcastd(x86::zmm4, x86::eax);
  a.vpternlogd(x86::zmm7, x86::zmm7, x86::zmm7, 0xff);
  for (int p = 0; p < 2; ++p) {
    const x86::Zmm offset = p == 0 ? x86::zmm0 : x86::zmm1;
    a.vpsrld(x86::zmm2, offset, 4);
    a.kxnorw(x86::k1, x86::k1, x86::k1);
    a.k(x86::k1).vpgatherdd(x86::zmm3, x86::ptr(x86::rdx, x86::zmm2, 1));
    a.vpandd(x86::zmm5, offset, x86::zmm4);
    a.vpsrlvd(x86::zmm3, x86::zmm3, x86::zmm5);
    a.vpandd(x86::zmm7, x86::zmm7, x86::zmm3);
  }
  a.vpandd(x86::zmm7, x86::zmm7, x86::zmm4);
  a.vpcmpud(x86::k1, x86::zmm7, x86::zmm4, 4);
  a.kortestw(x86::k1, x86::k1);
  a.jnz(otherwise);
}

/// Goes on where the words are consecutive, from a multiple of 16 bytes on, which rcx is; jumps to `apart` where they are not consecutive, and to
/// `unaligned`, both with the first offset in rcx.
void check_shared_row(Writer& w, const asmjit::Label& apart, const asmjit::Label& unaligned, const asmjit::Label& otherwise) {
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
  a.test(x86::ecx, 15);
  a.jnz(unaligned);
  a.mov(x86::eax, x86::ecx);  // 8 words of the map
  a.shr(x86::eax, 3);
  a.mov(x86::rdx, field(context, offsetof(CodeContext, plain_bytes), 8));
  a.vpternlogd(x86::xmm2, x86::xmm2, x86::xmm2, 0xff);
  a.vmovdqu(x86::xmm3, x86::xmmword_ptr(x86::rdx, x86::rax));
  a.vptest(x86::xmm3, x86::xmm2);
  a.jnc(otherwise);
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

/// Loads each lane's word, wherever it is.
void load_scattered_words(Writer& w, const Rows& rows, const asmjit::Label& otherwise) {
  x86::Assembler& a = w.a();
  check_shared_offsets(w, otherwise);
  a.mov(x86::rdx, field(context, offsetof(CodeContext, plain_bytes), 8));
  check_plain_words(w, otherwise);
  for (int p = 0; p < 2; ++p) {
    a.kxnorw(x86::k1, x86::k1, x86::k1);
    a.k(x86::k1).vpgatherdd(rows.part[static_cast<std::size_t>(p)], x86::ptr(shared, p == 0 ? x86::zmm0 : x86::zmm1));
  }
}

/// Words of all lanes in the block's shared memory.
void write_shared(Writer& w, const Access& access) {
  x86::Assembler& a = w.a();
  const Rows addresses = w.source(0, RegisterClass::word);
  const Rows rows = is_load(w) ? w.result(RegisterClass::word) : w.source(1, RegisterClass::word);
  const asmjit::Label otherwise = w.begin_outside();
  if (!is_load(w)) {
    find_shared_offsets(w, access, addresses, otherwise);
    check_shared_row(w, otherwise, otherwise, otherwise);
    move_row(w, rows);
    note_store(w);
    return w.end_outside();
  }
  const asmjit::Label same = a.newLabel(), scattered = a.newLabel(), done = a.newLabel();
  find_shared_offsets(w, access, addresses, otherwise);
  check_shared_row(w, same, scattered, otherwise);
  move_row(w, rows);
  a.bind(done);
  w.commit(rows);
  w.end_outside();
  w.behind([&w, rows, same, scattered, done, otherwise] {
    w.a().bind(same);
    load_same_word(w, rows, scattered, otherwise);
    w.a().jmp(done);
    w.a().bind(scattered);
    load_scattered_words(w, rows, otherwise);
    w.a().jmp(done);
  });
}

}  // namespace

bool write_access(Writer& w) {
  const Access& access = w.program().of<Access>(w.operation());
  if (w.masked() || access.vector != 1 || access.ordered || access.relative) return false;
  if (access.offset < std::numeric_limits<std::int32_t>::min() || access.offset > std::numeric_limits<std::int32_t>::max()) return false;
  const bool words = access.bytes == 4 && access.register_bits == 32, wides = access.bytes == 8 && access.register_bits == 64;
  if (access.space == Space::shared && access.narrow_address && words) {
    write_shared(w, access);
    return true;
  }
  if ((access.space != Space::global && access.space != Space::generic) || access.narrow_address || (!words && !wides)) return false;
  write_global(w, access, words ? RegisterClass::word : RegisterClass::wide);
  return true;
}

}  // namespace warpmat::machine_code

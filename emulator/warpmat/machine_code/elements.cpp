// Elements of other sizes, and vectors of elements.

#include <warpmat/machine_code/elements.h>

#include <array>

namespace warpmat::machine_code {
namespace {

/// Memory has the elements that store_lane() reads.
void store_elements(Writer& w, const Access& access) {
  for (int e = 0; e < access.vector; ++e) w.store_source(1 + e);
}

/// The words at rcx + the lanes' offsets, zmm0 to zmm3 in global memory, zmm0 and zmm1 in shared memory; `at` bytes behind.
void gather_at(Writer& w, bool in_shared, const Rows& rows, int at) {
  x86::Assembler& a = w.a();
  for (std::uint32_t p = 0; p < 4; ++p) {
    const bool upper = p % 2 != 0;
    if (in_shared && rows.parts == 2) {
      if (p >= 2) return;
      a.kmovw(x86::k1, w.lanes_of(RegisterClass::word, static_cast<int>(p)));
      a.k(x86::k1).vpgatherdd(rows.part[p], x86::ptr(shared, x86::zmm(p), 0, at));
      continue;
    }
    a.kmovw(x86::k1, w.lanes_of(RegisterClass::wide, static_cast<int>(p)));
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

/// Words as wides.
void gather_wider(Writer& w, const code::LoadAccess& access, const Rows& row) {
  x86::Assembler& a = w.a();
  for (std::uint32_t p = 0; p < 4; ++p) {
    a.kmovw(x86::k1, w.lanes_of(RegisterClass::wide, static_cast<int>(p)));
    a.k(x86::k1).vpgatherqd(x86::ymm7, x86::ptr(x86::rcx, x86::zmm(p)));
    access.sign_extend ? a.vpmovsxdq(row.part[p], x86::ymm7) : a.vpmovzxdq(row.part[p], x86::ymm7);
  }
}

/// Loads the elements of the lanes that execute, whose offsets are good.
void gather_elements(Writer& w, const code::LoadAccess& access, bool in_shared, const std::array<Rows, 4>& rows) {
  if (access.bytes == 4 && access.register_bits == 64) return gather_wider(w, access, rows[0]);
  if (access.bytes >= 4) {
    for (int e = 0; e < access.vector; ++e) gather_at(w, in_shared, rows[static_cast<std::size_t>(e)], e * access.bytes);
    return;
  }
  if (lane_bytes(access) < 4) align_offsets(w, in_shared);
  gather_at(w, in_shared, rows[static_cast<std::size_t>(access.vector) - 1], 0);
  split_words(w, access, rows);
}

/// Whether such elements of all lanes, one lane's behind another's, are moved as a whole.
bool has_rows(const Writer& w, const Access& access) {
  if (w.masked() || access.space == Space::local) return false;
  if (access.bytes == 8) return access.vector == 1 && access.space == Space::shared;  // in global memory they are a row of accesses.cpp
  return access.bytes == 4 && (access.vector == 2 || access.vector == 4);
}

/// Jumps where the lanes' elements are not one behind another. The first one lies at rdx behind rcx, or at rcx in shared memory.
void leave_scattered(Writer& w, const Access& access, bool in_shared, const asmjit::Label& scattered) {
  constexpr std::uint8_t differs = 4;
  const auto log = static_cast<std::uint8_t>(lane_bytes(access) == 16 ? 2 : 1);
  x86::Assembler& a = w.a();
  if (in_shared) {
    a.vmovd(x86::ecx, x86::xmm0);
    a.vpbroadcastd(x86::zmm4, x86::xmm0);
    for (std::uint32_t p = 0; p < 2; ++p) {
      a.vmovdqa32(x86::zmm5, w.table(Table::words_apart, static_cast<int>(p)));
      a.vpslld(x86::zmm5, x86::zmm5, log);
      a.vpaddd(x86::zmm5, x86::zmm5, x86::zmm4);
      a.vpcmpd(x86::k(1 + p), x86::zmm5, x86::zmm(p), differs);
    }
    a.kortestw(x86::k1, x86::k2);
    return static_cast<void>(a.jnz(scattered));
  }
  a.vmovq(x86::rdx, x86::xmm0);
  a.vpbroadcastq(x86::zmm4, x86::xmm0);
  a.kxorb(x86::k2, x86::k2, x86::k2);
  for (std::uint32_t p = 0; p < 4; ++p) {
    a.vpsubq(x86::zmm5, x86::zmm(p), x86::zmm4);
    a.vpsrlq(x86::zmm5, x86::zmm5, log);
    a.vpcmpq(x86::k1, x86::zmm5, w.table(Table::wides_apart_4, static_cast<int>(p)), differs);
    a.korb(x86::k2, x86::k2, x86::k1);
  }
  a.kortestb(x86::k2, x86::k2);
  a.jnz(scattered);
}

/// Vector `v` of the words from there on.
x86::Mem row_memory(bool in_shared, int v) {
  return in_shared ? x86::zmmword_ptr(shared, x86::rcx, 0, v * vector_bytes) : x86::zmmword_ptr(x86::rcx, x86::rdx, 0, v * vector_bytes);
}

/// Each lane's words become rows: of 16 lanes' words, each `vector`-th.
void load_rows(Writer& w, const Access& access, bool in_shared, const std::array<Rows, 4>& rows) {
  x86::Assembler& a = w.a();
  if (access.vector == 1) {
    for (int p = 0; p < 4; ++p) a.vmovdqu64(rows[0].part[static_cast<std::size_t>(p)], row_memory(in_shared, p));
    return;
  }
  fill(w, x86::zmm6, 1);
  for (int p = 0; p < 2; ++p) {
    for (int v = 0; v < access.vector; ++v)
      a.vmovdqu32(x86::zmm(static_cast<std::uint32_t>(v)), row_memory(in_shared, access.vector * p + v));
    a.vmovdqa32(x86::zmm5, w.table(Table::lanes, 0));
    a.vpslld(x86::zmm5, x86::zmm5, access.vector == 4 ? 2 : 1);
    for (int e = 0; e < access.vector; ++e) {
      const x86::Zmm& to = rows[static_cast<std::size_t>(e)].part[static_cast<std::size_t>(p)];
      a.vmovdqa32(to, x86::zmm5);
      a.vpermi2d(to, x86::zmm0, x86::zmm1);
      if (access.vector == 4) {  // 8 lanes of two vectors, and 8 of two others
        a.vmovdqa32(x86::zmm7, x86::zmm5);
        a.vpermi2d(x86::zmm7, x86::zmm2, x86::zmm3);
        a.vinserti64x4(to, to, x86::ymm7, 1);
      }
      if (e + 1 < access.vector) a.vpaddd(x86::zmm5, x86::zmm5, x86::zmm6);
    }
  }
}

/// The reverse: word j of a vector is of lane j / `access.vector`, and of row j % `access.vector`.
void store_rows(Writer& w, const Access& access, bool in_shared) {
  x86::Assembler& a = w.a();
  if (access.vector == 1) {
    for (int p = 0; p < 4; ++p) {
      a.vmovdqu64(x86::zmm0, w.vector(w.source_slot(1), p));
      a.vmovdqu64(row_memory(in_shared, p), x86::zmm0);
    }
    return;
  }
  fill(w, x86::zmm6, 1);
  a.vmovdqa32(x86::zmm4, w.table(Table::lanes, 0));
  a.vpandd(x86::zmm6, x86::zmm4, x86::zmm6);
  a.vpslld(x86::zmm6, x86::zmm6, 4);  // words of odd rows are in the second of two vectors
  a.vpsrld(x86::zmm4, x86::zmm4, access.vector == 4 ? 2 : 1);
  a.vpord(x86::zmm4, x86::zmm4, x86::zmm6);
  a.vmovdqu32(w.scratch(0), x86::zmm4);
  fill(w, x86::zmm6, static_cast<std::uint32_t>(16 / access.vector));  // lanes of a vector
  a.mov(x86::eax, 0xcccc);
  a.kmovw(x86::k1, x86::eax);
  for (int p = 0; p < 2; ++p) {
    for (int e = 0; e < access.vector; ++e) a.vmovdqu32(x86::zmm(static_cast<std::uint32_t>(e)), w.vector(w.source_slot(1 + e), p));
    a.vmovdqu32(x86::zmm4, w.scratch(0));
    for (int v = 0; v < access.vector; ++v) {
      a.vmovdqa32(x86::zmm7, x86::zmm4);
      a.vpermi2d(x86::zmm7, x86::zmm0, x86::zmm1);
      if (access.vector == 4) {
        a.vmovdqa32(x86::zmm5, x86::zmm4);
        a.vpermi2d(x86::zmm5, x86::zmm2, x86::zmm3);
        a.k(x86::k1).vpblendmd(x86::zmm7, x86::zmm7, x86::zmm5);
      }
      a.vmovdqu32(row_memory(in_shared, access.vector * p + v), x86::zmm7);
      if (v + 1 < access.vector) a.vpaddd(x86::zmm4, x86::zmm4, x86::zmm6);
    }
  }
}

/// zmm0 to zmm3: the lanes' offsets; in shared memory zmm0 and zmm1, and in edx the largest good one.
void find_offsets(Writer& w, const Access& access, bool in_shared, const Rows& addresses, const asmjit::Label& otherwise) {
  in_shared ? find_shared_offsets(w, access, addresses, otherwise) : find_wide_offsets(w, access, addresses, otherwise);
}

/// Calls move_rows() where the lanes' elements are one behind another, and else move_each(), when all bytes are good. Stores to those of
/// shared memory that are not initialised jump to `fresh` or initialise them.
template <typename MoveRows, typename MoveEach>
void move_elements(Writer& w, const Access& access, bool in_shared, const asmjit::Label& otherwise, const asmjit::Label& fresh,
                   MoveRows move_rows, MoveEach move_each) {
  x86::Assembler& a = w.a();
  const auto check_and_move_each = [&w, &access, in_shared, otherwise, fresh, move_each] {
    if (in_shared) check_lanes(w, access, otherwise, fresh);
    move_each();
  };
  if (!has_rows(w, access)) return check_and_move_each();
  const asmjit::Label scattered = a.newLabel(), done = a.newLabel();
  leave_scattered(w, access, in_shared, scattered);
  if (in_shared) check_consecutive(w, access, otherwise);
  move_rows();
  a.bind(done);
  w.behind([&w, check_and_move_each, scattered, done, number = w.number()] {
    w.begin(number, 0);
    w.a().bind(scattered);
    check_and_move_each();
    w.a().jmp(done);
  });
}

}  // namespace

bool has_usual_elements(const Access& access, int operands) {
  if (access.vector > 4 || operands != access.vector) return false;
  if (access.bytes == 8) return access.register_bits == 64 && access.vector <= 2;
  if (access.bytes == 4) return access.register_bits == 32 || (access.vector == 1 && access.space != Space::shared);
  return (access.register_bits == 16 || access.register_bits == 32) && lane_bytes(access) <= 4;
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
  find_offsets(w, access, in_shared, addresses, otherwise);
  move_elements(
      w, access, in_shared, otherwise, otherwise, [&] { load_rows(w, access, in_shared, rows); },
      [&w, &access, in_shared, rows] { gather_elements(w, access, in_shared, rows); });
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
  find_offsets(w, access, in_shared, addresses, otherwise);
  move_elements(
      w, access, in_shared, otherwise, fresh, [&] { store_rows(w, access, in_shared); },
      [&w, &access, in_shared, fresh, otherwise] {
        in_shared ? store_each_shared(w, access, fresh, otherwise) : store_each_global(w, access);
      });
  if (access.space != Space::local) note_store(w);
  a.bind(skip);
  w.end_outside();
}

}  // namespace warpmat::machine_code

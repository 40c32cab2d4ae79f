// Memory, and vectors of which a mask has some lanes.

#include <warpmat/machine_code/avx2_assembler.h>

namespace warpmat::machine_code {

namespace Inst = x86::Inst;
using asmjit::imm;

void Avx2Assembler::move(const Instruction& i) {
  if (i.mask >= 0) return move_masked(i, i.id == Inst::kIdVmovdqa32 || i.id == Inst::kIdVmovdqu32 ? 4 : 8);
  const bool stores = i[0].isMem();
  for (int half = 0; half < halves_of(i[stores ? 1 : 0]); ++half) {
    const Operand& vector = i[stores ? 1 : 0];
    const Home home = home_of(i[stores ? 0 : 1], half);
    if (stores) {
      put(Inst::kIdVmovdqu, memory_half(i[0], half), read(vector, half));
    } else if (home.base == Home::place) {
      const Operand from = source(i[1], half);
      put(Inst::kIdVmovdqu, write(vector, half), from);
    }
    if (home.base != Home::place) set_home(half_of(vector, half), home, !stores);
  }
}

/// A half is what memory has there. It is loaded where it is used.
void Avx2Assembler::set_home(int half, const Home& home, bool anew) {
  const int i = find_cached(half);
  if (i >= 0) {
    Cached& cached = now_.cached[static_cast<std::size_t>(i)];
    cached.dirty = false;
    if (anew) cached = {};
  }
  now_.home[static_cast<std::size_t>(half)] = home;
  if (half < 2 * temporaries) now_.undefined[static_cast<std::size_t>(half)] = false;
}

/// Memory of lanes that are not in the mask is not accessed, but by loads that keep their lanes of the result: that of the writer's own.
void Avx2Assembler::move_masked(const Instruction& i, int bytes) {
  const InstId masked = bytes == 4 ? Inst::kIdVpmaskmovd : Inst::kIdVpmaskmovq;
  for (int half = 0; half < 2; ++half) {
    const Ymm lanes = lanes_of_mask(i.mask, bytes, half);
    if (i[0].isMem()) {
      put(masked, memory_half(i[0], half), lanes, read(i[1], half));
    } else if (i.zeroing) {
      if (!i[1].isMem()) return fail();
      put(masked, write(i[0], half), lanes, memory_half(i[1], half));
    } else {
      const Operand from = source(i[1], half);
      const Ymm to = modify(half_of(i[0], half));
      put(Inst::kIdVblendvps, to, to, from, lanes);
    }
  }
}

/// The second source in the lanes of the mask.
void Avx2Assembler::blend(const Instruction& i) {
  for (int half = 0; half < 2; ++half) {
    const Ymm lanes = lanes_of_mask(i.mask, i.id == Inst::kIdVpblendmd ? 4 : 8, half), a = read(i[1], half), b = read(i[2], half);
    put(Inst::kIdVblendvps, write(i[0], half), a, b, lanes);
  }
}

/// Loads lanes of the mask, which is used up.
void Avx2Assembler::gather(const Instruction& i) {
  if (i.id == Inst::kIdVpgatherqd)
    gather_words_by_wides(i);
  else
    for (int half = 0; half < 2; ++half) gather_half(i, half);
  now_.mask[static_cast<std::size_t>(i.mask)] = {};
}

void Avx2Assembler::gather_half(const Instruction& i, int half) {
  x86::Mem mem = i[1].as<x86::Mem>();
  const x86::Ymm offsets = x86::ymm(mem.indexId());
  if (i.id == Inst::kIdVpgatherdq)
    mem.setIndex(quarter(offsets, half, t(1)), mem.shift());
  else
    mem.setIndex(read(offsets, half), mem.shift());
  const bool anew = now_.mask[static_cast<std::size_t>(i.mask)].known == Mask::all || is_undefined(half_of(i[0], half), now_.undefined);
  const Ymm lanes = lanes_of_mask(i.mask, i.id == Inst::kIdVpgatherdd ? 4 : 8, half);
  put(Inst::kIdVmovdqa, t(0), lanes);
  const Ymm to = anew ? write(i[0], half) : modify(half_of(i[0], half));
  if (to.id() == mem.indexId()) return fail();
  if (anew) zeros(to);  // it would wait for what it was
  put(i.id, to, mem, t(0));
}

void Avx2Assembler::gather_words_by_wides(const Instruction& i) {
  x86::Mem mem = i[1].as<x86::Mem>();
  const x86::Ymm offsets = x86::ymm(mem.indexId());
  const bool anew = now_.mask[static_cast<std::size_t>(i.mask)].known == Mask::all || is_undefined(half_of(i[0], 0), now_.undefined);
  for (int half = 0; half < 2; ++half) {
    const Ymm lanes = lanes_of_mask(i.mask, 4, 0), to = t(static_cast<std::uint32_t>(1 + half));
    const auto take = [&](const Ymm& own, const Ymm& from) {
      half == 0 ? put(Inst::kIdVmovdqa, own.xmm(), from.xmm()) : put(Inst::kIdVextracti128, own.xmm(), from, imm(1));
    };
    take(t(0), lanes);
    anew ? zeros(to) : take(to, read(i[0], 0));
    mem.setIndex(read(offsets, half), mem.shift());
    put(i.id, to.xmm(), mem, t(0).xmm());
  }
  put(Inst::kIdVinserti128, write(i[0], 0), t(1), t(2).xmm(), imm(1));
}

/// Stores all lanes, one after the other.
void Avx2Assembler::scatter(const Instruction& i) {
  if (now_.mask[static_cast<std::size_t>(i.mask)].known != Mask::all) return fail();
  x86::Mem mem = i[0].as<x86::Mem>();
  const x86::Ymm offsets = x86::ymm(mem.indexId());
  flush();
  const bool wides = i.id == Inst::kIdVpscatterqq;
  mem.setIndex(x86::rsi, mem.shift());
  mem.setSize(wides ? 8 : 4);
  for (int lane = 0; lane < 8; ++lane) {
    const int bytes = wides ? 8 : 4;
    x86::Mem offset = memory_of(half_of(offsets, lane / 4)), element = memory_of(half_of(i[1], lane * bytes / 32));
    offset.addOffset(8 * (lane % 4));
    offset.setSize(8);
    element.addOffset(bytes * lane % 32);
    element.setSize(static_cast<std::uint32_t>(bytes));
    put(Inst::kIdMov, x86::rsi, offset);
    put(Inst::kIdMov, wides ? x86::Gp(x86::rdi) : x86::Gp(x86::edi), element);
    put(Inst::kIdMov, mem, wides ? x86::Gp(x86::rdi) : x86::Gp(x86::edi));
  }
  now_.mask[static_cast<std::size_t>(i.mask)] = {};
}

}  // namespace warpmat::machine_code

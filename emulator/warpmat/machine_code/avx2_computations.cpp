// Computations of AVX-512 that AVX2 does by several instructions.

#include <warpmat/machine_code/avx2_assembler.h>

namespace warpmat::machine_code {

namespace Inst = x86::Inst;
using asmjit::imm;

/// The low halves of the products: a's low half times b, and what the upper halves add.
void Avx2Assembler::multiply_wides(const Instruction& i) {
  for (int half = 0; half < 2; ++half) {
    const Ymm a = read(i[1], half), b = read(i[2], half);
    put(Inst::kIdVpsrlq, t(0), a, imm(32));
    put(Inst::kIdVpmuludq, t(0), t(0), b);
    put(Inst::kIdVpsrlq, t(1), b, imm(32));
    put(Inst::kIdVpmuludq, t(1), t(1), a);
    put(Inst::kIdVpaddq, t(0), t(0), t(1));
    put(Inst::kIdVpsllq, t(0), t(0), imm(32));
    put(Inst::kIdVpmuludq, t(1), a, b);
    put(Inst::kIdVpaddq, write(i[0], half), t(0), t(1));
  }
}

void Avx2Assembler::absolute_wides(const Instruction& i) {
  for (int half = 0; half < 2; ++half) {
    const Ymm a = read(i[1], half);
    zeros(t(0));
    put(Inst::kIdVpcmpgtq, t(0), t(0), a);
    put(Inst::kIdVpxor, t(1), a, t(0));
    put(Inst::kIdVpsubq, write(i[0], half), t(1), t(0));
  }
}

/// min and max.
void Avx2Assembler::order_wides(const Instruction& i) {
  const bool is_signed = i.id == Inst::kIdVpminsq || i.id == Inst::kIdVpmaxsq;
  const bool least = i.id == Inst::kIdVpminsq || i.id == Inst::kIdVpminuq;
  for (int half = 0; half < 2; ++half) {
    const Ymm a = read(i[1], half), b = read(i[2], half);
    is_signed ? put(Inst::kIdVpcmpgtq, t(0), a, b) : compare_unsigned_wides(t(0), a, b);
    put(Inst::kIdVblendvpd, write(i[0], half), least ? a : b, least ? b : a, t(0));
  }
}

/// Where a is negative, its complement is shifted, and complemented again: beyond all bits the sign is left.
void Avx2Assembler::shift_signed_wides(const Instruction& i) {
  for (int half = 0; half < 2; ++half) {
    const Ymm a = read(i[1], half), count = read(i[2], half);
    zeros(t(0));
    put(Inst::kIdVpcmpgtq, t(0), t(0), a);
    put(Inst::kIdVpxor, t(1), a, t(0));
    put(Inst::kIdVpsrlvq, t(1), t(1), count);
    put(Inst::kIdVpxor, write(i[0], half), t(1), t(0));
  }
}

void Avx2Assembler::multiply_add(const Instruction& i) {
  for (int half = 0; half < 2; ++half) {
    const Ymm a = read(i[1], half);
    const Operand b = source(i[2], half);
    put(i.id, modify(half_of(i[0], half)), a, b);
  }
}

/// A function of two bits, whose table has its value for b and c at bit 2 * b + c: one that gives 0 for zeros, or the complement of one.
void Avx2Assembler::two_inputs(const Ymm& to, unsigned table, const Ymm& b, const Ymm& c) {
  const bool complemented = (table & 1) != 0;
  switch (complemented ? ~table & 15 : table & 15) {
    case 0: zeros(to); break;
    case 2: put(Inst::kIdVpandn, to, b, c); break;
    case 4: put(Inst::kIdVpandn, to, c, b); break;
    case 6: put(Inst::kIdVpxor, to, b, c); break;
    case 8: put(Inst::kIdVpand, to, b, c); break;
    case 10: put(Inst::kIdVmovdqa, to, c); break;
    case 12: put(Inst::kIdVmovdqa, to, b); break;
    default: put(Inst::kIdVpor, to, b, c);
  }
  if (!complemented) return;
  ones(t(3));
  put(Inst::kIdVpxor, to, to, t(3));
}

/// A function of three bits: what it is for a = 0, and where a = 1 changes it.
void Avx2Assembler::logic(const Instruction& i) {
  const auto table = static_cast<unsigned>(i[3].as<asmjit::Imm>().value()) & 0xff;
  const unsigned without = table & 15, with = table >> 4;
  for (int half = 0; half < 2; ++half) {
    if (table == 0xff) {  // of whatever was there
      ones(write(i[0], half));
      continue;
    }
    const Ymm a = read(i[0], half), b = read(i[1], half), c = read(i[2], half);
    two_inputs(t(0), without, b, c);
    if (with == 15) {
      put(Inst::kIdVpor, write(i[0], half), t(0), a);
      continue;
    }
    two_inputs(t(1), without ^ with, b, c);
    put(Inst::kIdVpand, t(1), t(1), a);
    put(Inst::kIdVpxor, write(i[0], half), t(0), t(1));
  }
}

/// Both halves of 16 bits are exact, and so is the product: it rounds once.
void Avx2Assembler::float_of_unsigned(const Instruction& i) {
  constexpr std::uint32_t two_to_16 = 0x47800000;
  put(Inst::kIdVpbroadcastd, t(2), constant(two_to_16));
  for (int half = 0; half < 2; ++half) {
    const Ymm a = read(i[1], half);
    put(Inst::kIdVpsrld, t(0), a, imm(16));
    put(Inst::kIdVcvtdq2ps, t(0), t(0));
    put(Inst::kIdVpslld, t(1), a, imm(16));
    put(Inst::kIdVpsrld, t(1), t(1), imm(16));
    put(Inst::kIdVcvtdq2ps, t(1), t(1));
    put(Inst::kIdVfmadd231ps, t(1), t(0), t(2));
    put(Inst::kIdVmovdqa, write(i[0], half), t(1));
  }
}

/// 2^31 less is signed; all of it is exact.
void Avx2Assembler::double_of_unsigned(const Instruction& i) {
  constexpr std::uint32_t sign = 0x80000000, upper_of_two_to_31 = 0x41e00000;
  put(Inst::kIdVpbroadcastd, t(2), constant(upper_of_two_to_31));
  put(Inst::kIdVpsllq, t(2), t(2), imm(32));
  put(Inst::kIdVpbroadcastd, t(3), constant(sign));
  for (const int half : {1, 0}) {  // the source may be the lower half of the result
    put(Inst::kIdVpxor, t(0).xmm(), quarter(i[1], half, t(1)), t(3).xmm());
    put(Inst::kIdVcvtdq2pd, t(0), t(0).xmm());
    put(Inst::kIdVaddpd, write(i[0], half), t(0), t(2));
  }
}

void Avx2Assembler::widen(const Instruction& i) {
  for (const int half : {1, 0}) {  // the source may be the lower half of the result
    const x86::Xmm from = quarter(i[1], half, t(0));
    put(i.id, write(i[0], half), from);
  }
}

void Avx2Assembler::narrow(const Instruction& i) {
  put(Inst::kIdVshufps, t(0), read(i[1], 0), read(i[1], 1), imm(0x88));  // the even words of two wides of each, in turn
  put(Inst::kIdVpermq, write(i[0], 0), t(0), imm(0xd8));
}

/// The lower halves of words.
void Avx2Assembler::narrow_words(const Instruction& i) {
  for (std::uint32_t half = 0; half < 2; ++half) {
    put(Inst::kIdVpslld, t(half), read(i[1], static_cast<int>(half)), imm(16));
    put(Inst::kIdVpsrld, t(half), t(half), imm(16));
  }
  put(Inst::kIdVpackusdw, t(0), t(0), t(1));
  put(Inst::kIdVpermq, write(i[0], 0), t(0), imm(0xd8));
}

/// To floating-point numbers of half the size.
void Avx2Assembler::narrow_floats(const Instruction& i) {
  const Ymm lower = read(i[1], 0), upper = read(i[1], 1);
  put(i.id, t(0).xmm(), lower, i[2]);
  put(i.id, t(1).xmm(), upper, i[2]);
  put(Inst::kIdVinserti128, write(i[0], 0), t(0), t(1).xmm(), imm(1));
}

void Avx2Assembler::extract(const Instruction& i) {
  const auto which = static_cast<int>(i[2].as<asmjit::Imm>().value());
  if (i.id == Inst::kIdVextracti32x4) {
    const Ymm from = read(i[1], 0);
    put(Inst::kIdVextracti128, write(i[0], 0).xmm(), from, i[2]);
    return;
  }
  const Ymm from = read(i[1], which);
  put(Inst::kIdVmovdqa, write(i[0], 0), from);
}

void Avx2Assembler::insert(const Instruction& i) {
  if (i[3].as<asmjit::Imm>().value() != 1) return fail();
  const Ymm from = read(i[2], 0);
  put(Inst::kIdVmovdqa, write(i[0], 1), from);
  if (i[0].id() == i[1].id()) return;
  const Ymm rest = read(i[1], 0);
  put(Inst::kIdVmovdqa, write(i[0], 0), rest);
}

void Avx2Assembler::broadcast(const Instruction& i) {
  const bool wides = i.id == Inst::kIdVpbroadcastq;
  if (i[1].isMem()) {
    put(i.id, write(i[0], 0), i[1]);
  } else if (is_general(i[1])) {
    put(wides ? Inst::kIdVmovq : Inst::kIdVmovd, t(0).xmm(), i[1]);
    put(i.id, write(i[0], 0), t(0).xmm());
  } else {
    const Operand from = lane(i[1], wides ? 8 : 4);
    put(i.id, write(i[0], 0), from);
  }
  const Ymm lower = read(i[0], 0);
  if (halves_of(i[0]) == 2) put(Inst::kIdVmovdqa, write(i[0], 1), lower);
}

/// To a general register.
void Avx2Assembler::move_lane(const Instruction& i) {
  if (!is_general(i[0])) return fail();
  const Operand from = lane(i[1], i.id == Inst::kIdVmovq ? 8 : 4);
  put(from.isMem() ? InstId{Inst::kIdMov} : i.id, i[0], from);
}

/// The first one.
Avx2Assembler::Operand Avx2Assembler::lane(const Operand& vector, std::uint32_t bytes) {
  Operand from = source(vector, 0);
  if (!from.isMem()) return from.as<Ymm>().xmm();
  from.as<x86::Mem>().setSize(bytes);
  return from;
}

/// The last wide of the second source, then the first seven of the first one.
void Avx2Assembler::join(const Instruction& i) {
  if (i[3].as<asmjit::Imm>().value() != 7) return fail();
  const Ymm before = read(i[2], 1), lower = read(i[1], 0), upper = read(i[1], 1);
  put(Inst::kIdVperm2i128, t(0), before, lower, imm(0x21));
  put(Inst::kIdVpalignr, t(0), lower, t(0), imm(8));
  put(Inst::kIdVperm2i128, t(1), lower, upper, imm(0x21));
  put(Inst::kIdVpalignr, write(i[0], 1), upper, t(1), imm(8));
  put(Inst::kIdVmovdqa, write(i[0], 0), t(0));
}

/// Words of two vectors, by number: of four halves, of which bits 3 and 4 of the number choose.
void Avx2Assembler::permute(const Instruction& i) {
  for (int half = 0; half < 2; ++half) {
    const Ymm number = read(i[0], half);
    put(Inst::kIdVpslld, t(2), number, imm(31 - 3));
    for (const int which : {1, 2}) {
      put(Inst::kIdVpermd, t(3), number, read(i[which], 1));
      const Ymm chosen = t(static_cast<std::uint32_t>(which - 1));
      put(Inst::kIdVpermd, chosen, number, read(i[which], 0));
      put(Inst::kIdVblendvps, chosen, chosen, t(3), t(2));
    }
    put(Inst::kIdVpslld, t(2), number, imm(31 - 4));
    put(Inst::kIdVblendvps, write(i[0], half), t(0), t(1), t(2));
  }
}

void Avx2Assembler::test_bits(const Instruction& i) {
  if (halves_of(i[0]) != 1) return fail();
  const Ymm a = read(i[0], 0), b = read(i[1], 0);
  put(i.id, a, b);
}

}  // namespace warpmat::machine_code

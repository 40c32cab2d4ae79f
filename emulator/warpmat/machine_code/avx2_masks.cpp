// Masks of lanes: bits, or vectors with ones in the lanes that a mask has.

#include <warpmat/machine_code/avx2_assembler.h>

namespace warpmat::machine_code {

namespace Inst = x86::Inst;
using asmjit::imm;

namespace {

constexpr int words_at = Avx2Assembler::vectors, wides_at = words_at + Avx2Assembler::masks, bits_at = wides_at + Avx2Assembler::masks;
enum Comparison : int { equal, less, not_above, never, differs, not_less, above, always };

}  // namespace

x86::Mem Avx2Assembler::mask_bits(int at) const {
  return x86::dword_ptr(x86::rsp, places_at_ + bits_at * vector_bytes + 4 * at);
}

int Avx2Assembler::half_of_mask(int at, int bytes, int half) {
  return 2 * ((bytes == 4 ? words_at : wides_at) + at) + half;
}

/// Masks that were copies of it have no value any more.
Avx2Assembler::Mask& Avx2Assembler::begin_mask(const Operand& operand) {
  const auto number = static_cast<int>(operand.id());
  for (Mask& other : now_.mask)
    if (other.at == number) other = {};
  mask(operand) = {.at = number};
  return mask(operand);
}

void Avx2Assembler::store_bits(const Operand& operand, const x86::Gp& from) {
  begin_mask(operand).bits = true;
  put(Inst::kIdMov, mask_bits(static_cast<int>(operand.id())), from);
}

/// Lanes that are not zero become ones.
void Avx2Assembler::fill_lanes(const Mask& of) {
  if (!of.raw) return;
  const int at = of.at, bytes = of.words ? 4 : 8;
  for (int half = 0; half < 2; ++half) {
    const Ymm lanes = modify(half_of_mask(at, bytes, half));
    zeros(t(3));
    put(bytes == 4 ? Inst::kIdVpcmpeqd : Inst::kIdVpcmpeqq, lanes, lanes, t(3));
    ones(t(3));
    put(Inst::kIdVpxor, lanes, lanes, t(3));
  }
  for (Mask& copy : now_.mask)
    if (copy.at == at) copy.raw = false;
}

/// Leaves rdi with other contents.
void Avx2Assembler::load_bits(const x86::Gp& to, const Mask& from) {
  fill_lanes(from);
  if (from.bits) {
    put(Inst::kIdMov, to, mask_bits(from.at));
  } else if (from.words || from.wides) {
    const int bytes = from.words ? 4 : 8;
    const InstId move = from.words ? Inst::kIdVmovmskps : Inst::kIdVmovmskpd;
    put(move, to, read(half_of_mask(from.at, bytes, 0)));
    put(move, x86::edi, read(half_of_mask(from.at, bytes, 1)));
    put(Inst::kIdShl, x86::edi, imm(from.words ? 8 : 4));
    put(Inst::kIdOr, to, x86::edi);
  } else {
    fail();
  }
}

Avx2Assembler::Ymm Avx2Assembler::lanes_of_mask(int number, int bytes, int half) {
  Mask& own = now_.mask[static_cast<std::size_t>(number)];
  if (own.known == Mask::all) {
    ones(t(3));
    return t(3);
  }
  fill_lanes(own);
  bool& has = bytes == 4 ? own.words : own.wides;
  if (!has) {
    load_bits(x86::esi, own);
    put(Inst::kIdVmovd, t(3).xmm(), x86::esi);
    put(Inst::kIdVpbroadcastd, t(3), t(3).xmm());
    for (int each = 0; each < 2; ++each) {
      const x86::Mem bits = x86::ymmword_ptr(constants_, (bytes == 4 ? 0 : vector_bytes) + each * vector_bytes / 2);
      const Ymm to = write(half_of_mask(own.at, bytes, each));
      put(Inst::kIdVpand, to, t(3), bits);
      put(bytes == 4 ? Inst::kIdVpcmpeqd : Inst::kIdVpcmpeqq, to, to, bits);
    }
    for (Mask& copy : now_.mask)
      if (copy.at == own.at && copy.bits == own.bits) (bytes == 4 ? copy.words : copy.wides) = true;
  }
  return read(half_of_mask(own.at, bytes, half));
}

void Avx2Assembler::move_mask(const Instruction& i) {
  const auto narrow = [&] {
    if (i.id == Inst::kIdKmovw) put(Inst::kIdMovzx, x86::esi, x86::si);
    if (i.id == Inst::kIdKmovb) put(Inst::kIdMovzx, x86::esi, x86::sil);
  };
  if (!x86::Reg::isKReg(i[0])) {
    load_bits(x86::esi, mask(i[1]));
    narrow();
    put(Inst::kIdMov, i[0], x86::esi);
  } else if (x86::Reg::isKReg(i[1])) {  // a copy shares the places; what reads it takes the lanes that it has alone
    const Mask from = mask(i[1]);
    begin_mask(i[0]) = from;
  } else {
    put(i[1].isMem() && i.id != Inst::kIdKmovd ? Inst::kIdMovzx : Inst::kIdMov, x86::esi, i[1]);
    narrow();
    store_bits(i[0], x86::esi);
  }
}

void Avx2Assembler::shift_mask(const Instruction& i) {
  load_bits(x86::esi, mask(i[1]));
  put(Inst::kIdShr, x86::esi, i[2]);
  store_bits(i[0], x86::esi);
}

void Avx2Assembler::invert_mask(const Instruction& i) {
  load_bits(x86::esi, mask(i[1]));
  put(Inst::kIdNot, x86::esi);
  store_bits(i[0], x86::esi);
}

/// All lanes or none.
void Avx2Assembler::set_mask(const Instruction& i) {
  if (i[0].id() != i[1].id() || i[0].id() != i[2].id()) return fail();
  begin_mask(i[0]).known = i.id == Inst::kIdKxnorw ? Mask::all : Mask::zero;
}

void Avx2Assembler::or_masks(const Instruction& i) {
  const Mask a = mask(i[1]), b = mask(i[2]);
  const bool wides = b.wides, zero = a.known == Mask::zero;
  if (!(wides ? zero || a.wides : b.words && (zero || a.words))) return fail();
  const int bytes = wides ? 8 : 4;
  Mask& result = begin_mask(i[0]);
  for (int half = 0; half < 2; ++half) {
    const Ymm second = read(half_of_mask(b.at, bytes, half)), first = zero ? second : read(half_of_mask(a.at, bytes, half));
    const Ymm to = write(half_of_mask(result.at, bytes, half));
    zero ? put(Inst::kIdVmovdqa, to, second) : put(Inst::kIdVpor, to, first, second);
  }
  (wides ? result.wides : result.words) = true;
  result.raw = a.raw || b.raw;
}

/// Sets the flag of zero.
void Avx2Assembler::test_masks(const Instruction& i) {
  const Mask &a = mask(i[0]), &b = mask(i[1]);
  const bool wides = a.wides && b.wides;
  if (!wides && !(a.words && b.words)) return fail();
  const int bytes = wides ? 8 : 4;
  put(Inst::kIdVpor, t(0), read(half_of_mask(a.at, bytes, 0)), read(half_of_mask(a.at, bytes, 1)));
  for (int half = 0; half < 2 && a.at != b.at; ++half) put(Inst::kIdVpor, t(0), t(0), read(half_of_mask(b.at, bytes, half)));
  put(Inst::kIdVptest, t(0), t(0));
}

/// The second source's bits, and above them the first one's.
void Avx2Assembler::unpack_masks(const Instruction& i) {
  const Mask above = mask(i[1]), below = mask(i[2]);
  const x86::Mem aside = mask_bits(masks);
  load_bits(x86::esi, below);
  put(Inst::kIdMov, aside, x86::esi);
  load_bits(x86::esi, above);
  put(Inst::kIdShl, x86::esi, imm(i.id == Inst::kIdKunpckwd ? 16 : 8));
  put(Inst::kIdOr, x86::esi, aside);
  store_bits(i[0], x86::esi);
}

void Avx2Assembler::compare_unsigned_wides(const Ymm& to, const Ymm& a, const Ymm& b) {
  signs_of_wides(t(2));
  put(Inst::kIdVpxor, t(1), a, t(2));
  put(Inst::kIdVpxor, t(2), b, t(2));
  put(Inst::kIdVpcmpgtq, to, t(1), t(2));
}

/// True: `to` has the complement.
bool Avx2Assembler::compare_half(const Instruction& i, const Ymm& to, int half) {
  const bool wides = i.id == Inst::kIdVpcmpq || i.id == Inst::kIdVpcmpuq || i.id == Inst::kIdVptestmq;
  const InstId same = wides ? Inst::kIdVpcmpeqq : Inst::kIdVpcmpeqd;
  const Ymm a = read(i[1], half);
  if (i.id == Inst::kIdVcmpps || i.id == Inst::kIdVcmppd) {
    put(i.id, to, a, source(i[2], half), i[3]);
    return false;
  }
  if (i.id == Inst::kIdVptestmd || i.id == Inst::kIdVptestmq) {
    put(Inst::kIdVpand, to, a, source(i[2], half));
    return false;
  }
  const auto comparison = static_cast<Comparison>(i[3].as<asmjit::Imm>().value());
  if (comparison == equal || comparison == differs) {
    put(comparison == equal ? same : InstId{Inst::kIdVpxor}, to, a, source(i[2], half));
    return false;
  }
  if (comparison == never || comparison == always) {
    zeros(to);
    return comparison == always;
  }
  if (i[2].isMem()) {
    fail();
    return false;
  }
  const Ymm b = read(i[2], half);
  const bool by_less = comparison == less || comparison == not_less;
  if (i.id == Inst::kIdVpcmpud) {
    put(by_less ? Inst::kIdVpmaxud : Inst::kIdVpminud, to, a, b);
    put(Inst::kIdVpcmpeqd, to, to, a);  // not less, not above
    return comparison == less || comparison == above;
  }
  const Ymm &large = by_less ? b : a, &small = by_less ? a : b;
  if (i.id == Inst::kIdVpcmpuq)
    compare_unsigned_wides(to, large, small);
  else
    put(wides ? Inst::kIdVpcmpgtq : Inst::kIdVpcmpgtd, to, large, small);
  return comparison == not_less || comparison == not_above;
}

void Avx2Assembler::finish_compare(const Instruction& i, int bytes, int half, const Ymm& to, bool inverted) {
  if (i.mask >= 0 && now_.mask[static_cast<std::size_t>(i.mask)].known != Mask::all) {
    const Ymm lanes = lanes_of_mask(i.mask, bytes, half);
    put(inverted ? Inst::kIdVpandn : Inst::kIdVpand, to, to, lanes);
  } else if (inverted) {
    ones(t(3));
    put(Inst::kIdVpxor, to, to, t(3));
  }
}

void Avx2Assembler::compare(const Instruction& i) {
  const auto number = static_cast<int>(i[0].id());
  if (i.mask == number) return fail();
  const bool wides = i.id == Inst::kIdVpcmpq || i.id == Inst::kIdVpcmpuq || i.id == Inst::kIdVptestmq || i.id == Inst::kIdVcmppd;
  const int bytes = wides ? 8 : 4;
  const bool tests = i.id == Inst::kIdVptestmd || i.id == Inst::kIdVptestmq, floating = i.id == Inst::kIdVcmpps || i.id == Inst::kIdVcmppd;
  Mask& result = begin_mask(i[0]);
  result.raw = tests || (!floating && i[3].as<asmjit::Imm>().value() == differs);
  for (int half = 0; half < 2; ++half) {
    const Ymm to = write(half_of_mask(number, bytes, half));
    finish_compare(i, bytes, half, to, compare_half(i, to, half));
  }
  (wides ? result.wides : result.words) = true;
}

}  // namespace warpmat::machine_code

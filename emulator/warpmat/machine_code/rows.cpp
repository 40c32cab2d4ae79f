// The scalar instructions that have code of their own. All others are calls of their kernels.

#include <map>
#include <string_view>

#include <warpmat/machine_code/addresses.h>
#include <warpmat/machine_code/writer.h>
#include <warpmat/ptx/catalogue/catalogue.h>
#include <warpmat/ptx/syntax/module.h>
#include <warpmat/scalar/by_instruction_set.h>
#include <warpmat/scalar/kernel.h>

namespace warpmat::machine_code {
namespace {

using asmjit::InstId;
using scalar::Modifiers;
namespace Inst = x86::Inst;
constexpr RegisterClass word = RegisterClass::word, wide = RegisterClass::wide;

/// Writes the code of the operation, whose modifiers are these. False where it has others than the code allows for; nothing is written
/// then.
using Write = bool (*)(Writer& w, const Modifiers& modifiers);

/// One instruction on vectors, of two sources in the order of the text.
template <InstId instruction, RegisterClass kind>
bool binary(Writer& w, const Modifiers&) {
  const Rows a = w.source(0, kind), b = w.source(1, kind), d = w.result(kind);
  for_parts(d, [&](std::size_t p) { w.a().emit(instruction, d.part[p], a.part[p], b.part[p]); });
  w.commit(d);
  return true;
}

template <InstId instruction, RegisterClass kind>
bool unary(Writer& w, const Modifiers&) {
  const Rows a = w.source(0, kind), d = w.result(kind);
  for_parts(d, [&](std::size_t p) { w.a().emit(instruction, d.part[p], a.part[p]); });
  w.commit(d);
  return true;
}

/// Eight words of a row as wides.
template <bool is_signed>
void extend(Writer& w, const x86::Zmm& to, const Rows& from, std::size_t part) {
  x86::Ymm half = from.part[part / 2].ymm();
  if (part % 2 != 0) {
    w.a().vextracti64x4(to.ymm(), from.part[part / 2], 1);
    half = to.ymm();
  }
  is_signed ? w.a().vpmovsxdq(to, half) : w.a().vpmovzxdq(to, half);
}

/// Shifts by a row of words; counts of 64-bit shifts become wides. The CPU's shifts by vectors end as PTX says: beyond all bits there are
/// zeros, or signs.
template <InstId instruction>
bool shift_wide(Writer& w, const Modifiers&) {
  const Rows a = w.source(0, wide), b = w.source(1, word), d = w.result(wide);
  for_parts(d, [&](std::size_t p) {
    if (p == 0 || !b.uniform) extend<false>(w, x86::zmm0, b, p);
    w.a().emit(instruction, d.part[p], a.part[p], x86::zmm0);
  });
  w.commit(d);
  return true;
}

/// d = a * b + c, the low half.
template <InstId multiply, InstId add, RegisterClass kind>
bool multiply_add(Writer& w, const Modifiers&) {
  const Rows a = w.source(0, kind), b = w.source(1, kind), c = w.source(2, kind), d = w.result(kind);
  for_parts(d, [&](std::size_t p) {
    w.a().emit(multiply, d.part[p], a.part[p], b.part[p]);
    w.a().emit(add, d.part[p], d.part[p], c.part[p]);
  });
  w.commit(d);
  return true;
}

/// d = a * b (+ c) of words, in wides.
template <bool is_signed, bool adds>
bool multiply_wide(Writer& w, const Modifiers&) {
  const Rows a = w.source(0, word), b = w.source(1, word), c = adds ? w.source(2, wide) : Rows{}, d = w.result(wide);
  const auto factor = [&](const Rows& from, std::size_t p, const x86::Zmm& temporary) {  // the CPU reads the lower word of each wide
    if (from.uniform) return from.part[0];
    extend<is_signed>(w, temporary, from, p);
    return temporary;
  };
  for_parts(d, [&](std::size_t p) {
    const x86::Zmm first = factor(a, p, x86::zmm0), second = factor(b, p, x86::zmm1);
    is_signed ? w.a().vpmuldq(d.part[p], first, second) : w.a().vpmuludq(d.part[p], first, second);
    if (adds) w.a().vpaddq(d.part[p], d.part[p], c.part[p]);
  });
  w.commit(d);
  return true;
}

template <bool is_signed>
bool widen(Writer& w, const Modifiers&) {
  const Rows a = w.source(0, word), d = w.result(wide);
  for_parts(d, [&](std::size_t p) { extend<is_signed>(w, d.part[p], a, p); });
  w.commit(d);
  return true;
}

/// The lower words of two vectors of wides.
void narrow_part(Writer& w, const x86::Zmm& to, const x86::Zmm& first, const x86::Zmm& second) {
  w.a().vpmovqd(to.ymm(), first);
  w.a().vpmovqd(x86::ymm0, second);
  w.a().vinserti64x4(to, to, x86::ymm0, 1);
}

bool narrow(Writer& w, const Modifiers&) {
  const Rows a = w.source(0, wide), d = w.result(word);
  for_parts(d, [&](std::size_t p) { narrow_part(w, d.part[p], a.part[2 * p], a.part[2 * p + 1]); });
  w.commit(d);
  return true;
}

template <RegisterClass kind>
bool complement(Writer& w, const Modifiers&) {
  const Rows a = w.source(0, kind), d = w.result(kind);
  for_parts(d, [&](std::size_t p) {
    w.a().vmovdqa32(d.part[p], a.part[p]);
    w.a().vpternlogd(d.part[p], d.part[p], d.part[p], 0x55);  // not its last source
  });
  w.commit(d);
  return true;
}

template <RegisterClass kind>
bool negate(Writer& w, const Modifiers&) {
  const Rows a = w.source(0, kind), d = w.result(kind);
  w.a().vpxord(x86::zmm0, x86::zmm0, x86::zmm0);
  for_parts(d, [&](std::size_t p) {
    if (kind == word)
      w.a().vpsubd(d.part[p], x86::zmm0, a.part[p]);
    else
      w.a().vpsubq(d.part[p], x86::zmm0, a.part[p]);
  });
  w.commit(d);
  return true;
}

/// shf: by counts of 0 and 32 the CPU's shifts give all of a word, or nothing.
template <bool left>
bool funnel_shift(Writer& w, const Modifiers& m) {
  const Rows a = w.source(0, word), b = w.source(1, word), c = w.source(2, word), d = w.result(word);
  fill(w, x86::zmm2, m.wrap ? 31 : 32);
  fill(w, x86::zmm3, 32);
  for_parts(d, [&](std::size_t p) {
    m.wrap ? w.a().vpandd(x86::zmm0, c.part[p], x86::zmm2) : w.a().vpminud(x86::zmm0, c.part[p], x86::zmm2);
    w.a().vpsubd(x86::zmm1, x86::zmm3, x86::zmm0);
    w.a().vpsllvd(left ? x86::zmm0 : x86::zmm1, b.part[p], left ? x86::zmm0 : x86::zmm1);
    w.a().vpsrlvd(left ? x86::zmm1 : x86::zmm0, a.part[p], left ? x86::zmm1 : x86::zmm0);
    w.a().vpord(d.part[p], x86::zmm0, x86::zmm1);
  });
  w.commit(d);
  return true;
}

/// lop3: the CPU's table has the same order of its three sources.
bool look_up(Writer& w, const Modifiers&) {
  const Slot table = w.source_slot(3);
  if (w.operation().sources != 4 || table >= 0) return false;
  const auto lut = static_cast<std::uint8_t>(w.program().constants[static_cast<std::size_t>(~table) / 8]);
  const Rows a = w.source(0, word), b = w.source(1, word), c = w.source(2, word), d = w.result(word);
  for_parts(d, [&](std::size_t p) {
    w.a().vmovdqa32(d.part[p], a.part[p]);
    w.a().vpternlogd(d.part[p], b.part[p], c.part[p], lut);
  });
  w.commit(d);
  return true;
}

// ---- f32: every NaN is the canonical one where anything reads it that can tell

/// The code neither flushes nor clamps.
bool is_unclamped(const Modifiers& m) {
  return !m.ftz && !m.saturate && !m.finite && !m.relu && !m.integral && !m.out_of_bounds;
}

/// It rounds to nearest, too.
bool is_plain(const Modifiers& m) {
  return m.rounding == Rounding::nearest_even && is_unclamped(m);
}

/// The next instruction rounds so. Only those of AVX-512 have directions of their own.
void round_next(Writer& w, Rounding rounding) {
  using asmjit::InstOptions;
  switch (rounding) {
    case Rounding::nearest_even: return;
    case Rounding::toward_zero: return w.a().addInstOptions(InstOptions::kX86_ER | InstOptions::kX86_RZ_SAE);
    case Rounding::down: return w.a().addInstOptions(InstOptions::kX86_ER | InstOptions::kX86_RD_SAE);
    case Rounding::up: return w.a().addInstOptions(InstOptions::kX86_ER | InstOptions::kX86_RU_SAE);
  }
}

bool rounds_as(const Writer& w, const Modifiers& m) {
  return is_unclamped(m) && (m.rounding == Rounding::nearest_even || w.has_directions());
}

/// Jumps where a lane that executes has a NaN.
void leave_nans(Writer& w, const Rows& d, const asmjit::Label& otherwise) {
  constexpr std::uint8_t unordered = 3;
  x86::Assembler& a = w.a();
  if (w.masked()) {
    w.load_mask();
    a.kxorb(x86::k2, x86::k2, x86::k2);
    for (int p = 0; p < d.parts; ++p) {
      const x86::Zmm& part = d.part[static_cast<std::size_t>(p)];
      a.k(w.lanes_of(wide, p)).vcmppd(x86::k1, part, part, unordered);
      a.korb(x86::k2, x86::k2, x86::k1);
    }
    a.kortestb(x86::k2, x86::k2);
  } else {
    a.vcmppd(x86::k1, d.part[0], d.part[1], unordered);  // either
    a.vcmppd(x86::k2, d.part[2], d.part[3], unordered);
    a.kortestb(x86::k1, x86::k2);
  }
  a.jnz(otherwise);
}

void commit_double(Writer& w, const Rows& d, const asmjit::Label& otherwise) {
  leave_nans(w, d, otherwise);
  w.commit(d);
  w.end_outside();
}

template <InstId instruction>
bool float_binary(Writer& w, const Modifiers& m) {
  if (!rounds_as(w, m)) return false;
  const Rows a = w.float_source(0), b = w.float_source(1), d = w.result(word);
  for_parts(d, [&](std::size_t p) {
    round_next(w, m.rounding);
    w.a().emit(instruction, d.part[p], a.part[p], b.part[p]);
  });
  w.commit_float(d);
  return true;
}

template <InstId instruction>
bool float_unary(Writer& w, const Modifiers& m) {
  if (!rounds_as(w, m)) return false;
  const Rows a = w.float_source(0), d = w.result(word);
  for_parts(d, [&](std::size_t p) {
    round_next(w, m.rounding);
    w.a().emit(instruction, d.part[p], a.part[p]);
  });
  w.commit_float(d);
  return true;
}

/// The code of 1 in f32.
constexpr std::uint32_t one = 0x3f800000, sign = 0x80000000;

bool float_reciprocal(Writer& w, const Modifiers& m) {
  if (!rounds_as(w, m)) return false;
  const Rows a = w.float_source(0), d = w.result(word);
  fill(w, x86::zmm0, one);
  for_parts(d, [&](std::size_t p) {
    round_next(w, m.rounding);
    w.a().vdivps(d.part[p], x86::zmm0, a.part[p]);
  });
  w.commit_float(d);
  return true;
}

/// neg and abs: of the sign, by `instruction`.
template <InstId instruction, std::uint32_t bits>
bool float_sign(Writer& w, const Modifiers& m) {
  if (!is_plain(m)) return false;
  const Rows a = w.float_source(0), d = w.result(word);
  fill(w, x86::zmm0, bits);
  for_parts(d, [&](std::size_t p) { w.a().emit(instruction, d.part[p], a.part[p], x86::zmm0); });
  w.commit_float(d);
  return true;
}

/// min and max: by integers of the same order, -0 below +0. A NaN loses against a number.
template <InstId instruction>
bool float_order(Writer& w, const Modifiers& m) {
  if (!is_plain(m) || m.nan || m.absolute || m.xor_sign) return false;
  const Rows a = w.float_source(0), b = w.float_source(1), d = w.result(word);
  const auto rank = [&](const x86::Zmm& to) {
    w.a().vpsrad(x86::zmm2, to, 31);
    w.a().vpsrld(x86::zmm2, x86::zmm2, 1);
    w.a().vpxord(to, to, x86::zmm2);
  };
  for_parts(d, [&](std::size_t p) {
    w.a().vmovdqa32(x86::zmm0, a.part[p]);
    w.a().vmovdqa32(x86::zmm1, b.part[p]);
    replace_nans(w, x86::zmm0, a.part[p], b.part[p]);
    replace_nans(w, x86::zmm1, b.part[p], a.part[p]);
    rank(x86::zmm0);
    rank(x86::zmm1);
    w.a().emit(instruction, d.part[p], x86::zmm0, x86::zmm1);
    rank(d.part[p]);
  });
  w.commit_float(d);
  return true;
}

/// cvt.rzi.s32: of NaN 0, of others the nearest that there is.
bool truncate(Writer& w, const Modifiers& m) {
  if (m.rounding != Rounding::toward_zero || m.ftz || m.saturate) return false;
  const Rows a = w.float_source(0), d = w.result(word);
  constexpr std::uint32_t beyond = 0x4f000000, largest = 0x7fffffff;  // 2^31
  constexpr std::uint8_t at_least = 0x1d;
  fill(w, x86::zmm0, beyond);
  fill(w, x86::zmm1, largest);
  w.a().vpxord(x86::zmm2, x86::zmm2, x86::zmm2);
  for_parts(d, [&](std::size_t p) {
    w.a().vcvttps2dq(d.part[p], a.part[p]);
    w.a().vcmpps(x86::k1, a.part[p], x86::zmm0, at_least);
    w.a().k(x86::k1).vmovdqa32(d.part[p], x86::zmm1);
    replace_nans(w, d.part[p], a.part[p], x86::zmm2);
  });
  w.commit(d);
  return true;
}

/// The upper half of each product: of the even lanes, then of the odd ones.
template <InstId instruction>
bool multiply_high(Writer& w, const Modifiers&) {
  const Rows a = w.source(0, word), b = w.source(1, word), d = w.result(word);
  w.a().mov(x86::eax, 0xaaaa);
  w.a().kmovw(x86::k1, x86::eax);
  for_parts(d, [&](std::size_t p) {
    w.a().emit(instruction, x86::zmm0, a.part[p], b.part[p]);
    w.a().vpsrlq(x86::zmm0, x86::zmm0, 32);
    w.a().vpsrlq(x86::zmm1, a.part[p], 32);
    w.a().vpsrlq(x86::zmm2, b.part[p], 32);
    w.a().emit(instruction, x86::zmm1, x86::zmm1, x86::zmm2);
    w.a().k(x86::k1).vpblendmd(d.part[p], x86::zmm0, x86::zmm1);
  });
  w.commit(d);
  return true;
}

// ---- f64: of NaNs one stays, by rules that the kernel knows

/// Leaves the operation to its kernel where a result is a NaN.
template <InstId instruction, int sources>
bool double_arithmetic(Writer& w, const Modifiers& m) {
  if (!is_plain(m)) return false;
  const Rows a = w.source(0, wide), b = sources > 1 ? w.source(1, wide) : a, d = w.result(wide);
  const asmjit::Label otherwise = w.begin_outside();
  for_parts(d, [&](std::size_t p) {
    if (sources > 1)
      w.a().emit(instruction, d.part[p], a.part[p], b.part[p]);
    else
      w.a().emit(instruction, d.part[p], a.part[p]);
  });
  commit_double(w, d, otherwise);
  return true;
}

bool double_fma(Writer& w, const Modifiers& m) {
  if (!is_plain(m)) return false;
  const Rows a = w.source(0, wide), b = w.source(1, wide), c = w.source(2, wide), d = w.result(wide);
  const asmjit::Label otherwise = w.begin_outside();
  for_parts(d, [&](std::size_t p) {
    w.a().vmovdqa64(d.part[p], c.part[p]);
    w.a().vfmadd231pd(d.part[p], a.part[p], b.part[p]);
  });
  commit_double(w, d, otherwise);
  return true;
}

bool double_reciprocal(Writer& w, const Modifiers& m) {
  if (!is_plain(m)) return false;
  constexpr std::uint64_t one_in_f64 = 0x3ff0000000000000;
  const Rows a = w.source(0, wide), d = w.result(wide);
  const asmjit::Label otherwise = w.begin_outside();
  w.a().mov(x86::rax, one_in_f64);
  w.a().vpbroadcastq(x86::zmm0, x86::rax);
  for_parts(d, [&](std::size_t p) { w.a().vdivpd(d.part[p], x86::zmm0, a.part[p]); });
  commit_double(w, d, otherwise);
  return true;
}

/// neg, or abs.
template <bool negates>
bool double_sign(Writer& w, const Modifiers& m) {
  if (!is_plain(m)) return false;
  const Rows a = w.source(0, wide), d = w.result(wide);
  const asmjit::Label otherwise = w.begin_outside();
  w.a().vpternlogd(x86::zmm0, x86::zmm0, x86::zmm0, 0xff);
  w.a().vpsllq(x86::zmm0, x86::zmm0, 63);
  for_parts(
      d, [&](std::size_t p) { negates ? w.a().vpxorq(d.part[p], x86::zmm0, a.part[p]) : w.a().vpandnq(d.part[p], x86::zmm0, a.part[p]); });
  commit_double(w, d, otherwise);
  return true;
}

bool float_fma(Writer& w, const Modifiers& m) {
  if (!rounds_as(w, m)) return false;
  const Rows a = w.float_source(0), b = w.float_source(1), c = w.float_source(2), d = w.result(word);
  for_parts(d, [&](std::size_t p) {
    w.a().vmovdqa32(d.part[p], c.part[p]);
    round_next(w, m.rounding);
    w.a().vfmadd231ps(d.part[p], a.part[p], b.part[p]);
  });
  w.commit_float(d);
  return true;
}

/// cvt.sat.f32.f32: to [+0, 1]. The CPU's results are their second sources where the first is a NaN, or both are zeros.
bool clamp(Writer& w, const Modifiers& m) {
  if (!m.saturate || m.ftz || m.integral) return false;
  const Rows a = w.float_source(0), d = w.result(word);
  fill(w, x86::zmm0, one);
  w.a().vpxord(x86::zmm1, x86::zmm1, x86::zmm1);
  for_parts(d, [&](std::size_t p) {
    w.a().vmaxps(d.part[p], a.part[p], x86::zmm1);
    w.a().vminps(d.part[p], d.part[p], x86::zmm0);
  });
  w.commit(d);
  return true;
}

/// From integers of 32 bits: no NaN.
template <InstId instruction>
bool to_float(Writer& w, const Modifiers& m) {
  return is_plain(m) && unary<instruction, word>(w, m);
}

// ---- Comparisons

/// The CPU's number of a comparison of integers, by scalar::Outcome.
constexpr std::array<std::uint8_t, 8> integer_comparisons{3, 1, 0, 2, 6, 4, 5, 7};
/// The same of floating-point numbers: none signals.
constexpr std::array<std::uint8_t, 16> float_comparisons{0x0b, 0x11, 0x00, 0x12, 0x1e, 0x0c, 0x1d, 0x07,
                                                         0x03, 0x19, 0x08, 0x1a, 0x16, 0x04, 0x15, 0x0f};

/// One result, which nothing else decides.
bool compares_alone(Writer& w, const Modifiers& m) {
  return w.operation().results == 1 && m.combine == scalar::Combine::none && !m.ftz;
}

template <InstId instruction>
bool compare_words(Writer& w, const Modifiers& m, std::uint8_t comparison) {
  if (!compares_alone(w, m)) return false;
  const auto source = [&](int i) { return instruction == Inst::kIdVcmpps ? w.float_source(i) : w.source(i, word); };
  const Rows a = source(0), b = source(1);
  w.a().emit(instruction, x86::k1, a.part[0], b.part[0], comparison);
  w.a().emit(instruction, x86::k2, a.part[1], b.part[1], comparison);
  w.a().kunpckwd(x86::k1, x86::k2, x86::k1);
  w.a().kmovd(x86::eax, x86::k1);
  w.commit_predicate();
  return true;
}

template <InstId instruction>
bool compare_integers(Writer& w, const Modifiers& m) {
  return compare_words<instruction>(w, m, integer_comparisons[m.outcomes & 7]);
}

bool compare_floats(Writer& w, const Modifiers& m) {
  return compare_words<Inst::kIdVcmpps>(w, m, float_comparisons[m.outcomes & 15]);
}

template <InstId instruction>
bool compare_rows_of_wides(Writer& w, const Modifiers& m, std::uint8_t comparison) {
  if (!compares_alone(w, m)) return false;
  const Rows a = w.source(0, wide), b = w.source(1, wide);
  const std::array masks{x86::k1, x86::k2, x86::k3, x86::k5};
  for (std::size_t p = 0; p < masks.size(); ++p) w.a().emit(instruction, masks[p], a.part[p], b.part[p], comparison);
  w.a().kunpckbw(x86::k1, x86::k2, x86::k1);
  w.a().kunpckbw(x86::k3, x86::k5, x86::k3);
  w.a().kunpckwd(x86::k1, x86::k3, x86::k1);
  w.a().kmovd(x86::eax, x86::k1);
  w.commit_predicate();
  return true;
}

template <InstId instruction>
bool compare_wides(Writer& w, const Modifiers& m) {
  return compare_rows_of_wides<instruction>(w, m, integer_comparisons[m.outcomes & 7]);
}

// ---- Of 16 bits: the upper half of a source's word has any contents, that of a result is zero

void clear_upper(Writer& w, const Rows& d) {
  fill(w, x86::zmm0, 0xffff);
  for_parts(d, [&](std::size_t p) { w.a().vpandd(d.part[p], d.part[p], x86::zmm0); });
  w.commit(d);
}

template <InstId instruction>
bool half_binary(Writer& w, const Modifiers&) {
  const Rows a = w.source(0, word), b = w.source(1, word), d = w.result(word);
  for_parts(d, [&](std::size_t p) { w.a().emit(instruction, d.part[p], a.part[p], b.part[p]); });
  clear_upper(w, d);
  return true;
}

template <InstId instruction>
bool compare_halves(Writer& w, const Modifiers& m) {
  if (!compares_alone(w, m)) return false;
  constexpr std::uint8_t upper = 16;
  const Rows a = w.source(0, word), b = w.source(1, word);
  for (std::size_t p = 0; p < 2; ++p) {
    w.a().vpslld(x86::zmm0, a.part[p], upper);
    w.a().vpslld(x86::zmm1, b.part[p], upper);
    w.a().emit(instruction, p == 0 ? x86::k1 : x86::k2, x86::zmm0, x86::zmm1, integer_comparisons[m.outcomes & 7]);
  }
  w.a().kunpckwd(x86::k1, x86::k2, x86::k1);
  w.a().kmovd(x86::eax, x86::k1);
  w.commit_predicate();
  return true;
}

/// From the low `bits` of a word to a word, or to 16 bits.
template <int bits, bool is_signed, bool to_half>
bool extend_low(Writer& w, const Modifiers&) {
  constexpr std::uint8_t unused = 32 - bits;
  const Rows a = w.source(0, word), d = w.result(word);
  for_parts(d, [&](std::size_t p) {
    w.a().vpslld(d.part[p], a.part[p], unused);
    is_signed ? w.a().vpsrad(d.part[p], d.part[p], unused) : w.a().vpsrld(d.part[p], d.part[p], unused);
  });
  if (to_half)
    clear_upper(w, d);
  else
    w.commit(d);
  return true;
}

/// From integers of 32 bits to f64: exact.
template <InstId instruction>
bool word_to_double(Writer& w, const Modifiers& m) {
  if (!is_plain(m)) return false;
  const Rows a = w.source(0, word), d = w.result(wide);
  for_parts(d, [&](std::size_t p) {
    if (p % 2 != 0) w.a().vextracti64x4(x86::ymm0, a.part[p / 2], 1);
    w.a().emit(instruction, d.part[p], p % 2 != 0 ? x86::ymm0 : a.part[p / 2].ymm());
  });
  w.commit(d);
  return true;
}

/// cvt.f64.f32, without NaNs.
bool float_to_double(Writer& w, const Modifiers& m) {
  if (!is_plain(m)) return false;
  const Rows a = w.float_source(0), d = w.result(wide);
  const asmjit::Label otherwise = w.begin_outside();
  for_parts(d, [&](std::size_t p) {
    if (p % 2 != 0) w.a().vextracti64x4(x86::ymm0, a.part[p / 2], 1);
    w.a().vcvtps2pd(d.part[p], p % 2 != 0 ? x86::ymm0 : a.part[p / 2].ymm());
  });
  commit_double(w, d, otherwise);
  return true;
}

/// cvt.rn.f32.f64, without NaNs.
bool double_to_float(Writer& w, const Modifiers& m) {
  if (!is_plain(m)) return false;
  const Rows a = w.source(0, wide), d = w.result(word);
  const asmjit::Label otherwise = w.begin_outside();
  leave_nans(w, a, otherwise);
  for_parts(d, [&](std::size_t p) {
    w.a().vcvtpd2ps(d.part[p].ymm(), a.part[2 * p]);
    w.a().vcvtpd2ps(x86::ymm0, a.part[2 * p + 1]);
    w.a().vinserti64x4(d.part[p], d.part[p], x86::ymm0, 1);
  });
  w.commit(d);
  w.end_outside();
  return true;
}

// ---- f16 and bf16

constexpr std::uint32_t nan_of_half = 0x7fff;

bool half_to_float(Writer& w, const Modifiers& m) {
  if (!is_plain(m)) return false;
  const Rows a = w.source(0, word), d = w.result(word);
  for_parts(d, [&](std::size_t p) {
    w.a().vpmovdw(x86::ymm0, a.part[p]);
    w.a().vcvtph2ps(d.part[p], x86::ymm0);
  });
  w.commit_float(d);
  return true;
}

/// A NaN keeps its bits.
bool bfloat_to_float(Writer& w, const Modifiers& m) {
  if (!is_plain(m)) return false;
  const Rows a = w.source(0, word), d = w.result(word);
  for_parts(d, [&](std::size_t p) { w.a().vpslld(d.part[p], a.part[p], 16); });
  w.commit(d);
  return true;
}

/// bf16 is the upper half of f32. Rounding to nearest even adds 0x7fff, zmm1, and the last bit that stays, by zmm2, which is 1. A carry
/// makes the next number, or infinity.
void round_to_bfloat(Writer& w, const x86::Zmm& to, const x86::Zmm& from) {
  w.a().vpsrld(x86::zmm0, from, 16);
  w.a().vpandd(x86::zmm0, x86::zmm0, x86::zmm2);
  w.a().vpaddd(x86::zmm0, x86::zmm0, x86::zmm1);
  w.a().vpaddd(x86::zmm0, x86::zmm0, from);
  w.a().vpsrld(to, x86::zmm0, 16);
}

/// cvt.rn to f16 and bf16, which .ftz does not change.
bool float_to_small(Writer& w, const Modifiers& m) {
  const bool f16 = m.format.fraction_bits == 10 && m.format.nan == nan_of_half,
             bf16 = m.format.fraction_bits == 7 && m.format.nan == nan_of_half;
  if ((!f16 && !bf16) || m.rounding != Rounding::nearest_even || m.saturate || m.finite || m.relu) return false;
  constexpr std::uint8_t to_nearest = 0;
  const Rows a = w.float_source(0), d = w.result(word);
  fill(w, x86::zmm1, nan_of_half);
  fill(w, x86::zmm2, 1);
  for_parts(d, [&](std::size_t p) {
    if (f16) {
      w.a().vcvtps2ph(x86::ymm0, a.part[p], to_nearest);
      w.a().vpmovzxwd(d.part[p], x86::ymm0);
    } else {
      round_to_bfloat(w, d.part[p], a.part[p]);
    }
    replace_nans(w, d.part[p], a.part[p], x86::zmm1);
  });
  w.commit(d);
  return true;
}

bool compare_doubles(Writer& w, const Modifiers& m) {
  return compare_rows_of_wides<Inst::kIdVcmppd>(w, m, float_comparisons[m.outcomes & 15]);
}

struct Row {
  std::string_view kernel;  ///< scalar::find_kernel()
  Write write;
};

constexpr Row rows[] = {
    {"add.b32", binary<Inst::kIdVpaddd, word>},
    {"add.b64", binary<Inst::kIdVpaddq, wide>},
    {"sub.b32", binary<Inst::kIdVpsubd, word>},
    {"sub.b64", binary<Inst::kIdVpsubq, wide>},
    {"mul.lo.b32", binary<Inst::kIdVpmulld, word>},
    {"mul.lo.b64", binary<Inst::kIdVpmullq, wide>},
    {"mul.hi.u32", multiply_high<Inst::kIdVpmuludq>},
    {"mul.hi.s32", multiply_high<Inst::kIdVpmuldq>},
    {"mul.wide.u32", multiply_wide<false, false>},
    {"mul.wide.s32", multiply_wide<true, false>},
    {"mad.lo.b32", multiply_add<Inst::kIdVpmulld, Inst::kIdVpaddd, word>},
    {"mad.lo.b64", multiply_add<Inst::kIdVpmullq, Inst::kIdVpaddq, wide>},
    {"mad.wide.u32", multiply_wide<false, true>},
    {"mad.wide.s32", multiply_wide<true, true>},
    {"abs.s32", unary<Inst::kIdVpabsd, word>},
    {"abs.s64", unary<Inst::kIdVpabsq, wide>},
    {"neg.b32", negate<word>},
    {"neg.b64", negate<wide>},
    {"min.u32", binary<Inst::kIdVpminud, word>},
    {"min.s32", binary<Inst::kIdVpminsd, word>},
    {"min.u64", binary<Inst::kIdVpminuq, wide>},
    {"min.s64", binary<Inst::kIdVpminsq, wide>},
    {"max.u32", binary<Inst::kIdVpmaxud, word>},
    {"max.s32", binary<Inst::kIdVpmaxsd, word>},
    {"max.u64", binary<Inst::kIdVpmaxuq, wide>},
    {"max.s64", binary<Inst::kIdVpmaxsq, wide>},
    {"and.b32", binary<Inst::kIdVpandd, word>},
    {"and.b64", binary<Inst::kIdVpandq, wide>},
    {"or.b32", binary<Inst::kIdVpord, word>},
    {"or.b64", binary<Inst::kIdVporq, wide>},
    {"xor.b32", binary<Inst::kIdVpxord, word>},
    {"xor.b64", binary<Inst::kIdVpxorq, wide>},
    {"not.b32", complement<word>},
    {"not.b64", complement<wide>},
    {"lop3.b32", look_up},
    {"shl.b32", binary<Inst::kIdVpsllvd, word>},
    {"shr.b32", binary<Inst::kIdVpsrlvd, word>},
    {"shr.s32", binary<Inst::kIdVpsravd, word>},
    {"shl.b64", shift_wide<Inst::kIdVpsllvq>},
    {"shr.b64", shift_wide<Inst::kIdVpsrlvq>},
    {"shr.s64", shift_wide<Inst::kIdVpsravq>},
    {"shf.l.b32", funnel_shift<true>},
    {"shf.r.b32", funnel_shift<false>},
    {"cvt.b64.u32", widen<false>},
    {"cvt.b64.s32", widen<true>},
    {"cvt.b32.u64", narrow},
    {"cvt.b32.s64", narrow},
    {"cvt.f32.s32", to_float<Inst::kIdVcvtdq2ps>},
    {"cvt.f32.u32", to_float<Inst::kIdVcvtudq2ps>},
    {"add.f32", float_binary<Inst::kIdVaddps>},
    {"sub.f32", float_binary<Inst::kIdVsubps>},
    {"mul.f32", float_binary<Inst::kIdVmulps>},
    {"fma.f32", float_fma},
    {"div.f32", float_binary<Inst::kIdVdivps>},
    {"rcp.f32", float_reciprocal},
    {"sqrt.f32", float_unary<Inst::kIdVsqrtps>},
    {"neg.f32", float_sign<Inst::kIdVpxord, sign>},
    {"abs.f32", float_sign<Inst::kIdVpandd, ~sign>},
    {"min.f32", float_order<Inst::kIdVpminsd>},
    {"max.f32", float_order<Inst::kIdVpmaxsd>},
    {"cvt.s32.f32", truncate},
    {"add.f64", double_arithmetic<Inst::kIdVaddpd, 2>},
    {"sub.f64", double_arithmetic<Inst::kIdVsubpd, 2>},
    {"mul.f64", double_arithmetic<Inst::kIdVmulpd, 2>},
    {"div.f64", double_arithmetic<Inst::kIdVdivpd, 2>},
    {"sqrt.f64", double_arithmetic<Inst::kIdVsqrtpd, 1>},
    {"fma.f64", double_fma},
    {"rcp.f64", double_reciprocal},
    {"neg.f64", double_sign<true>},
    {"abs.f64", double_sign<false>},
    {"setp.b32", compare_integers<Inst::kIdVpcmpud>},
    {"setp.s32", compare_integers<Inst::kIdVpcmpd>},
    {"setp.b64", compare_wides<Inst::kIdVpcmpuq>},
    {"setp.s64", compare_wides<Inst::kIdVpcmpq>},
    {"setp.f32", compare_floats},
    {"setp.f64", compare_doubles},
    {"setp.b16", compare_halves<Inst::kIdVpcmpud>},
    {"setp.s16", compare_halves<Inst::kIdVpcmpd>},
    {"and.b16", half_binary<Inst::kIdVpandd>},
    {"or.b16", half_binary<Inst::kIdVpord>},
    {"xor.b16", half_binary<Inst::kIdVpxord>},
    {"add.b16", half_binary<Inst::kIdVpaddd>},
    {"sub.b16", half_binary<Inst::kIdVpsubd>},
    {"mul.lo.b16", half_binary<Inst::kIdVpmulld>},
    {"cvt.b16.u8", extend_low<8, false, true>},
    {"cvt.b16.s8", extend_low<8, true, true>},
    {"cvt.b16.u32", extend_low<16, false, true>},
    {"cvt.b16.s32", extend_low<16, false, true>},
    {"cvt.b32.u8", extend_low<8, false, false>},
    {"cvt.b32.s8", extend_low<8, true, false>},
    {"cvt.b32.u16", extend_low<16, false, false>},
    {"cvt.b32.s16", extend_low<16, true, false>},
    {"cvt.f64.s32", word_to_double<Inst::kIdVcvtdq2pd>},
    {"cvt.f64.u32", word_to_double<Inst::kIdVcvtudq2pd>},
    {"cvt.f64.f32", float_to_double},
    {"cvt.f32.f64", double_to_float},
    {"cvt.f32.f16", half_to_float},
    {"cvt.f32.bf16", bfloat_to_float},
    {"cvt.small.f32", float_to_small},
    {"cvt.same.f32", clamp},
};

const std::map<scalar::Function, Write>& by_kernel() {
  static constinit scalar::ByInstructionSet<std::map<scalar::Function, Write>> all;
  return all.get([] {
    std::map<scalar::Function, Write> made;
    for (const Row& row : rows) made.emplace(scalar::find_kernel(row.kernel), row.write);
    return made;
  });
}

// ---- What has no kernel

/// Halves of words, or words of wides, the first source or result being the lower one.
template <RegisterClass whole>
bool pack(Writer& w) {
  const Rows low = w.source(0, word), high = w.source(1, word), d = w.result(whole);
  if (whole == word) fill(w, x86::zmm1, 0xffff);
  for_parts(d, [&](std::size_t p) {
    if (whole == word) {
      w.a().vpandd(x86::zmm0, low.part[p], x86::zmm1);
      w.a().vpslld(d.part[p], high.part[p], 16);
    } else {
      extend<false>(w, x86::zmm0, low, p);
      extend<false>(w, d.part[p], high, p);
      w.a().vpsllq(d.part[p], d.part[p], 32);
    }
    w.a().vpord(d.part[p], d.part[p], x86::zmm0);
  });
  w.commit(d);
  return true;
}

template <RegisterClass whole>
bool unpack(Writer& w) {
  const Rows a = w.source(0, whole), low = w.result(word), high = w.result(word);
  if (whole == word) fill(w, x86::zmm1, 0xffff);
  for_parts(low, [&](std::size_t p) {
    if (whole == word) {
      w.a().vpandd(low.part[p], a.part[p], x86::zmm1);
      w.a().vpsrld(high.part[p], a.part[p], 16);
      return;
    }
    narrow_part(w, low.part[p], a.part[2 * p], a.part[2 * p + 1]);
    w.a().vpsrlq(x86::zmm1, a.part[2 * p], 32);
    w.a().vpsrlq(x86::zmm2, a.part[2 * p + 1], 32);
    narrow_part(w, high.part[p], x86::zmm1, x86::zmm2);
  });
  w.commit(low, 0);
  w.commit(high, 1);
  return true;
}

using WriteFunction = bool (*)(Writer& w);

const std::map<catalogue::WarpFunction, WriteFunction>& by_function() {
  static constinit scalar::ByInstructionSet<std::map<catalogue::WarpFunction, WriteFunction>> all;
  return all.get([] {
    std::map<catalogue::WarpFunction, WriteFunction> made;
    const std::pair<const char*, WriteFunction> functions[] = {
        {"%pack.b32.b16", pack<word>}, {"%pack.b64.b32", pack<wide>}, {"%unpack.b32.b16", unpack<word>}, {"%unpack.b64.b32", unpack<wide>}};
    for (const auto& [row, write] : functions) made.emplace(catalogue::find_row(row)->pattern->row.function, write);
    return made;
  });
}

bool select(Writer& w, RegisterClass kind) {
  const Rows a = w.source(0, kind), b = w.source(1, kind), d = w.result(kind);
  const Slot chosen = w.source_slot(2);
  if (kind == word) {
    w.predicate_words(chosen);
    w.a().k(x86::k1).vpblendmd(d.part[0], b.part[0], a.part[0]);
    w.a().k(x86::k2).vpblendmd(d.part[1], b.part[1], a.part[1]);
  } else {
    for_parts(d, [&](std::size_t p) {
      w.predicate_part(chosen, static_cast<int>(p));
      w.a().k(x86::k1).vpblendmq(d.part[p], b.part[p], a.part[p]);
    });
  }
  w.commit(d);
  return true;
}

/// Whether selp takes registers as they are: of 16 bits it clears the others.
bool selects_whole(const Writer& w) {
  const std::string_view opcode = w.program().statements[w.operation().statement]->opcode;
  return opcode.starts_with("selp.") && !opcode.ends_with("16");
}

bool copy(Writer& w, RegisterClass kind, Slot from) {
  if (from < 0 && !w.masked()) {  // a constant or parameter, which nothing else reads by that place
    const Rows d = w.result(kind, true);
    w.load(d, from);
    w.commit(d);
    return true;
  }
  w.set_lane_wise(true);
  const Rows a = w.row_at(from, kind), d = w.result(kind);
  for_parts(d, [&](std::size_t p) { w.a().vmovdqa32(d.part[p], a.part[p]); });
  w.commit(d);
  return true;
}

bool combine(Writer& w, bool both) {
  w.a().mov(x86::eax, w.predicate(w.source_slot(0)));
  both ? w.a().and_(x86::eax, w.predicate(w.source_slot(1))) : w.a().or_(x86::eax, w.predicate(w.source_slot(1)));
  w.commit_predicate();
  return true;
}

}  // namespace

bool write_computation(Writer& w) {
  const Operation& op = w.operation();
  using code::Shortcut;
  switch (op.shortcut) {
    case Shortcut::keeps: return true;
    case Shortcut::copies_words: return copy(w, word, w.source_slot(0));
    case Shortcut::copies_wides: return copy(w, wide, w.source_slot(0));
    case Shortcut::loads_word: return copy(w, word, w.source_slot(1));  // the row of the parameter
    case Shortcut::loads_wide: return copy(w, wide, w.source_slot(1));
    default: break;
  }
  if (const auto found = by_function().find(op.function); found != by_function().end()) {
    w.set_lane_wise(true);
    return found->second(w);
  }
  if (op.results != 1) return false;
  const RegisterClass kind = op.result_class(0);
  if (op.kernel == nullptr) {
    if (op.semantics == catalogue::Semantics::select && selects_whole(w) && (kind == word || kind == wide)) return select(w, kind);
    if (op.semantics == catalogue::Semantics::compute && op.decides != code::Decides::none)
      return combine(w, op.decides == code::Decides::by_false);
    return false;
  }
  const auto found = by_kernel().find(op.kernel);
  if (found == by_kernel().end()) return false;
  w.set_lane_wise(true);
  const bool is_written = found->second(w, w.program().of<Modifiers>(op));
  w.set_lane_wise(false);
  return is_written;
}

namespace {

/// The lanes that are the lane itself, below or above it.
void write_lane_masks(Writer& w, code::SpecialRegister which, const Rows& d) {
  using enum code::SpecialRegister;
  x86::Assembler& a = w.a();
  fill(w, x86::zmm0, which == lanemask_le || which == lanemask_gt ? 2 : 1);
  a.vpternlogd(x86::zmm1, x86::zmm1, x86::zmm1, 0xff);
  for_parts(d, [&](std::size_t p) {
    a.vmovdqa32(x86::zmm2, w.table(Table::lanes, static_cast<int>(p)));
    a.vpsllvd(d.part[p], x86::zmm0, x86::zmm2);
    if (which != lanemask_eq) a.vpaddd(d.part[p], d.part[p], x86::zmm1);
    if (which == lanemask_ge || which == lanemask_gt) a.vpxord(d.part[p], d.part[p], x86::zmm1);
  });
}

}  // namespace

bool write_special(Writer& w) {
  using enum code::SpecialRegister;
  const Operation& op = w.operation();
  if (op.results != 1 || op.sources != 0 || op.result_class(0) != word) return false;
  const auto which = w.program().of<code::SpecialRegister>(op);
  const Rows d = w.result(word, which >= ntid_x && which <= nctaid_z);
  if (which >= tid_x && which <= tid_z) {
    w.a().mov(x86::rax, x86::qword_ptr(context, static_cast<std::int32_t>(offsetof(CodeContext, thread_indices))));
    const std::int32_t at = (static_cast<int>(which) - static_cast<int>(tid_x)) * 128;
    for_parts(d, [&](std::size_t p) { w.a().vmovdqu32(d.part[p], x86::zmmword_ptr(x86::rax, at + static_cast<std::int32_t>(p) * 64)); });
  } else if (which >= ntid_x && which <= nctaid_z) {
    const std::size_t at =
        offsetof(CodeContext, uniform) + static_cast<std::size_t>(static_cast<int>(which) - static_cast<int>(ntid_x)) * 4;
    for_parts(d, [&](std::size_t p) { w.a().vpbroadcastd(d.part[p], x86::dword_ptr(context, static_cast<std::int32_t>(at))); });
  } else if (which >= lanemask_eq && which <= lanemask_gt) {
    write_lane_masks(w, which, d);
  } else if (which == laneid) {
    for_parts(d, [&](std::size_t p) { w.a().vmovdqa32(d.part[p], w.table(Table::lanes, static_cast<int>(p))); });
  } else {
    return false;
  }
  w.commit(d);
  return true;
}

}  // namespace warpmat::machine_code

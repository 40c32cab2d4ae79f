// Halves of vectors, in registers and in their places, and which function writes an instruction.

#include <warpmat/machine_code/avx2_assembler.h>

#include <algorithm>
#include <limits>
#include <map>

namespace warpmat::machine_code {

namespace Inst = x86::Inst;
using asmjit::Error;

namespace {

constexpr int half_bytes = Avx2Assembler::vector_bytes / 2;
/// The writer's: their memory does not change while a vector has a part of it.
const x86::Gp frame_register = x86::rbx, constants_register = x86::r12;

bool is_vector(const asmjit::Operand_& operand) {
  return operand.isReg() && (asmjit::BaseReg::isVec(operand) || x86::Reg::isKReg(operand));
}

}  // namespace

Avx2Assembler::Avx2Assembler(asmjit::CodeHolder& holder, int places_at)
    : Assembler(&holder), places_at_(places_at), constants_(newLabel()) {}

Error Avx2Assembler::_emit(InstId id, const Operand& o0, const Operand& o1, const Operand& o2, const Operand* more) {
  ++time_;
  const Instruction i{.id = id,
                      .operands = {o0, o1, o2, more[0], more[1], more[2]},
                      .mask = hasExtraReg() ? static_cast<int>(extraReg().id()) : -1,
                      .zeroing = asmjit::Support::test(instOptions(), asmjit::InstOptions::kX86_ZMask)};
  if (std::ranges::any_of(i.operands, is_vector)) {
    resetExtraReg();
    resetInstOptions();
    expand(i);
    return asmjit::kErrorOk;
  }
  using asmjit::InstControlFlow;
  const InstControlFlow flow = x86::InstDB::infoById(id).controlFlow();
  if ((flow == InstControlFlow::kJump || flow == InstControlFlow::kBranch) && o0.isLabel()) {
    jump(id, o0.as<asmjit::Label>());
    return asmjit::kErrorOk;
  }
  if (flow == InstControlFlow::kCall || id == Inst::kIdVzeroupper) now_ = {};  // vectors are lost
  const Error error = Assembler::_emit(id, o0, o1, o2, more);
  if (flow == InstControlFlow::kJump || flow == InstControlFlow::kReturn) end_path();
  return error;
}

void Avx2Assembler::forget_vectors(int first, int end) {
  for (Cached& cached : now_.cached)
    if (cached.half >= 2 * first && cached.half < 2 * end) cached = {};
  std::fill(now_.home.begin() + 2 * first, now_.home.begin() + 2 * end, Home{});
}

Error Avx2Assembler::put_all(InstId id, const std::array<Operand, 6>& operands) {
  constexpr std::uint8_t evex = 0x62;
  const std::size_t begin = offset();
  const Error error = Assembler::_emit(id, operands[0], operands[1], operands[2], &operands[3]);
  if (offset() != begin && bufferData()[begin] == evex) fail();
  return error;
}

// ---- Halves

x86::Mem Avx2Assembler::place(int half) const {
  return x86::ymmword_ptr(x86::rsp, places_at_ + half * half_bytes);
}

x86::Mem Avx2Assembler::memory_of(int half) const {
  const Home home = half < 2 * vectors ? now_.home[static_cast<std::size_t>(half)] : Home{};
  if (home.base == Home::place) return place(half);
  return x86::ymmword_ptr(home.base == Home::frame ? frame_register : constants_register, home.offset);
}

/// Half of a register of the warp, or of a constant.
Avx2Assembler::Home Avx2Assembler::home_of(const Operand& memory, int half) {
  const auto& mem = memory.as<x86::Mem>();
  if (!memory.isMem() || !mem.hasBaseReg() || mem.hasIndex()) return {};
  const std::int32_t offset = mem.offsetLo32() + half * half_bytes;
  if (mem.baseId() == frame_register.id()) return {Home::frame, offset};
  return mem.baseId() == constants_register.id() ? Home{Home::constants, offset} : Home{};
}

int Avx2Assembler::find_cached(int half) const {
  const auto found = std::ranges::find(now_.cached, half, &Cached::half);
  return found == now_.cached.end() ? -1 : static_cast<int>(found - now_.cached.begin());
}

void Avx2Assembler::store(Cached& cached, std::uint32_t i) {
  if (cached.half >= 0 && cached.dirty) put(Inst::kIdVmovdqu, place(cached.half), x86::ymm(i));
  cached.dirty = false;
}

/// A register that this instruction does not use, of these the one that was used first.
int Avx2Assembler::find_room() {
  const auto found = std::ranges::min_element(now_.cached, {}, &Cached::used);
  if (found->used == time_) fail();  // an instruction needs too many
  const auto i = static_cast<int>(found - now_.cached.begin());
  store(*found, static_cast<std::uint32_t>(i));
  return i;
}

Avx2Assembler::Ymm Avx2Assembler::read(int half) {
  if (is_undefined(half, now_.undefined)) fail();
  int i = find_cached(half);
  const Ymm own = x86::ymm(static_cast<std::uint32_t>(i < 0 ? i = find_room() : i));
  Cached& cached = now_.cached[static_cast<std::size_t>(i)];
  if (cached.half != half) {
    put(Inst::kIdVmovdqu, own, memory_of(half));
    cached = {.half = half};
  }
  cached.used = time_;
  return own;
}

Avx2Assembler::Ymm Avx2Assembler::write(int half) {
  int i = find_cached(half);
  if (i < 0) i = find_room();
  now_.cached[static_cast<std::size_t>(i)] = {.half = half, .dirty = true, .used = time_};
  if (half < 2 * vectors) now_.home[static_cast<std::size_t>(half)] = {};
  if (half < 2 * temporaries) now_.undefined[static_cast<std::size_t>(half)] = false;
  return x86::ymm(static_cast<std::uint32_t>(i));
}

Avx2Assembler::Ymm Avx2Assembler::modify(int half) {
  read(half);
  return write(half);
}

/// All halves have their places' values, but for those of masks.
void Avx2Assembler::flush() {
  for (std::uint32_t i = 0; i < now_.cached.size(); ++i)
    if (now_.cached[i].half < 2 * vectors) store(now_.cached[i], i);
}

// ---- Operands

int Avx2Assembler::halves_of(const Operand& operand) {
  return x86::Reg::isZmm(operand) ? 2 : 1;
}

int Avx2Assembler::half_of(const Operand& operand, int half) {
  return 2 * static_cast<int>(operand.id()) + half;
}

x86::Mem Avx2Assembler::memory_half(const Operand& operand, int half) {
  x86::Mem mem = operand.as<x86::Mem>();
  mem.addOffset(half * half_bytes);
  mem.setSize(half_bytes);
  return mem;
}

Avx2Assembler::Operand Avx2Assembler::source(const Operand& operand, int half) {
  if (operand.isMem()) return memory_half(operand, half);
  const int own = half_of(operand, half);
  if (find_cached(own) >= 0 || is_undefined(own, now_.undefined)) return read(own);
  return memory_of(own);
}

x86::Xmm Avx2Assembler::quarter(const Operand& operand, int which, const Ymm& room) {
  const Ymm half = read(operand, 0);
  if (which == 0) return half.xmm();
  put(Inst::kIdVextracti128, room.xmm(), half, asmjit::imm(1));
  return room.xmm();
}

void Avx2Assembler::ones(const Ymm& to) {
  put(Inst::kIdVpcmpeqd, to, to, to);
}

void Avx2Assembler::signs_of_wides(const Ymm& to) {
  ones(to);
  put(Inst::kIdVpsllq, to, to, asmjit::imm(63));
}

x86::Mem Avx2Assembler::constant(std::uint32_t value) {
  auto found = std::ranges::find(values_, value);
  if (found == values_.end()) found = values_.insert(found, value);
  return x86::dword_ptr(constants_, 2 * vector_bytes + 4 * static_cast<std::int32_t>(found - values_.begin()));
}

void Avx2Assembler::finish() {
  write_ways();
  embed_constants();
}

void Avx2Assembler::embed_constants() {
  Assembler::align(asmjit::AlignMode::kData, vector_bytes);
  Assembler::bind(constants_);
  for (std::uint32_t i = 0; i < 16; ++i) embedUInt32(1U << i);               // the bit of each word of a vector
  for (std::uint32_t i = 0; i < 8; ++i) embedUInt64(std::uint64_t{1} << i);  // of each wide
  for (const std::uint32_t value : values_) embedUInt32(value);
}

// ---- Instructions

/// Instructions that do the same to each lane as one of AVX2.
asmjit::InstId Avx2Assembler::find_same(InstId id) {
  static const std::map<InstId, InstId> same = [] {
    std::map<InstId, InstId> all{
        {Inst::kIdVpandd, Inst::kIdVpand},   {Inst::kIdVpandq, Inst::kIdVpand},   {Inst::kIdVpord, Inst::kIdVpor},
        {Inst::kIdVporq, Inst::kIdVpor},     {Inst::kIdVpxord, Inst::kIdVpxor},   {Inst::kIdVpxorq, Inst::kIdVpxor},
        {Inst::kIdVpandnd, Inst::kIdVpandn}, {Inst::kIdVpandnq, Inst::kIdVpandn},
    };
    for (const InstId own :
         {Inst::kIdVpaddd,  Inst::kIdVpaddq,  Inst::kIdVpsubd,  Inst::kIdVpsubq,  Inst::kIdVpmulld,   Inst::kIdVpmuludq,
          Inst::kIdVpmuldq, Inst::kIdVpabsd,  Inst::kIdVpminud, Inst::kIdVpminsd, Inst::kIdVpmaxud,   Inst::kIdVpmaxsd,
          Inst::kIdVpsllvd, Inst::kIdVpsrlvd, Inst::kIdVpsravd, Inst::kIdVpsllvq, Inst::kIdVpsrlvq,   Inst::kIdVpslld,
          Inst::kIdVpsrld,  Inst::kIdVpsrad,  Inst::kIdVpsllq,  Inst::kIdVpsrlq,  Inst::kIdVaddps,    Inst::kIdVsubps,
          Inst::kIdVmulps,  Inst::kIdVdivps,  Inst::kIdVsqrtps, Inst::kIdVaddpd,  Inst::kIdVsubpd,    Inst::kIdVmulpd,
          Inst::kIdVdivpd,  Inst::kIdVsqrtpd, Inst::kIdVmaxps,  Inst::kIdVminps,  Inst::kIdVcvtdq2ps, Inst::kIdVcvttps2dq,
          Inst::kIdVpshufd, Inst::kIdVpor})
      all.emplace(own, own);
    return all;
  }();
  const auto found = same.find(id);
  return found == same.end() ? InstId{Inst::kIdNone} : found->second;
}

const Avx2Assembler::Expand* Avx2Assembler::find_expand(InstId id) {
  using A = Avx2Assembler;
  static const std::map<InstId, Expand> expansions = [] {
    const std::pair<Expand, std::vector<InstId>> rows[] = {
        {&A::multiply_wides, {Inst::kIdVpmullq}},
        {&A::absolute_wides, {Inst::kIdVpabsq}},
        {&A::order_wides, {Inst::kIdVpminsq, Inst::kIdVpminuq, Inst::kIdVpmaxsq, Inst::kIdVpmaxuq}},
        {&A::shift_signed_wides, {Inst::kIdVpsravq}},
        {&A::multiply_add, {Inst::kIdVfmadd231ps, Inst::kIdVfmadd231pd}},
        {&A::logic, {Inst::kIdVpternlogd, Inst::kIdVpternlogq}},
        {&A::float_of_unsigned, {Inst::kIdVcvtudq2ps}},
        {&A::double_of_unsigned, {Inst::kIdVcvtudq2pd}},
        {&A::widen,
         {Inst::kIdVcvtdq2pd, Inst::kIdVcvtps2pd, Inst::kIdVcvtph2ps, Inst::kIdVpmovsxdq, Inst::kIdVpmovzxdq, Inst::kIdVpmovzxwd}},
        {&A::narrow, {Inst::kIdVpmovqd}},
        {&A::narrow_words, {Inst::kIdVpmovdw}},
        {&A::narrow_floats, {Inst::kIdVcvtpd2ps, Inst::kIdVcvtps2ph}},
        {&A::extract, {Inst::kIdVextracti64x4, Inst::kIdVextracti32x4}},
        {&A::insert, {Inst::kIdVinserti64x4}},
        {&A::broadcast, {Inst::kIdVpbroadcastd, Inst::kIdVpbroadcastq}},
        {&A::move_lane, {Inst::kIdVmovd, Inst::kIdVmovq}},
        {&A::join, {Inst::kIdValignq}},
        {&A::permute, {Inst::kIdVpermi2d}},
        {&A::test_bits, {Inst::kIdVptest}},
        {&A::move_mask, {Inst::kIdKmovb, Inst::kIdKmovw, Inst::kIdKmovd}},
        {&A::shift_mask, {Inst::kIdKshiftrd}},
        {&A::invert_mask, {Inst::kIdKnotw}},
        {&A::set_mask, {Inst::kIdKxnorw, Inst::kIdKxorb}},
        {&A::or_masks, {Inst::kIdKorb}},
        {&A::test_masks, {Inst::kIdKortestb, Inst::kIdKortestw}},
        {&A::unpack_masks, {Inst::kIdKunpckbw, Inst::kIdKunpckwd}},
        {&A::compare,
         {Inst::kIdVpcmpd, Inst::kIdVpcmpud, Inst::kIdVpcmpq, Inst::kIdVpcmpuq, Inst::kIdVcmpps, Inst::kIdVcmppd, Inst::kIdVptestmd,
          Inst::kIdVptestmq}},
        {&A::move, {Inst::kIdVmovdqu, Inst::kIdVmovdqa32, Inst::kIdVmovdqa64, Inst::kIdVmovdqu32, Inst::kIdVmovdqu64}},
        {&A::blend, {Inst::kIdVpblendmd, Inst::kIdVpblendmq}},
        {&A::gather, {Inst::kIdVpgatherdd, Inst::kIdVpgatherdq, Inst::kIdVpgatherqd, Inst::kIdVpgatherqq}},
        {&A::scatter, {Inst::kIdVpscatterqd, Inst::kIdVpscatterqq}},
    };
    std::map<InstId, Expand> all;
    for (const auto& [write, ids] : rows)
      for (const InstId each : ids) all.emplace(each, write);
    return all;
  }();
  const auto found = expansions.find(id);
  return found == expansions.end() ? nullptr : &found->second;
}

void Avx2Assembler::expand(const Instruction& instruction) {
  if (const InstId own = find_same(instruction.id); own != Inst::kIdNone) return by_halves(instruction, own);
  if (const Expand* const write = find_expand(instruction.id)) return (this->**write)(instruction);
  fail();
}

void Avx2Assembler::by_halves(const Instruction& instruction, InstId own) {
  if (instruction.mask >= 0) return fail();
  const bool clears = own == Inst::kIdVpxor && instruction[1] == instruction[2];  // whatever was there
  for (int half = 0; half < halves_of(instruction[0]); ++half) {
    if (clears) {
      zeros(write(instruction[0], half));
      continue;
    }
    std::array<Operand, 6> operands = instruction.operands;
    for (std::size_t i = 1; i < operands.size(); ++i) {
      const bool last = i + 1 == operands.size() || operands[i + 1].isNone();  // shifts by a number take no memory
      if (is_vector(operands[i]) && !last)
        operands[i] = read(operands[i], half);
      else if (is_vector(operands[i]) || operands[i].isMem())
        operands[i] = source(operands[i], half);
    }
    operands[0] = write(instruction[0], half);
    put_all(own, operands);
  }
}

}  // namespace warpmat::machine_code

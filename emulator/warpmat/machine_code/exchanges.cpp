// Operations across the lanes of a warp that are all here, where their mask names all: none waits for another. With other masks they are
// the machine's.

#include <warpmat/machine_code/writer.h>

namespace warpmat::machine_code {
namespace {

using asmjit::InstId;
using catalogue::Semantics;
using code::WarpExchange;
using code::WarpOperation;
namespace Inst = x86::Inst;
constexpr RegisterClass word = RegisterClass::word;

/// The last source is the mask.
Slot mask_slot(const code::Program& program, const Operation& operation) {
  return program.slots[operation.slots + operation.results + operation.sources - 1U];
}

/// Whether the mask may name all lanes: a register may.
bool may_name_all(const code::Program& program, const Operation& operation) {
  const Slot slot = mask_slot(program, operation);
  return slot >= 0 || static_cast<std::uint32_t>(program.constants[static_cast<std::size_t>(~slot) / 8]) == 0xffffffff;
}

/// Leaves the operation to the machine where a lane's mask does not name all.
void check_mask(Writer& w) {
  constexpr std::uint8_t differs = 4;
  if (mask_slot(w.program(), w.operation()) < 0) return;
  x86::Assembler& a = w.a();
  const Rows mask = w.source(w.operation().sources - 1, word);
  a.vpternlogd(x86::zmm0, x86::zmm0, x86::zmm0, 0xff);
  a.vpcmpd(x86::k1, mask.part[0], x86::zmm0, differs);
  a.vpcmpd(x86::k2, mask.part[1], x86::zmm0, differs);
  a.kortestw(x86::k1, x86::k2);
  a.jnz(w.leaving_here());
}

bool is_shuffle(WarpOperation operation) {
  return operation <= WarpOperation::shuffle_index;
}

/// zmm3: the lane that each of 16 lanes wants, of which zmm0 are the numbers, zmm2 the segments, zmm4 the first ones of those.
void find_wanted(Writer& w, WarpOperation operation) {
  x86::Assembler& a = w.a();
  switch (operation) {
    case WarpOperation::shuffle_up: a.vpsubd(x86::zmm3, x86::zmm0, x86::zmm3); break;
    case WarpOperation::shuffle_down: a.vpaddd(x86::zmm3, x86::zmm0, x86::zmm3); break;
    case WarpOperation::shuffle_butterfly: a.vpxord(x86::zmm3, x86::zmm0, x86::zmm3); break;
    default: a.vpandnd(x86::zmm3, x86::zmm2, x86::zmm3); a.vpord(x86::zmm3, x86::zmm3, x86::zmm4);
  }
}

/// As the machine's shuffle(), which explains the rule.
void write_shuffle(Writer& w, WarpOperation operation) {
  constexpr std::uint8_t not_above = 2, not_below = 5;
  x86::Assembler& a = w.a();
  const Rows words = w.source(0, word), b = w.source(1, word), c = w.source(2, word), d = w.result(word);
  fill(w, x86::zmm7, 31);
  for (std::size_t p = 0; p < 2; ++p) {
    a.vmovdqa32(x86::zmm0, w.table(Table::lanes, static_cast<int>(p)));
    a.vpandd(x86::zmm1, c.part[p], x86::zmm7);
    a.vpsrld(x86::zmm2, c.part[p], 8);
    a.vpandd(x86::zmm2, x86::zmm2, x86::zmm7);
    a.vpandd(x86::zmm3, b.part[p], x86::zmm7);
    a.vpandd(x86::zmm4, x86::zmm0, x86::zmm2);
    a.vpandnd(x86::zmm1, x86::zmm2, x86::zmm1);
    a.vpord(x86::zmm1, x86::zmm1, x86::zmm4);  // the last lane of the segment
    find_wanted(w, operation);
    const x86::KReg& in_segment = p == 0 ? x86::k1 : x86::k2;
    a.vpcmpd(in_segment, x86::zmm3, x86::zmm1, operation == WarpOperation::shuffle_up ? not_below : not_above);
    a.k(in_segment).vmovdqa32(x86::zmm0, x86::zmm3);
    a.vmovdqa32(d.part[p], x86::zmm0);
    a.vpermi2d(d.part[p], words.part[0], words.part[1]);
  }
  a.kunpckwd(x86::k1, x86::k2, x86::k1);
  a.kmovd(x86::eax, x86::k1);
  w.commit(d);
  if (w.operation().results == 2) w.commit_predicate(1);
}

void write_vote(Writer& w, WarpOperation operation) {
  x86::Assembler& a = w.a();
  a.mov(x86::eax, w.predicate(w.source_slot(0)));
  if (operation == WarpOperation::vote_ballot) {
    const Rows d = w.result(word);
    for (int p = 0; p < d.parts; ++p) a.vpbroadcastd(d.part[static_cast<std::size_t>(p)], x86::eax);
    return w.commit(d);
  }
  // carry where the vote fails, or for any: where it holds
  if (operation == WarpOperation::vote_all) {
    a.cmp(x86::eax, -1);
    a.cmc();  // only -1 is not below it
  } else if (operation == WarpOperation::vote_any) {
    a.neg(x86::eax);
  } else {
    a.add(x86::eax, 1);  // 0 and -1 become 1 and 0
    a.cmp(x86::eax, 2);
  }
  a.sbb(x86::eax, x86::eax);
  w.commit_predicate();
}

template <InstId instruction>
void reduce(Writer& w) {
  x86::Assembler& a = w.a();
  const Rows words = w.source(0, word), d = w.result(word);
  a.emit(instruction, x86::zmm0, words.part[0], words.part[1]);
  a.vextracti64x4(x86::ymm1, x86::zmm0, 1);
  a.emit(instruction, x86::ymm0, x86::ymm0, x86::ymm1);
  a.vextracti32x4(x86::xmm1, x86::ymm0, 1);
  a.emit(instruction, x86::ymm0, x86::ymm0, x86::ymm1);
  for (const std::uint8_t order : {std::uint8_t{0x4e}, std::uint8_t{0xb1}}) {
    a.vpshufd(x86::ymm1, x86::ymm0, order);
    a.emit(instruction, x86::ymm0, x86::ymm0, x86::ymm1);
  }
  for (int p = 0; p < d.parts; ++p) a.vpbroadcastd(d.part[static_cast<std::size_t>(p)], x86::xmm0);
  w.commit(d);
}

void write_reduction(Writer& w, WarpOperation operation) {
  switch (operation) {
    case WarpOperation::reduce_add: return reduce<Inst::kIdVpaddd>(w);
    case WarpOperation::reduce_min: return reduce<Inst::kIdVpminud>(w);
    case WarpOperation::reduce_max: return reduce<Inst::kIdVpmaxud>(w);
    case WarpOperation::reduce_min_signed: return reduce<Inst::kIdVpminsd>(w);
    case WarpOperation::reduce_max_signed: return reduce<Inst::kIdVpmaxsd>(w);
    case WarpOperation::reduce_and: return reduce<Inst::kIdVpandd>(w);
    case WarpOperation::reduce_or: return reduce<Inst::kIdVpord>(w);
    default: return reduce<Inst::kIdVpxord>(w);
  }
}

}  // namespace

bool exchanges_at_once(const code::Program& program, const Operation& operation) {
  if (operation.guarded) return false;
  if (operation.semantics == Semantics::warp_barrier) return may_name_all(program, operation);
  if (operation.semantics != Semantics::exchange) return false;
  const WarpExchange& exchange = program.of<WarpExchange>(operation);
  const WarpOperation what = exchange.operation;
  if (!exchange.has_mask || !may_name_all(program, operation)) return false;
  if (operation.results != (exchange.second_result ? 2 : 1)) return false;
  const bool predicate = what >= WarpOperation::vote_all && what < WarpOperation::vote_ballot;
  if (operation.result_class(0) != (predicate ? RegisterClass::predicate : word)) return false;
  if (operation.results == 2) return is_shuffle(what) && operation.result_class(1) == RegisterClass::predicate;
  return what <= WarpOperation::vote_ballot || (what >= WarpOperation::reduce_add && what <= WarpOperation::reduce_xor);
}

void write_exchange(Writer& w) {
  check_mask(w);
  if (w.operation().semantics == Semantics::warp_barrier) return;
  const WarpOperation operation = w.program().of<WarpExchange>(w.operation()).operation;
  if (is_shuffle(operation)) return write_shuffle(w, operation);
  operation <= WarpOperation::vote_ballot ? write_vote(w, operation) : write_reduction(w, operation);
}

}  // namespace warpmat::machine_code

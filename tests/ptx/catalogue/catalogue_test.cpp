#include "test.h"

#include <warpmat/ptx/catalogue/catalogue.h>
#include <warpmat/ptx/catalogue/executable.h>
#include <warpmat/warp.h>

namespace warpmat::catalogue::catalogue_test {

TEST_CASE("a pattern's qualifiers match in any order, optional ones or not", "[catalogue]") {
  const Pattern pattern(Row{"fma(.rn|.rz)(.ftz)?.f32", "d:f32 = a:f32, b:f32, c:f32"});
  CHECK(pattern.mnemonic == "fma");
  REQUIRE(pattern.places.size() == 3);
  CHECK(pattern.places[0].alternatives == std::vector<std::string>{".rn", ".rz"});
  CHECK(pattern.places[1].optional);
  CHECK_FALSE(pattern.places[2].optional);
  REQUIRE(pattern.operands.size() == 4);
  CHECK(pattern.operands[0].result);
  CHECK_FALSE(pattern.operands[1].result);
}

TEST_CASE("operand patterns: pairs, optional ones, vectors, wider registers, the carry", "[catalogue]") {
  const Pattern pattern(Row{"x.u32.f16", "d:T+[|p], cc = a:U*4, b:u32, cc"});
  REQUIRE(pattern.operands.size() == 6);
  CHECK(pattern.operands[0].may_be_wider);
  CHECK(pattern.operands[1].paired);
  CHECK(pattern.operands[1].optional);
  CHECK(pattern.operands[1].type->is_predicate());
  CHECK(pattern.operands[2].implicit());
  CHECK(pattern.operands[2].result);
  CHECK(pattern.operands[3].count == 4);
  CHECK(pattern.operands[3].type_index == 1);
  CHECK_FALSE(pattern.operands[4].optional);
  CHECK(pattern.operands[5].implicit());
  CHECK_FALSE(pattern.operands[5].result);
}

TEST_CASE("an operand of a row is an address, a number or the carry by its name", "[catalogue]") {
  using enum OperandPattern::Role;
  const Pattern pattern(Row{"x.b32", "d:T, cc = address:u64, a:T, lut:b32, cc"});
  std::vector<OperandPattern::Role> roles;
  for (const OperandPattern& operand : pattern.operands) roles.push_back(operand.role);
  CHECK(roles == std::vector{data, carry, address, data, number, carry});
}

TEST_CASE("a conversion's small format is the destination's, or the source's where both are packed and the source is small",
          "[catalogue]") {
  const auto stride_of = [](const char* opcode) { return executable(find_row(opcode).value()).modifiers.format.stride; };
  CHECK(stride_of("cvt.rn.f16x2.e4m3x2") == 8);
  CHECK(stride_of("cvt.rn.relu.f16x2.e2m1x2") == 4);
  CHECK(stride_of("cvt.rn.satfinite.e4m3x2.f16x2") == 8);
  CHECK(stride_of("cvt.rn.f16x2.f32") == 16);
  CHECK(stride_of("cvt.rn.bf16.f16") == 16);
}

TEST_CASE("a row that is found has the statement's types and runs", "[catalogue]") {
  const std::optional<Match> match = find_row("selp.s64");
  REQUIRE(match);
  CHECK(match->types.front()->name == "s64");
  CHECK(match->type_of(match->pattern->operands[0]).bits == 64);

  alignas(64) std::array<std::uint64_t, warp_size> a, b, d;
  for (std::size_t i = 0; i < warp_size; ++i) a[i] = i << 33, b[i] = ~std::uint64_t{i};
  const LaneMask p = 0xa5a50f33;
  void* const results[] = {d.data()};
  const void* const sources[] = {a.data(), b.data(), &p};
  match->pattern->row.function(results, sources);
  for (std::size_t i = 0; i < warp_size; ++i) CHECK(d[i] == ((p >> i & 1) != 0 ? a[i] : b[i]));
}

TEST_CASE("every row's operands and types can be resolved, and every row has a function or is the machine's", "[catalogue]") {
  for (const Pattern& pattern : patterns()) {
    INFO(pattern.row.opcode);
    std::string opcode = pattern.mnemonic;
    for (const OpcodePlace& place : pattern.places)
      if (!place.optional) opcode += place.alternatives.front();
    const std::optional<Match> match = find_row(opcode);
    REQUIRE(match);
    for (const OperandPattern& operand : match->pattern->operands) CHECK(match->type_of(operand).bits > 0);
    CHECK((pattern.row.function != nullptr || !pattern.row.kernel.empty()) == computes(pattern.row.semantics));
    if (!pattern.row.kernel.empty()) CHECK(executable(*match).function != nullptr);
  }
}

// ptxas 13.0 was asked each of them.
TEST_CASE("a qualifier that is part of the instruction's name comes first, others in any order", "[catalogue]") {
  for (const std::string& opcode : words_in(R"(
         mul.u32.lo mul.u32.hi mul.u32.wide mul24.u32.lo mad.u32.lo mad.sat.hi.s32 mad.cc.lo.u32 mad24.sat.hi.s32 madc.u32.lo
         madc.cc.hi.u32 dp2a.u32.hi.u32 shf.wrap.r.b32 shf.b32.l.wrap div.ftz.full.f32 div.f32.full cvt.sat.pack.u16.s32
         cvta.global.to.u64 bar.sync.warp bar.sync.cta bar.and.red.pred barrier.aligned.arrive barrier.aligned.cta.sync
         barrier.cluster.aligned.arrive brx.uni.idx clusterlaunchcontrol.async.try_cancel.mbarrier::complete_tx::bytes.b128
         cp.async.noinc.mbarrier.arrive.shared.b64 cp.async.bulk.read.wait_group
         cp.async.bulk.2d.tensor.shared::cluster.global.mbarrier::complete_tx::bytes
         cp.async.reduce.bulk.global.shared::cta.bulk_group.add.u32 createpolicy.L2::evict_last.fractional.b64 fence.async.proxy
         mbarrier.arrive.b64.expect_tx mbarrier.test_wait.b64.parity membar.alias.proxy multimem.relaxed.ld_reduce.gpu.add.u32
         red.relaxed.async.cluster.mbarrier::complete_tx::bytes.add.u32 setmaxnreg.sync.inc.aligned.u32
         st.weak.async.mbarrier::complete_tx::bytes.b32 suld.1d.b.b32.trap sust.1d.b.b32.trap tcgen05.cta_group::1.alloc.sync.aligned.b32
         tcgen05.ld.sync.red.aligned.32x32b.x2.min.u32 tcgen05.mma.sp.ws.cta_group::1.kind::f16 tensormap.tile.replace.rank.b1024.b32
         tex.2d.level.v4.f32.f32 wgmma.sync.fence.aligned wgmma.sync.mma_async.aligned.m64n8k8.f32.tf32.tf32
       )")) {
    INFO(opcode);
    CHECK_FALSE(find_row(opcode));
    CHECK(explain_unknown_row(opcode).starts_with("the qualifiers of '" + opcode + "' are in another order than in "));
  }
  for (const std::string& opcode : words_in(R"(
         mul.lo.u32 mad.lo.cc.u32 shf.l.b32.wrap div.ftz.approx.f32 setp.u32.lo set.u32.u32.hi setp.and.lo.u32 cvta.to.u64.global
         prmt.b32.f4e lop3.b32.or szext.u32.wrap bfind.u32.shiftamt bar.red.pred.and barrier.aligned.sync
         barrier.cluster.arrive.aligned.relaxed cp.async.bulk.tensor.shared::cluster.1d.global.mbarrier::complete_tx::bytes
         fence.proxy.global.async mbarrier.arrive.b64.noComplete st.f32.v2.global tcgen05.mma.cta_group::1.kind::f16.sp
         tcgen05.mma.ws.cta_group::1.sp.kind::f16 wgmma.fence.aligned.sync
       )")) {
    INFO(opcode);
    CHECK(find_row(opcode));
  }
  CHECK(explain_unknown_row("mul.u32.lo") == "the qualifiers of 'mul.u32.lo' are in another order than in mul.lo.u32");
}

// ptxas 13.0 was asked each of them.
TEST_CASE("spaces, formats and types keep their order", "[catalogue]") {
  CHECK(find_row("cp.async.shared.global.ca"));
  CHECK(find_row("cp.async.bulk.bulk_group.global.shared::cta"));
  CHECK(find_row("tcgen05.cp.b8x16.b4x16_p64.cta_group::1.128x256b"));
  CHECK(find_row("cvt.pack.s8.sat.s32.b32"));
  for (const char* opcode :
       {"cp.async.ca.global.shared", "cp.async.bulk.shared::cta.global.bulk_group",
        "cp.reduce.async.bulk.shared::cta.global.bulk_group.add.u32", "tcgen05.cp.cta_group::1.128x256b.b4x16_p64.b8x16"}) {
    INFO(opcode);
    CHECK_FALSE(find_row(opcode));
    CHECK(explain_unknown_row(opcode).starts_with(std::string("the qualifiers of '") + opcode + "' are in another order than in "));
  }
  for (const char* opcode : {"cvt.pack.sat.s8.b32.s32", "cvt.pack.sat.s32.s4.b32", "cvt.pack.sat.s32.s2.b32"}) {
    INFO(opcode);
    CHECK_FALSE(find_row(opcode));
    CHECK(explain_unknown_row(opcode).find("the nearest is cvt.pack.sat") != std::string::npos);
  }
}

TEST_CASE("each name that something asks for is one of rows", "[catalogue]") {
  std::set<Name> names;
  for (const Pattern& pattern : patterns()) {
    CHECK(row_of(pattern.name).name == pattern.name);
    if (pattern.name != Name::other) CHECK(row_of(pattern.name).mnemonic == pattern.mnemonic);
    names.insert(pattern.name);
  }
  constexpr std::array known_names{
#define WARPMAT_INSTRUCTION(name, mnemonic, traits) Name::name,
#include <warpmat/ptx/catalogue/names.inc>
#undef WARPMAT_INSTRUCTION
  };
  for (const Name name : known_names) {
    INFO(row_of(name).mnemonic);
    CHECK(names.contains(name));
  }
  CHECK(find_name("no_such_instruction") == Name::other);
  const auto match = find_row("mul.f32.rn.ftz");
  REQUIRE(match);
  CHECK(match->is(Name::mul));
  CHECK((match->has(".rn") && match->has(".ftz") && !match->has(".sat")));
}

TEST_CASE("each qualifier that something asks for is one of rows, whose numbers differ", "[catalogue]") {
  std::set<std::string> spelled;
  for (const Pattern& pattern : patterns())
    for (const OpcodePlace& place : pattern.places) spelled.insert(place.alternatives.begin(), place.alternatives.end());
  std::map<Qualifier, std::string> by_number{{Qualifier(), ""}};
  for (const std::string& qualifier : spelled) {
    const auto [place, added] = by_number.emplace(Qualifier::of(qualifier), qualifier);
    INFO(qualifier << " has the number of " << place->second);
    CHECK(added);
  }
  std::istringstream asked{std::string(asked_qualifiers)};
  std::size_t found = 0;
  for (std::string qualifier; asked >> qualifier; ++found) {
    INFO(qualifier);
    CHECK(spelled.contains(qualifier));
  }
  CHECK(found > 190);
}

TEST_CASE("a row without a kernel's name has that which its opcode names", "[catalogue]") {
  const auto kernel_of = [](const char* opcode) { return Pattern(Row{opcode, ""}).row.kernel; };
  CHECK(kernel_of("add(.rn|.rz)?(.ftz)?(.sat)?.f32") == "add.T");
  CHECK(kernel_of("mul.lo(.u16|.s16)") == "mul.lo.T");
  CHECK(kernel_of("fma(.rn|.rz)(.sat)?.f32(.f16|.bf16)") == "fma.T.U");
  CHECK(kernel_of("prmt.b32.f4e") == "prmt.T.f4e");
  CHECK(Pattern(Row{"min(.ftz)?.NaN.f32", "", nullptr, Semantics::compute, {}, "min.T"}).row.kernel == "min.T");
  CHECK(Pattern(Row{"ld.b32", "", nullptr, Semantics::load}).row.kernel.empty());
}

TEST_CASE("of the rows with as many of an opcode's qualifiers the nearest is named", "[catalogue]") {
  CHECK(explain_unknown_row("mov.u8") == "'mov.u8' is not a form that warpmat executes; the nearest is mov(.b16|.u16|.s16)");
  CHECK(explain_unknown_row("popc.b16").ends_with("the nearest is popc(.b32|.b64)"));
  CHECK(explain_unknown_row("mov.b65").ends_with("the nearest is mov(.b64|.u64|.s64|.f64)"));
}

TEST_CASE("an unknown opcode is explained", "[catalogue]") {
  CHECK_FALSE(find_row("selp.rn.s64"));
  CHECK(explain_unknown_row("selp.rn.s64").find("selp") != std::string::npos);
  CHECK(explain_unknown_row("tex.2d.v2.f16x2.f32").find("the nearest is tex.2d.v4.f32(.s32|.f32)") != std::string::npos);
  CHECK(explain_unknown_row("tcgen05.ld.sync.aligned").find("the nearest is tcgen05.ld.sync.aligned(") != std::string::npos);
  CHECK(explain_unknown_row("sured.b.add.2d.u32.trap") ==
        "'sured.b.add.2d.u32.trap' is not executed: warpmat has no reductions on surfaces");
  CHECK(explain_unknown_row("movo.b32") ==
        "'movo.b32' is not an instruction that warpmat executes: 'warpmat list' and 'warpmat list --scalar' name those");
  CHECK(why_absent("multimem.st.e4m3x4") == "no H200 has this type, whose answers the machine follows");
}

}  // namespace warpmat::catalogue::catalogue_test

#include <warpmat/ptx/catalogue/evidence.h>

#include "compressed_table.h"
#include "gpu/runners/scalar_case.h"
#include "test.h"

namespace warpmat::evidence_test {
namespace {

catalogue::RowEvidence evidence(const std::string& opcode, Hardware hardware) {
  const auto match = catalogue::find_row(opcode);
  REQUIRE(match.has_value());
  return catalogue::evidence_of(*match->pattern, hardware);
}

/// The spellings with an H200's recorded answers.
std::set<std::string> recorded_opcodes() {
  std::set<std::string> opcodes;
  for (const std::string& line : read_compressed_lines(source_path("tests/vectors/scalar_sm_90.tsv.gz")))
    if (!line.starts_with('#')) opcodes.insert(line.substr(0, line.find_first_of(" \t")));
  return opcodes;
}

TEST_CASE("what calls itself measured on sm_90 has recorded answers, each spelling, and nothing else has", "[catalogue][evidence]") {
  const std::set<std::string> recorded = recorded_opcodes();
  std::set<std::string> measured;
  for (const ScalarCase& c : scalar_cases(target("sm_90a"), {9, 0}))
    if (evidence(c.opcode, Hardware::sm_90).label == Label::measured) measured.insert(c.opcode);
  CHECK(measured == recorded);
  for (const catalogue::Pattern& row : catalogue::patterns()) {
    if (!has_feature(row.row.requirement, target("sm_90a"))) continue;
    const catalogue::RowEvidence e = catalogue::evidence_of(row, Hardware::sm_90);
    INFO(row.row.opcode);
    CHECK((e.label == Label::measured) == !row.row.kernel.empty());
    CHECK((e.label == Label::measured) == (e.compared != 0));
    CHECK(catalogue::evidence_of(row, Hardware::sm_80).label != Label::measured);
  }
}

TEST_CASE("what the ISA fixes is specified, what it leaves open is named, the rest is assumed", "[catalogue][evidence]") {
  struct Case {
    const char* opcode;
    Hardware hardware;
    Label label;
    const char* open = "";
  };
  using enum Hardware;
  for (const Case& c : {
           Case{"mov.b32", sm_90, Label::specified},
           Case{"tcgen05.mma.cta_group::1.kind::f16", sm_100, Label::published},
           Case{"tcgen05.mma.cta_group::1.kind::f8f6f4", sm_100, Label::assumed},
           Case{"tcgen05.mma.cta_group::1.kind::i8", sm_110, Label::assumed},
           Case{"tcgen05.mma.cta_group::2.kind::f16", sm_100, Label::assumed},
           Case{"tcgen05.mma.sp.cta_group::1.kind::f16", sm_100, Label::assumed},
           Case{"tcgen05.mma.ws.cta_group::1.kind::f16", sm_100, Label::assumed},
           Case{"tcgen05.mma.cta_group::1.kind::mxf4.block_scale.block32", sm_100, Label::published},
           Case{"tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale", sm_100, Label::assumed},
           Case{"tcgen05.cp.cta_group::1.32x128b.warpx4", sm_100, Label::published},
           Case{"tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64", sm_100, Label::published},
           Case{"tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64", sm_100, Label::assumed},
           Case{"tcgen05.cp.cta_group::1.128x128b.b8x16.b6x16_p32", sm_100, Label::assumed},
           Case{"tcgen05.shift.down.cta_group::1", sm_100, Label::assumed},
           Case{"tcgen05.alloc.cta_group::1.sync.aligned.b32", sm_100, Label::published, "which columns a block gets"},
           Case{"tcgen05.ld.sync.aligned.32x32b.x1.b32", sm_103, Label::published},
           Case{"tex.2d.v4.f32.f32", sm_90, Label::assumed},
           Case{"tld4.r.2d.v4.f32.f32", sm_80, Label::assumed},
           Case{"suld.b.2d.b32.trap", sm_90, Label::specified},
           Case{"and.b32", sm_90, Label::measured},
           Case{"and.b32", sm_80, Label::specified},
           Case{"add.f32", sm_80, Label::specified, "NaN payloads, and .ftz beside the smallest normal number"},
           Case{"add.rn.f64", sm_80, Label::specified, "NaN payloads"},
           Case{"add.s32", sm_80, Label::specified},
           Case{"cvt.rn.f16.f32", sm_80, Label::specified, "NaN payloads, and .ftz beside the smallest normal number"},
           Case{"cvt.rn.f32.s32", sm_80, Label::specified},
           Case{"cvt.rzi.s32.f32", sm_80, Label::specified},
           Case{"set.lt.f32.f32", sm_80, Label::specified},
           Case{"div.s32", sm_80, Label::specified, "a divisor of zero"},
           Case{"div.rn.f32", sm_90, Label::measured},
           Case{"ex2.approx.f32", sm_90, Label::measured},
           Case{"ex2.approx.f32", sm_80, Label::assumed},
           Case{"vadd.u32.u32.u32", sm_80, Label::assumed},
           Case{"cvt.rs.f16x2.f32", sm_100, Label::assumed},
           Case{"add.f32x2", sm_100, Label::specified, "NaN payloads, and .ftz beside the smallest normal number"},
           Case{"ld.global.f32", sm_90, Label::specified},
           Case{"shfl.sync.idx.b32", sm_90, Label::specified},
           Case{"shfl.sync.idx.b32", sm_80, Label::specified, "what lanes give that take no part"},
           Case{"vote.sync.ballot.b32", sm_80, Label::specified},
           Case{"redux.sync.min.f32", sm_100, Label::specified, "NaN payloads"},
           Case{"elect.sync", sm_90, Label::assumed},
           Case{"atom.global.add.u32", sm_90, Label::specified, "the order in which lanes and blocks come"},
           Case{"red.global.add.f64", sm_80, Label::specified, "NaN payloads, and the order in which lanes and blocks come"},
       }) {
    INFO(c.opcode << " " << name(c.hardware));
    const catalogue::RowEvidence e = evidence(c.opcode, c.hardware);
    CHECK(e.label == c.label);
    CHECK(e.open == c.open);
    CHECK_FALSE(e.source.empty());
  }
}

}  // namespace
}  // namespace warpmat::evidence_test

#include <warpmat/wgmma.h>

#include "compressed_table.h"
#include "test.h"

namespace warpmat::wgmma_test {

TEST_CASE("the forms of wgmma are those that ptxas assembles", "[tables][wgmma]") {
  // Every width from 8 to 264, every pair of types with every result, dense and sparse: what ptxas 13.0 said of each.
  std::map<bool, int> answers;
  for (const auto& row : read_table(source_path("tests/vectors/ptxas_13.0_wgmma.tsv.gz"))) {
    if (row.front().starts_with('#')) continue;
    INFO(row[0]);
    const bool accepted = row[1] == "1";
    REQUIRE((find_wgmma(row[0]) != nullptr) == accepted);
    ++answers[accepted];
  }
  CHECK(answers[true] == static_cast<int>(wgmma_forms().size()));
  CHECK(answers[false] > 1000);
}

TEST_CASE("a warpgroup's registers are those of its tiles", "[tables][wgmma]") {
  const auto registers = [](const char* opcode) { return find_wgmma(opcode)->d_registers(); };
  CHECK(registers("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16") == 4);
  CHECK(registers("wgmma.mma_async.sync.aligned.m64n24k16.f16.f16.f16") == 6);
  CHECK(registers("wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e5m2") == 128);
  for (const WgmmaForm& form : wgmma_forms()) CHECK(form.a_registers() == 4);
}

TEST_CASE("wgmma is for sm_90a alone", "[tables][wgmma]") {
  const WgmmaForm& form = *find_wgmma("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8");
  CHECK(unavailable(form, *find_target("sm_90a")) == std::nullopt);
  CHECK(unavailable(form, *find_target("sm_90")) == form.opcode + " needs sm_90a; the target is sm_90");
  CHECK(unavailable(form, *find_target("sm_100a")) == form.opcode + " needs sm_90a; the target is sm_100a");
  CHECK(unavailable(form, *find_target("sm_90a"), {8, 3}) == form.opcode + " needs PTX 8.4 or later; the version is 8.3");
}

TEST_CASE("accumulators of every width have the ISA's layout", "[tables][wgmma]") {
  for (const WgmmaForm& form : wgmma_forms()) {
    const TiledLayout layout = register_layout(form, OperandName::d);
    const bool narrow = row(form.tile->format(OperandName::d)).bits == 16;
    REQUIRE(layout.size_from(LayoutAxis::row) == 64);
    REQUIRE(layout.size_from(LayoutAxis::column) == static_cast<std::uint32_t>(form.shape.n));
    REQUIRE(layout.size_to(LayoutAxis::reg) == static_cast<std::uint32_t>(form.d_registers()));
    // PTX ISA 9.1, figures of section 9.7.15.5.1.1: the row and column that register r of lane l of warp w holds.
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(form.shape.n) / 2; ++i)
      for (const std::uint32_t lane : {0u, 5u, 31u})
        for (const std::uint32_t warp : {0u, 3u}) {
          Point element;
          element[LayoutAxis::row] = 16 * warp + lane / 4 + 8 * (i / 2 % 2);
          element[LayoutAxis::column] = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
          const Point place = layout(element);
          REQUIRE(place[LayoutAxis::warp] == warp);
          REQUIRE(place[LayoutAxis::lane] == lane);
          REQUIRE(place[LayoutAxis::reg] == (narrow ? i / 2 : i));
          REQUIRE(place[LayoutAxis::bit] == (narrow ? 16 * (i % 2) : 0));
        }
  }
}

TEST_CASE("A in registers: 16 rows a warp, as in mma", "[tables][wgmma]") {
  const TiledLayout layout = register_layout(*find_wgmma("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"), OperandName::a);
  Point element;
  element[LayoutAxis::row] = 16 * 2 + 9;
  element[LayoutAxis::column] = 13;
  const Point place = layout(element);
  CHECK(place[LayoutAxis::warp] == 2);
  CHECK(place[LayoutAxis::lane] == 4 * 1 + 2);
  CHECK(place[LayoutAxis::reg] == 3);
  CHECK(place[LayoutAxis::bit] == 16);
}

}  // namespace warpmat::wgmma_test

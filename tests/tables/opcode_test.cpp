// The grammar of opcodes, by rows of this file. What ptxas asks of real rows: form_test, wgmma_test, catalogue_test.

#include <warpmat/tables/opcode_index.h>

#include "test.h"

#include <warpmat/tables/nearest_opcode.h>

namespace warpmat::opcode_test {
namespace {

using Texts = std::vector<std::string_view>;
using Found = std::optional<std::size_t>;

OpcodeIndex index_of(const std::vector<const char*>& rows) {
  OpcodeIndex index;
  for (const char* row : rows) index.add(OpcodeRow(row));
  return index;
}

TEST_CASE("an opcode is a mnemonic and qualifiers, which begin with their dots", "[opcode]") {
  CHECK(parts_of("mma.sync.f32") == Texts{"mma", ".sync", ".f32"});
  CHECK(parts_of("a..b.") == Texts{"a", ".", ".b", "."});
  CHECK(parts_of("") == Texts{""});
  CHECK(parts_of(".a") == Texts{".a"});
}

TEST_CASE("an opcode's name says which table has it", "[opcode]") {
  for (const char* opcode : {"mma.sync", "mma", "ldmatrix.x", "stmatrix", "movmatrix.b16", "wmma.load.e"}) {
    INFO(opcode);
    CHECK(table_of(opcode) == OpcodeTable::forms);
  }
  for (const char* opcode : {"wgmma.mma_async.sync.aligned", "wgmma.sync.mma_async", "wgmma.mma_async"}) {
    INFO(opcode);
    CHECK(table_of(opcode) == OpcodeTable::wgmma);
  }
  for (const char* opcode : {"wgmma.fence.sync.aligned", "wgmma", "add.s32", "mmap.mma_async", "", ".mma", "tcgen05.mma.x"}) {
    INFO(opcode);
    CHECK(table_of(opcode) == OpcodeTable::rows);
  }
  CHECK(mnemonic_of("wmma.load.a") == "wmma");
  CHECK(mnemonic_of("exit") == "exit");
  CHECK(mnemonic_of("") == "");
}

TEST_CASE("the name of an instruction may have qualifiers", "[opcode]") {
  CHECK(name_of("mma.sync.aligned") == "mma");
  CHECK(name_of("mul.lo.u32") == "mul.lo");
  CHECK(name_of("mul.u32.lo") == "mul");
  CHECK(name_of("wmma.load.a.sync") == "wmma.load.a");
  CHECK(name_of("cp.async.bulk.tensor.2d") == "cp.async.bulk.tensor");
  CHECK(OpcodeRow("cvta(.to)?(.global|.local).u64").name_places == 1);
  CHECK(OpcodeRow("setp.lo.u32").name_places == 0);
}

TEST_CASE("a row has places with alternatives, optional ones or not", "[opcode]") {
  const OpcodeRow row("fma(.rn|.rz)(.ftz)?.sat?.f32");
  CHECK(row.mnemonic == "fma");
  REQUIRE(row.places.size() == 4);
  CHECK(row.places[0].alternatives == std::vector<std::string>{".rn", ".rz"});
  CHECK_FALSE(row.places[0].optional);
  CHECK(row.places[1].optional);
  CHECK(row.places[2].optional);
  CHECK_FALSE(row.places[3].optional);
  CHECK(OpcodeRow("exit").places.empty());
  std::string longest = "x";
  for (std::size_t i = 0; i < OpcodeRow::most_places; ++i) longest += ".a";
  CHECK(OpcodeRow(longest).places.size() == OpcodeRow::most_places);
  CHECK_THROWS_AS(OpcodeRow(longest + ".a"), std::logic_error);
  CHECK(index_of({longest.c_str()}).find(longest) == Found(0));
  CHECK(index_of({longest.c_str()}).find(longest + ".a") == Found());
}

TEST_CASE("qualifiers stand in any order, each at one place", "[opcode]") {
  const OpcodeIndex index = index_of({"x.a(.b|.c)(.d)?", "x", "y.a"});
  for (const char* opcode : {"x.a.b", "x.b.a", "x.c.a", "x.d.c.a", "x.a.d.b"}) CHECK(index.find(opcode) == Found(0));
  CHECK(index.find("x") == Found(1));
  CHECK(index.find("y.a") == Found(2));
  for (const char* opcode : {"x.a", "x.a.b.c", "x.a.a.b", "x.a.b.d.d", "x.a.b.e", "x.a.", "y", "z", "z.a", "", "xa.b"}) {
    INFO(opcode);
    CHECK(index.find(opcode) == Found());
  }
}

TEST_CASE("types, layouts, spaces, reductions and formats keep their order among themselves", "[opcode]") {
  const auto spells = [](const char* row, const char* opcode) { return index_of({row}).find(opcode).has_value(); };
  CHECK(spells("x.a.f32.f16", "x.f32.f16.a"));
  CHECK_FALSE(spells("x.a.f32.f16", "x.f16.f32.a"));
  CHECK(spells("x(.f32|.f16)(.f32|.f16)", "x.f16.f32"));
  CHECK_FALSE(spells("x.e4m3.s4", "x.s4.e4m3"));
  CHECK_FALSE(spells("x.row.col", "x.col.row"));
  CHECK(spells("x.row.f32.col", "x.row.col.f32"));
  CHECK_FALSE(spells("x.shared::cluster.global", "x.global.shared::cluster"));
  CHECK_FALSE(spells("x.and.popc", "x.popc.and"));
  CHECK_FALSE(spells("x.b8x16.b4x16_p64", "x.b4x16_p64.b8x16"));
  CHECK(spells("x.row.f32", "x.f32.row"));  // of two orders
  CHECK(index_of({"x.f32.f16"}).find(parts_of("x.f16.f32"), 0, OrderRule::types_alone) == Found());
  CHECK(index_of({"x.row.col"}).find(parts_of("x.col.row"), 0, OrderRule::types_alone) == Found(0));
}

TEST_CASE("the qualifiers of a name stand first, in their order", "[opcode]") {
  const OpcodeIndex index = index_of({"wmma.load.a.sync.f16", "cvta(.to)?.global.u64", "barrier(.cta)?(.sync|.arrive)(.aligned)?"});
  CHECK(index.find("wmma.load.a.f16.sync") == Found(0));
  for (const char* opcode : {"wmma.a.load.sync.f16", "wmma.load.sync.a.f16", "wmma.sync.load.a.f16", "wmma.f16.sync.load.a"})
    CHECK(index.find(opcode) == Found());
  CHECK(index.find("cvta.u64.global") == Found(1));
  CHECK(index.find("cvta.to.u64.global") == Found(1));
  CHECK(index.find("cvta.u64.to.global") == Found());
  CHECK(index.find("barrier.cta.aligned.sync") == Found(2));
  CHECK(index.find("barrier.sync.cta") == Found());
  CHECK(index.find("barrier.arrive.cta") == Found());
  CHECK(index.find("barrier.aligned.sync") == Found(2));  // .arrive alone is part of the name
  CHECK(index.find("barrier.aligned.arrive") == Found());
  CHECK(index.find(parts_of("cvta.u64.to.global"), 0, OrderRule::types_alone) == Found(1));
}

TEST_CASE("of several rows the first that spells an opcode is found, or the first from a number on", "[opcode]") {
  std::vector<const char*> rows(200, "x.a.b");  // more than a word has bits
  rows[0] = "x.a";
  rows[130] = "x.c(.b)?";
  const OpcodeIndex index = index_of(rows);
  CHECK(index.find("x.b.a") == Found(1));
  CHECK(index.find(parts_of("x.b.a"), 2) == Found(2));
  CHECK(index.find(parts_of("x.b.a"), 130) == Found(131));
  CHECK(index.find(parts_of("x.b.a"), 200) == Found());
  CHECK(index.find("x.c") == Found(130));
  CHECK(index.find("x.b.c") == Found(130));
  CHECK(index.find(parts_of("x.c"), 131) == Found());
  CHECK(index.rows_of("x").size() == 200);
  CHECK(index.rows_of("y").empty());
}

TEST_CASE("an opcode in the order of a row's places", "[opcode]") {
  const auto ordered = [](const char* row, const char* opcode) {
    const std::vector<std::string_view> parts = parts_of(opcode);
    return in_order(OpcodeRow(row), std::span(parts).subspan(1));
  };
  CHECK(ordered("mul.lo(.u32|.s32)", "mul.u32.lo") == "mul.lo.u32");
  CHECK(ordered("cvt(.rn|.rz)(.ftz)?(.f32|.f16)(.f32|.f16)", "cvt.f16.f32.rz") == "cvt.rz.f16.f32");
  CHECK(ordered("x(.a|.b)(.b|.c)?", "x.b.c") == "x.b.c");
}

TEST_CASE("the row with the most of an opcode's qualifiers is the nearest, with all alternatives where it has none", "[opcode]") {
  const std::vector<OpcodeRow> rows{OpcodeRow("x(.f32|.f64)"), OpcodeRow("x.a(.f32|.s32)"), OpcodeRow("x.a.ftz?.f16")};
  const std::vector<const OpcodeRow*> all{&rows[0], &rows[1], &rows[2]};
  CHECK(nearest_spelling("x.a", all) == "x.a(.f32|.s32)");
  CHECK(nearest_spelling("x.s64", all) == "x(.f32|.f64)");
  CHECK(nearest_spelling("x.a.b64", all) == "x.a(.f32|.s32)");
  CHECK(nearest_spelling("x.ftz", all) == "x.a.ftz.f16");
}

}  // namespace
}  // namespace warpmat::opcode_test

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

#include "catch.h"
#include "command.h"
#include "contains.h"

namespace warpmat::layout_wgmma_test {
namespace {

using Json = nlohmann::ordered_json;

const std::string product = "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16";

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Outcome layout(std::vector<std::string> arguments, const std::string& opcode = product) {
  arguments.insert(arguments.begin(), {"layout", opcode});
  return run_command(arguments);
}

Json json_of(std::vector<std::string> arguments, const std::string& opcode = product) {
  arguments.emplace_back("--json");
  const Outcome outcome = layout(std::move(arguments), opcode);
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  return Json::parse(outcome.out);
}

TEST_CASE("layout of wgmma: registers of a warpgroup as the ISA's figures have them", "[tools][wgmma]") {
  // PTX ISA 9.1, section 9.7.15.5.1, figures of D, and of A of 16-bit types.
  for (const Json d = json_of({"--operand", "d"}); const Json& e : d.at("elements")) {
    const int warp = e.at("warp"), lane = e.at("lane"), reg = e.at("register");
    REQUIRE(e.at("row") == 16 * warp + lane / 4 + 8 * (reg / 2 % 2));
    REQUIRE(e.at("column") == reg / 4 * 8 + lane % 4 * 2 + reg % 2);
  }
  for (const Json a = json_of({"--operand", "a"}); const Json& e : a.at("elements")) {
    const int warp = e.at("warp"), lane = e.at("lane"), reg = e.at("register"), bit = e.at("bit");
    REQUIRE(e.at("row") == 16 * warp + lane / 4 + 8 * (reg % 2));
    REQUIRE(e.at("column") == lane % 4 * 2 + 8 * (reg / 2) + bit / 16);
  }
  CHECK(layout({"--operand", "d", "--row", "17", "--column", "2"}).out == "row 17, column 2: warp 1, lane 5, register 0, bits 0 to 31\n");
  CHECK(layout({"--operand", "a", "--warp", "3", "--lane", "31", "--register", "3"}).out ==
        "row 63, column 14: warp 3, lane 31, register 3, bits 0 to 15\nrow 63, column 15: warp 3, lane 31, register 3, bits 16 to 31\n");
  const std::string whole = layout({"--operand", "d"}).out;
  CHECK(whole.starts_with("Operand d of " + product +
                          ": 64 rows and 64 columns of 32-bit elements in 32 32-bit registers of each lane of four warps\n"));
  CHECK(contains(whole, "Row and column -> warp:lane:register\n"));
}

TEST_CASE("layout of wgmma: from a tile to its descriptor, and to the byte of every element", "[tools][wgmma]") {
  // CuTe's K-major 128-byte swizzle: row r has 128 bytes, whose 16-byte chunk c lies at c ^ r % 8. 64 columns of B, 32 bytes of k.
  const Json b = json_of({"--operand", "b", "--start", "0x2000"});
  CHECK(b.at("descriptor") == "0x4000004002000200");
  CHECK((b.at("start") == 0x2000 && b.at("stride") == 1024 && b.at("swizzle") == 128 && b.at("base_offset") == 0));
  for (const Json& e : b.at("elements")) {
    const int k = e.at("row"), n = e.at("column");
    REQUIRE(e.at("address") == 0x2000 + n * 128 + ((k / 8) ^ n % 8) * 16 + k % 8 * 2);
  }
  // MN-major without a swizzle: 8 by 8 elements lie together; those of n go on by the stride byte offset, those of k by the leading one.
  const Json mn = json_of({"--operand", "b", "--major", "mn", "--swizzle", "none", "--leading", "4096", "--stride", "256"});
  for (const Json& e : mn.at("elements")) {
    const int k = e.at("row"), n = e.at("column");
    REQUIRE(e.at("address") == k / 8 * 4096 + n / 8 * 256 + k % 8 * 16 + n % 8 * 2);
  }
  CHECK(layout({"--operand", "b", "--row", "9", "--column", "3", "--swizzle", "128"}).out == "row 9, column 3: bytes 0x1a2 to 0x1a3\n");
}

TEST_CASE("layout of wgmma: from the 64 bits back to the tile, wrong bits named", "[tools][wgmma]") {
  const Json described = json_of({"--operand", "a", "--swizzle", "64", "--start", "0x400", "--stride", "2048"});
  const Json again = json_of({"--operand", "a", "--descriptor", described.at("descriptor")});
  CHECK(described == again);
  const auto notes = [](const std::string& bits, const std::string& operand = "a") {
    const std::string text = layout({"--operand", operand, "--descriptor", bits}).out;
    CHECK(contains(text, "descriptor 0x"));
    return text;
  };
  CHECK(contains(notes("0x4010004000010040"), "note: bit 52 is set and belongs to no field: the hardware ignores it"));
  CHECK(contains(notes("0x4000c0400001c040"), "note: bits 14, 15, 46, 47 are set and belong to no field"));
  CHECK(contains(notes("0x4000004000010048"), "base offset 0 (bits 49 to 51): the pattern of a 128-byte swizzle repeats every 1024 bytes"));
  CHECK(!contains(notes("0x4002004000010048"), "pattern"));
  CHECK(contains(notes("0x4000000800010040"), "chunks of 16 bytes are read again as others"));
  CHECK(contains(notes("0x0000000800100040", "b"), "exchanged, no bytes would be shared"));
  CHECK(contains(notes("0x4000004000013fff"), "shared memory of sm_90 ends at 0x39000"));
  CHECK(contains(notes("0x4000004000010040"), "the leading byte offset (bits 16 to 29) is not used"));
}

TEST_CASE("layout of wgmma refuses what it does not have", "[tools][wgmma]") {
  const auto error = [](const std::vector<std::string>& arguments, const std::string& opcode = product) {
    const Outcome outcome = layout(arguments, opcode);
    CHECK(outcome.status != 0);
    CHECK(outcome.out.empty());
    return outcome.err;
  };
  CHECK(contains(error({"--operand", "e"}), "has no registers of operand e; --operand can be d, a, and in shared memory a, b"));
  CHECK(contains(error({"--operand", "d", "--swizzle", "64"}), "a descriptor names operand a or b of"));
  CHECK(contains(error({"--operand", "b", "--swizzle", "256"}), "--swizzle is 256; it can be 128, 32, 64, none"));
  CHECK(contains(error({"--operand", "b", "--start", "8"}), "start address 8 does not fit a matrix descriptor"));
  CHECK(contains(error({"--operand", "b", "--major", "mn"}, "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3"), "only 16-bit types"));
  CHECK(contains(error({"--operand", "b", "--descriptor", "1", "--swizzle", "64"}), "--swizzle"));
  CHECK(contains(error({"--operand", "d", "--row", "64", "--column", "0"}), "--row must be 0 to 63"));
  CHECK(contains(error({"--operand", "a", "--start", "0"}, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"),
                 "these options are for wgmma"));
}

}  // namespace
}  // namespace warpmat::layout_wgmma_test

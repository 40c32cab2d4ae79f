#include <nlohmann/json.hpp>

#include "command.h"
#include "test.h"

namespace warpmat::layout_wgmma_test {
namespace {

using Json = nlohmann::ordered_json;

const std::string product = "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16";

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
}

TEST_CASE("layout of wgmma: from the 64 bits back to the tile", "[tools][wgmma]") {
  const Json described = json_of({"--operand", "a", "--swizzle", "64", "--start", "0x400", "--stride", "2048"});
  const Json again = json_of({"--operand", "a", "--descriptor", described.at("descriptor")});
  CHECK(described == again);
}

}  // namespace
}  // namespace warpmat::layout_wgmma_test

// warpmat cuda --profile: the launches of a program.

#include <nlohmann/json.hpp>

#include "command.h"
#include "test.h"

namespace warpmat::cuda_profile_test {

TEST_CASE("cuda --profile has the launches of a program", "[cuda][profile]") {
  const TemporaryDirectory directory;
  const std::string file = directory.path("p.json");
  const Outcome outcome = run_command({"cuda", "--quiet", "--profile", "--profile=" + file, cuda_program_path(), "works"});
  INFO(outcome.err);
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.err, ContainsSubstring("Profile of store in "));
  using Json = nlohmann::json;
  const Json json = Json::parse(read_text(file));
  CHECK(json.at("command") == "cuda");
  const auto row = [&](const char* table, const char* key, const char* wanted) {
    for (const Json& each : json.at(table))
      if (each.at(key) == wanted) return each;
    return Json{};
  };
  const Json kernel = row("kernels", "kernel", "store"), stored = row("opcodes", "opcode", "st.global.u32");
  REQUIRE((!kernel.is_null() && !stored.is_null()));
  CHECK(kernel.at("launches") >= 1);
  CHECK(stored.at("executed") == 2 * kernel.at("launches").get<int>());
}

TEST_CASE("cuda --profile with its file as a word of its own says how it is written", "[cuda][profile]") {
  const Outcome outcome = run_command({"cuda", "--profile", "p.json", cuda_program_path(), "works"});
  CHECK(outcome.status == 1);
  CHECK_THAT(outcome.err, ContainsSubstring("p.json is no program; the value of --profile is joined to it: --profile=p.json"));
}

}  // namespace warpmat::cuda_profile_test

#include <unistd.h>

#include <fmt/format.h>

#include <warpmat/ir/code.h>
#include <warpmat/machine/internals.h>
#include <warpmat/ptx/catalogue/catalogue.h>
#include <warpmat/ptx/catalogue/evidence.h>

#include "compressed_table.h"
#include "gpu/lab/constants/constant_sweep.h"
#include "lab/stored_constants.h"
#include "tables/assembler.h"
#include "test.h"

namespace warpmat::constants_test {
namespace {

constexpr PtxVersion version{9, 0};
constexpr std::size_t word_bytes = 8, lane_count = 32;

const Target& sm_90a() {
  return target("sm_90a");
}

std::string module_of(const std::vector<ConstantCase>& cases, std::size_t tuples) {
  std::string text = fmt::format(".version {}\n.target {}\n.address_size 64\n", to_string(version), sm_90a().name);
  for (std::size_t i = 0; i < cases.size(); ++i) text += constant_entry(cases[i], fmt::format("k{}", i), 0, tuples);
  return text;
}

std::string assembled(const std::string& text) {
  const auto directory = std::filesystem::temp_directory_path() / fmt::format("warpmat_constants_{}", ::getpid());
  std::filesystem::create_directories(directory);
  std::ofstream(directory / "module.ptx") << text;
  const std::string command =
      fmt::format("ptxas -arch={} -o '{}' '{}'", sm_90a().name, (directory / "module.cubin").string(), (directory / "module.ptx").string());
  const int status = std::system(command.c_str());
  std::ifstream file(directory / "module.cubin", std::ios::binary);
  const std::string cubin{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove_all(directory);
  return status == 0 ? cubin : "";
}

/// The first spelling of each row, all operands constant; narrow registers of 8 bits are stored as bytes.
std::vector<ConstantCase> all_constant(const std::vector<ScalarCase>& cases) {
  std::vector<ConstantCase> constant;
  for (const ConstantCase& c : constant_cases(cases))
    if (c.variable == 0) constant.push_back(c);
  return constant;
}

/// What the rule makes immediates of. Of other instructions docs/reference/assembler.md says where constants are in doubt.
bool is_folded(const ScalarCase& c) {
  constexpr std::array functions{"rcp.", "rsqrt.", "sqrt.", "ex2.", "lg2.", "sin.", "cos."};
  const bool named = std::ranges::any_of(functions, [&](std::string_view name) { return c.opcode.starts_with(name); });
  return named && c.opcode.find(".approx") != std::string::npos && c.opcode.ends_with(".f32");
}

/// Whether the instruction is in doubt in the kernel of such constants.
bool has_doubt(const ConstantCase& c, std::size_t tuples) {
  const Module module(
      fmt::format(".version {}\n.target {}\n.address_size 64\n{}", to_string(version), sm_90a().name, constant_entry(c, "k", 0, tuples)));
  const Kernel kernel(module, "k", {.target = sm_90a().name});
  return !program_of(kernel).doubted.empty();
}

/// Whether the label of the instruction leaves open which of two NaNs it gives.
bool has_open_nans(const ScalarCase& c) {
  return !catalogue::evidence_of(*catalogue::find_row(c.opcode)->pattern, Hardware::sm_90).open.empty();
}

TEST_CASE("the immediates that ptxas stores for approximate functions of constants are what the emulator computes", "[assembler]") {
  if (!has_ptxas()) {
    WARN("no ptxas 13.0 here: its machine code is not compared, the recorded answers of a GPU are");
    return;
  }
  constexpr std::size_t tuples = 40, least = 400;
  std::vector<ScalarCase> cases = scalar_cases(sm_90a(), version);
  std::erase_if(cases, [](const ScalarCase& c) { return !is_folded(c); });
  const std::vector<ConstantCase> constant = all_constant(cases);
  const std::string text = module_of(constant, tuples);
  const auto stored = stored_constants(assembled(text));
  REQUIRE(stored.size() == constant.size());
  EmulatorConstantRunner emulator(sm_90a());
  emulator.load(text);
  std::size_t compared = 0, different = 0;
  for (std::size_t i = 0; i < constant.size(); ++i) {
    const std::size_t results = constant[i].shown->results.size();
    const std::string name = fmt::format("k{}", i);
    const auto words = emulator.run(name, {}, tuples * results * lane_count);
    for (const auto& [offset, word] : stored.at(name)) {
      const auto at = static_cast<std::size_t>(offset);
      const std::uint64_t computed = words.at(at / word_bytes) >> (at % word_bytes * 8);
      ++compared;
      if (static_cast<std::uint32_t>(computed) == word) continue;
      ++different;
      UNSCOPED_INFO(fmt::format("{}, offset {}: ptxas stores {:#x}, the emulator has {:#x}", constant[i].title(), offset, word,
                                static_cast<std::uint32_t>(computed)));
    }
  }
  CHECK(different == 0);
  CHECK(compared > least);  // else nothing was read
}

// docs/reference/assembler.md says how they were recorded.
TEST_CASE("instructions of constants give what an H100 gave, or are in doubt", "[assembler][vectors]") {
  std::map<std::string, std::string> recorded;
  std::size_t tuples = 0;
  for (const std::string& line : read_compressed_lines(source_path("tests/vectors/constants_sm_90.tsv.gz"))) {
    const std::size_t tabulator = line.find('\t');
    if (line.starts_with('#'))
      tuples = std::stoul(line.substr(line.rfind(';') + 1));
    else
      recorded[line.substr(0, tabulator)] = line.substr(tabulator + 1);
  }
  const std::vector<ScalarCase> cases = first_spellings(scalar_cases(sm_90a(), version));
  const ConstantSweep sweep{.cases = constant_cases(cases), .first = 0, .tuples = tuples, .threads = 1, .target = &sm_90a()};
  const OpenConstantRunner emulator = [] { return std::make_unique<EmulatorConstantRunner>(sm_90a()); };
  const std::vector<ConstantFinding> findings = run_constant_sweep(sweep, emulator, emulator);
  REQUIRE(findings.size() == sweep.cases.size());
  std::size_t compared = 0, different = 0;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const auto found = recorded.find(findings[i].title);
    if (found == recorded.end()) continue;
    ++compared;
    if (found->second == fmt::format("{:016x}", findings[i].digest)) continue;
    ++different;
    INFO(findings[i].title << findings[i].error);
    CHECK_FALSE(is_folded(*sweep.cases[i].shown));
    CHECK((has_doubt(sweep.cases[i], tuples) || has_open_nans(*sweep.cases[i].shown)));
  }
  CHECK(compared > 1200);
  CHECK(different < compared / 20);
}

}  // namespace
}  // namespace warpmat::constants_test

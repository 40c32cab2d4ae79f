#include <warpmat/layout.h>
#include <warpmat/program.h>

#include "tables/assembler.h"
#include "test.h"

namespace warpmat::isa_examples_test {
namespace {

constexpr const char* declarations =
    ".reg .b32 b<24>, e<1>, a<1>; .reg .f32 f<8>; .reg .f16x2 h<12>; .reg .f16 g<6>; .reg .f64 w<20>; .reg .u16 s<4>; .reg .b64 q<1>; "
    ".reg .u32 u<1>;";

/// A line of isa_examples.tsv, which explains the columns.
struct Example {
  std::string section, target, since, ptxas_says, warpmat_says, statement;

  bool refused() const { return since == "never"; }
  bool too_new_for_ptxas() const { return since == "9.1"; }
  /// ptxas stops at it, so that it says nothing of other statements of the module.
  bool breaks_syntax() const { return ptxas_says == "Parsing error"; }
};

const std::vector<Example>& examples() {
  static const std::vector<Example> all = [] {
    std::vector<Example> out;
    std::ifstream file(source_path("tests/ptx/isa_examples.tsv"));
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with('#')) continue;
      std::vector<std::string> fields;
      std::istringstream in(line);
      for (std::string field; std::getline(in, field, '\t');) fields.push_back(field);
      REQUIRE(fields.size() == 6);
      out.push_back({fields[0], fields[1], fields[2], fields[3], fields[4], fields[5]});
    }
    return out;
  }();
  return all;
}

/// What this library says of one statement, "" if it takes it.
std::string says(const std::string& target_name, PtxVersion version, const std::string& statement) {
  const Complaints complaints = warpmat_says(target_name, version, declarations, {statement});
  return complaints.empty() ? "" : complaints.begin()->second;
}

/// The newest version before `version`, or 0.0.
PtxVersion before(PtxVersion version) {
  PtxVersion found;
  for (const PtxVersion v : ptxas_versions)
    if (v < version) found = v;
  return found;
}

/// Padding of 6- and 4-bit elements must be zero.
void clear_padding(Warp& warp, const Statement& statement) {
  if (statement.matrix() == nullptr) return;
  const std::vector<Operand>& operands = statement.matrix()->form().operands;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].kind != OperandKind::fragment) continue;
    for (std::uint32_t* reg : warp.words(statement.operands()[i]))
      for (std::uint32_t& lane : std::span(reg, warp_size)) lane &= ~padding_bits(operands[i].fragment);
  }
}

/// Addresses and ids are 0, metadata a code that all forms define, all else random.
void fill(Warp& warp, std::mt19937& random) {
  for (const NamedRegister& r : warp.program().registers())
    for (int word = 0; word < (r.type->bits + 31) / 32; ++word)
      for (std::uint32_t& lane : warp.reg(r.name, word)) {
        const char kind = r.name.front();
        lane = kind == 'q' || kind == 'a' || kind == 's' ? 0
               : kind == 'e' || kind == 'u'              ? 0x4444'4444
                                                         : static_cast<std::uint32_t>(random());
      }
  for (const Statement& statement : warp.program().statements()) clear_padding(warp, statement);
  for (std::uint8_t& byte : warp.shared().bytes()) byte = static_cast<std::uint8_t>(random());
}

/// Registers and memory of a warp.
std::vector<std::uint32_t> state(Warp& warp) {
  std::vector<std::uint32_t> all;
  for (const Register& r : warp.named_registers()) all.insert(all.end(), r.begin(), r.end());
  all.insert(all.end(), warp.shared().bytes().begin(), warp.shared().bytes().end());
  return all;
}

std::vector<std::string> statements_for_modules() {
  std::vector<std::string> all;
  for (const Example& x : examples())
    if (!x.breaks_syntax()) all.push_back(x.statement);
  return all;
}

TEST_CASE("the ISA's examples and those of articles are judged as ptxas 13.0 does, for their oldest target and version") {
  std::size_t refused = 0;
  for (const Example& x : examples()) {
    CAPTURE(x.section, x.statement);
    if (x.refused()) {
      ++refused;
      CHECK(contains(says(x.target, {9, 0}, x.statement), x.warpmat_says));
      continue;
    }
    const PtxVersion since = version_of(x.since);
    CHECK(says(x.target, since, x.statement) == "");
    const std::string older = says(x.target, before(since), x.statement);
    CHECK((contains(older, "needs PTX") || contains(older, "needs sm_75 or later")));
    for (const Target& other : targets())
      if (other.number < target(x.target).number && other.number > 70)
        CHECK(contains(says(std::string(other.name), newest_ptx, x.statement), "the target is " + std::string(other.name)));
  }
  CHECK(examples().size() == 94);
  CHECK(refused == 11);
}

TEST_CASE("the ISA's examples and those of articles run") {
  std::mt19937 random(88);
  for (const Example& x : examples()) {
    if (x.refused()) continue;
    CAPTURE(x.section, x.statement);
    const Program program = parse(fmt::format(".version {}\n.target {}\n{}\n{}", x.since, x.target, declarations, x.statement));
    CHECK(parse(print(program)).statements() == program.statements());
    Warp warp(program, 1024);
    fill(warp, random);
    const auto untouched = state(warp);
    run(warp);
    CHECK(state(warp) != untouched);
  }
}

TEST_CASE("the installed ptxas judges the ISA's examples as it is recorded to", "[ptxas]") {
  if (!has_ptxas()) {
    WARN("skipped: no ptxas 13.0 to compare the recorded judgements with");
    return;
  }
  for (const Example& x : examples()) {
    CAPTURE(x.section, x.statement);
    const auto ptxas = [&](PtxVersion version) {
      const auto complaints = ptxas_says(x.target, version, declarations, {x.statement});
      REQUIRE(complaints);
      return *complaints;
    };
    if (x.refused() || x.too_new_for_ptxas()) {
      const Complaints complaints = ptxas({9, 0});
      REQUIRE(!complaints.empty());
      CHECK(contains(complaints.begin()->second, x.ptxas_says));  // of a missing semicolon it complains on the next line
      continue;
    }
    CHECK(ptxas(version_of(x.since)).empty());
    CHECK(!ptxas(before(version_of(x.since))).empty());
  }
}

TEST_CASE("the installed ptxas and warpmat take the same of the ISA's examples for every target", "[ptxas]") {
  if (!has_ptxas()) {
    WARN("skipped: no ptxas 13.0 to compare with");
    return;
  }
  const std::vector<std::string> statements = statements_for_modules();
  for (const Target& on : targets()) {
    if (on.number < 75) continue;  // ptxas 13.0 knows no older one
    const std::string name(on.name);
    CAPTURE(name);
    const Complaints refused = warpmat_says(name, {9, 0}, declarations, statements);
    std::vector<int> accepted;
    for (int i = 0; i < static_cast<int>(statements.size()); ++i)
      if (!refused.contains(i)) accepted.push_back(i);
    CHECK(accepted == ptxas_accepts(name, {9, 0}, declarations, statements));
  }
}

}  // namespace
}  // namespace warpmat::isa_examples_test

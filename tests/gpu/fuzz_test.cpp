#include "gpu/cases/fuzz_program.h"

#include <warpmat/program.h>

#include "gpu/compare/compare.h"
#include "gpu/runners/emulator_runner.h"
#include "test.h"

namespace warpmat::fuzz_test {
namespace {

constexpr std::uint64_t seed = 3;

/// The emulator, which forgets the results of one opcode.
class Forgetful : public Runner {
 public:
  explicit Forgetful(std::string opcode) : opcode_(std::move(opcode)) {}

  void run(const Program& program, WarpStates& states) override {
    std::string text = print_declarations(program);
    for (const Statement& s : program.statements())
      if (s.instruction().opcode() != opcode_) text += print(program, s) + "\n";
    emulator_.run(parse(text), states);
  }
  std::uint32_t shared_base() const override { return emulator_.shared_base(); }
  std::string description() const override { return "emulator without " + opcode_; }

 private:
  EmulatorRunner emulator_{0, 1};
  std::string opcode_;
};

bool differ(const FuzzProgram& fuzz, std::uint64_t index, Runner& a, Runner& b) {
  const Program program = parse(fuzz.text());
  WarpStates left = random_fuzz_states(program, seed, index, 2), right = left;
  a.run(program, left);
  b.run(program, right);
  return compare_states(program, left, right).mismatches != 0;
}

TEST_CASE("random programs parse, have 1 to 50 statements, and run without a trap", "[gpu]") {
  std::set<std::size_t> lengths;
  EmulatorRunner runner(2048, 1);
  for (const char* name : {"sm_75", "sm_80", "sm_89", "sm_90a", "sm_120a"})
    for (std::uint64_t index = 0; index < case_count(200); ++index) {
      const FuzzProgram fuzz = random_fuzz_program(target(name), seed, index);
      CAPTURE(name, fuzz.text());
      std::optional<Program> parsed;
      REQUIRE_NOTHROW(parsed = parse(fuzz.text()));
      const Program& program = *parsed;
      CHECK(program.statements().size() == fuzz.statements());
      lengths.insert(fuzz.statements());
      WarpStates states = random_fuzz_states(program, seed, index, 2);
      REQUIRE_NOTHROW(runner.run(program, states));
    }
  CHECK(*lengths.begin() == 1);
  CHECK(*lengths.rbegin() <= 50);
  CHECK(*lengths.rbegin() >= 45);
}

TEST_CASE("random programs use all that the target has, and overlap operands", "[gpu]") {
  std::set<std::string> mnemonics, scalars;
  std::size_t matrices = 0, destination_is_source = 0, repeated_source = 0;
  for (std::uint64_t index = 0; index < 1500; ++index) {
    const Program program = parse(random_fuzz_program(target("sm_90a"), seed, index).text());
    for (const Statement& statement : program.statements()) {
      if (statement.matrix() == nullptr) {
        scalars.emplace(statement.instruction().opcode());
        continue;
      }
      const Form& form = statement.matrix()->form();
      mnemonics.emplace(name(form.mnemonic));
      ++matrices;
      for (std::size_t i = 1; i < form.operands.size(); ++i)
        destination_is_source += form.operands[0].written && statement.operands()[i].items == statement.operands()[0].items;
      std::set<int> slots;
      for (const Item& item : statement.operands()[1].items) repeated_source += !slots.insert(item.slot).second;
    }
  }
  std::set<std::string> all;
  for (const Form& form : forms()) all.emplace(name(form.mnemonic));
  CHECK(mnemonics == all);
  CHECK(scalars.size() == fuzzed_scalar_instructions(target("sm_90a")).size());
  CHECK(destination_is_source * 20 > matrices);
  CHECK(repeated_source > 0);
}

TEST_CASE("a destination holds no register twice unless asked to", "[gpu]") {
  const auto repeats = [](const FuzzOptions& options) {
    std::size_t count = 0;
    for (std::uint64_t index = 0; index < 300; ++index)
      for (const Program program = parse(random_fuzz_program(target("sm_90a"), seed, index, options).text());
           const Statement& statement : program.statements()) {
        const bool load = statement.instruction().kind() == InstructionKind::load;
        const bool writes = statement.matrix() != nullptr ? statement.matrix()->form().operands.front().written : load;
        if (!writes) continue;
        std::set<int> slots;
        for (const Item& item : statement.operands().front().items)
          count += item.kind == Item::Kind::named && !slots.insert(item.slot).second;
      }
    return count;
  };
  CHECK(repeats({}) == 0);
  CHECK(repeats({.repeated_destinations = true}) > 0);
}

TEST_CASE("a program depends on seed and index alone", "[gpu]") {
  const Target& t = target("sm_90a");
  CHECK(random_fuzz_program(t, 1, 7).text() == random_fuzz_program(t, 1, 7).text());
  CHECK(random_fuzz_program(t, 1, 7).text() != random_fuzz_program(t, 1, 8).text());
  CHECK(random_fuzz_program(t, 1, 7).text() != random_fuzz_program(t, 2, 7).text());
  const Program program = parse(random_fuzz_program(t, 1, 7).text());
  CHECK(random_fuzz_states(program, 1, 7, 3) == random_fuzz_states(program, 1, 7, 3));
}

TEST_CASE("the lanes of a warp store to disjoint bytes", "[gpu]") {
  // If lanes wrote to the same bytes, the order of lanes would show in memory.
  for (std::uint64_t index = 0; index < 300; ++index) {
    const Program program = parse(random_fuzz_program(target("sm_90a"), seed, index).text());
    Warp warp(program);
    const WarpStates states = random_fuzz_states(program, seed, index, 1);
    std::ranges::copy(states.registers_of(0), warp.named_registers().begin());
    for (const Statement& statement : program.statements()) {
      const bool store = statement.instruction().kind() == InstructionKind::store;
      if (store) {
        const Item& base = statement.operands()[0].items.front();
        const Register& addresses = warp.named_registers()[static_cast<std::size_t>(base.slot)];
        std::set<std::uint32_t> sorted(addresses.begin(), addresses.end());
        const auto bytes = static_cast<std::uint32_t>(statement.instruction().access_bytes());
        REQUIRE(sorted.size() == warp_size);
        for (auto left = sorted.begin(), right = std::next(left); right != sorted.end(); ++left, ++right) CHECK(*right - *left >= bytes);
      }
      warp.execute(statement);
    }
  }
}

TEST_CASE("a mismatch is shrunk to what causes it", "[gpu]") {
  EmulatorRunner emulator(0, 1);
  Forgetful faulty("xor.b32");
  std::size_t found = 0;
  for (std::uint64_t index = 0; index < 200 && found < 10; ++index) {
    const FuzzProgram fuzz = random_fuzz_program(target("sm_90a"), seed, index);
    const auto fails = [&](const FuzzProgram& candidate) { return differ(candidate, index, emulator, faulty); };
    const bool alone =
        std::ranges::any_of(fuzz.units, [](const FuzzUnit& u) { return u.statements.size() == 1 && u.statements[0].starts_with("xor"); });
    if (!alone || !fails(fuzz)) continue;
    ++found;
    const FuzzProgram shortest = shrink(fuzz, fails);
    CAPTURE(shortest.text());
    CHECK(fails(shortest));
    CHECK(shortest.units.size() == 1);
    CHECK(shortest.text().find("xor.b32") != std::string::npos);
  }
  CHECK(found == 10);
}

TEST_CASE("shrinking keeps what needs each other", "[gpu]") {
  FuzzProgram program{"", {}};
  for (int i = 0; i < 40; ++i) program.units.push_back({{std::to_string(i)}});
  const auto has = [](const FuzzProgram& p, const char* unit) { return std::ranges::find(p.units, FuzzUnit{{unit}}) != p.units.end(); };
  const FuzzProgram shortest = shrink(program, [&](const FuzzProgram& p) { return has(p, "3") && has(p, "17") && has(p, "39"); });
  CHECK(shortest.text() == "3\n17\n39\n");
  // A unit that can only go once another has gone.
  const auto chained = [&](const FuzzProgram& p) { return has(p, "5") && (has(p, "30") || !has(p, "31")); };
  CHECK(shrink(program, chained).text() == "5\n");
}

}  // namespace
}  // namespace warpmat::fuzz_test

#include <warpmat/explain.h>
#include <warpmat/layout.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "execute/named_call.h"
#include "gpu/cases/cases.h"
#include "gpu/runners/form_runner.h"
#include "test.h"
#include "tools/explanation_reader.h"
#include "tools/report/explanation_json.h"

namespace warpmat::explain_test {
namespace {

using Json = nlohmann::json;

/// What a factor's place in the registers holds.
std::uint64_t held(const Form& form, const Batch& batch, const Json& factor) {
  const Operand& operand = form.operand(*find_operand_name(factor.at("operand").get<std::string>()));
  const ConstRegisterView& words = batch.source(operand.name);
  const int reg = factor.at("register"), lane = factor.at("lane");
  const int bit = factor.at("bit"), bits = operand.fragment.payload_bits();
  if (bits == 64) return words.at(2 * reg, lane) | std::uint64_t{words.at(2 * reg + 1, lane)} << 32;
  const std::uint64_t word = words.at(reg, lane) >> (bit + operand.fragment.payload_shift());
  return word & ((std::uint64_t{1} << bits) - 1);
}

/// Factors that are not what the registers hold, and an addend that is not C where it must be.
std::string misplaced(const Form& form, const Batch& batch, const Json& explanation) {
  for (const Json& step : explanation.at("steps"))
    if (step.contains("terms"))
      for (const Json& term : step.at("terms")) {
        for (const Json& scale : term.at("scales"))
          if (held(form, batch, scale) != std::stoull(scale.at("bits").get<std::string>(), nullptr, 16)) return scale.dump();
        for (const Json& product : term.at("products"))
          for (const char* factor : {"a", "b"})
            if (held(form, batch, product.at(factor)) != std::stoull(product.at(factor).at("bits").get<std::string>(), nullptr, 16))
              return product.dump();
      }
  return "";
}

Element random_element(const Fragment& f, std::mt19937_64& random) {
  const auto below = [&](int count) { return static_cast<int>(random() % static_cast<std::uint64_t>(count)); };
  return {below(f.rows()), below(f.columns()), below(f.matrices())};
}

/// Explains one element of D in each case and holds it against the reader and against an execution.
struct Examiner {
  std::mt19937_64 random{7};
  Tally tally;
  std::size_t steps = 0;

  void examine(const Form& plain, const Target& target, const OperandClass& operand_class, std::uint64_t seed, std::size_t cases) {
    const Form& form = form_on(plain, target.hardware);
    const Program program = program_for(form, target, operand_class);
    WarpStates states = make_case(program, form, operand_class, seed, 0, cases, 0);
    const Instruction instruction(form, target);
    FormRunner([&](const Form&, const Batch& batch) {
      const Element element = random_element(form.operand(OperandName::d).fragment, random);
      const Json json = Json::parse(explanation_json(explain(instruction, batch, element)).dump());
      execute(instruction, batch);
      const std::uint64_t executed = read_element(form.operand(OperandName::d).fragment, batch.destination, element);
      const std::string wrong = contradiction(form, batch, json, executed);
      steps += json.at("steps").size();
      tally.expect(wrong.empty(), [&] { return fmt::format("{} as {}, {}: {}", form.opcode, target.name, operand_class.name, wrong); });
    }).run(program, states);
  }

  static std::string contradiction(const Form& form, const Batch& batch, const Json& json, std::uint64_t executed) {
    if (std::stoull(json.at("result").get<std::string>(), nullptr, 16) != executed) return "executing gives another result";
    const std::string wrong = misplaced(form, batch, json);
    return wrong.empty() ? explanation_reader::contradiction(json) : wrong;
  }
};

/// The targets of each hardware that have `form`, one of each.
std::vector<const Target*> one_of_each_hardware(const Form& form) {
  std::vector<const Target*> found;
  for (const Target& t : targets()) {
    const auto same = [&](const Target* other) { return other->hardware == t.hardware; };
    if (!unavailable(form, t) && std::ranges::none_of(found, same)) found.push_back(&t);
  }
  return found;
}

/// Every form that multiplies, on one hardware and with some classes of operands, which change from form to form; `cases` of each class.
void examine_all(Examiner& examiner, std::size_t classes, std::size_t cases) {
  std::size_t number = 0;
  for (const Form& form : forms()) {
    if (!multiplies(form.mnemonic)) continue;
    const auto hardwares = one_of_each_hardware(form);
    std::vector<const OperandClass*> applicable;
    for (const OperandClass& c : operand_classes())
      if (applies(c, form)) applicable.push_back(&c);
    for (std::size_t i = 0; i < classes; ++i, ++number)
      examiner.examine(form, *hardwares[number % hardwares.size()], *applicable[number % applicable.size()], number, cases);
  }
}

TEST_CASE("explain's steps, recomputed by an independent reader, give the same bits for every form", "[explain]") {
  Examiner examiner;
  examine_all(examiner, 2, 1);
  CHECK(examiner.tally.failures() == "");
  CHECK(examiner.tally.comparisons() > 500);
  CHECK(examiner.steps > examiner.tally.comparisons());
}

// WARPMAT_EXPLAIN_CASES=1000 warpmat_tests "[long-explain]": as many cases for each class of operands, spread over all forms and hardwares.
TEST_CASE("explain's steps recomputed: many cases of each class", "[.][long-explain]") {
  const char* const wanted = std::getenv("WARPMAT_EXPLAIN_CASES");
  const std::size_t cases = wanted == nullptr ? 1000 : std::stoul(wanted);
  Examiner examiner;
  for (const OperandClass& c : operand_classes()) {
    std::size_t number = 0;
    std::vector<const Form*> applicable;
    for (const Form& form : forms())
      if (multiplies(form.mnemonic) && applies(c, form)) applicable.push_back(&form);
    const std::size_t each = std::max<std::size_t>(1, (cases + applicable.size() - 1) / applicable.size());
    const std::size_t before = examiner.tally.comparisons();
    for (const Form* form : applicable) {
      const auto hardwares = one_of_each_hardware(*form);
      examiner.examine(*form, *hardwares[number % hardwares.size()], c, number, each);
      ++number;
    }
    fmt::print("{}: {} cases of {} forms\n", c.name, examiner.tally.comparisons() - before, applicable.size());
  }
  CHECK(examiner.tally.failures() == "");
}

std::vector<std::string> example(const std::vector<std::string>& more) {
  std::vector<std::string> arguments{
      "explain", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "--target", "sm_90a", "--a", "random:1", "--b", "random:2", "--c",
      "random:3"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST_CASE("the reader finds a bit that is changed", "[explain]") {
  const Outcome outcome = run_command(example({"--row", "3", "--column", "5", "--json"}));
  REQUIRE(outcome.status == 0);
  const Json whole = Json::parse(outcome.out).at(0);
  CHECK(explanation_reader::contradiction(whole) == "");
  Json changed = whole;
  changed["steps"][0]["terms"][4]["kept"] = changed["steps"][0]["terms"][4]["kept"].get<std::int64_t>() + 1;
  CHECK(explanation_reader::contradiction(changed).find("what is kept") != std::string::npos);
  changed = whole;
  changed["steps"][0]["terms"][2]["products"][0]["a"]["bits"] = "0x1";
  CHECK(explanation_reader::contradiction(changed).find("value is not that of its factors") != std::string::npos);
  changed = whole;
  changed["model"]["fraction_bits"] = 11;
  CHECK(explanation_reader::contradiction(changed).find("another result") != std::string::npos);
}

TEST_CASE("explain shows every element of a register, and a page of one", "[explain]") {
  const Outcome json = run_command({"explain", "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "--target", "sm_80", "--a", "random:1",
                                    "--b", "random:2", "--c", "zeros", "--lane", "5", "--register", "1", "--json"});
  REQUIRE(json.status == 0);
  const Json both = Json::parse(json.out);
  REQUIRE(both.size() == 2);
  CHECK(both[0].at("row") == 9);
  CHECK(both[1].at("column") == both[0].at("column").get<int>() + 1);
  TemporaryDirectory directory;
  const std::string page = directory.path("page.html");
  REQUIRE(run_command(example({"--row", "0", "--column", "0", "--against", "sm_80", "--html", page})).status == 0);
  const std::string html = read_text(page);
  CHECK(html.starts_with("<!DOCTYPE html>"));
  CHECK(html.ends_with("</body></html>\n"));
  CHECK(html.find("http") == std::string::npos);
}

TEST_CASE("explain shows a statement of a program with what its registers hold then", "[explain]") {
  const std::string program = source_path("tests/programs/mma_m16n8k16_elements.ptx");
  const Outcome outcome = run_command({"explain", program, "--target", "sm_80", "--lane", "5", "--register", "1", "--json"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  const Json json = Json::parse(outcome.out).at(0);
  CHECK(explanation_reader::contradiction(json) == "");
  CHECK(json.at("lane") == 5);
}

/// Data movement: what stands at the place that the explanation names is what arrives.
TEST_CASE("explain says which byte and lane an element of data movement comes from", "[explain]") {
  std::mt19937_64 random(3);
  Tally tally;
  for (const Form& plain : forms()) {
    if (multiplies(plain.mnemonic)) continue;
    const Target& t = *one_of_each_hardware(plain).front();
    const Form& form = form_on(plain, t.hardware);
    const Program program = program_for(form, t);
    WarpStates states = make_case(program, form, operand_classes().front(), 5, 0, 2, 0);
    const Instruction instruction(form, t);
    FormRunner([&](const Form&, const Batch& batch) {
      const OperandName result = form.find_operand(OperandName::d) != nullptr ? OperandName::d : OperandName::r;
      const Explanation e = explain(instruction, batch, random_element(form.operand(result).fragment, random));
      execute(instruction, batch);
      std::uint64_t there = 0;
      if (e.move->memory) {
        const std::span<const std::uint8_t> bytes(batch.shared, batch.shared_bytes);
        for (int i = 0; i < e.move->memory->bits; ++i) {
          const std::uint64_t bit = e.move->memory->address * 8 + e.move->memory->bit + static_cast<std::uint64_t>(i);
          there |= static_cast<std::uint64_t>(bytes[bit / 8] >> bit % 8 & 1) << i;
        }
      } else {
        const Place& from = *e.move->from_register;
        there = batch.source(OperandName::a).at(from.reg, from.lane) >> from.bit & 0xffff;
      }
      tally.expect(there == e.result, [&] { return fmt::format("{}: {:#x}, not {:#x}", form.opcode, e.result, there); });
    }).run(program, states);
  }
  CHECK(tally.failures() == "");
  CHECK(tally.comparisons() > 50);
}

}  // namespace
TEST_CASE("explain: memory is bytes from an address below 2^32 on, else an error that says so") {
  const Instruction load("ldmatrix.sync.aligned.m8n8.x1.shared.b16", "sm_90a");
  Register p{}, r{};
  std::vector<std::uint8_t> bytes(8 * Form::row_bytes, 7);
  Batch batch;
  batch.source(OperandName::p) = ConstRegisterView(p.data());
  batch.destination = RegisterView(r.data());
  batch.shared = bytes.data();
  batch.shared_bytes = bytes.size();
  CHECK(explain(load, batch, {0, 0, 0}).result == 0x0707);
  const std::string refusal = load.form().opcode + " is explained with memory that is bytes from an address below 2^32 on, not callbacks";
  batch.shared_base = std::uint64_t{1} << 32;
  CHECK_THROWS_WITH(explain(load, batch, {0, 0, 0}), refusal);
  batch.shared_base = 0;
  const RowMemory rows{.read = [](void*, std::size_t, int, std::uint64_t, std::uint8_t*, std::size_t) { return true; }};
  batch.rows = &rows;
  CHECK_THROWS_WITH(explain(load, batch, {0, 0, 0}), refusal);
}

}  // namespace warpmat::explain_test

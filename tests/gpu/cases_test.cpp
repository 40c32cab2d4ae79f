#include "gpu/cases/cases.h"

#include <warpmat/program.h>

#include "gpu/compare/compare.h"
#include "gpu/runners/emulator_runner.h"
#include "test.h"

namespace warpmat::cases_test {
namespace {

constexpr std::uint64_t seed = 11;

/// The newest target that has `form`.
const Target& newest_target(const Form& form) {
  for (std::size_t i = targets().size(); i-- > 0;)
    if (!unavailable(form, targets()[i])) return targets()[i];
  throw std::logic_error("no target has " + form.opcode);
}

/// Calls `visit` for every form and each class that applies to it.
template <typename Visit>
void for_each_case(Visit visit) {
  for (const Form& form : forms())
    for (const OperandClass& operand_class : operand_classes())
      if (applies(operand_class, form)) visit(form, operand_class, newest_target(form));
}

const OperandText& operand_text(const Program& program, const Form& form, OperandName name) {
  std::size_t index = 0;
  while (form.operands[index].name != name) ++index;
  return program.statements().front().operands()[index];
}

TEST_CASE("the variants of a form's program cover every selector and every id of scale factors", "[gpu]") {
  for (const Form& form : forms()) {
    CAPTURE(form.opcode);
    std::map<OperandName, std::set<std::vector<std::uint32_t>>> values;
    for (int variant = 0; variant < variants(form); ++variant) {
      const Program program = program_for(form, newest_target(form), operand_classes().front(), variant);
      Warp warp(program);
      for (const Operand& operand : form.operands) {
        std::vector<std::uint32_t> numbers;
        for (const std::uint32_t* word : warp.words(operand_text(program, form, operand.name))) numbers.push_back(word[0]);
        values[operand.name].insert(numbers);
      }
    }
    for (const Operand& operand : form.operands) {
      const std::size_t met = values[operand.name].size();
      if (operand.kind == OperandKind::selector) CHECK(met == static_cast<std::size_t>(form.operand(OperandName::e).fragment.matrices()));
      if (operand.kind == OperandKind::ids) CHECK(met == static_cast<std::size_t>(4 / form.scale_vector * operand.choices));
    }
  }
}

TEST_CASE("every form on every target that has it is one statement", "[gpu]") {
  Tally tally;
  for (const Form& form : forms())
    for (const Target& target : targets()) {
      if (unavailable(form, target)) continue;
      const Program program = program_for(form, target);
      const bool whole = program.statements().size() == 1 && program.statements().front().matrix() != nullptr &&
                         &program.statements().front().matrix()->form() == &form_on(form, target.hardware) && program.target() == &target;
      tally.expect(whole, [&] { return form.opcode + " on " + std::string(target.name); });
    }
  CHECK(tally.failures().empty());
  CHECK(tally.comparisons() > forms().size());
}

TEST_CASE("program_for refuses a target that lacks the form", "[gpu]") {
  const Form& form = *find_form("stmatrix.sync.aligned.m8n8.x4.shared.b16");
  CHECK_THROWS_AS(program_for(form, target("sm_80")), std::invalid_argument);
}

TEST_CASE("the emulator runs every case without a trap, and something changes", "[gpu]") {
  EmulatorRunner runner(1024);
  for_each_case([&](const Form& form, const OperandClass& operand_class, const Target& target) {
    CAPTURE(form.opcode, operand_class.name);
    const Program program = program_for(form, target);
    const WarpStates before = make_case(program, form, operand_class, seed, 0, 4, runner.shared_base());
    WarpStates after = before;
    REQUIRE_NOTHROW(runner.run(program, after));
    CHECK_FALSE(after == before);
    CHECK(answer_words(program, after, 3) != answer_words(program, before, 3));
  });
}

TEST_CASE("a warp of a case depends on seed and number alone", "[gpu]") {
  for_each_case([&](const Form& form, const OperandClass& operand_class, const Target& target) {
    CAPTURE(form.opcode, operand_class.name);
    const Program program = program_for(form, target);
    const WarpStates all = make_case(program, form, operand_class, seed, 100, 5, 0);
    const WarpStates last = make_case(program, form, operand_class, seed, 103, 2, 0);
    CHECK(std::ranges::equal(all.registers_of(4), last.registers_of(1)));
    CHECK(std::ranges::equal(all.shared_of(4), last.shared_of(1)));
    CHECK_FALSE(std::ranges::equal(all.registers_of(3), all.registers_of(4)));
    CHECK_FALSE(all == make_case(program, form, operand_class, seed + 1, 100, 5, 0));
  });
}

TEST_CASE("classes of a form differ from each other, and forms do", "[gpu]") {
  std::map<std::vector<std::uint32_t>, std::string> seen;
  for_each_case([&](const Form& form, const OperandClass& operand_class, const Target& target) {
    const WarpStates states = make_case(program_for(form, target), form, operand_class, seed, 0, 1, 0);
    std::vector<std::uint32_t> words;
    for (const Register& reg : states.registers) words.insert(words.end(), reg.begin(), reg.end());
    const std::string name = form.opcode + " " + std::string(operand_class.name);
    const auto [place, fresh] = seen.emplace(words, name);
    CHECK((fresh ? name : place->second) == name);
  });
  CHECK(seen.size() > forms().size());
}

TEST_CASE("row addresses are valid, distinct in stores and repeated in loads", "[gpu]") {
  constexpr std::uint32_t base = 2048;
  for (const Form& form : forms()) {
    if (form.find_operand(OperandName::p) == nullptr || moves_matrix(form)) continue;
    CAPTURE(form.opcode);
    const bool store = std::ranges::none_of(form.operands, [](const Operand& o) { return o.written; });
    const Program program = program_for(form, newest_target(form));
    const WarpStates states = make_case(program, form, operand_classes().front(), seed, 0, 64, base);
    const auto slot = static_cast<std::size_t>(operand_text(program, form, OperandName::p).items.front().slot);
    const std::size_t addressing = static_cast<std::size_t>(form.number * form.shape.m);
    std::size_t repeated = 0, ignored_garbage = 0;
    for (std::size_t warp = 0; warp < states.warps; ++warp) {
      const Register& addresses = states.registers_of(warp)[slot];
      std::set<std::uint32_t> distinct;
      bool valid = true;
      for (std::size_t lane = 0; lane < warp_size; ++lane) {
        const std::uint32_t offset = addresses[lane] - base;
        const bool inside = offset % 16 == 0 && offset + 16 <= states.shared_bytes;
        if (lane >= addressing) ignored_garbage += !inside;
        if (lane >= addressing) continue;
        valid = valid && inside;
        distinct.insert(offset);
      }
      CHECK(valid);
      repeated += distinct.size() < addressing;
    }
    CHECK((store ? repeated == 0 : repeated > 0));
    CHECK((addressing == warp_size || ignored_garbage > 0));
  }
}

TEST_CASE("on sm_75 every lane holds a valid address", "[gpu]") {
  const Form& form = *find_form("ldmatrix.sync.aligned.m8n8.x1.shared.b16");
  const Program program = program_for(form, target("sm_75"));
  const WarpStates states = make_case(program, form, operand_classes().front(), seed, 0, 16, 0);
  const auto slot = static_cast<std::size_t>(operand_text(program, form, OperandName::p).items.front().slot);
  for (std::size_t warp = 0; warp < states.warps; ++warp)
    for (const std::uint32_t address : states.registers_of(warp)[slot]) CHECK((address % 16 == 0 && address + 16 <= states.shared_bytes));
}

TEST_CASE("an answer holds every output, and of a store the rest of the memory too", "[gpu]") {
  for (const Form& form : forms()) {
    CAPTURE(form.opcode);
    const Program program = program_for(form, newest_target(form));
    const WarpStates states = make_case(program, form, operand_classes().front(), seed, 0, 2, 0);
    const std::size_t words = form.mnemonic == Mnemonic::stmatrix || form.mnemonic == Mnemonic::wmma_store
                                  ? states.shared_bytes / 4
                                  : outputs_of(program).count(states);
    CHECK(answer_words(program, states, 1).size() == words);
  }
}

TEST_CASE("outputs of a form are the words of its destination", "[gpu]") {
  const auto count = [](const char* opcode) {
    const Form& form = *find_form(opcode);
    const Program program = program_for(form, newest_target(form));
    return outputs_of(program).count(make_case(program, form, operand_classes().front(), seed, 0, 1, 0));
  };
  CHECK(count("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32") == 4 * 32);
  CHECK(count("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16") == 2 * 32);
  CHECK(count("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64") == 4 * 2 * 32);
  CHECK(count("ldmatrix.sync.aligned.m8n8.x4.shared.b16") == 4 * 32);
  CHECK(count("movmatrix.sync.aligned.m8n8.trans.b16") == 32);
  CHECK(count("stmatrix.sync.aligned.m8n8.x2.shared.b16") == 2 * 8 * 4);
  CHECK(count("stmatrix.sync.aligned.m16n8.x4.trans.shared.b8") == 4 * 8 * 4);
}

}  // namespace
}  // namespace warpmat::cases_test

// The differential layer finds faults: each of these is put into a copy of the emulator, and a small sweep must report it. Here are faults
// of layouts and data movement; those of the arithmetic are the mutants of the tables (gpu/lab/mutants).

#include <warpmat/forms.h>
#include <warpmat/instruction.h>

#include "gpu/compare/sweep.h"
#include "gpu/recordings/vectors.h"
#include "gpu/runners/emulator_runner.h"
#include "test.h"

namespace warpmat::faults_test {
namespace {

// ---- One warp of a one-statement program, seen through its operands -----------------------------------------------------------------

class Operands {
 public:
  Operands(const Program& program, WarpStates& states, std::size_t warp) : form_(program.statements().front().matrix()->form()) {
    for (std::size_t i = 0; i < form_.operands.size(); ++i)
      for (const Item& item : program.statements().front().operands()[i].items)
        for (int word = 0; word < item.words; ++word)
          words_[static_cast<std::size_t>(form_.operands[i].name)].push_back(
              &states.registers_of(warp)[static_cast<std::size_t>(item.slot + word)]);
  }

  const Form& form() const { return form_; }

  const std::vector<Register*>& words(OperandName name) const { return words_[static_cast<std::size_t>(name)]; }

 private:
  const Form& form_;
  std::array<std::vector<Register*>, operand_name_count> words_;
};

// ---- Faults -------------------------------------------------------------------------------------------------------------------------

/// A wrong execution of one-statement programs: sets what the statement writes, from states that it may change as it likes.
using Execution = std::function<void(const Program& program, WarpStates& states)>;

/// The emulator with a fault.
class FaultyRunner : public Runner {
 public:
  explicit FaultyRunner(Execution execution) : execution_(std::move(execution)) {}

  void run(const Program& program, WarpStates& states) override {
    WarpStates spoiled = states;
    execution_(program, spoiled);
    const Statement& statement = program.statements().front();
    const Form& form = statement.matrix()->form();
    for (std::size_t warp = 0; warp < states.warps; ++warp)
      for (const Operand& operand : form.operands) {
        if (!operand.written) continue;
        const auto from = Operands(program, spoiled, warp).words(operand.name), to = Operands(program, states, warp).words(operand.name);
        for (std::size_t i = 0; i < from.size(); ++i) *to[i] = *from[i];
      }
    states.shared = spoiled.shared;
  }
  std::uint32_t shared_base() const override { return 0; }
  std::string description() const override { return "faulty emulator"; }

 private:
  Execution execution_;
};

void emulate(const Program& program, WarpStates& states) {
  EmulatorRunner(0, 1).run(program, states);
}

/// Runs the emulator after a change of the operands.
Execution with_operands(std::function<void(const Operands&)> change) {
  return [change = std::move(change)](const Program& program, WarpStates& states) {
    for (std::size_t warp = 0; warp < states.warps; ++warp) change(Operands(program, states, warp));
    emulate(program, states);
  };
}

/// Changes what the emulator wrote.
Execution with_results(std::function<void(const Operands&)> change) {
  return [change = std::move(change)](const Program& program, WarpStates& states) {
    emulate(program, states);
    for (std::size_t warp = 0; warp < states.warps; ++warp) change(Operands(program, states, warp));
  };
}

/// Executes the statement that has `to` where this one has `from`.
Execution with_opcode(std::string from, std::string to) {
  return [from = std::move(from), to = std::move(to)](const Program& program, WarpStates& states) {
    std::string text = print(program);
    text.replace(text.find(from), from.size(), to);
    emulate(parse(text), states);
  };
}

void exchange_lane_bits(const std::vector<Register*>& words) {
  for (Register* word : words) {
    const Register old = *word;
    for (std::size_t lane = 0; lane < warp_size; ++lane) (*word)[lane] = old[(lane & ~std::size_t{3}) | (lane & 1) << 1 | (lane >> 1 & 1)];
  }
}

void use_address_of_lane_31(const Operands& operands) {
  Register& addresses = *operands.words(OperandName::p).front();
  addresses[0] = addresses[31] % 64 * 16;
}

struct Fault {
  std::string name, opcode, target;
  Execution execution;
};

constexpr const char* f16_to_f32 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
constexpr const char* f16_to_f16 = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16";
constexpr const char* tf32_to_f32 = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32";
constexpr const char* load_x2_trans = "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16";
constexpr const char* store_x2 = "stmatrix.sync.aligned.m8n8.x2.shared.b16";
constexpr const char* transpose = "movmatrix.sync.aligned.m8n8.trans.b16";

std::vector<Fault> faults() {
  using enum OperandName;
  return {
      {"layout: two lane bits of A exchanged", f16_to_f32, "sm_90a",
       with_operands([](const Operands& o) { exchange_lane_bits(o.words(a)); })},
      {"layout: two lane bits of D exchanged", tf32_to_f32, "sm_90a",
       with_results([](const Operands& o) { exchange_lane_bits(o.words(d)); })},
      {"layout: two register bits of B exchanged with one of K", f16_to_f16, "sm_90a",
       with_operands([](const Operands& o) { std::swap(*o.words(b)[0], *o.words(b)[1]); })},
      {"layout: two register bits of C exchanged", f16_to_f32, "sm_90a",
       with_operands([](const Operands& o) { std::swap(*o.words(c)[1], *o.words(c)[2]); })},
      {"lane 31's address used", load_x2_trans, "sm_90a", with_operands(use_address_of_lane_31)},
      {".trans ignored", load_x2_trans, "sm_90a", with_opcode(".trans", "")},
      {"stmatrix: lane 31's address used", store_x2, "sm_90a", with_operands(use_address_of_lane_31)},
      {"stmatrix: matrices exchanged", store_x2, "sm_90a",
       with_operands([](const Operands& o) { std::swap(*o.words(r)[0], *o.words(r)[1]); })},
      {"movmatrix does not transpose", transpose, "sm_90a",
       [](const Program& program, WarpStates& states) {
         for (std::size_t warp = 0; warp < states.warps; ++warp)
           *Operands(program, states, warp).words(d).front() = *Operands(program, states, warp).words(a).front();
       }},
  };
}

/// Words that differ between the emulator and `device` in a small sweep over all classes.
std::size_t mismatches(const Form& form, const Target& target, Runner& device) {
  constexpr std::size_t cases = 48;
  EmulatorRunner emulator(0, 1);
  std::size_t count = 0;
  SweepObserver observer;
  observer.row = [&](const SweepRow& row) { count += row.mismatches; };
  sweep(emulator, device, {{form}, &target, cases, 1}, observer);
  return count;
}

TEST_CASE("a sweep reports every fault", "[gpu][faults]") {
  for (const Fault& fault : faults()) {
    CAPTURE(fault.name);
    FaultyRunner device(fault.execution);
    CHECK(mismatches(*find_form(fault.opcode), target(fault.target), device) > 0);
  }
}

TEST_CASE("a sweep reports nothing where there is no fault", "[gpu][faults]") {
  for (const char* opcode : {f16_to_f32, f16_to_f16, tf32_to_f32, load_x2_trans, store_x2, transpose}) {
    CAPTURE(opcode);
    FaultyRunner device(emulate);
    CHECK(mismatches(*find_form(opcode), target("sm_90a"), device) == 0);
  }
}

TEST_CASE("recorded answers report every fault", "[gpu][faults]") {
  const std::filesystem::path directory = source_path("tests/vectors/sm_90");
  REQUIRE(std::filesystem::is_directory(directory));
  for (const Fault& fault : faults()) {
    if (fault.target != "sm_90a") continue;
    CAPTURE(fault.name);
    FaultyRunner device(fault.execution);
    const Recording recording = read_recording(directory / recording_file_name(*find_form(fault.opcode)));
    std::size_t different = 0;
    for (const Answers& answers : recording.answers)
      different += replay(device, recording.provenance, answers).outcome == Replayed::Outcome::differs;
    CHECK(different > 0);
  }
}

}  // namespace
}  // namespace warpmat::faults_test

// The text that is written around a program for a GPU is a module like any other: Module takes it, and launch leaves the bits that running
// the program leaves.

#include <warpmat/launch.h>
#include <warpmat/lower/list_refusal.h>

#include "gpu/cases/cases.h"
#include "gpu/cases/fuzz_program.h"
#include "gpu/runners/emulator_runner.h"
#include "gpu/runners/kernel.h"
#include "gpu/runners/scalar_case.h"
#include "test.h"

namespace warpmat::wrapped_program_test {
namespace {

constexpr const char* some_targets[]{"sm_75", "sm_80", "sm_89", "sm_90a", "sm_120a"};
constexpr std::uint32_t granularity = WrappedProgram::shared_granularity;

/// Runs the kernel around a program on states, a block for each warp.
class LaunchRunner : public Runner {
 public:
  explicit LaunchRunner(std::uint32_t shared_base) : shared_base_(shared_base) {}

  void run(const Program& program, WarpStates& states) override {
    const WrappedProgram wrapped = make_kernel(program, required_version(program));
    DeviceMemory memory;
    const std::uint64_t registers = memory.allocate(states.registers, "registers"), shared = memory.allocate(states.shared, "shared"),
                        base = memory.allocate(4, "base");
    const auto shared_bytes = static_cast<std::uint32_t>(states.shared_bytes), warps = static_cast<std::uint32_t>(states.warps);
    launch(Kernel(Module(wrapped.text), wrapped.name), {.grid = {warps}, .block = {warp_size}, .shared_bytes = shared_bytes}, memory,
           {registers, shared, shared_bytes, base});
    REQUIRE(memory.read<std::uint32_t>(base, 1)[0] == shared_base_);
    states.registers = memory.read<Register>(registers, states.registers.size());
    states.shared = memory.read<std::uint8_t>(shared, states.shared.size());
  }
  std::uint32_t shared_base() const override { return shared_base_; }
  std::string description() const override { return "launch"; }

 private:
  std::uint32_t shared_base_;
};

/// Where a launch has the dynamic shared memory of the kernels here.
std::uint32_t shared_base_of(const Target& target) {
  constexpr std::uint32_t reserved = 1024;
  return target.number >= 90 ? reserved : 0;
}

/// Registers of 16 bits keep the low half of their word, predicates the lowest bit.
void mask_words(const Program& program, WarpStates& states) {
  for (const NamedRegister& r : program.registers())
    for (std::size_t warp = 0; r.type->bits < 32 && warp < states.warps; ++warp)
      for (std::uint32_t& word : states.registers_of(warp)[static_cast<std::size_t>(r.slot)]) word &= (1u << r.type->bits) - 1;
}

/// Memory as large as the kernel wants it.
WarpStates with_padding(const Program& program, const WarpStates& states) {
  WarpStates padded(program, states.warps, (states.shared_bytes + granularity - 1) / granularity * granularity);
  padded.registers = states.registers;
  for (std::size_t warp = 0; warp < states.warps; ++warp) std::ranges::copy(states.shared_of(warp), padded.shared_of(warp).begin());
  mask_words(program, padded);
  return padded;
}

/// Whether a launch leaves what running the program leaves.
bool launch_agrees(const Program& program, const WarpStates& given) {
  const std::uint32_t base = shared_base_of(*program.target());
  WarpStates wanted = with_padding(program, given), left = wanted;
  EmulatorRunner(base, 1).run(program, wanted);
  LaunchRunner(base).run(program, left);
  return left == wanted;
}

TEST_CASE("launch executes the kernel around every form as the runner executes the form", "[gpu]") {
  std::set<const Form*> executed;
  for (const char* name : some_targets)
    for (const Form& form : forms()) {
      const Target& t = target(name);
      if (unavailable(form, t) || executed.contains(&form)) continue;
      executed.insert(&form);
      const auto number = executed.size();
      const OperandClass& any = operand_classes()[number % operand_classes().size()];
      const OperandClass& operand_class = applies(any, form) ? any : operand_classes().front();
      const Program program = program_for(form, t, operand_class, static_cast<int>(number));
      INFO(name << ": " << print(program));
      CHECK(launch_agrees(program, make_case(program, form, operand_class, 5, number, 1, shared_base_of(t))));
    }
  for (const Form& form : forms())
    if (!executed.contains(&form)) UNSCOPED_INFO(form.opcode);
  CHECK(executed.size() == forms().size());
}

TEST_CASE("launch executes the kernel around random programs as the runner executes them", "[gpu]") {
  for (const char* name : some_targets)
    for (std::uint64_t index = 0; index < case_count(40); ++index) {
      const Program program = parse(random_fuzz_program(target(name), 9, index, {.assembler_faults = true}).text());
      INFO(name << ": " << print(program));
      CHECK(launch_agrees(program, random_fuzz_states(program, 9, index, 2)));
    }
}

/// A program of scalar instructions of a list, each with registers of its own, named by the number of the statement. Before them stands one
/// that writes the carry: what it is at first, nothing says.
Program scalar_program(const Target& target, std::span<const ScalarCase> cases) {
  std::string declarations = fmt::format(".target {}\n.reg .b32 carries;\n", target.name), statements = "add.cc.u32 carries, carries, 1;\n";
  for (std::size_t number = 0; number < cases.size(); ++number) {
    std::vector<std::string> results, sources;
    const auto add = [&](const std::vector<ScalarOperand>& operands, const char* prefix, std::vector<std::string>& names) {
      for (const ScalarOperand& operand : operands) {
        names.push_back(fmt::format("{}{}_{}", prefix, number, names.size()));
        const std::string type = operand.is_predicate() ? "pred" : fmt::format("b{}", operand.register_bits);
        declarations += fmt::format(".reg .{} {};\n", type, names.back());
      }
    };
    add(cases[number].results, "d", results);
    add(cases[number].sources, "s", sources);
    statements += cases[number].statement(results, sources) + "\n";
  }
  return parse(declarations + statements);
}

WarpStates random_bits(const Program& program, std::uint64_t seed) {
  WarpStates states(program, 2, granularity);
  std::mt19937_64 random(seed);
  for (Register& r : states.registers)
    for (std::uint32_t& word : r) word = static_cast<std::uint32_t>(random());
  return states;
}

TEST_CASE("launch executes the kernel around guards and exchanges as the runner executes them", "[gpu]") {
  const Program program = parse(
      ".target sm_90a\n.shared .b64 v[32]; .reg .b32 lane, place, a, b, c, n; .reg .b16 h; .reg .b64 w; .reg .f64 d; .reg .pred p, q, r;\n"
      "mov.u32 lane, %laneid; mad.lo.u32 place, lane, 8, 0; mov.u32 n, v; add.u32 place, place, n;\n"
      "@p add.u32 a, a, b; @!p sub.u32 a, b, a; @q st.shared.b64 [place], w; bar.warp.sync -1; @!q ld.shared.b64 w, [place];\n"
      "setp.lt.and.s32 q|r, a, b, !p; @r cvt.rn.f64.s32 d, a; @q cvt.s8.s32 h, a; selp.b32 c, a, c, r; xor.pred p, p, r;\n"
      "shfl.sync.bfly.b32 a|r, c, 5, 0x0f1f, -1; vote.sync.any.pred q, r, -1; match.all.sync.b32 n|p, b, -1; redux.sync.xor.b32 b, a, -1;\n"
      "add.cc.u32 a, a, b; addc.cc.u32 b, b, c; addc.u32 c, 0, 0;");
  CHECK(launch_agrees(program, random_bits(program, 7)));
  CHECK(print(parse(print(program))) == print(program));
}

TEST_CASE("launch executes the kernel around every scalar instruction of a list as the runner executes it", "[gpu]") {
  constexpr std::size_t each = 50;
  std::set<std::string> mnemonics;
  std::size_t executed = 0;
  for (const char* name : {"sm_90a", "sm_100a", "sm_120a"}) {
    std::vector<ScalarCase> cases = scalar_cases(target(name), newest_ptx);
    std::erase_if(cases, [](const ScalarCase& shown) { return !code::list_refusal(*catalogue::find_row(shown.opcode)).empty(); });
    for (std::size_t first = 0; first < cases.size(); first += each) {
      const Program program = scalar_program(target(name), std::span(cases).subspan(first, std::min(each, cases.size() - first)));
      INFO(name << ": " << print(program));
      CHECK(launch_agrees(program, random_bits(program, first)));
    }
    executed += cases.size();
    for (const ScalarCase& shown : cases) mnemonics.insert(shown.opcode.substr(0, shown.opcode.find('.')));
  }
  CHECK(executed > 2000);
  CHECK(mnemonics.size() > 40);
}

}  // namespace
}  // namespace warpmat::wrapped_program_test

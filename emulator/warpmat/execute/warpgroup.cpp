#include <warpmat/execute/warpgroup.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include <warpmat/execute/fast/lane_registers.h>
#include <warpmat/execute/instruction_operands.h>
#include <warpmat/execute/trap_in_warp.h>
#include <warpmat/execute/wgmma_products.h>
#include <warpmat/text.h>
#include <warpmat/wgmma.h>

namespace warpmat {
namespace {

/// A call's operands by what they do.
class WarpgroupCall {
 public:
  WarpgroupCall(const WgmmaForm& form, const Call& call) : operands_(operands_of(form)), call_(call) {}

  /// The view of an operand, and how many words a lane has; a view without words if the form or the call lacks it.
  RegisterView view(WgmmaOperand role) const {
    const std::optional<std::size_t> i = index(role);
    return i ? call_.operands[*i] : RegisterView{};
  }
  bool has(WgmmaOperand role) const { return !view(role).is_empty(); }
  std::size_t words(WgmmaOperand role) const {
    const std::optional<std::size_t> i = index(role);
    return i ? static_cast<std::size_t>(operands_.operands[*i].words()) : 0;
  }

  /// Copies the words of one warp to `to`, register by register, or back.
  void read(WgmmaOperand role, std::size_t warp, Register* to) const {
    const LaneRegisters registers = at(role, warp, to);
    fast_gather({&registers, 1});
  }
  void write(WgmmaOperand role, std::size_t warp, Register* from) const { fast_scatter(at(role, warp, from)); }

  /// Lane 0's word of warp `warp`; `otherwise` if it is left out.
  std::uint64_t number(WgmmaOperand role, std::size_t warp, std::uint64_t otherwise) const {
    const RegisterView from = view(role);
    if (from.is_empty()) return otherwise;
    const auto word = [&](int i) { return std::uint64_t{*from.word(i, warp)}; };
    return words(role) == 2 ? word(0) | word(1) << 32 : word(0);
  }

  /// The immediates at the first of four warps.
  WgmmaImmediates immediates(std::size_t warp) const {
    const auto is_minus_one = [&](WgmmaOperand role) { return number(role, warp, 1) == UINT32_MAX; };
    const auto major = [&](WgmmaOperand role) { return number(role, warp, 0) != 0 ? Major::mn : Major::k; };
    return {is_minus_one(WgmmaOperand::scale_a), is_minus_one(WgmmaOperand::scale_b), major(WgmmaOperand::trans_a),
            major(WgmmaOperand::trans_b), static_cast<int>(number(WgmmaOperand::selector, warp, 0))};
  }

 private:
  std::optional<std::size_t> index(WgmmaOperand role) const {
    const auto found = std::ranges::find(operands_.roles, role);
    if (found == operands_.roles.end()) return std::nullopt;
    return static_cast<std::size_t>(found - operands_.roles.begin());
  }
  LaneRegisters at(WgmmaOperand role, std::size_t warp, Register* staged) const {
    LaneRegisters registers(view(role), staged, static_cast<int>(words(role)));
    registers.go_to(warp);
    return registers;
  }

  const WgmmaOperands& operands_;
  const Call& call_;
};

/// Calls step(); a trap names the warp.
template <typename Step>
void step_of_warp(std::size_t warp, Step step) {
  try {
    step();
  } catch (const Trap& trap) {
    throw in_warp(trap, warp);
  }
}

void execute_warpgroup(const Wgmma& wgmma, const WarpgroupCall& given, const SharedMemory& memory, std::size_t first,
                       const ExecutionOptions& options) {
  const WgmmaForm& form = wgmma.form();
  const auto group = static_cast<std::size_t>(WgmmaForm::warps);
  const std::size_t a_registers = given.words(WgmmaOperand::a), d_registers = given.words(WgmmaOperand::d);
  std::vector<Register> a(group * a_registers), d(d_registers);
  std::vector<std::uint32_t> b(b_words(wgmma.form()));
  std::array<Register, WgmmaForm::warps> metadata{};
  step_of_warp(first, [&] { read_b(wgmma, memory, given.number(WgmmaOperand::b_descriptor, first, 0), b.data()); });
  const bool in_registers = given.has(WgmmaOperand::a);
  for (std::size_t warp = 0; warp < group; ++warp) {
    Register* const words = a.data() + warp * a_registers;
    if (in_registers)
      given.read(WgmmaOperand::a, first + warp, words);
    else
      step_of_warp(first + warp, [&] {
        read_a(wgmma, memory, given.number(WgmmaOperand::a_descriptor, first, 0), static_cast<int>(warp), words->data());
      });
    if (form.sparse()) given.read(WgmmaOperand::e, first + warp, &metadata[warp]);
  }
  const bool accumulates = given.number(WgmmaOperand::scale_d, first, 1) != 0;
  std::vector<std::uint32_t*> pointers;
  for (Register& words : d) pointers.push_back(words.data());
  for (std::size_t warp = 0; warp < group; ++warp) {
    given.read(WgmmaOperand::d, first + warp, d.data());
    step_of_warp(first + warp,
                 [&] { multiply(wgmma, pointers, a[warp * a_registers].data(), b.data(), metadata[warp].data(), accumulates, options); });
    given.write(WgmmaOperand::d, first + warp, d.data());
  }
}

}  // namespace

std::optional<std::string> problem_of_descriptors(const Instruction& instruction, const Call& call, std::size_t first) {
  const WgmmaForm& form = instruction.wgmma();
  const WarpgroupCall given(form, call);
  if (given.has(WgmmaOperand::a) == given.has(WgmmaOperand::a_descriptor))
    return format_text("{}: either a or a-desc is given, for A in registers or in shared memory", form.opcode);
  for (const WgmmaOperand role : {WgmmaOperand::scale_a, WgmmaOperand::scale_b})
    if (const std::uint64_t scale = given.number(role, first, 1); scale != 1 && scale != UINT32_MAX)
      return format_text("{}: imm-scale-a and imm-scale-b are 1 or -1", form.opcode);
  return unavailable(form, given.immediates(first));
}

std::optional<std::string> problem_of_warpgroup(const Instruction& instruction, const Call& call, std::size_t warps) {
  if (call.shared == nullptr || call.shared_base > UINT32_MAX)
    return format_text("{}: memory must be bytes from an address below 2^32 on", instruction.opcode());
  for (std::size_t first = 0; first < warps; first += static_cast<std::size_t>(WgmmaForm::warps))
    if (auto problem = problem_of_descriptors(instruction, call, first)) return problem;
  return std::nullopt;
}

void execute_warpgroups(const Instruction& instruction, const Call& call, std::size_t warps, const ExecutionOptions& options) {
  const WarpgroupCall given(instruction.wgmma(), call);
  for (std::size_t first = 0; first < warps; first += static_cast<std::size_t>(WgmmaForm::warps)) {
    const SharedMemory memory = SharedMemory::borrowing({call.shared + first * call.shared_stride, call.shared_bytes},
                                                        static_cast<std::uint32_t>(call.shared_base));
    execute_warpgroup(Wgmma(instruction, given.immediates(first)), given, memory, first, options);
  }
}

std::vector<MemoryAccess> warpgroup_accesses(const Instruction& instruction, const Call& call, std::size_t first) {
  const WarpgroupCall given(instruction.wgmma(), call);
  const Wgmma wgmma(instruction, given.immediates(first));
  std::vector<MemoryAccess> all;
  for (int warp = 0; !given.has(WgmmaOperand::a) && warp < WgmmaForm::warps; ++warp)
    for (const MemoryAccess& access : wgmma.a_accesses(given.number(WgmmaOperand::a_descriptor, first, 0), warp)) all.push_back(access);
  for (const MemoryAccess& access : wgmma.b_accesses(given.number(WgmmaOperand::b_descriptor, first, 0))) all.push_back(access);
  return all;
}

}  // namespace warpmat

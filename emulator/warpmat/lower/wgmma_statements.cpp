#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include <warpmat/lower/control_flow.h>
#include <warpmat/lower/makers.h>
#include <warpmat/lower/operands.h>
#include <warpmat/lower/rewrite.h>
#include <warpmat/tables/nearest_opcode.h>

namespace warpmat::code {

using catalogue::Semantics;
using Kind = syntax::Operand::Kind;

namespace {

/// Reads an immediate that is one of two numbers; returns whether it is the second.
bool flag(const Context& in, const syntax::Operand& operand, const char* what, std::string_view clear, std::string_view set) {
  const std::string given = fmt::format("{}{}", operand.negative ? "-" : "", operand.text);
  if (operand.kind == Kind::number && (given == clear || given == set)) return given == set;
  in.fail(operand, fmt::format("{} is {} or {}; it is '{}'", what, clear, set, given));
}

/// The immediates from operand `first` on: imm-scale-a, imm-scale-b, imm-trans-a of a descriptor, imm-trans-b.
WgmmaImmediates wgmma_immediates(Context& in, const WgmmaForm& form, bool a_in_registers, std::size_t first) {
  WgmmaImmediates immediates;
  const std::size_t transposes = form.transposes() ? (a_in_registers ? 1 : 2) : 0;
  const std::size_t expected = first + (form.negates() ? 2 : 0) + transposes;
  if (in.operands().size() != expected)
    in.fail(fmt::format("{} takes {} operands here, {} are given", in.opcode(), expected, in.operands().size()));
  if (form.negates()) {
    immediates.negates_a = flag(in, in.operand(first), "imm-scale-a", "1", "-1");
    immediates.negates_b = flag(in, in.operand(first + 1), "imm-scale-b", "1", "-1");
    first += 2;
  }
  if (transposes == 2 && flag(in, in.operand(first++), "imm-trans-a", "0", "1")) immediates.major_a = Major::mn;
  if (transposes != 0 && flag(in, in.operand(first), "imm-trans-b", "0", "1")) immediates.major_b = Major::mn;
  return immediates;
}

void note_products(const DraftOperation& operation, ValueSet& accumulators) {
  if (operation.operation.semantics == Semantics::wgmma)
    for (const Value value : operation.results) accumulators.insert(value);
}

/// For each block the accumulators of the products that may come before it.
std::vector<ValueSet> accumulators_before(const DraftFunction& function, const std::vector<Block>& blocks) {
  const ValueSet none(function.registers.size());
  std::vector<ValueSet> before(blocks.size(), none);
  std::vector<std::size_t> open(blocks.size());
  std::iota(open.rbegin(), open.rend(), std::size_t{0});
  while (!open.empty()) {
    const Block& block = blocks[open.back()];
    ValueSet after = before[open.back()];
    open.pop_back();
    for (int i = block.first; i < block.last; ++i) note_products(function.operations[static_cast<std::size_t>(i)], after);
    for (const int next : block.next)
      if (before[static_cast<std::size_t>(next)].insert_without(after, none)) open.push_back(static_cast<std::size_t>(next));
  }
  return before;
}

bool is_of_products(const DraftOperation& operation) {
  const Semantics semantics = operation.operation.semantics;
  return semantics == Semantics::wgmma || semantics == Semantics::wgmma_wait || semantics == Semantics::wgmma_fence ||
         semantics == Semantics::wgmma_commit;
}

DraftOperation early_wait(Context& in, const DraftOperation& reader) {
  DraftOperation wait{.operation = {.semantics = Semantics::wgmma_wait}};
  wait.operation.statement = reader.operation.statement;
  wait.operation.payload = in.draft.program.add(WaitGroups{.early = true});
  return wait;
}

/// ptxas waits for products before an operation that reads their accumulators too early, as Triton lets its kernels do (an H200's answers).
/// So does a wait that is added here, once for all that a block reads up to its next operation on products. It waits only where the
/// products are pending.
void add_early_waits(Context& in) {
  const std::vector<Block> blocks = find_blocks(in.function);
  std::vector<ValueSet> accumulators = accumulators_before(in.function, blocks);
  Rewrite rewrite(in.function);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    ValueSet& pending = accumulators[b];
    constexpr std::size_t none = ~std::size_t{0};
    std::size_t wait = none;  // in rewrite.out
    for (int i = blocks[b].first; i < blocks[b].last; ++i) {
      const DraftOperation& operation = in.function.operations[static_cast<std::size_t>(i)];
      rewrite.come_to(i);
      note_products(operation, pending);
      if (is_of_products(operation)) {
        wait = none;
      } else {
        for_each_read(operation, [&](Value value) {
          if (!pending.contains(value)) return;
          if (wait == none) {
            wait = rewrite.out.size();
            rewrite.out.push_back(early_wait(in, operation));
          }
          std::vector<Value>& read = rewrite.out[wait].sources;
          if (std::ranges::find(read, value) == read.end()) read.push_back(value);
        });
      }
      rewrite.out.push_back(operation);
    }
  }
  rewrite.finish();
}

/// The wait writes accumulators, and registers of A may be read until then: no other register may use their places.
void keep_accumulators(Context& in) {
  std::vector<Value> kept;
  for (const DraftOperation& operation : in.function.operations) {
    if (operation.operation.semantics != Semantics::wgmma) continue;
    const WarpgroupProduct& product = in.draft.program.of<WarpgroupProduct>(operation.operation);
    kept.insert(kept.end(), operation.results.begin(), operation.results.end());
    const int a = product.a_in_registers ? product.instruction.form().a_registers() : 0;
    kept.insert(kept.end(), operation.sources.begin(), operation.sources.begin() + a);
  }
  std::erase_if(kept, is_constant);  // a register of A may be an immediate
  std::ranges::sort(kept);
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  for (DraftOperation& operation : in.function.operations)
    if (operation.operation.semantics == Semantics::wgmma_wait) operation.keeps = kept;
}

}  // namespace

/// wgmma.mma_async d, a or a-desc, b-desc{, sp-meta, sp-sel}, scale-d{, imm-scale-a, imm-scale-b{, imm-trans-a}{, imm-trans-b}};
void wgmma(Context& in) {
  const WgmmaForm* form = find_wgmma(in.opcode());
  if (form == nullptr) in.fail(explain_unknown_wgmma(in.opcode()));
  if (const auto reason = unavailable(*form, *in.draft.program.target, in.draft.program.module->version)) in.fail(*reason);
  const DataType &word = *find_ptx_type("b32"), &descriptor = *find_ptx_type("b64");
  DraftOperation operation{.operation = {.semantics = Semantics::wgmma}};
  operation.results = group(in, in.operand(0), word, true, static_cast<std::size_t>(form->d_registers()));
  const bool a_in_registers = in.operand(1).kind == Kind::vector;
  operation.sources = group(in, in.operand(1), a_in_registers ? word : descriptor, false,
                            a_in_registers ? static_cast<std::size_t>(form->a_registers()) : 1);
  operation.sources.push_back(source(in, in.operand(2), descriptor));
  std::size_t next = 3;
  std::uint64_t selector = 0;
  if (form->sparse()) {
    operation.sources.push_back(source(in, in.operand(3), word));
    selector = immediate(in, in.operand(4));
    if (selector >= static_cast<std::uint64_t>(form->selectors()))
      in.fail(in.operand(4), fmt::format("the selector is a number from 0 to {}", form->selectors() - 1));
    next = 5;
  }
  operation.sources.push_back(source(in, in.operand(next), *find_ptx_type("pred")));
  WgmmaImmediates immediates = wgmma_immediates(in, *form, a_in_registers, next + 1);
  immediates.selector = static_cast<int>(selector);
  operation.sources.insert(operation.sources.end(), operation.results.begin(), operation.results.end());
  in.add(std::move(operation),
         WarpgroupProduct{Wgmma(*form, *in.draft.program.target, in.draft.program.module->version, immediates), a_in_registers});
}

void wait_for_accumulators(Context& in) {
  if (std::ranges::none_of(in.function.operations, [](const auto& each) { return each.operation.semantics == Semantics::wgmma; })) return;
  add_early_waits(in);
  keep_accumulators(in);
}

void lower::wgmma_wait(Context& in, const catalogue::Match&) {
  in.add({.operation = {.semantics = Semantics::wgmma_wait}},
         WaitGroups{.pending = static_cast<std::uint32_t>(std::min(immediate(in, in.operand(0)), most_groups))});
}

/// setmaxnreg: targets and immediate by ptxas 13.0's rules.
void lower::max_registers(Context& in, const catalogue::Match&) {
  constexpr Requirement hopper{.families = {90}, .architecture = true, .ptx = {8, 0}},
      blackwell{.families = {100, 110, 120}, .ptx = {8, 6}};
  const Target& target = *in.draft.program.target;
  if (const auto rule = in.unmet(target.number < 100 ? hopper : blackwell)) in.fail(fmt::format("{} {}", in.opcode(), *rule));
  constexpr std::uint64_t least = 24, most = 256, step = 8;
  const std::uint64_t count = immediate(in, in.operand(0));
  if (count < least || count > most || count % step != 0)
    in.fail(in.operand(0), fmt::format("{} takes a multiple of {} from {} to {}", in.opcode(), step, least, most));
  in.add({.operation = {.semantics = Semantics::max_registers}}, RegisterChange{.count = static_cast<std::uint32_t>(count)});
}

}  // namespace warpmat::code

#include "tools/lab/report/coverage.h"

#include <fmt/core.h>
#include <warpmat/lists/statement_call.h>
#include <warpmat/machine/threads.h>
#include <warpmat/program.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <exception>
#include <thread>

#include "gpu/cases/cases.h"
#include "gpu/cases/wgmma_tiles.h"
#include "gpu/lab/rules/counting.h"
#include "gpu/lab/rules/reach.h"

namespace warpmat {
namespace {

/// The registers of a one-statement program's operands in a warp.
class CountedWarp {
 public:
  CountedWarp(const Program& program, const Lowering& lowering, Events& counts)
      : instruction_(*program.statements().front().matrix()),
        lowering_(lowering),
        warp_(program, static_cast<std::size_t>(program.shared_bytes())),
        call_(warp_, program.statements().front()),
        counts_(counts) {}
  CountedWarp(const CountedWarp&) = delete;
  CountedWarp& operator=(const CountedWarp&) = delete;

  /// Executes warp `index` of `states`, in place.
  void run(WarpStates& states, std::size_t index) {
    std::ranges::copy(states.registers_of(index), warp_.named_registers().begin());
    std::ranges::copy(states.shared_of(index), warp_.shared().bytes().begin());
    execute_counting(instruction_.form(), lowering_, Batch::of(instruction_.form(), call_.get()), ExecutionOptions{}, counts_);
    std::ranges::copy(warp_.named_registers(), states.registers_of(index).begin());
    std::ranges::copy(warp_.shared().bytes(), states.shared_of(index).begin());
  }

 private:
  const Instruction& instruction_;
  const Lowering& lowering_;
  Warp warp_;
  StatementCall call_;
  Events& counts_;
};

/// Cases `first` to `first + count - 1` of a form of one warp.
void fill(CoverageRow& row, const CoveragePlan& plan, const Form& form, int variant, std::size_t first, std::size_t count) {
  const Program program = program_for(form, *plan.target, *row.operand_class, variant);
  WarpStates states = make_case(program, form, *row.operand_class, plan.seed, first, count, 0);
  CountedWarp warp(program, lowering_of(row.form, *plan.target), row.events);
  for (std::size_t i = 0; i < count; ++i) {
    warp.run(states, i);
    row.written.add(answer_words(program, states, i));
  }
}

/// The same of wgmma, tile by tile.
void fill(CoverageRow& row, const CoveragePlan& plan, const WgmmaForm& form, int variant, std::size_t first, std::size_t count) {
  for (WgmmaTile& tile : wgmma_tiles(form, *row.operand_class, variant, plan.seed, first, count))
    row.written.add(
        tile.run([&](Batch& batch) { execute_counting(*form.tile, lowering_of(form), batch, ExecutionOptions{}, row.events); }));
}

void fill_row(CoverageRow& row, const CoveragePlan& plan) {
  const auto programs = static_cast<std::size_t>(variants(row.form));
  const bool more = row.operand_class->directed || arithmetic_of(row.form).mnemonic != Mnemonic::mma;
  const std::size_t wanted = plan.warps * (more ? 4 : 1), each = (wanted + programs - 1) / programs;
  for (std::size_t variant = 0; variant < programs; ++variant) {
    if (const WgmmaForm* form = row.form.warpgroup())
      fill(row, plan, *form, static_cast<int>(variant), variant * each, each);
    else
      fill(row, plan, *row.form.warp(), static_cast<int>(variant), variant * each, each);
    row.warps += each;
  }
}

}  // namespace

void WrittenBits::add(std::span<const std::uint32_t> words) {
  ones.resize(words.size());
  zeros.resize(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    ones[i] |= words[i];
    zeros[i] |= ~words[i];
  }
}

void WrittenBits::add(const WrittenBits& other) {
  ones.resize(other.ones.size());
  zeros.resize(other.zeros.size());
  for (std::size_t i = 0; i < ones.size(); ++i) {
    ones[i] |= other.ones[i];
    zeros[i] |= other.zeros[i];
  }
}

std::size_t WrittenBits::seen() const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < ones.size(); ++i) count += static_cast<std::size_t>(std::popcount(ones[i]) + std::popcount(zeros[i]));
  return count;
}

const Form& arithmetic_of(const TestedForm& form) {
  return form.warpgroup() != nullptr ? *form.warpgroup()->tile : *form.warp();
}

const Lowering& lowering_of(const TestedForm& form, const Target& target) {
  if (form.tensor() != nullptr) return *form.tensor()->lowering;
  return form.warpgroup() != nullptr ? lowering_of(*form.warpgroup()) : *find_lowering(*form.warp(), target.hardware);
}

std::vector<CoverageRow> cover(const CoveragePlan& plan) {
  std::vector<CoverageRow> rows;
  for (const TestedForm& form : plan.forms)
    for (const OperandClass& operand_class : operand_classes())
      if (applies(operand_class, form)) rows.push_back({.form = form, .operand_class = &operand_class, .events = {}, .written = {}});
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::atomic_flag failed;
  const auto work = [&] {
    try {
      for (std::size_t i = next++; i < rows.size(); i = next++) fill_row(rows[i], plan);
    } catch (...) {
      if (!failed.test_and_set()) failure = std::current_exception();
      next = rows.size();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < machine::usable_cores(); ++i) threads.emplace_back(work);
  }
  if (failure) std::rethrow_exception(failure);
  return rows;
}

std::vector<CoverageRow> by_form(std::span<const CoverageRow> rows) {
  std::vector<CoverageRow> forms;
  for (const CoverageRow& row : rows) {
    if (forms.empty() || forms.back().form != row.form) {
      forms.push_back(row);
      forms.back().operand_class = nullptr;
      continue;
    }
    forms.back().warps += row.warps;
    forms.back().events.add(row.events);
    forms.back().written.add(row.written);
  }
  return forms;
}

std::vector<CoverageFault> coverage_faults(std::span<const CoverageRow> forms, const Target& target) {
  std::vector<CoverageFault> faults;
  for (const CoverageRow& row : forms) {
    const Form& form = arithmetic_of(row.form);
    const Lowering& lowering = lowering_of(row.form, target);
    for (std::size_t i = 0; i < event_count; ++i) {
      const auto event = static_cast<Event>(i);
      for (std::size_t number = 0; number < numbers_of(event); ++number) {
        const bool reachable = reach(form, lowering, event, number).reachable(), reached = row.events.count(event, number) != 0;
        if (reachable == reached) continue;
        faults.push_back(
            {row.form, fmt::format("{}: {}", region_name(event, number),
                                   reached ? "reached, though the rule says that it cannot be" : "reachable, but no case reached it")});
      }
    }
    if (constant_bits(row.form, target).empty() && row.written.seen() != row.written.all())
      faults.push_back({row.form, fmt::format("bits written: {} of {} values", row.written.seen(), row.written.all())});
  }
  return faults;
}

std::string_view constant_bits(const TestedForm& tested, const Target& target) {
  const Form& form = arithmetic_of(tested);
  const Lowering& lowering = lowering_of(tested, target);
  const Operand* d = form.find_operand(OperandName::d);
  if (lowering.model != nullptr && d->format == Format::f32 && lowering.model->result_fraction_bits < row(Format::f32).fraction_bits)
    return "the unit writes zeros below the fraction bits that it keeps";
  if (form.mnemonic == Mnemonic::ldmatrix && form.memory_bits < 8) return "bytes are padded with zeros";
  return {};
}

std::string region_name(Event event, std::size_t number) {
  if (numbers_of(event) == 1) return std::string(name(event));
  if (event == Event::infinity_of_product || event == Event::infinity_of_c)
    return fmt::format("{} {}", number == 0 ? "+" : "-", name(event));
  return fmt::format("{} {}", name(event), number);
}

}  // namespace warpmat

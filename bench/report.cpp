#include "report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/explain/table.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "eigen_product.h"
#include "gpu/cases/cases.h"
#include "tensor_core.h"
#include "thread_major.h"
#include "warpgroup.h"
#include "workload.h"

namespace warpmat {
namespace {

using Cells = std::vector<std::string>;
using Rows = std::vector<Cells>;  ///< the first is the header

// ---- The machine ------------------------------------------------------------------------------------------------------------------------

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown CPU";
}

std::string machine_text() {
  return fmt::format("{}, {} cores; compiled by {}", cpu_model(), std::thread::hardware_concurrency(), WARPMAT_COMPILED_BY);
}

// ---- The tables -------------------------------------------------------------------------------------------------------------------------

constexpr const char* nothing = "-";

Cells header(const MeasurementPlan& plan) {
  Cells cells{"opcode", "target"};
  for (const OperandClass* c : measured_classes()) cells.push_back(fmt::format("{}, ns", c->name));
  cells.push_back("random/finite");
  if (plan.threads > 1) cells.push_back(fmt::format("{} threads, ns", plan.threads));
  cells.insert(cells.end(), {"a C call, ns", "G multiply-adds/s", "times Eigen"});
  return cells;
}

std::string ratio_of_classes(const Selected& selected, const Times& times, std::string_view set) {
  const OperandClass &random = *find_operand_class("random"), &finite = *find_operand_class("finite");
  if (!applies(finite, *selected.form)) return nothing;
  return fmt::format("{:.2f}", times.instruction(selected, random, set) / times.instruction(selected, finite, set));
}

Cells row_of(const Selected& selected, const MeasurementPlan& plan, const Times& times, std::string_view set) {
  Cells cells{selected.form->opcode, std::string(selected.target->name)};
  for (const OperandClass* c : measured_classes())
    cells.push_back(applies(*c, *selected.form) ? fmt::format("{:.1f}", times.instruction(selected, *c, set)) : nothing);
  cells.push_back(ratio_of_classes(selected, times, set));
  const OperandClass& common_case = common_case_class(*selected.form);
  if (plan.threads > 1) cells.push_back(fmt::format("{:.1f}", times.instruction(selected, common_case, set, plan.threads)));
  cells.push_back(fmt::format("{:.1f}", times.call(selected, set)));
  const double ns = times.instruction(selected, common_case, set), count = multiply_adds(*selected.form);
  if (count == 0) {
    cells.insert(cells.end(), {nothing, nothing});
  } else {
    cells.push_back(fmt::format("{:.2f}", count / ns));
    cells.push_back(fmt::format("{:.2f}", ns / (count * times.eigen(set))));
  }
  return cells;
}

Rows instruction_rows(const MeasurementPlan& plan, const Times& times, std::string_view set) {
  Rows rows{header(plan)};
  for (const Selected& selected : plan.selected) rows.push_back(row_of(selected, plan, times, set));
  return rows;
}

Rows program_rows(const MeasurementPlan& plan, const Times& times) {
  Rows rows{{"instruction set", "a statement, ns", "its instruction alone, ns", "beyond, ns", "2 threads, times the statements"}};
  for (const std::string_view set : plan.sets) {
    const double statement = times.statement(set), single = times.single(set);
    rows.push_back({std::string(set), fmt::format("{:.1f}", statement), fmt::format("{:.1f}", single),
                    fmt::format("{:.1f}", statement - single), fmt::format("{:.2f}", statement / times.statement(set, 2))});
  }
  return rows;
}

std::string set_title(const Times& times, std::string_view set) {
  return fmt::format("{}: Eigen {:.1f} G multiply-adds/s", set, 1 / times.eigen(set));
}

std::string program_title() {
  const Selected f16 = representative_selection().front();
  return fmt::format("run() of {} statements {} on {}", program_statements, f16.form->opcode, f16.target->name);
}

/// The value below which a share of the numbers is.
double quantile(std::vector<double> numbers, double share) {
  std::ranges::sort(numbers);
  return numbers[static_cast<std::size_t>(share * static_cast<double>(numbers.size() - 1))];
}

Rows scalar_rows_summary(const MeasurementPlan& plan, const Times& times) {
  Rows rows{{"instruction set", "rows", "a tenth below, ns", "median, ns", "nine tenths below, ns", "slowest"}};
  for (const std::string_view set : plan.sets) {
    std::vector<double> ns;
    for (const std::string& title : times.row_titles) ns.push_back(times.row(title, set));
    const auto slowest = static_cast<std::size_t>(std::ranges::max_element(ns) - ns.begin());
    rows.push_back({std::string(set), fmt::format("{}", ns.size()), fmt::format("{:.1f}", quantile(ns, 0.1)),
                    fmt::format("{:.1f}", quantile(ns, 0.5)), fmt::format("{:.1f}", quantile(ns, 0.9)),
                    fmt::format("{} {:.0f} ns", times.row_titles[slowest], ns[slowest])});
  }
  return rows;
}

Rows product_rows(const MeasurementPlan& plan, const Times& times) {
  Rows rows{
      {"instruction set", "one job, ms", "its mma alone, ms", "times", "two jobs, ms", "times faster", "memory beyond the buffers, MiB"}};
  for (const std::string_view set : plan.sets) {
    const double one = times.product(1, set), two = times.product(2, set), alone = times.product_alone(set);
    rows.push_back({std::string(set), fmt::format("{:.1f}", one / 1e6), fmt::format("{:.1f}", alone / 1e6),
                    fmt::format("{:.2f}", one / alone), fmt::format("{:.1f}", two / 1e6), fmt::format("{:.2f}", one / two),
                    fmt::format("{:.1f}", static_cast<double>(times.memory_beyond_buffers) / (1 << 20))});
  }
  return rows;
}

Rows warpgroup_rows(const MeasurementPlan& plan, const Times& times) {
  Rows rows{{"instruction set", "the wgmma, us", fmt::format("its {} mma alone, us", WarpgroupProduct::products), "times"}};
  for (const std::string_view set : plan.sets) {
    const double whole = times.warpgroup(set), products = times.warpgroup_products(set);
    rows.push_back({std::string(set), fmt::format("{:.2f}", whole / 1e3), fmt::format("{:.2f}", products / 1e3),
                    fmt::format("{:.2f}", whole / products)});
  }
  return rows;
}

Rows tensor_core_rows(const MeasurementPlan& plan, const Times& times) {
  constexpr int count = TensorCoreProduct::warpgroup_products;
  Rows rows{{"instruction set", "the tcgen05.mma, us", fmt::format("{} wgmma m64n256k16, us", count), "times"}};
  for (const std::string_view set : plan.sets) {
    const double product = times.tensor_core(set), wgmma = count * times.warpgroup(set);
    rows.push_back({std::string(set), fmt::format("{:.2f}", product / 1e3), fmt::format("{:.2f}", wgmma / 1e3),
                    fmt::format("{:.2f}", product / wgmma)});
  }
  return rows;
}

// ---- Writing ----------------------------------------------------------------------------------------------------------------------------

std::string as_text(const std::string& title, const Rows& rows) {
  Table table(rows.front());
  for (std::size_t i = 1; i < rows.size(); ++i) table.add(rows[i]);
  return fmt::format("\n{}\n\n{}", title, table.text());
}

std::string as_markdown(const std::string& title, const Rows& rows) {
  std::string text = fmt::format("\n## {}\n\n| {} |\n|", title, fmt::join(rows.front(), " | "));
  for (std::size_t i = 0; i < rows.front().size(); ++i) text += "---|";
  text += '\n';
  for (std::size_t i = 1; i < rows.size(); ++i) text += fmt::format("| {} |\n", fmt::join(rows[i], " | "));
  return text;
}

using Write = std::string (*)(const std::string& title, const Rows& rows);

std::string tables(const MeasurementPlan& plan, const Times& times, Write write) {
  std::string text;
  if (plan.instructions) {
    for (const std::string_view set : plan.sets) text += write(set_title(times, set), instruction_rows(plan, times, set));
    text += write(program_title(), program_rows(plan, times));
  }
  if (plan.rows) text += write("A scalar statement of 32 lanes in a kernel, by rows of the catalogue", scalar_rows_summary(plan, times));
  if (plan.product) text += write("The kernel examples/kernels/gemm_f16.ptx, 1024x1024x1024", product_rows(plan, times));
  if (plan.product) text += write("wgmma m64n256k16 of f16 by a warpgroup, operands in shared memory", warpgroup_rows(plan, times));
  if (plan.product) text += write("tcgen05.mma m128n256k16 of kind::f16, operands in shared memory", tensor_core_rows(plan, times));
  return text;
}

constexpr const char* introduction = R"(# How fast it is

Written by `tools/bench --markdown FILE`. `tools/bench` prints the same tables, `tools/bench --forms .` those of every form; `tools/bench --help` says more.

Measured on {}.

**The time** is that of one instruction in a call (`Instruction::execute(const Call&, ...)` of `instruction.h`) of {} warps, on one thread. Their registers
stay in the second cache. With more threads, each has its own batch, and the time is that of all together: two threads that execute twice as much halve it. Every
figure is the minimum of {} repetitions of some milliseconds each. All repetitions, those of Eigen's product too, run in random order, so a disturbance of the
machine affects few of each.

**A C call** executes one warp by `warpmat_execute` of `c.h`, on operands of the first class. {} warps take turns. Their registers are an array of {} words for each
thread, with the words of an operand side by side.

**The operands** come from the classes of the comparisons with GPUs: *close* to 1, the common case; *finite*, random bits without NaNs and infinities; *random* bits
with them. Integers, and bits that only move, are random. Speed, ratio and threads are those of the first class of a form.

**Times Eigen** is the time divided by that of as many multiply-adds in Eigen's product of {}x{} matrices of 32-bit floats, on one thread, in the same run, compiled for
the same instruction set. For a sparse A the stored elements count. A multiply-add of 1-bit elements is one of the bits.

**A scalar statement** is one of 100 in a loop of a kernel that one warp executes: for each row of the catalogue its middle spelling. The time includes the loop's own
statements and the launch. **The matrix product** is a whole launch; *its mma alone* is as many of that statement in batches, on similar numbers. **The wgmma** reads A
and B in shared memory by their descriptors and multiplies for all four warps; **the tcgen05.mma** does the same for 128 rows, with its sums in tensor memory. Memory is the maximum during a launch with two jobs, less the memory before it with the
buffers.

The emulator chooses the best instruction set of the CPU; here it was told to use each in turn.
)";

}  // namespace

std::string report_text(const MeasurementPlan& plan, const Times& times) {
  return machine_text() + '\n' + tables(plan, times, as_text);
}

std::string report_page(const MeasurementPlan& plan, const Times& times) {
  return fmt::format(introduction, machine_text(), Workload::warps, plan.repetitions, ThreadMajorWarps::warps,
                     ThreadMajorWarps::thread_words, product_size, product_size) +
         tables(plan, times, as_markdown);
}

}  // namespace warpmat

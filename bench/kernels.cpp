#include "kernels.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <span>

#include <warpmat/execute/operands/batch.h>
#include <warpmat/instruction.h>
#include <warpmat/ptx/catalogue/catalogue.h>

#include "gpu/cases/scalar_operands.h"
#include "gpu/runners/scalar_kernel.h"
#include "tools/report/ptx_file.h"

namespace warpmat {
namespace {

constexpr const char* target_name = "sm_90a";
constexpr PtxVersion ptx_version{9, 0};
constexpr const char* product_ptx = "examples/kernels/gemm_f16.ptx";

/// The entry of one case with a loop around its statement.
Module loop_of(const ScalarCase& shown) {
  std::string text = scalar_module({&shown, 1}, target(target_name), ptx_version);
  std::vector<std::string> results, sources;
  for (std::size_t i = 0; i < shown.results.size(); ++i) results.push_back(fmt::format("%d{}", i));
  for (std::size_t i = 0; i < shown.sources.size(); ++i) sources.push_back(fmt::format("%s{}", i));
  const std::string statement = shown.statement(results, sources) + '\n';
  std::string loop = fmt::format("mov.u32 %n, {};\n$again:\n", StatementLoop::rounds);
  for (std::size_t i = 0; i < StatementLoop::statements; ++i) loop += statement;
  loop += "sub.u32 %n, %n, 1;\nsetp.ne.u32 %test, %n, 0;\n@%test bra $again;\n";
  text.replace(text.find(statement), statement.size(), loop);
  return Module(std::move(text));
}

LaunchDescription product_description() {
  constexpr std::size_t elements = TiledProduct::size * TiledProduct::size;
  LaunchDescription description;
  description.ptx = product_ptx;
  description.kernel = "gemm_f16";
  description.config = {.grid = {8, 8}, .block = {128}, .shared_bytes = 65536};
  for (const std::string& buffer :
       {fmt::format("a=random:f16:{}:1", elements), fmt::format("b=random:f16:{}:2", elements), fmt::format("c=zeros:{}", 4 * elements)})
    description.buffers.push_back(parse_buffer(buffer));
  for (const char* parameter : {"a", "b", "c", "s32:1024", "s32:1024"})
    description.parameters.push_back(parse_parameter(parameter, description.buffers));
  return description;
}

std::vector<std::uint32_t> words(const std::string& source) {
  const std::vector<std::uint8_t> bytes = initial_contents(parse_buffer("operand=" + source));
  std::vector<std::uint32_t> out(bytes.size() / 4);
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

/// VmRSS or VmHWM of this process in bytes, or 0.
std::size_t resident(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ':')) return std::stoul(line.substr(name.size() + 1)) << 10;
  return 0;
}

}  // namespace

std::vector<ScalarCase> scalar_rows() {
  std::map<const catalogue::Pattern*, std::vector<ScalarCase>> rows;
  std::vector<const catalogue::Pattern*> order;
  for (ScalarCase& shown : scalar_cases(target(target_name), ptx_version)) {
    auto& spellings = rows[catalogue::find_row(shown.opcode)->pattern];
    if (spellings.empty()) order.push_back(catalogue::find_row(shown.opcode)->pattern);
    spellings.push_back(std::move(shown));
  }
  std::vector<ScalarCase> middle;
  for (const auto* row : order) middle.push_back(rows[row][rows[row].size() / 2]);
  return middle;
}

StatementLoop::StatementLoop(const ScalarCase& shown) : kernel_(loop_of(shown), "scalar_0") {
  const ScalarOperands operands = draw_scalar_operands(std::span(&shown, 1), ScalarClass::ordinary, 0, warp_size);
  for (const ScalarOperand& result : shown.results) arguments_.emplace_back(memory_.allocate(warp_size * (result.is_wide() ? 8 : 4)));
  for (std::size_t i = 0; i < shown.sources.size(); ++i) {
    const ScalarOperand& source = shown.sources[i];
    const std::size_t bytes = warp_size * (source.is_wide() ? 8 : 4);
    const std::uint64_t address = memory_.allocate(bytes);
    std::memcpy(memory_.bytes(address, bytes).data(), operands.data(source, i), bytes);
    arguments_.emplace_back(address);
  }
}

void StatementLoop::run() {
  launch(kernel_, {.grid = {1}, .block = {warp_size}}, memory_, arguments_);
}

TiledProduct::TiledProduct()
    : description_(product_description()),
      kernel_(Module(read_ptx(product_ptx, target_name).text), description_.kernel, {.target = target_name}),
      prepared_(prepare(description_, kernel_)) {}

void TiledProduct::run(int jobs) {
  launch(kernel_, description_.config, prepared_.memory, prepared_.arguments, {.jobs = jobs});
}

std::size_t TiledProduct::memory_of_run(int jobs) {
  std::ofstream("/proc/self/clear_refs") << "5";  // resets the peak to the current use
  const std::size_t before = resident("VmRSS");
  run(jobs);
  return std::max(resident("VmHWM"), before) - before;
}

ProductAlone::ProductAlone()
    : instruction_("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", target_name),
      a_(words(fmt::format("random:f16:{}:3", warps * 4 * warp_size * 2))),
      b_(words(fmt::format("random:f16:{}:4", warps * 2 * warp_size * 2))),
      sums_(warps * 4 * warp_size) {}

void ProductAlone::run() {
  std::ranges::fill(sums_, 0);
  Batch batch;
  batch.destination = {sums_.data(), 4 * warp_size};
  batch.source(OperandName::a) = {a_.data(), 4 * warp_size};
  batch.source(OperandName::b) = {b_.data(), 2 * warp_size};
  batch.source(OperandName::c) = {sums_.data(), 4 * warp_size};
  for (std::size_t step = 0; step < steps; ++step) execute(instruction_, batch, warps);
}

}  // namespace warpmat

#include <fmt/core.h>
#include <warpmat/files/output_file.h>
#include <warpmat/instruction.h>
#include <warpmat/machine/threads.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "commands.h"
#include "exec_run.h"
#include "run_report.h"
#include "tools/command_line/execution_flags.h"
#include "tools/command_line/label_flags.h"
#include "tools/report/element_array.h"
#include "tools/report/meant_forms.h"
#include "tools/report/npy.h"
#include "tools/report/ptx_file.h"
#include "tools/report/register_array.h"

namespace warpmat {
namespace {

// ---- Executing ----------------------------------------------------------------------------------------------------------------------

/// The element type of a result written as a matrix; nothing for registers and memory.
std::optional<Reading> matrix_reading(const FileRole& role, const ExecOptions& options) {
  if (options.as == "registers") return std::nullopt;
  if (!matrix_size(role)) throw std::runtime_error(fmt::format("--as {}: the result is {}", options.as, role.content));
  return options.as == "bits" ? Reading::bits : Reading::by_dtype;
}

/// The header of the output file.
NpyHeader output_header(const FileRole& role, const Inputs& inputs, const ExecOptions& options) {
  if (const auto reading = matrix_reading(role, options)) {
    const MatrixSize size = *matrix_size(role);
    return {written_dtype(element_type(*role.operand), *reading), {*inputs.cases, size.rows, size.columns}};
  }
  NpyHeader header{role.dtype, {*inputs.cases}};
  for (const Dimension& d : role.dimensions) header.shape.push_back(d.extent.value_or(inputs.memory_bytes));
  return header;
}

/// Data shared by all threads.
struct Work {
  const Instruction& instruction;
  const ExecOptions& options;
  Inputs& inputs;
  const FileRole& output_role;
  NpyWriter& output;
};

/// The registers and memories of some cases: one thread reads, executes and writes them at a time.
class Chunk {
 public:
  Chunk(const Work& work, std::size_t cases) : work_(work), cases_(cases), memory_(cases * work.inputs.memory_bytes) {
    const Form& form = work.instruction.form();
    for (std::size_t i = 0; i < form.operands.size(); ++i) {
      const Operand& operand = form.operands[i];
      const bool number = operand.kind != OperandKind::fragment && operand.kind != OperandKind::address;
      if (operand.kind == OperandKind::stride && !work.options.operands.numbers.at(std::string(name(operand.name)))) continue;
      const auto words = static_cast<std::size_t>(operand.words());
      std::vector<Register>& registers = of(operand.name);
      registers.resize(words * (number ? 1 : cases));
      views_[i] = {registers.data()->data(), number ? 0 : words * warp_size};
    }
    call_.operands = std::span(views_).first(form.operands.size());
    for (const NumberRole& number : number_roles())
      if (form.find_operand(number.operand) != nullptr && !of(number.operand).empty())
        of(number.operand)[number.word].fill(work.options.operands.numbers.at(number.option).value_or(0));
    memory_.reserve(1);  // memory of 0 bytes is memory, too; a null pointer is none
    call_.shared = memory_.data();
    call_.shared_bytes = call_.shared_stride = work.inputs.memory_bytes;
  }

  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;

  /// Executes cases `first` to `last` - 1, from the input files to the output file.
  void run(std::size_t first, std::size_t last) {
    const std::size_t count = last - first;
    for (const auto& input : work_.inputs.files) read(*input, first, count);
    if (work_.inputs.sparse_a) read(*work_.inputs.sparse_a, first, count);
    execute(first, count);
    write(first, count);
  }

 private:
  void execute(std::size_t first, std::size_t count) {
    try {
      work_.instruction.execute(call_, count, work_.options.execution);
    } catch (const Trap& trap) {
      throw trap.at(fmt::format("case {}", first + static_cast<std::size_t>(trap.site.warp)));
    }
  }

  void read(Input& input, std::size_t first, std::size_t count) {
    if (!input.is_matrix()) {
      input.read(first, bytes(input.role()).first(count * input.case_bytes()));
      if (input.role().dtype == DType::uint64) split_registers(of(input.role().operand->name));
      return;
    }
    matrices_.resize(count * input.case_bytes());
    input.read(first, matrices_);
    for (std::size_t i = 0; i < count; ++i) {
      const auto one = std::span(matrices_).subspan(i * input.case_bytes(), input.case_bytes());
      const Operand& operand = *input.role().operand;
      try {
        if (&input == work_.inputs.sparse_a.get())
          input.compress(work_.instruction.form(), one, words_of(operand, i), words_of(work_.instruction.form().operand(OperandName::e), i),
                         selected_matrix(work_.instruction.form(), work_.options.operands, OperandName::e));
        else
          input.scatter(one, first_word(operand, i), selected_matrix(work_.instruction.form(), work_.options.operands, operand.name));
      } catch (const std::exception& e) {
        throw std::runtime_error(fmt::format("{}: case {}: {}", input.path(), first + i, e.what()));
      }
    }
  }

  void write(std::size_t first, std::size_t count) {
    const FileRole& output = work_.output_role;
    if (const auto reading = matrix_reading(output, work_.options)) {
      const MatrixSize matrix = *matrix_size(output);
      const MatrixOutput written(*output.operand, *reading);
      const std::size_t size = matrix.rows * matrix.columns * size_of(written.dtype());
      matrices_.resize(count * size);
      for (std::size_t i = 0; i < count; ++i) written.gather(first_word(*output.operand, i), std::span(matrices_).subspan(i * size, size));
      return work_.output.write(first * size, matrices_);
    }
    if (output.dtype == DType::uint64) join_registers(of(output.operand->name));
    const std::size_t size = case_bytes(output);
    work_.output.write(first * size, bytes(output).first(count * size));
  }

  std::uint32_t* first_word(const Operand& operand, std::size_t index) {
    return of(operand.name)[index * static_cast<std::size_t>(operand.words())].data();
  }

  /// The words of an operand's registers in case `index` of the chunk.
  std::vector<std::uint32_t*> words_of(const Operand& operand, std::size_t index) {
    const auto words = static_cast<std::size_t>(operand.words());
    std::vector<std::uint32_t*> pointers;
    for (std::size_t w = 0; w < words; ++w) pointers.push_back(of(operand.name)[index * words + w].data());
    return pointers;
  }

  std::vector<Register>& of(OperandName name) { return registers_[static_cast<std::size_t>(name)]; }

  std::span<std::byte> bytes(const FileRole& file) {
    return file.operand == nullptr ? std::as_writable_bytes(std::span(memory_)) : std::as_writable_bytes(std::span(of(file.operand->name)));
  }
  std::size_t case_bytes(const FileRole& file) { return bytes(file).size() / cases_; }

  const Work& work_;
  std::size_t cases_;
  std::array<std::vector<Register>, operand_name_count> registers_;  ///< by OperandName: [cases][words of the operand]; numbers [words]
  std::vector<std::uint8_t> memory_;                                 ///< [cases][bytes]
  std::vector<std::byte> matrices_;                                  ///< of an input or of the result, [cases][bytes]
  std::array<RegisterView, operand_name_count> views_;
  Call call_;
};

void exec(ExecOptions options, const Command& command) {
  refuse_file(options.operands.opcode);
  if (!options.operands.opcode.starts_with("tcgen05.mma")) options.operands.opcode = opcode_meant(options.operands.opcode);
  if (options.operands.opcode.starts_with("wgmma.")) return exec_wgmma(options, command);
  if (options.operands.opcode.starts_with("tcgen05.mma")) return exec_tensor(options, command);
  if (options.descriptor) throw std::runtime_error("--descriptor is the instruction descriptor of tcgen05.mma");
  if (options.wgmma != WgmmaOptions())
    throw std::runtime_error(
        "--a-descriptor, --b-descriptor, --scale-d, --negate-a, --negate-b, --transpose-a and --transpose-b are options of wgmma");
  const Instruction instruction(options.operands.opcode, options.target);
  if (!options.report.empty()) check_output_place(options.report);
  const std::vector<FileRole> roles = checked_roles(instruction.form(), options.operands, true);
  const FileRole& output_role = *std::ranges::find(roles, true, &FileRole::written);
  require_labels(options.labels, instruction.target().name, {labelled(instruction)});
  Inputs inputs(instruction.form(), roles, options.operands);
  if (!inputs.cases) throw std::runtime_error("at least one operand must be a file: it says how many cases there are");
  NpyWriter output(options.operands.file(output_role), output_header(output_role, inputs, options));
  const Work work{instruction, options, inputs, output_role, output};
  const std::size_t step = chunk_cases(inputs.bytes, *inputs.cases, options.jobs);
  run_chunks(*inputs.cases, step, options.jobs, [&] { return Chunk(work, step); });
  output.finish();
  write_report(options.report, command, instruction.target().name, {labelled(instruction)}, {{instruction.form().opcode, *inputs.cases}});
  print_evidence(options.labels, instruction.target().name, {labelled(instruction)});
}

constexpr const char* introduction =
    R"(Every array holds one warp a case. An operand's array is its registers, or its logical matrix: [cases][rows][columns], of --e the metadata
codes (rows by groups), of --scale-a and --scale-b the factors that the ids select (rows by factors, factors by columns). Its shape says which;
where both would fit, :registers, :values or :bits behind the file's name does. 'zeros' stands for an operand that is all zero, '-' for standard
input and output. Files may be larger than memory, but for '-'. A result appears whole or not at all.
A case of tcgen05.mma is one product of a block or a pair; its arrays are matrices. The --descriptor has their sizes and types.

)";

constexpr const char* examples = R"(
Examples:
  warpmat exec mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 --target sm_80 --a A.npy --b B.npy --c zeros --d D.npy --as matrix
  warpmat exec mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 --target sm_90a --sparse-a A.npy --b B.npy --c zeros --d D.npy --as matrix
  warpmat exec mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 --target sm_80 --a A.npy --b B.npy --c C.npy --d D.npy
  warpmat exec tcgen05.mma.cta_group::1.kind::f16 --descriptor 0x08100010 --target sm_100a --a A.npy --b B.npy --c zeros --d D.npy
  warpmat exec ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 --target sm_90a --shared MEM.npy --p ADDR.npy --r R.npy
  warpmat exec stmatrix.sync.aligned.m8n8.x2.shared.b16 --target sm_90 --shared MEM.npy --p ADDR.npy --r R.npy --shared-out OUT.npy
  warpmat exec movmatrix.sync.aligned.m8n8.trans.b16 --target sm_75 --a A.npy --d D.npy
  warpmat exec mma.sp.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 --target sm_80 --a A.npy --b B.npy --c C.npy --e E.npy --selector 2 --d D.npy)";

}  // namespace

void add_exec(Command app) {
  constexpr unsigned max_jobs = 1024;
  const Command command = app.add_subcommand("exec", "Execute one instruction on many warps, from and to .npy files");
  const auto options = std::make_shared<ExecOptions>();
  add_operand_options(command, options->operands);
  add_wgmma_options(command, options->wgmma);
  command.add_option("--descriptor", options->descriptor, "Of tcgen05.mma: the instruction descriptor, 0x08100010").type_name("BITS");
  command.add_option("--target", options->target, "The target to execute as: sm_80, sm_90a, ...").required().type_name("T");
  command
      .add_option("--as", options->as,
                  "How the result is written: registers, its matrix, or the matrix's bits (default: registers, of tcgen05.mma the matrix)")
      .type_name("{registers,matrix,bits}")
      .one_of({"registers", "matrix", "bits"});
  add_execution_flags(command, options->execution);
  add_label_flags(command, options->labels);
  add_report_option(command, options->report);
  options->jobs = machine::usable_cores();
  command.add_option("--jobs", options->jobs, "Threads; results do not depend on it (default: the cores that the process may use)")
      .type_name("N")
      .range(1u, max_jobs);
  command.footer([] { return introduction + dtype_help() + examples; });
  command.callback([options, command] { exec(*options, command); });
}

}  // namespace warpmat

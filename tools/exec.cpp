#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/execute/instruction.h>
#include <warpmat/tables/scales.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "commands.h"
#include "exec_files.h"
#include "tools/library/element_array.h"
#include "tools/library/evidence_line.h"
#include "tools/library/execution_flags.h"
#include "tools/library/label_flags.h"
#include "tools/library/npy.h"
#include "tools/library/progress.h"
#include "tools/library/ptx_file.h"
#include "tools/library/register_array.h"

namespace warpmat {
namespace {

// ---- The command line ---------------------------------------------------------------------------------------------------------------

/// An operand that is a number, the same in all cases: option --`option` sets word `word` of `operand`.
struct NumberRole {
  std::string option;
  OperandName operand;
  std::size_t word;
};

/// The numbers of every form: the selector, the tuples {byte-id, thread-id}, and the stride, which may be left out.
const std::vector<NumberRole>& number_roles() {
  static const std::vector<NumberRole> roles{{"selector", OperandName::selector, 0}, {"byte-id-a", OperandName::ids_a, 0},
                                             {"thread-id-a", OperandName::ids_a, 1}, {"byte-id-b", OperandName::ids_b, 0},
                                             {"thread-id-b", OperandName::ids_b, 1}, {"stride", OperandName::stride, 0}};
  return roles;
}

struct Options {
  std::string opcode, target;
  std::map<std::string, std::string> paths;                     ///< by option; empty where not given
  std::map<std::string, std::optional<std::uint32_t>> numbers;  ///< by option
  ExecutionOptions execution;
  LabelOptions labels;
  std::string as = "registers";  ///< how the result is written: "registers", "matrix" or "bits"
  unsigned jobs = 0;

  const std::string& file(const FileRole& role) const { return paths.at(role.option); }
};

std::vector<std::string> file_options() {
  std::vector<std::string> options;
  for (std::size_t i = 0; i < operand_names; ++i)
    if (const auto operand = static_cast<OperandName>(i);
        std::ranges::find(number_roles(), operand, &NumberRole::operand) == number_roles().end())
      options.emplace_back(name(operand));
  options.insert(options.end(), {memory_option, memory_out_option, sparse_a_option});
  return options;
}

/// Who uses the files of one option, and what these hold.
struct FileUse {
  std::set<std::string> readers, writers, layouts;
  std::string content;
};

/// Of all forms, by option.
std::map<std::string, FileUse> file_uses() {
  std::map<std::string, FileUse> uses;
  for (const Form& form : forms())
    for (const FileRole& file : file_roles(form)) {
      FileUse& use = uses[file.option];
      (file.written ? use.writers : use.readers).emplace(name(form.mnemonic));
      use.layouts.insert(layout_text(file, false));
      use.content = file.content;
    }
  return uses;
}

/// "read by stmatrix, written by ldmatrix: registers, uint32 [cases][registers][32]"
std::string description(const FileUse& use) {
  std::vector<std::string> users;
  if (!use.readers.empty()) users.push_back(fmt::format("read by {}", fmt::join(use.readers, ", ")));
  if (!use.writers.empty()) users.push_back(fmt::format("written by {}", fmt::join(use.writers, ", ")));
  const std::string or_matrix = use.content == "registers" ? "; or [cases][rows][columns]" : "";
  return fmt::format("{}: {}, {}{}", fmt::join(users, "; "), use.content, fmt::join(use.layouts, " or "), or_matrix);
}

/// The options of `form`, for messages.
std::string wanted_options(const Form& form) {
  std::vector<std::string> wanted;
  for (const FileRole& file : file_roles(form)) wanted.push_back("--" + file.option);
  if (form.sparsity != Sparsity::dense) wanted.push_back(fmt::format("--{}", sparse_a_option));
  return fmt::format("{}", fmt::join(wanted, ", "));
}

/// The roles of `form`, after a check that just their options were given.
std::vector<FileRole> checked_roles(const Form& form, const Options& options) {
  const std::vector<FileRole> roles = file_roles(form);
  const bool sparse_a = !options.paths.at(sparse_a_option).empty();
  const auto from_sparse_a = [&](const FileRole& file) { return sparse_a && (file.option == "a" || file.option == "e"); };
  for (const FileRole& file : roles) {
    const bool given = !options.file(file).empty();
    if (!given && !from_sparse_a(file))
      throw std::runtime_error(fmt::format("{} needs --{} FILE.npy: {}, {}{}", form.opcode, file.option, file.content, layout_text(file),
                                           file.written ? "" : "; or zeros"));
    if (given && from_sparse_a(file))
      throw std::runtime_error(fmt::format("--{} comes from --{}: give one of them", file.option, sparse_a_option));
  }
  for (const auto& [option, path] : options.paths) {
    const bool known =
        option == sparse_a_option ? form.sparsity != Sparsity::dense : std::ranges::find(roles, option, &FileRole::option) != roles.end();
    if (!path.empty() && !known)
      throw std::runtime_error(fmt::format("{} takes no --{}; it takes {}", form.opcode, option, wanted_options(form)));
  }
  for (const NumberRole& number : number_roles())
    if (options.numbers.at(number.option) && form.find_operand(number.operand) == nullptr)
      throw std::runtime_error(fmt::format("{} takes no --{}", form.opcode, number.option));
  return roles;
}

// ---- Reading ------------------------------------------------------------------------------------------------------------------------

/// All that is read: files that hold the same number of cases.
struct Inputs {
  Inputs(const Form& form, const std::vector<FileRole>& roles, const Options& options) {
    const FileArgument dense = FileArgument::parse(options.paths.at(sparse_a_option));
    if (!dense.path.empty()) sparse_a = Input::sparse_a(form, dense);
    if (sparse_a) count(*sparse_a);
    for (const FileRole& role : roles) {
      const FileArgument argument = FileArgument::parse(options.file(role));
      if (role.written || argument.path.empty()) continue;
      count(*files.emplace_back(std::make_unique<Input>(role, argument)));
      if (role.operand == nullptr) memory_bytes = files.back()->header().shape[1];
    }
    if (first_ == nullptr) throw std::runtime_error("at least one operand must be a file: it says how many cases there are");
  }

  std::vector<std::unique_ptr<Input>> files;
  std::unique_ptr<Input> sparse_a;  ///< a dense A in place of a and e; nullptr where none is given
  std::size_t cases = 0;
  std::size_t memory_bytes = 0;  ///< of one case
  std::size_t bytes = 0;         ///< of all files

 private:
  void count(const Input& input) {
    if (first_ == nullptr) first_ = &input, cases = input.header().shape[0];
    if (input.header().shape[0] != cases)
      throw std::runtime_error(fmt::format("{} holds {} cases but {} holds {}; all files must hold the same number of cases",
                                           first_->path(), cases, input.path(), input.header().shape[0]));
    bytes += *input.header().byte_count();
  }

  const Input* first_ = nullptr;
};

// ---- Executing ----------------------------------------------------------------------------------------------------------------------

/// How the result is written in place of registers; nothing for registers and memory.
std::optional<Reading> matrix_reading(const FileRole& role, const Options& options) {
  if (options.as == "registers") return std::nullopt;
  if (!matrix_size(role)) throw std::runtime_error(fmt::format("--as {}: the result is {}", options.as, role.content));
  return options.as == "bits" ? Reading::bits : Reading::by_dtype;
}

/// The header of the file that is written.
NpyHeader output_header(const FileRole& role, const Inputs& inputs, const Options& options) {
  if (const auto reading = matrix_reading(role, options)) {
    const MatrixSize size = *matrix_size(role);
    return {written_dtype(element_type(*role.operand), *reading), {inputs.cases, size.rows, size.columns}};
  }
  NpyHeader header{role.dtype, {inputs.cases}};
  for (const Dimension& d : role.dimensions) header.shape.push_back(d.extent.value_or(inputs.memory_bytes));
  return header;
}

/// What all threads work on.
struct Work {
  const Instruction& instruction;
  const Options& options;
  Inputs& inputs;
  const FileRole& output_role;
  NpyWriter& output;
};

/// The registers and memories of some cases, side by side: what one thread reads, executes and writes at a time.
class Chunk {
 public:
  Chunk(const Work& work, std::size_t cases) : work_(work), cases_(cases), memory_(cases * work.inputs.memory_bytes) {
    const Form& form = work.instruction.form();
    for (const Operand& operand : form.operands) {
      const bool number = operand.kind != OperandKind::fragment && operand.kind != OperandKind::address;
      if (operand.kind == OperandKind::stride && !work.options.numbers.at(std::string(name(operand.name)))) continue;
      const auto words = static_cast<std::size_t>(operand.words());
      std::vector<Register>& registers = of(operand.name);
      registers.resize(words * (number ? 1 : cases));
      if (operand.written) {
        batch_.destination = {registers.data()->data(), words * lanes};
      } else {
        batch_.source(operand.name) = {registers.data()->data(), number ? 0 : words * lanes};
      }
    }
    for (const NumberRole& number : number_roles())
      if (form.find_operand(number.operand) != nullptr && !of(number.operand).empty())
        of(number.operand)[number.word].fill(work.options.numbers.at(number.option).value_or(0));
    batch_.shared = memory_.data();
    batch_.shared_bytes = batch_.shared_stride = work.inputs.memory_bytes;
  }

  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;

  /// The cases from `first` to `last` - 1, from the files to the file.
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
      work_.instruction.execute(batch_, count, work_.options.execution);
    } catch (const Trap& trap) {
      throw Trap(trap.lane, trap.address, trap.reason, fmt::format("case {}", first + trap.warp));
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
      const auto words = words_of(*input.role().operand, i);
      try {
        if (&input == work_.inputs.sparse_a.get())
          input.compress(work_.instruction.form(), one, words, words_of(work_.instruction.form().operand(OperandName::e), i),
                         selected(OperandName::e));
        else
          input.scatter(one, words, selected(input.role().operand->name));
      } catch (const std::exception& e) {
        throw std::runtime_error(fmt::format("{}: case {}: {}", input.path(), first + i, e.what()));
      }
    }
  }

  void write(std::size_t first, std::size_t count) {
    const FileRole& output = work_.output_role;
    if (const auto reading = matrix_reading(output, work_.options)) {
      const MatrixSize matrix = *matrix_size(output);
      const std::size_t size = matrix.rows * matrix.columns * size_of(written_dtype(element_type(*output.operand), *reading));
      matrices_.resize(count * size);
      for (std::size_t i = 0; i < count; ++i) {
        const auto words = words_of(*output.operand, i);
        gather_matrix(*output.operand, *reading, ConstRegisterList(words.data(), words.size()),
                      std::span(matrices_).subspan(i * size, size));
      }
      return work_.output.write(first * size, matrices_);
    }
    if (output.dtype == DType::uint64) join_registers(of(output.operand->name));
    const std::size_t size = case_bytes(output);
    work_.output.write(first * size, bytes(output).first(count * size));
  }

  /// The words of an operand's registers in case `index` of the chunk.
  std::vector<std::uint32_t*> words_of(const Operand& operand, std::size_t index) {
    const auto words = static_cast<std::size_t>(operand.words());
    std::vector<std::uint32_t*> pointers;
    for (std::size_t w = 0; w < words; ++w) pointers.push_back(of(operand.name)[index * words + w].data());
    return pointers;
  }

  /// Which matrix of an operand selector or ids choose.
  int selected(OperandName operand) const {
    const auto number = [&](const char* option) { return work_.options.numbers.at(option).value_or(0); };
    const Form& form = work_.instruction.form();
    if (operand == OperandName::e) return static_cast<int>(number("selector"));
    if (operand == OperandName::scale_a) return scale_matrix(form, OperandName::ids_a, {number("byte-id-a"), number("thread-id-a")});
    if (operand == OperandName::scale_b) return scale_matrix(form, OperandName::ids_b, {number("byte-id-b"), number("thread-id-b")});
    return 0;
  }

  std::vector<Register>& of(OperandName name) { return registers_[static_cast<std::size_t>(name)]; }

  std::span<std::byte> bytes(const FileRole& file) {
    return file.operand == nullptr ? std::as_writable_bytes(std::span(memory_)) : std::as_writable_bytes(std::span(of(file.operand->name)));
  }
  std::size_t case_bytes(const FileRole& file) { return bytes(file).size() / cases_; }

  const Work& work_;
  std::size_t cases_;
  std::array<std::vector<Register>, operand_names> registers_;  ///< by OperandName: [cases][words of the operand]; numbers [words]
  std::vector<std::uint8_t> memory_;                            ///< [cases][bytes]
  std::vector<std::byte> matrices_;                             ///< of an input or the result, [cases][bytes]
  Batch batch_;
};

/// How many cases a thread takes at a time: so few that they stay in its cache and every thread has work.
std::size_t chunk_cases(const Inputs& inputs, unsigned jobs) {
  constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
  const std::size_t fitting = chunk_bytes / (inputs.bytes / inputs.cases);
  return std::max<std::size_t>(1, std::min(fitting, (inputs.cases + jobs - 1) / jobs));
}

/// Executes every case. Threads take chunks of cases in their order; of several failures the one with the lowest case is thrown: the chunks
/// before a failing one were taken earlier, and end.
void run_all(const Work& work) {
  const std::size_t cases = work.inputs.cases;
  if (cases == 0) return;
  const std::size_t step = chunk_cases(work.inputs, work.options.jobs);
  std::vector<std::pair<std::size_t, std::exception_ptr>> failures(std::min<std::size_t>(work.options.jobs, (cases + step - 1) / step));
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  Progress progress(cases);
  const auto run_chunks = [&](auto& failure) {
    std::size_t first = 0;
    try {
      Chunk chunk(work, step);
      while (!failed && (first = next.fetch_add(step)) < cases) {
        const std::size_t last = std::min(first + step, cases);
        chunk.run(first, last);
        progress.advance(last - first);
      }
    } catch (...) {
      failure = {first, std::current_exception()};
      failed = true;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (auto& failure : failures) threads.emplace_back([&] { run_chunks(failure); });
  }
  std::erase_if(failures, [](const auto& failure) { return failure.second == nullptr; });
  if (!failures.empty()) std::rethrow_exception(std::ranges::min(failures, {}, [](const auto& failure) { return failure.first; }).second);
}

void exec(const Options& options) {
  refuse_file(options.opcode);
  const Instruction instruction(options.opcode, options.target);
  const std::vector<FileRole> roles = checked_roles(instruction.form(), options);
  const FileRole& output_role = *std::ranges::find(roles, true, &FileRole::written);
  require_labels(options.labels, instruction.target().name, {labelled(instruction)});
  Inputs inputs(instruction.form(), roles, options);
  NpyWriter output(options.file(output_role), output_header(output_role, inputs, options));
  run_all({instruction, options, inputs, output_role, output});
  output.finish();
  print_evidence(options.labels, instruction.target().name, {labelled(instruction)});
}

constexpr const char* introduction =
    R"(Every array holds one warp a case. An operand's array is its registers, or its logical matrix: [cases][rows][columns], of --e the metadata
codes (rows by groups), of --scale-a and --scale-b the factors that the ids select (rows by factors, factors by columns). Its shape says which;
where both would fit, :registers, :values or :bits behind the file's name does. 'zeros' stands for an operand that is all zero, '-' for standard
input and output. Files may be larger than memory, but for '-'. A result appears whole or not at all.

)";

constexpr const char* examples = R"(
Examples:
  warpmat exec mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 --target sm_80 --a A.npy --b B.npy --c zeros --d D.npy --as matrix
  warpmat exec mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 --target sm_90a --sparse-a A.npy --b B.npy --c zeros --d D.npy --as matrix
  warpmat exec mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 --target sm_80 --a A.npy --b B.npy --c C.npy --d D.npy
  warpmat exec ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 --target sm_90a --shared MEM.npy --p ADDR.npy --r R.npy
  warpmat exec stmatrix.sync.aligned.m8n8.x2.shared.b16 --target sm_90 --shared MEM.npy --p ADDR.npy --r R.npy --shared-out OUT.npy
  warpmat exec movmatrix.sync.aligned.m8n8.trans.b16 --target sm_75 --a A.npy --d D.npy
  warpmat exec mma.sp.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 --target sm_80 --a A.npy --b B.npy --c C.npy --e E.npy --selector 2 --d D.npy)";

}  // namespace

void add_exec(CLI::App& app) {
  constexpr unsigned max_jobs = 1024;
  CLI::App* const command = app.add_subcommand("exec", "Execute one instruction on many warps, from and to .npy files");
  const auto options = std::make_shared<Options>();
  command->add_option("OPCODE", options->opcode, "The instruction with its qualifiers; 'warpmat list' shows all")->required();
  command->add_option("--target", options->target, "The target to execute as: sm_80, sm_90a, ...")->required()->type_name("T");
  std::map<std::string, FileUse> uses = file_uses();
  for (const std::string& option : file_options()) {
    const std::string text = option == sparse_a_option
                                 ? "in place of --a and --e of mma.sp: the dense A, [cases][m][k], which is compressed"
                                 : description(uses[option]);
    command->add_option("--" + option, options->paths[option], text)->type_name("FILE.npy");
  }
  for (const NumberRole& number : number_roles())
    command
        ->add_option("--" + number.option, options->numbers[number.option],
                     fmt::format("A number, for forms with operand {} (default: 0)", name(number.operand)))
        ->type_name("N");
  command->add_option("--as", options->as, "How the result is written: registers, its matrix, or the matrix's bits (default: registers)")
      ->type_name("{registers,matrix,bits}")
      ->check(CLI::IsMember({"registers", "matrix", "bits"}).description(""));
  add_execution_flags(*command, options->execution);
  add_label_flags(*command, options->labels);
  options->jobs = std::max(1u, std::thread::hardware_concurrency());
  command->add_option("--jobs", options->jobs, "Threads; results do not depend on it (default: the cores of this machine)")
      ->type_name("N")
      ->check(CLI::Range(1u, max_jobs));
  command->footer(introduction + dtype_help() + examples);
  command->callback([options] { exec(*options); });
}

}  // namespace warpmat

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/execute/instruction.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "commands.h"
#include "tools/library/execution_flags.h"
#include "tools/library/npy.h"
#include "tools/library/progress.h"
#include "tools/library/register_array.h"

namespace warpmat {
namespace {

// ---- Which files a form needs -------------------------------------------------------------------------------------------------------

/// One dimension after [cases]: `extent` elements, or as many as the file has.
struct Dimension {
  std::string name;
  std::optional<std::size_t> extent;
};

/// A file that a form reads or writes: option --`option`.
struct FileRole {
  std::string option;
  bool written;
  std::string content;  ///< "registers"
  DType dtype;
  std::vector<Dimension> dimensions;
  const Operand* operand = nullptr;  ///< whose registers these are; nullptr: the memories
};

constexpr const char* memory_option = "shared";
constexpr const char* memory_out_option = "shared-out";

FileRole memory_role(bool written) {
  return {written ? memory_out_option : memory_option, written, "shared memory", DType::uint8, {{"bytes", std::nullopt}}, nullptr};
}

FileRole role(const Operand& operand) {
  const Dimension all_lanes{"32", lanes};
  if (operand.kind == OperandKind::address)
    return {std::string(name(operand.name)), false, "byte address in shared memory for each lane", DType::uint32, {all_lanes}, &operand};
  return {std::string(name(operand.name)),
          operand.written,
          "registers",
          register_dtype(operand.fragment.register_bits),
          {{"registers", static_cast<std::size_t>(operand.registers())}, all_lanes},
          &operand};
}

bool addresses_memory(const Form& form) {
  return std::ranges::any_of(form.operands, [](const Operand& o) { return o.kind == OperandKind::address; });
}

/// An instruction that addresses memory and writes no register writes memory.
bool stores(const Form& form) {
  return addresses_memory(form) && std::ranges::none_of(form.operands, [](const Operand& o) { return o.written; });
}

/// All files of `form`, of which one is written.
std::vector<FileRole> file_roles(const Form& form) {
  std::vector<FileRole> roles;
  for (const Operand& operand : form.operands)
    if (operand.kind == OperandKind::fragment || operand.kind == OperandKind::address) roles.push_back(role(operand));
  if (addresses_memory(form)) roles.push_back(memory_role(false));
  if (stores(form)) roles.push_back(memory_role(true));
  return roles;
}

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

/// "uint32 [cases][4][32]"; without `extents` "uint32 [cases][registers][32]".
std::string layout_text(const FileRole& file, bool extents = true) {
  std::string text = fmt::format("{} [cases]", name(file.dtype));
  for (const Dimension& d : file.dimensions) text += extents && d.extent ? fmt::format("[{}]", *d.extent) : fmt::format("[{}]", d.name);
  return text;
}

// ---- The command line ---------------------------------------------------------------------------------------------------------------

struct Options {
  std::string opcode, target;
  std::map<std::string, std::string> paths;                     ///< by option; empty where not given
  std::map<std::string, std::optional<std::uint32_t>> numbers;  ///< by option
  ExecutionOptions execution;
  unsigned jobs = 0;

  const std::string& file(const FileRole& role) const { return paths.at(role.option); }
};

std::vector<std::string> file_options() {
  std::vector<std::string> options;
  for (std::size_t i = 0; i < operand_names; ++i)
    if (const auto operand = static_cast<OperandName>(i);
        std::ranges::find(number_roles(), operand, &NumberRole::operand) == number_roles().end())
      options.emplace_back(name(operand));
  options.insert(options.end(), {memory_option, memory_out_option});
  return options;
}

/// "read by stmatrix, written by ldmatrix: registers, uint32 [cases][registers][32]"
std::string description(const std::string& option) {
  std::set<std::string> readers, writers, layouts;
  std::string content;
  for (const Form& form : forms())
    for (const FileRole& file : file_roles(form)) {
      if (file.option != option) continue;
      (file.written ? writers : readers).emplace(name(form.mnemonic));
      layouts.insert(layout_text(file, false));
      content = file.content;
    }
  std::vector<std::string> users;
  if (!readers.empty()) users.push_back(fmt::format("read by {}", fmt::join(readers, ", ")));
  if (!writers.empty()) users.push_back(fmt::format("written by {}", fmt::join(writers, ", ")));
  return fmt::format("{}: {}, {}", fmt::join(users, "; "), content, fmt::join(layouts, " or "));
}

/// The roles of `form`, after a check that just their options were given.
std::vector<FileRole> checked_roles(const Form& form, const Options& options) {
  const std::vector<FileRole> roles = file_roles(form);
  for (const FileRole& file : roles)
    if (options.paths.at(file.option).empty())
      throw std::runtime_error(fmt::format("{} needs --{} FILE.npy: {}, {}", form.opcode, file.option, file.content, layout_text(file)));
  std::vector<std::string> wanted;
  for (const FileRole& file : roles) wanted.push_back("--" + file.option);
  for (const auto& [option, path] : options.paths)
    if (!path.empty() && std::ranges::find(roles, option, &FileRole::option) == roles.end())
      throw std::runtime_error(fmt::format("{} takes no --{}; it takes {}", form.opcode, option, fmt::join(wanted, ", ")));
  for (const NumberRole& number : number_roles())
    if (options.numbers.at(number.option) && form.find_operand(number.operand) == nullptr)
      throw std::runtime_error(fmt::format("{} takes no --{}", form.opcode, number.option));
  return roles;
}

// ---- Reading ------------------------------------------------------------------------------------------------------------------------

bool fits(const NpyHeader& header, const FileRole& file) {
  if (header.dtype != file.dtype || header.shape.size() != file.dimensions.size() + 1) return false;
  for (std::size_t i = 0; i < file.dimensions.size(); ++i)
    if (file.dimensions[i].extent.value_or(header.shape[i + 1]) != header.shape[i + 1]) return false;
  return true;
}

/// A file that is read; its array has the layout of its role.
struct Input {
  Input(const FileRole& role_, const std::string& path) : role(role_), file(path) {
    if (!fits(file.header(), role))
      throw std::runtime_error(
          fmt::format("{}: --{} must be {}; the file holds {}", path, role.option, layout_text(role), describe(file.header())));
  }

  const FileRole& role;
  NpyReader file;
};

/// All that is read: files that hold the same number of cases.
struct Inputs {
  Inputs(const std::vector<FileRole>& roles, const Options& options) {
    for (const FileRole& role : roles)
      if (!role.written) add(role, options);
  }

  std::deque<Input> files;
  std::size_t cases = 0;
  std::size_t memory_bytes = 0;  ///< of one case
  std::size_t bytes = 0;         ///< of all files

 private:
  void add(const FileRole& role, const Options& options) {
    const std::string& path = options.file(role);
    const NpyHeader& header = files.emplace_back(role, path).file.header();
    if (files.size() == 1) cases = header.shape[0];
    if (header.shape[0] != cases)
      throw std::runtime_error(fmt::format("{} holds {} cases but {} holds {}; all files must hold the same number of cases",
                                           options.file(files.front().role), cases, path, header.shape[0]));
    if (role.operand == nullptr) memory_bytes = header.shape[1];
    bytes += *header.byte_count();
  }
};

// ---- Executing ----------------------------------------------------------------------------------------------------------------------

/// The header of the file that is written.
NpyHeader output_header(const FileRole& role, const Inputs& inputs) {
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
    for (Input& input : work_.inputs.files) {
      const std::size_t size = case_bytes(input.role);
      input.file.read(first * size, bytes(input.role).first(count * size));
      if (input.role.dtype == DType::uint64) split_registers(of(input.role.operand->name));
    }
    execute(first, count);
    const FileRole& output = work_.output_role;
    if (output.dtype == DType::uint64) join_registers(of(output.operand->name));
    const std::size_t size = case_bytes(output);
    work_.output.write(first * size, bytes(output).first(count * size));
  }

 private:
  void execute(std::size_t first, std::size_t count) {
    try {
      work_.instruction.execute(batch_, count, work_.options.execution);
    } catch (const Trap& trap) {
      throw Trap(trap.lane, trap.address, trap.reason, fmt::format("case {}", first + trap.warp));
    }
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
  const Instruction instruction(options.opcode, options.target);
  const std::vector<FileRole> roles = checked_roles(instruction.form(), options);
  const FileRole& output_role = *std::ranges::find(roles, true, &FileRole::written);
  Inputs inputs(roles, options);
  NpyWriter output(options.file(output_role), output_header(output_role, inputs));
  run_all({instruction, options, inputs, output_role, output});
  output.finish();
}

constexpr const char* footer = R"(Every array holds one warp a case. Files may be larger than memory. A result appears whole or not at all.

Examples:
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
  for (const std::string& option : file_options())
    command->add_option("--" + option, options->paths[option], description(option))->type_name("FILE.npy");
  for (const NumberRole& number : number_roles())
    command
        ->add_option("--" + number.option, options->numbers[number.option],
                     fmt::format("A number, for forms with operand {} (default: 0)", name(number.operand)))
        ->type_name("N");
  add_execution_flags(*command, options->execution);
  options->jobs = std::max(1u, std::thread::hardware_concurrency());
  command->add_option("--jobs", options->jobs, "Threads; results do not depend on it (default: the cores of this machine)")
      ->type_name("N")
      ->check(CLI::Range(1u, max_jobs));
  command->footer(footer);
  command->callback([options] { exec(*options); });
}

}  // namespace warpmat

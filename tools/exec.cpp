#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/isa/instruction.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "commands.h"
#include "npy.h"
#include "output_file.h"
#include "progress.h"
#include "register_array.h"

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
};

constexpr const char* memory_option = "shared";
constexpr const char* memory_out_option = "shared-out";

FileRole memory_role(bool written) {
  return {written ? memory_out_option : memory_option, written, "shared memory", DType::uint8, {{"bytes", std::nullopt}}};
}

FileRole role(const Operand& operand) {
  const Dimension all_lanes{"32", lanes};
  if (operand.kind == OperandKind::address)
    return {std::string(name(operand.name)), false, "byte address in shared memory for each lane", DType::uint32, {all_lanes}};
  return {std::string(name(operand.name)),
          operand.written,
          "registers",
          register_dtype(operand.fragment.register_bits),
          {{"registers", static_cast<std::size_t>(operand.registers())}, all_lanes}};
}

bool addresses_memory(const Form& form) {
  return std::ranges::any_of(form.operands, [](const Operand& o) { return o.kind == OperandKind::address; });
}

/// An instruction that addresses memory and writes no register writes memory.
bool stores(const Form& form) {
  return addresses_memory(form) && std::ranges::none_of(form.operands, [](const Operand& o) { return o.written; });
}

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

/// The numbers of every form: the selector, and the tuples {byte-id, thread-id}.
const std::vector<NumberRole>& number_roles() {
  static const std::vector<NumberRole> roles{{"selector", OperandName::selector, 0},
                                             {"byte-id-a", OperandName::ids_a, 0},
                                             {"thread-id-a", OperandName::ids_a, 1},
                                             {"byte-id-b", OperandName::ids_b, 0},
                                             {"thread-id-b", OperandName::ids_b, 1}};
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
  std::map<std::string, std::string> paths;  ///< by option; empty where not given
  std::map<std::string, std::optional<std::uint32_t>> numbers;  ///< by option
  bool hardware = false;  ///< undefined behaviour as measured instead of a trap
  unsigned jobs = 0;
};

std::vector<std::string> file_options() {
  std::vector<std::string> options;
  for (std::size_t i = 0; i < operand_names; ++i)
    if (const auto operand = static_cast<OperandName>(i); std::ranges::find(number_roles(), operand, &NumberRole::operand) == number_roles().end())
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

bool fits(const NpyArray& array, const FileRole& file) {
  if (array.dtype != file.dtype || array.shape.size() != file.dimensions.size() + 1) return false;
  for (std::size_t i = 0; i < file.dimensions.size(); ++i)
    if (file.dimensions[i].extent.value_or(array.shape[i + 1]) != array.shape[i + 1]) return false;
  return true;
}

NpyArray read(const std::string& path, const FileRole& file) {
  NpyArray array = read_npy(path);
  if (fits(array, file)) return array;
  throw std::runtime_error(fmt::format("{}: --{} must be {}; the file holds {}", path, file.option, layout_text(file), describe(array)));
}

/// The registers and memories of many warps, side by side.
struct Warps {
  std::size_t count = 0;
  std::array<std::vector<Register>, operand_names> registers;  ///< by OperandName: [count][words of the operand]; numbers [words]
  NpyArray memory;                                             ///< [count][bytes]

  std::vector<Register>& of(OperandName name) { return registers[static_cast<std::size_t>(name)]; }
  std::size_t memory_bytes() const { return memory.shape.empty() ? 0 : memory.shape[1]; }
};

Warps read_warps(const Form& form, const std::vector<FileRole>& roles, const Options& options) {
  Warps warps;
  std::string first;  // the file that set the number of cases
  for (const FileRole& file : roles) {
    if (file.written) continue;
    const std::string& path = options.paths.at(file.option);
    NpyArray array = read(path, file);
    if (first.empty()) {
      first = path;
      warps.count = array.shape[0];
    }
    if (array.shape[0] != warps.count)
      throw std::runtime_error(fmt::format("{} holds {} cases but {} holds {}; all files must hold the same number of cases", first,
                                           warps.count, path, array.shape[0]));
    if (file.option == memory_option)
      warps.memory = std::move(array);
    else
      warps.of(*find_operand_name(file.option)) = to_registers(array);
  }
  for (const Operand& operand : form.operands)
    if (operand.written) warps.of(operand.name).resize(warps.count * static_cast<std::size_t>(operand.words()));
  for (const NumberRole& number : number_roles()) {
    if (form.find_operand(number.operand) == nullptr) continue;
    std::vector<Register>& words = warps.of(number.operand);
    words.resize(std::max(words.size(), number.word + 1));
    words[number.word].fill(options.numbers.at(number.option).value_or(0));
  }
  return warps;
}

// ---- Executing ----------------------------------------------------------------------------------------------------------------------

/// Executes cases one after another, without allocating between them.
class Runner {
 public:
  Runner(const Instruction& instruction, Warps& warps, Undefined undefined) : instruction_(instruction), warps_(warps), shared_(warps.memory_bytes()) {
    for (const Operand& operand : form().operands) {
      std::vector<Register*>& registers = of(operand.name);
      registers.resize(static_cast<std::size_t>(operand.words()));
      if (operand.written)
        arguments_.destination = registers;
      else
        arguments_.source(operand.name) = registers;
    }
    arguments_.shared = &shared_;
    arguments_.undefined = undefined;
  }

  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  void run(std::size_t index) {
    for (const Operand& operand : form().operands) {
      std::vector<Register*>& registers = of(operand.name);
      const bool number = operand.kind == OperandKind::selector || operand.kind == OperandKind::ids;
      const std::size_t first = number ? 0 : index * registers.size();
      for (std::size_t i = 0; i < registers.size(); ++i) registers[i] = &warps_.of(operand.name)[first + i];
    }
    const std::span<std::uint8_t> memory = warps_.memory.as<std::uint8_t>().subspan(index * shared_.size(), shared_.size());
    std::ranges::copy(memory, shared_.bytes().begin());
    try {
      instruction_.execute(arguments_);
    } catch (const Trap& trap) {
      throw std::runtime_error(fmt::format("case {}: {}", index, trap.what()));
    }
    if (stores_) std::ranges::copy(shared_.bytes(), memory.begin());
  }

 private:
  const Form& form() const { return instruction_.form(); }
  std::vector<Register*>& of(OperandName name) { return registers_[static_cast<std::size_t>(name)]; }

  const Instruction& instruction_;
  Warps& warps_;
  SharedMemory shared_;
  bool stores_ = stores(instruction_.form());
  std::array<std::vector<Register*>, operand_names> registers_;
  Arguments arguments_;
};

/// Executes every case. Slices of cases go to threads; of several failures the one with the lowest case is thrown.
void run_all(const Instruction& instruction, Warps& warps, Undefined undefined, unsigned jobs) {
  const std::size_t slices = std::min<std::size_t>(jobs, warps.count);
  std::vector<std::exception_ptr> failures(slices);
  Progress progress(warps.count);
  const auto run_slice = [&](std::size_t slice) {
    try {
      Runner runner(instruction, warps, undefined);
      const std::size_t end = warps.count * (slice + 1) / slices;
      for (std::size_t i = warps.count * slice / slices; i < end; ++i, progress.advance()) runner.run(i);
    } catch (...) {
      failures[slice] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t slice = 0; slice < slices; ++slice) threads.emplace_back(run_slice, slice);
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

// ---- Writing ------------------------------------------------------------------------------------------------------------------------

void write_results(const Form& form, Warps& warps, const Options& options) {
  for (const Operand& operand : form.operands) {
    if (!operand.written) continue;
    const std::vector<std::size_t> shape{warps.count, static_cast<std::size_t>(operand.registers()), lanes};
    write_npy(options.paths.at(std::string(name(operand.name))),
              from_registers(warps.of(operand.name), operand.fragment.register_bits, shape));
  }
  if (stores(form)) write_npy(options.paths.at(memory_out_option), warps.memory);
}

void exec(const Options& options) {
  const Instruction instruction(options.opcode, options.target);
  const std::vector<FileRole> roles = checked_roles(instruction.form(), options);
  for (const FileRole& file : roles)
    if (file.written) check_output_place(options.paths.at(file.option));
  Warps warps = read_warps(instruction.form(), roles, options);
  run_all(instruction, warps, options.hardware ? Undefined::hardware : Undefined::trap, options.jobs);
  write_results(instruction.form(), warps, options);
}

constexpr const char* footer = R"(Every array holds one warp a case. A result appears whole or not at all.

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
    command->add_option("--" + number.option, options->numbers[number.option],
                        fmt::format("A number, for forms with operand {} (default: 0)", name(number.operand)))
        ->type_name("N");
  command->add_flag("--undefined-as-hardware", options->hardware,
                    "Where the ISA leaves behaviour undefined, do what the target's hardware was measured to do, instead of a trap");
  options->jobs = std::max(1u, std::thread::hardware_concurrency());
  command->add_option("--jobs", options->jobs, "Threads; results do not depend on it (default: the cores of this machine)")
      ->type_name("N")
      ->check(CLI::Range(1u, max_jobs));
  command->footer(footer);
  command->callback([options] { exec(*options); });
}

}  // namespace warpmat

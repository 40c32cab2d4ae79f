// warpmat exec of wgmma: a case is a warpgroup. A is in registers or in shared memory, B in shared memory, C and D in registers.

#include <fmt/core.h>
#include <warpmat/execute/wgmma_products.h>
#include <warpmat/files/output_file.h>
#include <warpmat/instruction.h>
#include <warpmat/wgmma.h>
#include <warpmat/words/words.h>

#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "exec_case_file.h"
#include "exec_run.h"
#include "run_report.h"
#include "tools/report/element_array.h"
#include "tools/report/npy.h"

namespace warpmat {
namespace {

constexpr std::size_t warps = WgmmaForm::warps;

MatrixSize extent_of(const WgmmaForm& form, OperandName operand) {
  const MatrixExtent extent = matrix_extent(form, operand);
  return {static_cast<std::size_t>(extent.rows), static_cast<std::size_t>(extent.columns)};
}

/// A descriptor: one for all cases, or one for each.
struct DescriptorSource {
  std::uint64_t number = 0;
  std::unique_ptr<CaseFile> file;

  DescriptorSource(const char* option, const std::string& text) {
    const auto given = number_of<std::uint64_t>(text);
    number = given.value_or(0);
    if (given) return;
    file = std::make_unique<CaseFile>(option, text);
    if (!file->has_shape(DType::uint64, {})) file->refuse("a number, or uint64 [cases]");
  }
};

/// An operand given as an array: its registers or its matrix.
struct ArraySource {
  ArraySource(const char* option, const std::string& path) : file(option, path) {}

  CaseFile file;
  std::optional<ElementReader> reader;  ///< of a matrix
};

// ---- Inputs ---------------------------------------------------------------------------------------------------------------------------

/// All inputs.
class WgmmaInputs {
 public:
  WgmmaInputs(const WgmmaForm& form, const ExecOptions& options) : form_(form) {
    const auto path = [&](const char* option) { return options.operands.paths.at(option); };
    check_options(options);
    a = array("a", path("a"), OperandName::a, form.a_registers());
    b = array("b", path("b"), OperandName::b, 0);
    if (path("c") != "zeros") c = array("c", path("c"), OperandName::d, form.d_registers());
    if (form.sparse()) e = array("e", path("e"), OperandName::e, 1);
    if (!path("shared").empty()) memory = file("shared", path("shared"));
    if (memory && (memory->header().dtype != DType::uint8 || memory->header().shape.size() != 2)) memory->refuse("uint8 [cases][bytes]");
    if (!options.wgmma.a_descriptor.empty()) a_descriptor.emplace("a-descriptor", options.wgmma.a_descriptor);
    if (!options.wgmma.b_descriptor.empty()) b_descriptor.emplace("b-descriptor", options.wgmma.b_descriptor);
    for (const auto* descriptor : {&a_descriptor, &b_descriptor})
      if (*descriptor && (*descriptor)->file) count(*(*descriptor)->file);
    if (cases_from_ == nullptr) throw std::runtime_error("at least one operand must be a file: it says how many cases there are");
  }

  std::size_t cases() const { return cases_from_->cases(); }

  std::unique_ptr<ArraySource> a, b, c, e;
  std::unique_ptr<CaseFile> memory;
  std::optional<DescriptorSource> a_descriptor, b_descriptor;

 private:
  /// Checks that A and B have exactly one source each, and that the instruction has all given operands.
  void check_options(const ExecOptions& options) const {
    const auto given = [&](const char* option) { return !options.operands.paths.at(option).empty(); };
    const auto refuse = [&](const std::string& reason) { throw std::runtime_error(fmt::format("{} {}", form_.opcode, reason)); };
    for (const auto& [option, text] : options.operands.paths) {
      const bool known =
          option == "a" || option == "b" || option == "c" || option == "d" || option == "shared" || (option == "e" && form_.sparse());
      if (!text.empty() && !known) refuse(fmt::format("takes no --{}", option));
      if (text == "zeros" && option != "c") refuse(fmt::format("takes zeros for --c only, not for --{}", option));
    }
    for (const auto& [option, number] : options.operands.numbers)
      if (number && (option != "selector" || !form_.sparse())) refuse(fmt::format("takes no --{}", option));
    const bool a_in_memory = !options.wgmma.a_descriptor.empty(), b_in_memory = !options.wgmma.b_descriptor.empty();
    if (given("a") == a_in_memory) refuse("needs --a FILE.npy, its registers or its matrix, or --a-descriptor and --shared");
    if (given("b") == b_in_memory) refuse("needs --b FILE.npy, its matrix, or --b-descriptor and --shared");
    if (given("shared") != (a_in_memory || b_in_memory)) refuse("needs --shared for descriptors, and only for them");
    if (given("b") && a_in_memory) refuse("has A in the memory of --shared: then B lies there too, at --b-descriptor");
    if (!given("c")) refuse("needs --c FILE.npy, its registers or its matrix; or zeros");
    if (!given("d")) refuse("needs --d FILE.npy: the result");
    if (form_.sparse() && !given("e")) refuse("needs --e FILE.npy: metadata, uint32 [cases][4][1][32]");
    if (given("a") && options.wgmma.transpose_a) refuse("transposes A in shared memory only");
  }

  std::unique_ptr<CaseFile> file(const char* option, const std::string& path) {
    auto file = std::make_unique<CaseFile>(option, path);
    count(*file);
    return file;
  }

  void count(const CaseFile& file) {
    if (cases_from_ == nullptr) cases_from_ = &file;
    check_equal_cases(*cases_from_, file);
  }

  std::unique_ptr<ArraySource> array(const char* option, const std::string& text, OperandName operand, int registers) {
    if (text.empty()) return nullptr;
    const FileArgument argument = FileArgument::parse(text);
    auto source = std::make_unique<ArraySource>(option, argument.path);
    const bool matrix = operand != OperandName::e;
    const MatrixSize size = matrix ? extent_of(form_, operand) : MatrixSize{0, 0};
    const auto count_of = static_cast<std::size_t>(registers);
    using As = FileArgument::As;
    const bool by_shape = argument.as == As::by_shape;
    const bool fits_registers =
        (by_shape || argument.as == As::registers) && registers != 0 && source->file.has_shape(DType::uint32, {warps, count_of, warp_size});
    const bool fits_matrix = argument.as != As::registers && matrix && source->file.has_shape({size.rows, size.columns});
    if (!fits_registers && !fits_matrix) {
      std::string wanted = registers != 0 ? fmt::format("registers, uint32 [cases][{}][{}][{}]", warps, count_of, warp_size) : "";
      if (matrix)
        wanted +=
            fmt::format("{}a matrix [cases][{}][{}] of {}", wanted.empty() ? "" : ", or ", size.rows, size.columns, name(type(operand)));
      source->file.refuse(wanted);
    }
    if (fits_matrix) {
      const Reading said = argument.as == As::bits ? Reading::bits : argument.as == As::values ? Reading::values : Reading::by_dtype;
      source->reader.emplace(source->file.header().dtype, type(operand), said, argument.path);
    }
    count(source->file);
    return source;
  }

  ElementType type(OperandName operand) const { return ElementType::of(form_.tile->format(operand)); }

  const WgmmaForm& form_;
  const CaseFile* cases_from_ = nullptr;
};

// ---- One case at a time ---------------------------------------------------------------------------------------------------------------

/// The words of the registers of one warp, register by register.
std::vector<std::uint32_t*> registers_in(std::span<std::uint32_t> words) {
  std::vector<std::uint32_t*> registers;
  for (std::size_t i = 0; i < words.size(); i += warp_size) registers.push_back(words.data() + i);
  return registers;
}

/// Calls visit(registers, element, index) for each element of a matrix of the warpgroup: the registers of a tile of `operand`, the element
/// there, and its row-major index. `words` are the registers of all warps in order. It visits tile by tile.
template <typename Visit>
void for_each_element(const WgmmaForm& form, OperandName operand, std::span<std::uint32_t> words, Visit visit) {
  const Fragment& fragment = form.tile->operand(operand).fragment;
  const MatrixSize size = extent_of(form, operand);
  const auto rows = static_cast<std::size_t>(form.tile->shape.m), columns = static_cast<std::size_t>(fragment.columns());
  const std::size_t of_warp = words.size() / warps, of_tile = static_cast<std::size_t>(fragment.registers()) * warp_size;
  for (std::size_t warp = 0; warp < warps; ++warp)
    for (std::size_t tile = 0; tile < size.columns / columns; ++tile) {
      const auto registers = registers_in(words.subspan(warp * of_warp + tile * of_tile, of_tile));
      for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t column = 0; column < columns; ++column)
          visit(RegisterList(registers.data(), registers.size()), Element{static_cast<int>(row), static_cast<int>(column), 0},
                (warp * rows + row) * size.columns + tile * columns + column);
    }
}

/// Data shared by the threads.
struct WgmmaWork {
  const Wgmma& instruction;
  const ExecOptions& options;
  WgmmaInputs& inputs;
  NpyWriter& output;
};

/// Executes one warpgroup at a time.
class WgmmaChunk {
 public:
  explicit WgmmaChunk(const WgmmaWork& work)
      : work_(work),
        form_(work.instruction.form()),
        a_(warps * a_words(work.instruction.form())),
        b_(b_words(work.instruction.form())),
        d_(warps * static_cast<std::size_t>(form_.d_registers()) * warp_size),
        e_(warps * warp_size) {}

  void run(std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      read(i);
      execute(i);
      write(i);
    }
  }

 private:
  void read(std::size_t index) {
    WgmmaInputs& in = work_.inputs;
    if (in.a) read_registers(*in.a, OperandName::a, index, a_);
    if (in.e) read_registers(*in.e, OperandName::e, index, e_);
    std::ranges::fill(d_, 0);
    if (in.c) read_registers(*in.c, OperandName::d, index, d_);
    if (in.b) return place_b(*in.b, index);
    memory_.resize(in.memory->case_bytes());
    in.memory->read(index, std::as_writable_bytes(std::span(memory_)));
    b_descriptor_ = descriptor(*in.b_descriptor, index);
    if (in.a_descriptor) a_descriptor_ = descriptor(*in.a_descriptor, index);
  }

  static std::uint64_t descriptor(DescriptorSource& source, std::size_t index) {
    std::uint64_t bits = source.number;
    if (source.file) source.file->read(index, std::as_writable_bytes(std::span(&bits, 1)));
    return bits;
  }

  const std::vector<std::byte>& bytes_of(ArraySource& source, std::size_t index) {
    bytes_.resize(source.file.case_bytes());
    source.file.read(index, bytes_);
    return bytes_;
  }

  void read_registers(ArraySource& source, OperandName operand, std::size_t index, std::vector<std::uint32_t>& words) {
    if (!source.reader) return source.file.read(index, std::as_writable_bytes(std::span(words)));
    const std::vector<std::byte>& elements = bytes_of(source, index);
    std::ranges::fill(words, 0);
    for_each_element(form_, operand, words, [&](RegisterList registers, const Element& element, std::size_t i) {
      write_element(form_.tile->operand(operand).fragment, registers, element, source.reader->bits(elements, i));
    });
  }

  /// Stores the matrix B in shared memory as kernels do, without gaps.
  void place_b(ArraySource& source, std::size_t index) {
    const Major major = work_.instruction.immediates().major_b;
    const MatrixLines matrix = matrix_lines(form_, OperandName::b, major);
    const MatrixDescriptor descriptor = compact_descriptor(matrix, Swizzle::none, 0);
    const MatrixSize size = extent_of(form_, OperandName::b);
    const int bits = row(form_.tile->format(OperandName::b)).bits;
    const std::vector<std::byte>& elements = bytes_of(source, index);
    memory_.assign(std::size_t{matrix.lines} * matrix.line_bytes, 0);
    b_descriptor_ = descriptor.encode();
    for (std::size_t i = 0; i < size.rows * size.columns; ++i) {
      const MemoryPlace place =
          memory_place(form_, OperandName::b, major, descriptor, static_cast<int>(i / size.columns), static_cast<int>(i % size.columns));
      const std::uint64_t element = source.reader->bits(elements, i) << place.bit;
      for (int byte = 0; byte < std::max(bits / 8, 1); ++byte)
        memory_[place.address + static_cast<std::uint32_t>(byte)] |= static_cast<std::uint8_t>(element >> 8 * byte);
    }
  }

  void execute(std::size_t index) {
    const Wgmma& instruction = work_.instruction;
    const SharedMemory memory = SharedMemory::borrowing(memory_);
    const std::size_t a_words = warpmat::a_words(instruction.form()), d_words = d_.size() / warps;
    try {
      read_b(instruction, memory, b_descriptor_, b_.data());
      for (std::size_t warp = 0; warp < warps; ++warp) {
        std::uint32_t* const a = a_.data() + warp * a_words;
        if (work_.inputs.a_descriptor) read_a(instruction, memory, a_descriptor_, static_cast<int>(warp), a);
        const auto d = registers_in(std::span(d_).subspan(warp * d_words, d_words));
        multiply(instruction, {d.data(), d.size()}, a, b_.data(), e_.data() + warp * warp_size, work_.options.wgmma.scale_d != 0,
                 work_.options.execution);
      }
    } catch (const Trap& trap) {
      throw trap.at(fmt::format("case {}", index));
    }
  }

  void write(std::size_t index) {
    if (work_.options.as == "registers") return work_.output.write(index * d_.size() * sizeof(std::uint32_t), std::as_bytes(std::span(d_)));
    const Reading reading = work_.options.as == "bits" ? Reading::bits : Reading::by_dtype;
    const ElementType type = ElementType::of(form_.tile->format(OperandName::d));
    const MatrixSize size = extent_of(form_, OperandName::d);
    bytes_.resize(size.rows * size.columns * size_of(written_dtype(type, reading)));
    for_each_element(form_, OperandName::d, d_, [&](RegisterList registers, const Element& element, std::size_t i) {
      write_element(bytes_, i, read_element(form_.tile->operand(OperandName::d).fragment, registers, element), type, reading);
    });
    work_.output.write(index * bytes_.size(), bytes_);
  }

  const WgmmaWork& work_;
  const WgmmaForm& form_;
  std::vector<std::uint32_t> a_, b_, d_, e_;  ///< of all warps; b is shared
  std::vector<std::uint8_t> memory_;
  std::uint64_t a_descriptor_ = 0, b_descriptor_ = 0;
  std::vector<std::byte> bytes_;  ///< of an array's case
};

NpyHeader output_header(const WgmmaForm& form, const ExecOptions& options, std::size_t cases) {
  if (options.as == "registers") return {DType::uint32, {cases, warps, static_cast<std::size_t>(form.d_registers()), warp_size}};
  const MatrixSize size = extent_of(form, OperandName::d);
  const Reading reading = options.as == "bits" ? Reading::bits : Reading::by_dtype;
  return {written_dtype(ElementType::of(form.tile->format(OperandName::d)), reading), {cases, size.rows, size.columns}};
}

Wgmma instruction_of(const ExecOptions& options) {
  const WgmmaForm* const form = find_wgmma(options.operands.opcode);
  if (form == nullptr) throw std::runtime_error(explain_unknown_instruction(options.operands.opcode, InstructionKind::warpgroup));
  const Target* const target = find_target(options.target);
  if (target == nullptr) throw std::runtime_error(fmt::format("unknown target '{}'", options.target));
  const WgmmaOptions& w = options.wgmma;
  return Wgmma(*form, *target, newest_ptx,
               {.negates_a = w.negate_a,
                .negates_b = w.negate_b,
                .major_a = w.transpose_a ? Major::mn : Major::k,
                .major_b = w.transpose_b ? Major::mn : Major::k,
                .selector = static_cast<int>(options.operands.numbers.at("selector").value_or(0))});
}

}  // namespace

void add_wgmma_options(Command command, WgmmaOptions& options) {
  for (const auto& [matrix, text] : {std::pair("a", &options.a_descriptor), std::pair("b", &options.b_descriptor)})
    command
        .add_option(fmt::format("--{}-descriptor", matrix), *text,
                    fmt::format("of wgmma: where {} lies in --shared: a matrix descriptor, or uint64 [cases]", matrix))
        .type_name("N|FILE.npy");
  command.add_option("--scale-d", options.scale_d, "of wgmma and tcgen05.mma: 0 for A*B, 1 for A*B+D (default: 1)")
      .type_name("{0,1}")
      .range(0, 1, true);
  command.add_flag("--negate-a", options.negate_a, "of wgmma: imm-scale-a is -1");
  command.add_flag("--negate-b", options.negate_b, "of wgmma: imm-scale-b is -1");
  command.add_flag("--transpose-a", options.transpose_a, "of wgmma: imm-trans-a is 1, A is MN-major");
  command.add_flag("--transpose-b", options.transpose_b, "of wgmma: imm-trans-b is 1, B is MN-major");
}

void exec_wgmma(const ExecOptions& options, const Command& command) {
  const Wgmma instruction = instruction_of(options);
  if (!options.report.empty()) check_output_place(options.report);
  const std::vector<Labelled> labels{labelled(instruction.form())};
  require_labels(options.labels, options.target, labels);
  WgmmaInputs inputs(instruction.form(), options);
  const std::size_t cases = inputs.cases();
  NpyWriter output(options.operands.paths.at("d"), output_header(instruction.form(), options, cases));
  const WgmmaWork work{instruction, options, inputs, output};
  const std::size_t case_bytes = sizeof(std::uint32_t) * warp_size * warps * static_cast<std::size_t>(instruction.form().d_registers());
  run_chunks(cases, chunk_cases(case_bytes * cases, cases, options.jobs), options.jobs, [&] { return WgmmaChunk(work); });
  output.finish();
  write_report(options.report, command, options.target, labels, {{instruction.form().opcode, cases}});
  print_evidence(options.labels, options.target, labels);
}

}  // namespace warpmat

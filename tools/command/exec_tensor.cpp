// warpmat exec of tcgen05.mma: a case is one product of a block or a pair. All operands are matrices; metadata are codes.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <warpmat/files/output_file.h>
#include <warpmat/forms.h>
#include <warpmat/lower/tensor_statement.h>

#include "exec_case_file.h"
#include "exec_run.h"
#include "layout_tensor.h"
#include "run_report.h"
#include "tools/report/element_array.h"
#include "tools/report/tensor_image.h"

namespace warpmat {
namespace {

/// An operand's option, its matrix, and whether exec may fill it with zeros.
struct TensorRole {
  const char* option;
  OperandName operand;
  std::vector<std::uint64_t> TensorMatrices::*matrix;
  bool may_be_zeros;
};
constexpr std::array tensor_roles{TensorRole{"a", OperandName::a, &TensorMatrices::a, false},
                                  TensorRole{"b", OperandName::b, &TensorMatrices::b, false},
                                  TensorRole{"c", OperandName::d, &TensorMatrices::d, true},
                                  TensorRole{"e", OperandName::e, &TensorMatrices::e, false},
                                  TensorRole{"scale-a", OperandName::scale_a, &TensorMatrices::scale_a, false},
                                  TensorRole{"scale-b", OperandName::scale_b, &TensorMatrices::scale_b, false}};

/// The types of the matrices: those of the product's tile, 4 bits of a code of metadata.
ElementType type_of(const TensorProduct& product, OperandName operand) {
  if (operand == OperandName::e) return {std::nullopt, 4};
  return ElementType::of(product.tile->format(operand));
}

std::size_t element_count(const MatrixExtent& extent) {
  return static_cast<std::size_t>(extent.rows) * static_cast<std::size_t>(extent.columns);
}

std::vector<std::size_t> shape_of(const MatrixExtent& extent) {
  return {static_cast<std::size_t>(extent.rows), static_cast<std::size_t>(extent.columns)};
}

/// One operand's array.
struct TensorInput {
  const TensorRole& role;
  std::unique_ptr<CaseFile> file;  ///< nullptr: zeros
  std::optional<ElementReader> reader;
  std::size_t elements;
};

class TensorInputs {
 public:
  TensorInputs(const std::string& opcode, const TensorProduct& product, const ExecOptions& options) {
    WgmmaOptions of_product;
    of_product.scale_d = options.wgmma.scale_d;
    if (options.wgmma != of_product)
      throw std::runtime_error(
          fmt::format("{} takes matrices; the instruction descriptor negates, and where they lie in memory changes no bit", opcode));
    for (const auto& given : options.operands.paths) {
      const std::string &option = given.first, &text = given.second;
      const auto* const role = std::ranges::find_if(tensor_roles, [&](const TensorRole& r) { return r.option == option; });
      const bool takes = option == "d" || (role != tensor_roles.end() && tensor_extent(product, role->operand).rows != 0);
      if (!text.empty() && !takes) throw std::runtime_error(fmt::format("{} takes no --{}", opcode, option));
    }
    for (const auto& [option, number] : options.operands.numbers)
      if (number) throw std::runtime_error(fmt::format("{} takes no --{}: the instruction descriptor has it", opcode, option));
    if (options.operands.paths.at("d").empty()) throw std::runtime_error(fmt::format("{} needs --d FILE.npy: the result", opcode));
    for (const TensorRole& role : tensor_roles)
      if (const MatrixExtent extent = tensor_extent(product, role.operand); extent.rows != 0)
        add(opcode, product, role, extent, text_of(role, options));
    if (cases_from_ == nullptr) throw std::runtime_error("at least one operand must be a file: it says how many cases there are");
  }

  std::size_t cases() const { return cases_from_->cases(); }
  const std::vector<TensorInput>& all() const { return inputs_; }

 private:
  /// With --scale-d 0 a C that is not given is zeros: no bit of it counts.
  static std::string text_of(const TensorRole& role, const ExecOptions& options) {
    const std::string& given = options.operands.paths.at(role.option);
    return given.empty() && role.operand == OperandName::d && options.wgmma.scale_d == 0 ? "zeros" : given;
  }

  void add(const std::string& opcode, const TensorProduct& product, const TensorRole& role, const MatrixExtent& extent,
           const std::string& text) {
    const ElementType type = type_of(product, role.operand);
    const std::string wanted = fmt::format("a matrix [cases][{}][{}] of {}", extent.rows, extent.columns, name(type));
    if (text.empty() || (text == "zeros" && !role.may_be_zeros))
      throw std::runtime_error(
          fmt::format("{} needs --{} FILE.npy: {}{}", opcode, role.option, wanted, role.may_be_zeros ? "; or zeros" : ""));
    TensorInput input{role, nullptr, std::nullopt, element_count(extent)};
    if (text != "zeros") {
      const FileArgument argument = FileArgument::parse(text);
      input.file = std::make_unique<CaseFile>(role.option, argument.path);
      using As = FileArgument::As;
      if (argument.as == As::registers || !input.file->has_shape(shape_of(extent))) input.file->refuse(wanted);
      const Reading reading = argument.as == As::bits ? Reading::bits : argument.as == As::values ? Reading::values : Reading::by_dtype;
      input.reader.emplace(input.file->header().dtype, type, reading, argument.path);
      if (cases_from_ == nullptr) cases_from_ = input.file.get();
      check_equal_cases(*cases_from_, *input.file);
    }
    inputs_.push_back(std::move(input));
  }

  std::vector<TensorInput> inputs_;
  const CaseFile* cases_from_ = nullptr;
};

/// Executes one product at a time.
class TensorChunk {
 public:
  TensorChunk(const TensorProduct& product, const ExecOptions& options, const TensorInputs& inputs, NpyWriter& output)
      : product_(product), options_(options), inputs_(inputs), output_(output) {}

  void run(std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) run(i);
  }

 private:
  void run(std::size_t index) {
    for (const TensorInput& input : inputs_.all()) matrices_.*input.role.matrix = read(input, index);
    const ElementType type = type_of(product_, OperandName::d);
    const Reading reading = options_.as == "bits" ? Reading::bits : Reading::by_dtype;
    std::vector<std::uint64_t> d;
    try {
      d = multiplied(product_, matrices_, options_.wgmma.scale_d != 0, options_.execution);
    } catch (const Trap& trap) {
      throw trap.at(fmt::format("case {}", index));
    }
    bytes_.resize(d.size() * size_of(written_dtype(type, reading)));
    for (std::size_t i = 0; i < d.size(); ++i) write_element(bytes_, i, low_bits(d[i], type.bits), type, reading);
    output_.write(index * bytes_.size(), bytes_);
  }

  std::vector<std::uint64_t> read(const TensorInput& input, std::size_t index) {
    std::vector<std::uint64_t> elements(input.elements);
    if (!input.file) return elements;
    bytes_.resize(input.file->case_bytes());
    input.file->read(index, bytes_);
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = input.reader->bits(bytes_, i);
    return elements;
  }

  const TensorProduct& product_;
  const ExecOptions& options_;
  const TensorInputs& inputs_;
  NpyWriter& output_;
  TensorMatrices matrices_;
  std::vector<std::byte> bytes_;
};

/// The matrices lie K-major, however a kernel has them in memory.
TensorProduct product_of(const ExecOptions& options) {
  const std::string& opcode = options.operands.opcode;
  const Target& target = warpmat::target(options.target);
  if (target.family != 100 && target.family != 110)
    throw std::runtime_error(fmt::format("{} exists for sm_100a and later targets of its family alone", opcode));
  if (opcode.find(".ashift") != std::string::npos)
    throw std::runtime_error(fmt::format("{}: exec does not shift; give the rows of A as .ashift has them, and leave it out", opcode));
  TensorProduct product = tensor_product_of(opcode, options.descriptor);
  const TensorVariant variant{.sparse = product.sparse()};
  if (const auto reason = code::product_refusal(opcode, *product.kind, variant, target)) throw std::runtime_error(*reason);
  if (product.k96() && !has_k96(target)) throw std::runtime_error(fmt::format("K = 96 exists for sm_103a alone, not for {}", target.name));
  product.major_a = product.major_b = Major::k;
  return product;
}

}  // namespace

void exec_tensor(const ExecOptions& options, const Command& command) {
  const std::string& opcode = options.operands.opcode;
  const TensorProduct product = product_of(options);
  for (const auto& [option, values] : command.given())
    if (option == "--as" && options.as == "registers")
      throw std::runtime_error(fmt::format("{} writes no registers: --as matrix, its default, or bits", opcode));
  if (!options.report.empty()) check_output_place(options.report);
  const std::vector<Labelled> labels{
      {.what = opcode, .label = label_of(*product.lowering), .source = std::string(product.lowering->source), .remark = "", .behind = ""}};
  require_labels(options.labels, options.target, labels);
  const TensorInputs inputs(opcode, product, options);
  const MatrixExtent extent = tensor_extent(product, OperandName::d);
  const DType dtype = written_dtype(type_of(product, OperandName::d), options.as == "bits" ? Reading::bits : Reading::by_dtype);
  NpyHeader header{dtype, shape_of(extent)};
  header.shape.insert(header.shape.begin(), inputs.cases());
  NpyWriter output(options.operands.paths.at("d"), header);
  run_chunks(inputs.cases(), 1, options.jobs, [&] { return TensorChunk(product, options, inputs, output); });
  output.finish();
  write_report(options.report, command, options.target, labels, {{opcode, inputs.cases()}});
  print_evidence(options.labels, options.target, labels);
}

}  // namespace warpmat

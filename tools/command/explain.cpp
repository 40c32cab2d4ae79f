#include <fmt/core.h>
#include <warpmat/explain.h>
#include <warpmat/files/output_file.h>
#include <warpmat/lists/statement_call.h>
#include <warpmat/lower/tensor_statement.h>
#include <warpmat/program.h>
#include <warpmat/wgmma.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "commands.h"
#include "exec_options.h"
#include "layout_tensor.h"
#include "tools/command_line/execution_flags.h"
#include "tools/report/element_source.h"
#include "tools/report/explanation_html.h"
#include "tools/report/explanation_json.h"
#include "tools/report/explanation_pair.h"
#include "tools/report/meant_forms.h"
#include "tools/report/ptx_file.h"
#include "tools/report/session.h"

namespace warpmat {
namespace {

struct ExplainOptions {
  OperandOptions operands;
  std::string target, against, html, statement;
  std::vector<std::string> in, layouts;     ///< of a program
  std::optional<std::uint64_t> descriptor;  ///< of tcgen05.mma
  std::size_t which = 0;
  std::optional<int> row, column, matrix, lane, reg;
  ExecutionOptions execution;
  bool json = false;
};

/// Removes the operands of `options` that a generator fills, by option: their paths become "zeros", so that no file is opened.
std::map<std::string, std::string> take_generated(const Form& form, OperandOptions& options) {
  std::map<std::string, std::string> generated;
  for (const FileRole& role : file_roles(form)) {
    std::string& path = options.paths.at(role.option);
    if (role.written || path.empty() || role.operand == nullptr || role.operand->kind != OperandKind::fragment) continue;
    if (!generated_elements(path, element_type(*role.operand), 0)) continue;
    generated[role.option] = path;
    path = "zeros";
  }
  return generated;
}

/// The registers and the memory of one case.
class Case {
 public:
  Case(const Form& form, ExplainOptions options) : form_(form), views_(form.operands.size()) {
    const auto generated = take_generated(form, options.operands);
    const std::vector<FileRole> roles = checked_roles(form, options.operands, false);
    Inputs inputs(form, roles, options.operands);
    if (options.which >= inputs.cases.value_or(1))
      throw std::runtime_error(fmt::format("--case must be 0 to {}; it is {}", inputs.cases.value_or(1) - 1, options.which));
    make_registers(options.operands);
    memory_ = SharedMemory(inputs.memory_bytes);
    call_.use(memory_);
    call_.operands = views_;
    for (const auto& input : inputs.files) read(*input, options.which, options.operands);
    if (inputs.sparse_a) read(*inputs.sparse_a, options.which, options.operands);
    for (const auto& [option, source] : generated) generate(form.operand(*find_operand_name(option)), source, options.operands);
  }
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  const Call& call() const { return call_; }

 private:
  void make_registers(const OperandOptions& options) {
    for (std::size_t i = 0; i < form_.operands.size(); ++i) {
      const Operand& operand = form_.operands[i];
      if (operand.kind == OperandKind::stride && !options.numbers.at(std::string(name(operand.name)))) continue;
      std::vector<Register>& registers = registers_[static_cast<std::size_t>(operand.name)];
      registers.resize(static_cast<std::size_t>(operand.words()));
      std::vector<std::uint32_t*>& words = words_[static_cast<std::size_t>(operand.name)];
      for (Register& r : registers) words.push_back(r.data());
      views_[i] = words;
    }
    for (const NumberRole& number : number_roles())
      if (auto& registers = registers_[static_cast<std::size_t>(number.operand)]; !registers.empty())
        registers[number.word].fill(options.numbers.at(number.option).value_or(0));
  }

  RegisterList words(OperandName operand) { return words_[static_cast<std::size_t>(operand)]; }

  void read(Input& input, std::size_t which, const OperandOptions& options) {
    std::vector<std::byte> bytes(input.case_bytes());
    input.read(which, bytes);
    const Operand* const operand = input.role().operand;
    if (operand == nullptr)
      std::memcpy(memory_.bytes().data(), bytes.data(), bytes.size());
    else if (!input.is_matrix())
      set_registers(*operand, bytes);
    else if (input.role().option == sparse_a_option)
      input.compress(form_, bytes, words(OperandName::a), words(OperandName::e), selected_matrix(form_, options, OperandName::e));
    else
      input.scatter(bytes, words(operand->name)[0], selected_matrix(form_, options, operand->name));
  }

  /// Sets registers from an array: 64-bit ones become two words, low half first.
  void set_registers(const Operand& operand, const std::vector<std::byte>& bytes) {
    const RegisterList to = words(operand.name);
    const std::size_t parts = static_cast<std::size_t>(operand.kind == OperandKind::fragment ? operand.fragment.register_bits() / 32 : 1);
    for (std::size_t w = 0; w < to.size(); ++w)
      for (std::size_t lane = 0; lane < warp_size; ++lane)
        std::memcpy(&to[w][lane], &bytes[((w / parts * warp_size + lane) * parts + w % parts) * sizeof(std::uint32_t)],
                    sizeof(std::uint32_t));
  }

  void generate(const Operand& operand, const std::string& source, const OperandOptions& options) {
    const MatrixSize size = matrix_size(operand);
    const auto elements = *generated_elements(source, element_type(operand), size.rows * size.columns);
    for (std::size_t i = 0; i < elements.size(); ++i)
      write_element(operand.fragment, words(operand.name), element_at(operand, i, selected_matrix(form_, options, operand.name)),
                    elements[i]);
  }

  const Form& form_;
  std::array<std::vector<Register>, operand_name_count> registers_;    ///< by OperandName
  std::array<std::vector<std::uint32_t*>, operand_name_count> words_;  ///< the same
  SharedMemory memory_;
  std::vector<RegisterView> views_;
  Call call_;
};

int checked(const char* option, int value, int count, const Form& form) {
  if (value >= 0 && value < count) return value;
  throw std::invalid_argument(fmt::format("--{} must be 0 to {} for the result of {}; it is {}", option, count - 1, form.opcode, value));
}

/// The elements that the options select: one, or all of a register.
std::vector<Element> wanted_elements(const Form& form, const ExplainOptions& options) {
  const Fragment& f = form.operand(form.find_operand(OperandName::d) != nullptr ? OperandName::d : OperandName::r).fragment;
  if (options.row)
    return {{checked("row", *options.row, f.rows(), form), checked("column", *options.column, f.columns(), form),
             checked("matrix", options.matrix.value_or(0), f.matrices(), form)}};
  if (!options.lane) throw std::invalid_argument("which element? --row I --column J, or --lane L --register R");
  const int lane = checked("lane", *options.lane, warp_size, form), reg = checked("register", *options.reg, f.registers(), form);
  std::vector<Element> elements;
  for (int i = 0; i < f.elements_per_register(); ++i) elements.push_back(f.element({lane, reg, i * f.element_bits()}));
  return elements;
}

/// Explains every selected element, and the same with --against. `computer` is an Instruction, a WgmmaForm or a NamedProduct.
template <typename Computer>
std::vector<ExplanationPair> explained(const Computer& computer, const Form& form, const Call& call, const ExplainOptions& options) {
  std::vector<ExplanationPair> pairs;
  for (const Element& element : wanted_elements(form, options))
    pairs.push_back(explain_pair(computer, call, element, options.against, options.execution));
  return pairs;
}

/// Explains a tile of a tcgen05.mma.
std::vector<ExplanationPair> explained_product(const ExplainOptions& options) {
  const std::string& opcode = options.operands.opcode;
  const Target& target = warpmat::target(options.target.empty() ? "sm_100a" : options.target);
  if (target.family != 100 && target.family != 110)
    throw std::invalid_argument(fmt::format("{} exists for sm_100a and later targets of its family alone", opcode));
  const NamedProduct named{opcode, tensor_product_of(opcode, options.descriptor), &target};
  if (const auto reason = code::product_refusal(opcode, *named.product.kind, {.sparse = named.product.sparse()}, target))
    throw std::invalid_argument(*reason);
  if (named.product.negates_a || named.product.negates_b)
    throw std::invalid_argument("explain does not show negated operands: clear bits 13 and 14 of --descriptor");
  Case inputs(*named.product.tile, options);
  return explained(named, *named.product.tile, inputs.call(), options);
}

/// Explains an instruction on operands from options. For wgmma these are those of a tile.
std::vector<ExplanationPair> explained_instruction(const ExplainOptions& options) {
  if (!options.statement.empty() || !options.in.empty() || !options.layouts.empty())
    throw std::invalid_argument("--statement, --in and --layout are of a .ptx file");
  if (options.operands.opcode.starts_with("tcgen05.mma")) return explained_product(options);
  if (options.descriptor) throw std::invalid_argument("--descriptor is the instruction descriptor of tcgen05.mma");
  refuse_file(options.operands.opcode);
  const std::string opcode = opcode_meant(options.operands.opcode);
  const WgmmaForm* const wgmma = find_wgmma(opcode);
  if (options.target.empty() && wgmma == nullptr) throw std::invalid_argument("--target is required: sm_80, sm_90a, ...");
  if (wgmma != nullptr) {
    if (!options.target.empty() && options.target != "sm_90a")
      throw std::invalid_argument(fmt::format("{} exists for sm_90a alone", wgmma->opcode));
    Case inputs(*wgmma->tile, options);
    return explained(*wgmma, *wgmma->tile, inputs.call(), options);
  }
  const Instruction instruction(opcode, options.target);
  Case inputs(instruction.form(), options);
  return explained(instruction, instruction.form(), inputs.call(), options);
}

void check_no_operands(const OperandOptions& options) {
  for (const auto& [option, path] : options.paths)
    if (!path.empty())
      throw std::invalid_argument(fmt::format("--{}: a program has its operands in its registers; fill them by --in", option));
}

/// Explains a matrix instruction of a program, after one warp has executed the preceding statements.
std::vector<ExplanationPair> explained_statement(const ExplainOptions& options) {
  check_no_operands(options.operands);
  Session session({options.operands.opcode, options.in, options.layouts}, options.target);
  const Program& program = session.program;
  const Statement& wanted = *program.matrix_statements().at(find_statement(program, options.statement.empty() ? "0" : options.statement));
  session.fill();
  for (const Statement& statement : program.statements()) {
    if (&statement == &wanted) break;
    session.warp.execute(statement, options.execution);
  }
  const StatementCall call(session.warp, wanted);
  return explained(*wanted.matrix(), wanted.matrix()->form(), call.get(), options);
}

void explain_command(const ExplainOptions& options) {
  if (!options.html.empty()) check_output_place(options.html);
  const std::vector<ExplanationPair> pairs =
      options.operands.opcode.ends_with(".ptx") ? explained_statement(options) : explained_instruction(options);
  if (!options.html.empty()) {
    if (pairs.size() > 1) throw std::invalid_argument("--html shows one element: name it by --row and --column");
    write_file(options.html, {explanation_html(pairs.front().one, pairs.front().beside())});
    return;
  }
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  std::string text;
  for (const ExplanationPair& pair : pairs) {
    if (options.json)
      array.push_back(explanation_json(pair.one, pair.beside()));
    else
      text += (text.empty() ? "" : "\n") + explanation_text(pair.one, pair.beside());
  }
  fmt::print("{}", options.json ? array.dump(1) + '\n' : text);
}

constexpr const char* explain_footer =
    R"(Operands are given as to 'warpmat exec': .npy files of registers or matrices, of which --case takes one; or zeros, iota, iota-bits and
random[:SEED], which fill an operand's matrix. Of wgmma and tcgen05.mma they are those of a tile: 16 rows of A and 8 columns of B; the --descriptor
of tcgen05.mma has its types. In place of OPCODE a file
FILE.ptx as for 'warpmat run', such as 'warpmat diff' leaves of a mismatch: one warp executes what stands before --statement, with places
filled by --in, and other registers zero. The steps are those of the reference as it executes: which products meet in one addition, with the
lane, register and bits of their factors; the exponent that they are aligned to; what is cut; the sum; the rounding.

--against shows another target beside it; or f32, a loop of multiply-adds as on a CPU; or a unit whose constants are others, as
'warpmat distinguish' names them: hopper, table:fraction_bits=24. It says after which steps the two part.

Examples:
  warpmat explain mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 --target sm_90a --a random:1 --b random:2 --c random:3 --row 3 --column 5
  warpmat explain mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 --target sm_90a --a A.npy --b B.npy --c zeros --case 7 --row 0 --column 1 --against sm_80
  warpmat explain mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 --target sm_80 --a A.npy --b B.npy --c C.npy --lane 5 --register 1 --against f32
  warpmat explain mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 --target sm_90a --a random:1 --b random:2 --c zeros --row 0 --column 0 --html out.html
  warpmat explain wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 --a random:1 --b random:2 --c zeros --row 0 --column 0 --against table:fraction_bits=25
  warpmat explain tcgen05.mma.cta_group::1.kind::f16 --descriptor 0x08100010 --a random:1 --b random:2 --c zeros --row 3 --column 5
  warpmat explain warpmat_mismatch_1.ptx --statement mma.0 --lane 5 --register 1 --against sm_80
  warpmat explain ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 --target sm_90a --shared MEM.npy --p ADDR.npy --lane 5 --register 3)";

}  // namespace

void add_explain(Command app) {
  const Command command = app.add_subcommand("explain", "Explain one element of a result step by step");
  const auto options = std::make_shared<ExplainOptions>();
  add_operand_options(command, options->operands);
  command.add_option("--target", options->target, "The target to execute as: sm_80, sm_90a, ...; of a program else its own").type_name("T");
  command.add_option("--descriptor", options->descriptor, "Of tcgen05.mma: the instruction descriptor, 0x08100010").type_name("BITS");
  command.add_option("--against", options->against, "Another target, f32, or a model such as table:fraction_bits=24, to show beside it")
      .type_name("T");
  command.add_option("--statement", options->statement, "Of a program: which matrix instruction, 0 or mma.0 (default: the first)")
      .type_name("NAME");
  command.add_option("--in", options->in, "Of a program: PLACE=SOURCE as for 'warpmat run'; may be repeated").allow_extra_args(false);
  command.add_option("--layout", options->layouts, "Of a program: NAME=LAYOUT as for 'warpmat run'; may be repeated")
      .allow_extra_args(false)
      .type_name("TEXT");
  command.add_option("--case", options->which, "Which case of the files (default: 0)").type_name("N");
  const CommandOption row = command.add_option("--row", options->row, "With --column: this element of the result").type_name("I");
  const CommandOption column = command.add_option("--column", options->column, "With --row: this element of the result").type_name("J");
  command.add_option("--matrix", options->matrix, "With --row: in which of several matrices (default: 0)").needs(row).type_name("Q");
  const CommandOption lane = command.add_option("--lane", options->lane, "With --register: the elements that it holds").type_name("L");
  const CommandOption reg = command.add_option("--register", options->reg, "With --lane: the elements that it holds").type_name("R");
  row.needs(column).excludes(lane);
  column.needs(row);
  lane.needs(reg);
  reg.needs(lane);
  const CommandOption json = command.add_flag("--json", options->json, "Print JSON in place of text");
  command.add_option("--html", options->html, "Write a page that needs nothing else in place of text")
      .excludes(json)
      .type_name("FILE.html");
  add_execution_flags(command, options->execution);
  command.footer(explain_footer);
  command.callback([options] { explain_command(*options); });
}

}  // namespace warpmat

#include <warpmat/ptx/operands.h>

#include <stdexcept>

#include <fmt/format.h>

namespace warpmat {
namespace {

/// An operand of a statement: what the form says of it, the registers that the program names, and how to read them.
struct Found {
  const Fragment& fragment;
  const OperandText& text;
  Format format;
};

Found find(const Program& program, std::size_t index, OperandName operand_name, std::optional<Format> format) {
  const auto statements = program.matrix_statements();
  if (index >= statements.size())
    throw std::invalid_argument(fmt::format("the program has {} matrix instructions; number {} does not exist", statements.size(), index));
  const Statement& statement = *statements[index];
  const Form& form = statement.matrix()->form();
  const Operand* operand = form.find_operand(operand_name);
  if (operand == nullptr || operand->kind != OperandKind::fragment)
    throw std::invalid_argument(fmt::format("{} has no matrix operand {}", form.opcode, name(operand_name)));
  if (!format) format = operand->format;
  if (!format) throw std::invalid_argument(fmt::format("{} moves bits without a format: say how to read operand {}", form.opcode, name(operand_name)));
  return {operand->fragment, statement.operands[static_cast<std::size_t>(operand - form.operands.data())], *format};
}

}  // namespace

void set_operand(Warp& warp, std::size_t statement, OperandName operand, const Eigen::MatrixXd& matrix, std::optional<Format> format) {
  const Found found = find(warp.program(), statement, operand, format);
  for (const Item& item : found.text.items)
    if (item.kind != Item::Kind::named)
      throw std::invalid_argument(fmt::format("operand {} of statement {} is not made of registers", name(operand), statement));
  scatter(found.fragment, found.format, matrix, warp.words(found.text));
}

Eigen::MatrixXd get_operand(const Warp& warp, std::size_t statement, OperandName operand, std::optional<Format> format) {
  const Found found = find(warp.program(), statement, operand, format);
  return gather(found.fragment, found.format, warp.words(found.text));
}

std::string compare_operand(const Warp& warp, std::size_t statement, OperandName operand, const Eigen::MatrixXd& expected,
                            std::optional<Format> format) {
  const Found found = find(warp.program(), statement, operand, format);
  return describe(found.fragment, compare(found.fragment, found.format, warp.words(found.text), expected));
}

}  // namespace warpmat

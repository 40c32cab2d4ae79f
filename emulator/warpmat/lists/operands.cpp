#include <warpmat/operands.h>

#include <algorithm>
#include <span>
#include <stdexcept>

#include <fmt/core.h>

#include <warpmat/forms.h>
#include <warpmat/lists/memory_origin.h>
#include <warpmat/matrices.h>

namespace warpmat {
namespace numbers {
namespace {

/// An operand of a statement: the form's description, and the registers that the program names.
struct Found {
  const Form& form;
  const Operand& operand;
  const OperandText& text;
};

const Statement& numbered_statement(const Program& program, std::size_t index) {
  const auto statements = program.matrix_statements();
  if (index >= statements.size())
    throw std::invalid_argument(fmt::format("the program has {} matrix instructions; number {} does not exist", statements.size(), index));
  return *statements[index];
}

Found find(const Program& program, std::size_t index, OperandName operand_name, OperandKind kind = OperandKind::fragment) {
  const Statement& statement = numbered_statement(program, index);
  const Form& form = statement.matrix()->form();
  const Operand* operand = form.find_operand(operand_name);
  if (operand == nullptr || operand->kind != kind)
    throw std::invalid_argument(fmt::format("{} has no {} operand {}; {}", form.opcode,
                                            kind == OperandKind::fragment ? "matrix" : name(kind), name(operand_name),
                                            statements_with(program, operand_name)));
  return {form, *operand, statement.operands()[static_cast<std::size_t>(operand - form.operands.data())]};
}

/// `format`, or the operand's own.
Format format_of(const Found& found, std::optional<Format> format) {
  if (!format) format = found.operand.format;
  if (!format)
    throw std::invalid_argument(
        fmt::format("{} moves bits without a format: say how to read operand {}", found.form.opcode, name(found.operand.name)));
  return *format;
}

/// Writable pointers to the registers of an operand.
std::vector<std::uint32_t*> writable(Warp& warp, std::size_t statement, const Found& found) {
  if (std::ranges::any_of(found.text.items, [](const Item& item) { return item.kind != Item::Kind::named; }))
    throw std::invalid_argument(fmt::format("operand {} of statement {} is not made of registers", name(found.operand.name), statement));
  return warp.words(found.text);
}

/// The value of a selector.
int selector_of(const Program& program, std::size_t statement) {
  return static_cast<int>(find(program, statement, OperandName::selector, OperandKind::selector).text.items.front().bits);
}

/// The operand of scale factors. `scale` must name one.
Found find_scales(const Program& program, std::size_t statement, OperandName scale) {
  if (scale != OperandName::scale_a && scale != OperandName::scale_b)
    throw std::invalid_argument(fmt::format("operand {} holds no scale factors: scale-a and scale-b do", name(scale)));
  return find(program, statement, scale);
}

/// The matrix number of the scale factors that a statement's ids select, using the current registers.
int selected_scales(const Warp& warp, std::size_t statement, OperandName scale) {
  const OperandName ids_name = scale == OperandName::scale_a ? OperandName::ids_a : OperandName::ids_b;
  const Found ids = find(warp.program(), statement, ids_name, OperandKind::ids);
  const auto words = warp.words(ids.text);
  for (const std::uint32_t* word : words)
    if (std::ranges::any_of(std::span(word, warp_size), [&](std::uint32_t id) { return id != word[0]; }))
      throw std::invalid_argument(fmt::format("operand {} of statement {} must be the same in all lanes", name(ids_name), statement));
  return scale_matrix(ids.form, ids_name, {*words[0], *words[1]});
}

}  // namespace

void set_operand(Warp& warp, std::size_t statement, OperandName operand, const Matrix& matrix, std::optional<Format> format) {
  const Found found = find(warp.program(), statement, operand);
  const Format as = format_of(found, format);
  scatter(found.operand.fragment, as, matrix, writable(warp, statement, found));
}

Matrix get_operand(const Warp& warp, std::size_t statement, OperandName operand, std::optional<Format> format) {
  const Found found = find(warp.program(), statement, operand);
  return numbers::gather(found.operand.fragment, format_of(found, format), warp.words(found.text));
}

std::string compare_operand(const Warp& warp, std::size_t statement, OperandName operand, const Matrix& expected,
                            std::optional<Format> format) {
  const Found found = find(warp.program(), statement, operand);
  const Fragment& fragment = found.operand.fragment;
  const Format as = format_of(found, format);
  const std::vector<Mismatch> mismatches = compare(fragment, as, warp.words(found.text), expected);
  if (mismatches.empty()) return "";
  const std::string origin = describe_origin(warp, numbered_statement(warp.program(), statement), found.operand, as, expected);
  if (origin.empty()) return describe(fragment, mismatches);
  constexpr std::size_t elements_shown = 2;
  return origin + describe(fragment, mismatches, elements_shown);
}

}  // namespace numbers

std::optional<int> selected_matrix(const Warp& warp, std::size_t statement, OperandName operand) {
  if (operand == OperandName::e) return numbers::selector_of(warp.program(), statement);
  if (operand == OperandName::scale_a || operand == OperandName::scale_b) return numbers::selected_scales(warp, statement, operand);
  return std::nullopt;
}

namespace numbers {

void set_sparse_a(Warp& warp, std::size_t statement, const Matrix& a) {
  const Found stored = find(warp.program(), statement, OperandName::a);
  const SparseMatrix sparse = compress(stored.form, a);
  const Found metadata = find(warp.program(), statement, OperandName::e);
  const auto a_words = writable(warp, statement, stored), e_words = writable(warp, statement, metadata);
  scatter_one(metadata.operand.fragment, selector_of(warp.program(), statement), Format::u4, sparse.metadata, e_words);
  scatter(stored.operand.fragment, *stored.operand.format, sparse.stored, a_words);
}

Matrix get_sparse_a(const Warp& warp, std::size_t statement) {
  const Found stored = find(warp.program(), statement, OperandName::a);
  const Found metadata = find(warp.program(), statement, OperandName::e);
  return expand(stored.form, {numbers::gather(stored.operand.fragment, *stored.operand.format, warp.words(stored.text)),
                              numbers::gather_one(metadata.operand.fragment, selector_of(warp.program(), statement), Format::u4,
                                                  warp.words(metadata.text))});
}

void set_scales(Warp& warp, std::size_t statement, OperandName scale, const Matrix& scales) {
  const Found found = find_scales(warp.program(), statement, scale);
  const auto words = writable(warp, statement, found);
  scatter_one(found.operand.fragment, selected_scales(warp, statement, scale), *found.operand.format, scales, words);
}

Matrix get_scales(const Warp& warp, std::size_t statement, OperandName scale) {
  const Found found = find_scales(warp.program(), statement, scale);
  return numbers::gather_one(found.operand.fragment, selected_scales(warp, statement, scale), *found.operand.format,
                             warp.words(found.text));
}

}  // namespace numbers
}  // namespace warpmat

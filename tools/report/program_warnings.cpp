#include "tools/report/program_warnings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/forms.h>
#include <warpmat/program.h>

#include <algorithm>
#include <optional>
#include <set>

namespace warpmat {
namespace {

using Slots = std::set<int>;

void add_registers(const OperandText& operand, Slots& slots) {
  for (const Item& item : operand.items)
    if (item.kind == Item::Kind::named) slots.insert(item.slot);
}

Slots written_by(const Statement& statement) {
  Slots slots;
  for (std::size_t i = 0; i < statement.operands().size(); ++i)
    if (statement.described(i).is_written()) add_registers(statement.operands()[i], slots);
  return slots;
}

Slots read_by(const Statement& statement) {
  Slots slots;
  for (std::size_t i = 0; i < statement.operands().size(); ++i)
    if (!statement.described(i).is_written()) add_registers(statement.operands()[i], slots);
  if (statement.guard()) slots.insert(statement.guard()->slot);
  return slots;
}

std::string register_names(const Program& program, const Slots& slots) {
  std::vector<std::string> names;
  for (const NamedRegister& r : program.registers())
    if (slots.contains(r.slot)) names.push_back(r.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Collects the warnings of a program, statement by statement.
class Warnings {
 public:
  Warnings(const Program& program, const std::vector<FilledPlace>* filled) : program_(program), filled_(filled) {
    if (filled_ != nullptr)
      for (const FilledPlace& place : *filled_) known_.insert(place.slots.begin(), place.slots.end());
  }

  std::vector<std::string> all() {
    std::size_t number = 0;  // of matrix instructions
    for (const Statement& statement : program_.statements()) {
      if (statement.matrix() != nullptr) check_matrix(statement, number++);
      if (statement.matrix() == nullptr) check_scalar(statement);
      known_.merge(written_by(statement));
    }
    if (filled_ != nullptr) check_filled();
    return std::move(texts_);
  }

 private:
  template <typename... Parts>
  void warn(const Statement& statement, fmt::format_string<Parts...> format, Parts&&... parts) {
    texts_.push_back(fmt::format("line {}: warning: {}", statement.location().line, fmt::format(format, std::forward<Parts>(parts)...)));
  }

  Slots unknown_of(const OperandText& operand) const {
    Slots registers;
    add_registers(operand, registers);
    std::erase_if(registers, [&](int slot) { return known_.contains(slot); });
    return registers;
  }

  void check_matrix(const Statement& statement, std::size_t number) {
    const Form& form = statement.matrix()->form();
    for (std::size_t i = 0; i < form.operands.size(); ++i) {
      const Operand& operand = form.operands[i];
      const std::string place = fmt::format("{}.{}", statement_name(program_, number), name(operand.name));
      if (!operand.written) check_read(statement, operand, statement.operands()[i], place);
      if (operand.kind == OperandKind::ids) check_ids(statement, form, operand, statement.operands()[i]);
      if (operand.kind == OperandKind::selector) check_selector(statement, form, statement.operands()[i]);
    }
  }

  /// Warns of registers of an operand that nothing has written. If all of C is unwritten, it is meant to be zero. If initial contents are
  /// not known, an operand with some written and some unwritten registers is still a mistake.
  void check_read(const Statement& statement, const Operand& operand, const OperandText& text, const std::string& place) {
    const Slots unknown = unknown_of(text);
    if (unknown.empty()) return;
    Slots all;
    add_registers(text, all);
    const bool whole = unknown.size() == all.size();
    if (whole && (operand.name == OperandName::c || filled_ == nullptr)) return;
    const bool is_scale = operand.name == OperandName::scale_a || operand.name == OperandName::scale_b;
    warn(statement, "{} of {} {} read and never written{}: {}", register_names(program_, unknown), place,
         unknown.size() == 1 ? "is" : "are", filled_ == nullptr ? "" : " or filled",
         is_scale ? "scale factors of zero bits are 2^-127 as ue8m0, and 0 as ue4m3" : "the bits are zero");
  }

  void check_scalar(const Statement& statement) {
    if (filled_ == nullptr) return;
    Slots unknown = read_by(statement);
    std::erase_if(unknown, [&](int slot) { return known_.contains(slot); });
    if (!unknown.empty())
      warn(statement, "{} {} read and never written or filled: the bits are zero", register_names(program_, unknown),
           unknown.size() == 1 ? "is" : "are");
  }

  static std::optional<std::uint32_t> number_of(const Item& item) {
    return item.kind == Item::Kind::number ? std::optional(static_cast<std::uint32_t>(item.bits)) : std::nullopt;
  }

  void check_ids(const Statement& statement, const Form& form, const Operand& operand, const OperandText& text) {
    const auto byte = number_of(text.items[0]), thread = number_of(text.items[1]);
    if (!byte && !thread) return;
    if (const auto reason = undefined_ids(form, operand.name, {byte.value_or(0), thread.value_or(0)}))
      warn(statement, "{}: the statement will trap", *reason);
  }

  void check_selector(const Statement& statement, const Form& form, const OperandText& text) {
    const int choices = form.operand(OperandName::e).fragment.matrices();
    if (const auto selector = number_of(text.items[0]); selector && *selector >= static_cast<std::uint32_t>(choices))
      warn(statement, "the selector is {}; the metadata has {} to choose from, 0 to {}: the statement will trap", *selector, choices,
           choices - 1);
  }

  /// Warns of places filled in vain: a statement writes all of their registers before one reads any.
  void check_filled() {
    for (const FilledPlace& place : *filled_) {
      if (place.slots.empty()) continue;
      const auto any_in = [&](const Slots& slots) { return std::ranges::any_of(place.slots, [&](int s) { return slots.contains(s); }); };
      for (const Statement& statement : program_.statements()) {
        if (any_in(read_by(statement))) break;
        if (!any_in(written_by(statement))) continue;
        warn(statement, "the statement overwrites what --in has filled as {}, which nothing has read until then", place.text);
        break;
      }
    }
  }

  const Program& program_;
  const std::vector<FilledPlace>* filled_;
  Slots known_;  ///< registers with known contents
  std::vector<std::string> texts_;
};

}  // namespace

std::vector<std::string> program_warnings(const Program& program, const std::vector<FilledPlace>* filled) {
  return Warnings(program, filled).all();
}

}  // namespace warpmat

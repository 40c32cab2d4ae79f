#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <warpmat/forms.h>
#include <warpmat/wgmma.h>

namespace warpmat {

/// A field's name, its place, and whether an empty one in a question stands for any; otherwise for an opcode without it.
struct FieldRow {
  std::string_view name;
  std::string OpcodeFields::*member;
  bool empty_is_any;
};
std::span<const FieldRow> field_rows();

/// A qualifier that is a field by itself: exactly this text, or, if it ends in "::", what follows.
struct QualifierRow {
  std::string_view text;
  std::string OpcodeFields::*member;
};
/// Stores `part` in the field of the row that it matches; false if none does.
bool add_qualifier(std::span<const QualifierRow> rows, std::string_view part, OpcodeFields& fields);

/// Opcodes with their fields: which of them a question means, and what is told where that is not one.
class FieldTable {
 public:
  struct Entry {
    OpcodeFields fields;
    std::string opcode;
  };
  /// Why `target` does not have entry `i`, as a sentence; nothing if it has it.
  using Refusal = std::optional<std::string> (*)(std::size_t i, const Target& target);

  FieldTable(std::vector<Entry> entries, Refusal refusal) : entries_(std::move(entries)), refusal_(refusal) {}

  std::span<const Entry> entries() const { return entries_; }

  /// The entries that `target` has and whose fields are `wanted`, in order.
  std::vector<std::size_t> find(const OpcodeFields& wanted, const Target& target) const;

  enum class Problem { unknown, several, unavailable };
  struct Explanation {
    Problem problem;
    std::string text;  ///< one sentence
  };
  /// Precondition: find(wanted, target) is not one entry.
  Explanation explain(const OpcodeFields& wanted, const Target& target) const;

 private:
  /// The entries of a mnemonic; all if it is empty.
  std::vector<std::size_t> find_mnemonic(std::string_view mnemonic) const;
  /// The values that the entries have of a field: "f16, bf16".
  std::string values_of(const FieldRow& row, std::span<const std::size_t> entries) const;
  std::string explain_several(std::span<const std::size_t> found) const;
  /// "; kind may be: f16, tf32" for each field that is said and whose value no entry of the mnemonic has.
  std::string unknown_values(const OpcodeFields& wanted) const;

  std::vector<Entry> entries_;
  Refusal refusal_;
};

const FieldTable& form_fields();
const FieldTable& wgmma_fields();

}  // namespace warpmat

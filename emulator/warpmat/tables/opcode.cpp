#include <warpmat/tables/opcode.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include <warpmat/forms.h>
#include <warpmat/tables/types.h>
#include <warpmat/text.h>

namespace warpmat {
namespace {

/// The qualifiers that are part of names of instructions, by mnemonic, where a row begins with them. ptxas 13.0 takes none of them behind
/// another qualifier (each was tried).
struct NameQualifiers {
  std::string_view mnemonic, qualifiers;
};
constexpr std::array name_qualifiers{
    NameQualifiers{"bar", ".cta .warp .arrive .red"},
    NameQualifiers{"barrier", ".cta .cluster .arrive .wait .red"},
    NameQualifiers{"brx", ".idx"},
    NameQualifiers{"clusterlaunchcontrol", ".try_cancel .async .query_cancel"},
    NameQualifiers{"cp", ".async .reduce .bulk .prefetch .tensor .mbarrier .arrive .commit_group .wait_group .wait_all"},
    NameQualifiers{"createpolicy", ".fractional .range .cvt"},
    NameQualifiers{"cvt", ".pack"},
    NameQualifiers{"cvta", ".to"},
    NameQualifiers{"div", ".full"},
    NameQualifiers{"dp2a", ".lo .hi"},
    NameQualifiers{"fence", ".proxy"},
    NameQualifiers{"mad", ".lo .hi .wide"},
    NameQualifiers{"mad24", ".lo .hi"},
    NameQualifiers{"madc", ".lo .hi"},
    NameQualifiers{"mbarrier", ".init .inval .arrive .arrive_drop .expect_tx .complete_tx .test_wait .try_wait .parity .pending_count"},
    NameQualifiers{"membar", ".proxy"},
    NameQualifiers{"mul", ".lo .hi .wide"},
    NameQualifiers{"mul24", ".lo .hi"},
    NameQualifiers{"multimem", ".ld_reduce .st .red"},
    NameQualifiers{"red", ".async"},
    NameQualifiers{"setmaxnreg", ".inc .dec"},
    NameQualifiers{"shf", ".l .r"},
    NameQualifiers{"st", ".async .bulk"},
    NameQualifiers{"suld", ".b"},
    NameQualifiers{"sust", ".b"},
    NameQualifiers{"tcgen05",
                   ".alloc .dealloc .relinquish_alloc_permit .ld .st .red .wait::ld .wait::st .fence::before_thread_sync "
                   ".fence::after_thread_sync .commit .cp .shift .mma .ws"},
    NameQualifiers{"tensormap", ".replace .cp_fenceproxy"},
    NameQualifiers{"tex", ".base .level .grad"},
    NameQualifiers{"wgmma", ".mma_async .fence .commit_group .wait_group"},
    NameQualifiers{"wmma", ".load .store .mma .a .b .c .d"},
};
static_assert(std::ranges::is_sorted(name_qualifiers, {}, &NameQualifiers::mnemonic));

/// Whether one of `words`, which blanks separate, is `word`.
bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t length = std::min(words.find(' '), words.size());
    if (words.substr(0, length) == word) return true;
    words.remove_prefix(std::min(length + 1, words.size()));
  }
  return false;
}

struct OrderedQualifier {
  std::string_view text;
  QualifierOrder order;
};
/// Beside types and formats.
constexpr std::array ordered_qualifiers{
    OrderedQualifier{"row", QualifierOrder::layouts},
    OrderedQualifier{"col", QualifierOrder::layouts},
    OrderedQualifier{"global", QualifierOrder::spaces},
    OrderedQualifier{"shared", QualifierOrder::spaces},
    OrderedQualifier{"shared::cta", QualifierOrder::spaces},
    OrderedQualifier{"shared::cluster", QualifierOrder::spaces},
    OrderedQualifier{"xor", QualifierOrder::reductions},
    OrderedQualifier{"and", QualifierOrder::reductions},
    OrderedQualifier{"popc", QualifierOrder::reductions},
    OrderedQualifier{"b8x16", QualifierOrder::load_formats},
    OrderedQualifier{"b6x16_p32", QualifierOrder::load_formats},
    OrderedQualifier{"b4x16_p64", QualifierOrder::load_formats},
    OrderedQualifier{"s2", QualifierOrder::types},  // of cvt.pack alone
    OrderedQualifier{"u2", QualifierOrder::types},
};

/// The length of the qualifier that begins at row[0], a dot.
std::size_t qualifier_length(std::string_view row) {
  const auto ends = [](char c) { return c == '.' || c == '(' || c == ')' || c == '|' || c == '?'; };
  std::size_t length = 1;
  while (length < row.size() && !ends(row[length])) ++length;
  return length;
}

/// Removes one qualifier or group, with its mark, from the front of a row.
OpcodePlace take_place(std::string_view& row) {
  OpcodePlace place;
  const bool group = row.front() == '(';
  do {
    if (group) row.remove_prefix(1);
    const std::size_t length = qualifier_length(row);
    place.alternatives.emplace_back(row.substr(0, length));
    row.remove_prefix(length);
  } while (group && row.starts_with('|'));
  if (group) row.remove_prefix(1);
  if (row.starts_with('?')) {
    place.optional = true;
    row.remove_prefix(1);
  }
  return place;
}

}  // namespace

QualifierOrder order_of(std::string_view qualifier) {
  qualifier.remove_prefix(qualifier.starts_with('.') ? 1 : 0);
  const auto* const found = std::ranges::find(ordered_qualifiers, qualifier, &OrderedQualifier::text);
  if (found != ordered_qualifiers.end()) return found->order;
  return find_ptx_type(qualifier) != nullptr || find_format(qualifier) ? QualifierOrder::types : QualifierOrder::any;
}

OpcodeTable table_of(std::string_view opcode) {
  if (is_matrix_mnemonic(mnemonic_of(opcode))) return OpcodeTable::forms;
  if (mnemonic_of(opcode) != "wgmma") return OpcodeTable::rows;
  const std::vector<std::string_view> parts = parts_of(opcode);
  const bool product = std::ranges::any_of(parts, [](std::string_view part) { return part.starts_with(".mma_async"); });
  return product ? OpcodeTable::wgmma : OpcodeTable::rows;
}

std::string_view take_part(std::string_view& opcode) {
  const std::string_view part = opcode.substr(0, std::min(opcode.find('.', 1), opcode.size()));
  opcode.remove_prefix(part.size());
  return part;
}

std::vector<std::string_view> parts_of(std::string_view opcode) {
  std::vector<std::string_view> parts;
  parts.reserve(12);  // most have fewer
  do parts.push_back(take_part(opcode));
  while (!opcode.empty());
  return parts;
}

bool is_part_of_name(std::string_view mnemonic, std::string_view qualifier) {
  const auto* const found = std::ranges::lower_bound(name_qualifiers, mnemonic, {}, &NameQualifiers::mnemonic);
  return found != name_qualifiers.end() && found->mnemonic == mnemonic && has_word(found->qualifiers, qualifier);
}

std::string_view name_of(std::string_view opcode) {
  std::string_view rest = opcode;
  const std::string_view mnemonic = take_part(rest);
  while (!rest.empty()) {
    std::string_view next = rest;
    if (!is_part_of_name(mnemonic, take_part(next))) break;
    rest = next;
  }
  return opcode.substr(0, opcode.size() - rest.size());
}

std::string other_order(std::string_view opcode, std::string_view known) {
  return format_text("the qualifiers of '{}' are in another order than in {}", opcode, known);
}

OpcodeRow::OpcodeRow(std::string_view row) : mnemonic(row.substr(0, row.find_first_of(".("))) {
  std::string_view rest = row.substr(mnemonic.size());
  while (!rest.empty()) places.push_back(take_place(rest));
  if (places.size() > most_places) throw std::logic_error(format_text("row {} has more than {} places", row, most_places));
  const auto in_name = [&](const std::string& qualifier) { return is_part_of_name(mnemonic, qualifier); };
  while (name_places < places.size() && std::ranges::any_of(places[name_places].alternatives, in_name)) ++name_places;
}

std::string in_order(const OpcodeRow& row, std::span<const std::string_view> qualifiers) {
  std::vector<std::string_view> left(qualifiers.begin(), qualifiers.end());
  std::string opcode = row.mnemonic;
  for (const OpcodePlace& place : row.places) {
    const bool is_type = order_of(place.alternatives.front()) == QualifierOrder::types;
    const auto found =
        is_type ? std::ranges::find(left, QualifierOrder::types, order_of) : std::ranges::find_first_of(left, place.alternatives);
    if (found == left.end()) continue;
    opcode += *found;
    left.erase(found);
  }
  return opcode;
}

}  // namespace warpmat

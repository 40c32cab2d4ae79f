#include <warpmat/tables/opcode.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <stdexcept>

#include <warpmat/formats.h>
#include <warpmat/tables/types.h>
#include <warpmat/text.h>

namespace warpmat::inline v0_1 {
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

std::string_view name_qualifiers_of(std::string_view mnemonic) {
  const auto* const found = std::ranges::lower_bound(name_qualifiers, mnemonic, {}, &NameQualifiers::mnemonic);
  return found != name_qualifiers.end() && found->mnemonic == mnemonic ? found->qualifiers : std::string_view();
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

/// Removes one qualifier or group, with its mark, from the front of a row.
OpcodePlace take_place(std::string_view& row) {
  OpcodePlace place;
  const bool group = row.front() == '(';
  do {
    if (group) row.remove_prefix(1);
    const std::size_t length = std::min(row.find_first_of(".()|?", 1), row.size());
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

constexpr std::uint64_t bit(std::size_t number) {
  return std::uint64_t{1} << number;
}

}  // namespace

QualifierOrder order_of(std::string_view qualifier) {
  qualifier.remove_prefix(qualifier.starts_with('.') ? 1 : 0);
  const auto* const found = std::ranges::find(ordered_qualifiers, qualifier, &OrderedQualifier::text);
  if (found != ordered_qualifiers.end()) return found->order;
  return find_ptx_type(qualifier) != nullptr || find_format(qualifier) ? QualifierOrder::types : QualifierOrder::any;
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

std::string_view name_of(std::string_view opcode) {
  std::string_view rest = opcode;
  const std::string_view of_names = name_qualifiers_of(take_part(rest));
  while (!rest.empty()) {
    std::string_view next = rest;
    if (!has_word(of_names, take_part(next))) break;
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
  const std::string_view of_names = name_qualifiers_of(mnemonic);
  while (name_places < places.size() && has_word(of_names, places[name_places].alternatives.front())) ++name_places;
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

void OpcodeIndex::add(const OpcodeRow& pattern) {
  families_[pattern.mnemonic].add(pattern, rows_++);
}

std::optional<std::size_t> OpcodeIndex::find(std::span<const std::string_view> parts, std::size_t from, OrderRule rule) const {
  const auto family = families_.find(parts.front());
  return family == families_.end() ? std::nullopt : family->second.find(parts.subspan(1), from, rule);
}

std::span<const std::size_t> OpcodeIndex::rows_of(std::string_view mnemonic) const {
  const auto family = families_.find(mnemonic);
  return family == families_.end() ? std::span<const std::size_t>() : family->second.numbers;
}

OpcodeIndex::WordNumber OpcodeIndex::Family::word(const std::string& qualifier) {
  const auto [place, added] = numbers_of_words_.try_emplace(qualifier, static_cast<WordNumber>(words_.size()));
  if (added) words_.push_back({order_of(qualifier), {}});
  return place->second;
}

void OpcodeIndex::Family::add(const OpcodeRow& pattern, std::size_t number) {
  const std::size_t row_number = rows_.size();
  Row row{static_cast<std::uint32_t>(places_.size()), static_cast<std::uint8_t>(pattern.places.size()),
          static_cast<std::uint8_t>(pattern.name_places), 0};
  for (std::size_t i = 0; i < pattern.places.size(); ++i) {
    const auto first = static_cast<std::uint32_t>(alternatives_.size());
    for (const std::string& alternative : pattern.places[i].alternatives) {
      alternatives_.push_back(word(alternative));
      std::vector<std::uint64_t>& having = words_[alternatives_.back()].rows;
      having.resize(std::max(having.size(), row_number / 64 + 1));
      having[row_number / 64] |= bit(row_number % 64);
    }
    places_.push_back({first, static_cast<std::uint32_t>(alternatives_.size())});
    if (!pattern.places[i].optional) row.required |= bit(i);
  }
  rows_.push_back(row);
  numbers.push_back(number);
}

std::size_t OpcodeIndex::Family::find_place(const Row& row, WordNumber qualifier, std::size_t from, std::uint64_t filled) const {
  const auto has = [&](const Place& place) {
    return std::find(alternatives_.begin() + place.first, alternatives_.begin() + place.last, qualifier) !=
           alternatives_.begin() + place.last;
  };
  while (from < row.places && ((filled & bit(from)) != 0 || !has(places_[row.first_place + from]))) ++from;
  return from;
}

/// Whether every qualifier has a place, in the orders that `rule` names, and every place that is not optional a qualifier.
bool OpcodeIndex::Family::spells(const Row& row, std::span<const WordNumber> qualifiers, OrderRule rule) const {
  std::uint64_t filled = 0;                          // a bit for each place
  std::size_t named = 0, name_end = 0;               // qualifiers of the name so far, and the place behind the last
  std::array<std::size_t, qualifier_orders> next{};  // by order: the place behind the last
  for (std::size_t i = 0; i < qualifiers.size(); ++i) {
    const QualifierOrder order = words_[qualifiers[i]].order;
    const bool keeps = rule == OrderRule::ptxas ? order != QualifierOrder::any : order == QualifierOrder::types;
    std::size_t& of_order = next[static_cast<std::size_t>(order)];
    const std::size_t place = find_place(row, qualifiers[i], keeps ? of_order : 0, filled);
    if (place == row.places) return false;
    if (rule == OrderRule::ptxas && place < row.name_places) {
      if (named++ != i || place < name_end) return false;
      name_end = place + 1;
    }
    filled |= bit(place);
    of_order = place + 1;
  }
  return (filled & row.required) == row.required;
}

std::optional<std::size_t> OpcodeIndex::Family::find(std::span<const std::string_view> qualifiers, std::size_t from, OrderRule rule) const {
  if (qualifiers.size() > OpcodeRow::most_places) return std::nullopt;
  std::array<WordNumber, OpcodeRow::most_places> given;
  for (std::size_t i = 0; i < qualifiers.size(); ++i) {
    const auto known = numbers_of_words_.find(qualifiers[i]);
    if (known == numbers_of_words_.end()) return std::nullopt;
    given[i] = known->second;
  }
  const std::span words(given.data(), qualifiers.size());
  // The rows that have each of the qualifiers, 64 at a time.
  for (std::size_t block = 0; block * 64 < rows_.size(); ++block) {
    std::uint64_t having = ~std::uint64_t{0};
    for (const WordNumber word : words) having &= block < words_[word].rows.size() ? words_[word].rows[block] : 0;
    for (; having != 0; having &= having - 1) {
      const std::size_t row = block * 64 + static_cast<std::size_t>(std::countr_zero(having));
      if (row >= rows_.size()) break;
      if (numbers[row] >= from && spells(rows_[row], words, rule)) return numbers[row];
    }
  }
  return std::nullopt;
}

}  // namespace warpmat::inline v0_1

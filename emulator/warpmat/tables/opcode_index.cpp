#include <warpmat/tables/opcode_index.h>

#include <algorithm>
#include <bit>

namespace warpmat {
namespace {

constexpr std::size_t block_rows = 64;

constexpr std::uint64_t bit(std::size_t number) {
  return std::uint64_t{1} << number;
}

}  // namespace

OpcodeIndex::Number OpcodeIndex::number_of(const std::string& qualifier) {
  const auto [place, added] = numbers_.try_emplace(qualifier, static_cast<Number>(orders_.size()));
  if (added) {
    orders_.push_back(order_of(qualifier));
    qualifiers_.push_back(&place->first);
  }
  return place->second;
}

const OpcodeIndex::Place* OpcodeIndex::same_as_last(const Family& family, std::size_t i,
                                                    const std::vector<std::string>& alternatives) const {
  if (family.rows.empty() || i >= family.rows.back().places) return nullptr;
  const Place& place = family.places[family.rows.back().first_place + i];
  const auto numbers = std::span(family.alternatives).subspan(place.first, place.last - place.first);
  const auto is_text = [&](Number number, const std::string& alternative) { return *qualifiers_[number] == alternative; };
  const auto names = family.of_name.begin();
  const bool is_named = std::find(names + place.first, names + place.last, true) != names + place.last;
  return !is_named && std::ranges::equal(numbers, alternatives, is_text) ? &place : nullptr;
}

/// Notes that a row has the qualifier.
void OpcodeIndex::add_having(Family& family, Number qualifier, std::size_t row) {
  if (family.own_numbers.size() <= qualifier) family.own_numbers.resize(qualifier + std::size_t{1}, unknown);
  Number& own = family.own_numbers[qualifier];
  if (own == unknown) own = family.own_count++;
  std::vector<std::uint64_t>& block = family.having[row / block_rows];
  if (block.size() <= own) block.resize(own + std::size_t{1});
  block[own] |= bit(row % block_rows);
}

void OpcodeIndex::add(const OpcodeRow& row) {
  Family& family = families_[row.mnemonic];
  const std::size_t place_in_family = family.rows.size();
  if (place_in_family % block_rows == 0) family.having.emplace_back();
  Row added{static_cast<std::uint32_t>(family.places.size()), static_cast<std::uint8_t>(row.places.size()), 0};
  for (std::size_t i = 0; i < row.places.size(); ++i) {
    const std::vector<std::string>& alternatives = row.places[i].alternatives;
    if (!row.places[i].optional) added.required |= bit(i);
    const Place* const same = i < row.name_places ? nullptr : same_as_last(family, i, alternatives);
    if (same != nullptr) {  // rows of one mnemonic often begin alike
      family.places.push_back(Place(*same));
    } else {
      const auto first = static_cast<std::uint32_t>(family.alternatives.size());
      for (const std::string& alternative : alternatives) {
        family.alternatives.push_back(number_of(alternative));
        family.of_name.push_back(i < row.name_places && is_part_of_name(row.mnemonic, alternative));
      }
      family.places.push_back({first, static_cast<std::uint32_t>(family.alternatives.size())});
    }
    for (std::uint32_t at = family.places.back().first; at < family.places.back().last; ++at)
      add_having(family, family.alternatives[at], place_in_family);
  }
  family.rows.push_back(added);
  family.numbers.push_back(rows_++);
}

std::span<const std::size_t> OpcodeIndex::rows_of(std::string_view mnemonic) const {
  const auto family = families_.find(mnemonic);
  return family == families_.end() ? std::span<const std::size_t>() : family->second.numbers;
}

/// Whether every qualifier has a place, in the orders that `rule` names, and every place that is not optional a qualifier.
bool OpcodeIndex::spells(const Family& family, const Row& row, std::span<const Number> qualifiers, OrderRule rule) const {
  std::uint64_t filled = 0;                          // a bit for each place
  std::size_t named = 0, name_end = 0;               // qualifiers of the name so far, and the place behind the last
  std::array<std::size_t, qualifier_orders> next{};  // by order: the place behind the last
  std::size_t alternative = 0;                       // that fills the place
  const auto has = [&](std::size_t place, Number qualifier) {
    const auto [first, last] = family.places[row.first_place + place];
    for (alternative = first; alternative < last && family.alternatives[alternative] != qualifier;) ++alternative;
    return alternative < last;
  };
  for (std::size_t i = 0; i < qualifiers.size(); ++i) {
    const QualifierOrder order = orders_[qualifiers[i]];
    const bool keeps = rule == OrderRule::ptxas ? order != QualifierOrder::any : order == QualifierOrder::types;
    std::size_t& of_order = next[static_cast<std::size_t>(order)];
    std::size_t place = keeps ? of_order : 0;
    while (place < row.places && ((filled & bit(place)) != 0 || !has(place, qualifiers[i]))) ++place;
    if (place == row.places) return false;
    if (rule == OrderRule::ptxas && family.of_name[alternative]) {
      if (named++ != i || place < name_end) return false;
      name_end = place + 1;
    }
    filled |= bit(place);
    of_order = place + 1;
  }
  return (filled & row.required) == row.required;
}

std::optional<std::size_t> OpcodeIndex::find(std::span<const std::string_view> parts, std::size_t from, OrderRule rule) const {
  const auto found = families_.find(parts.front());
  const auto qualifiers = parts.subspan(1);
  if (found == families_.end() || qualifiers.size() > OpcodeRow::most_places) return std::nullopt;
  const Family& family = found->second;
  std::array<Number, OpcodeRow::most_places> given, own;  // numbers of the index, and of the family
  for (std::size_t i = 0; i < qualifiers.size(); ++i) {
    const auto known = numbers_.find(qualifiers[i]);
    if (known == numbers_.end() || known->second >= family.own_numbers.size()) return std::nullopt;
    given[i] = known->second;
    own[i] = family.own_numbers[known->second];
    if (own[i] == unknown) return std::nullopt;
  }
  for (std::size_t block = 0; block < family.having.size(); ++block) {
    // The rows that have each of the qualifiers.
    const std::size_t first = block * block_rows, count = std::min(family.rows.size() - first, block_rows);
    std::uint64_t rows = ~std::uint64_t{0} >> (block_rows - count);
    for (std::size_t i = 0; i < qualifiers.size(); ++i) rows &= own[i] < family.having[block].size() ? family.having[block][own[i]] : 0;
    for (; rows != 0; rows &= rows - 1) {
      const std::size_t row = first + static_cast<std::size_t>(std::countr_zero(rows));
      if (family.numbers[row] >= from && spells(family, family.rows[row], {given.data(), qualifiers.size()}, rule))
        return family.numbers[row];
    }
  }
  return std::nullopt;
}

}  // namespace warpmat

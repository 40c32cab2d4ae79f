#include <warpmat/tables/cards.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <stdexcept>
#include <string>

namespace warpmat {
namespace {

using enum Hardware;

constexpr Cards cards[] = {
    {sm_90, "H100, H200, GH200"},
    {sm_80, "A100, A30"},
    {sm_86, "RTX 30, A2, A10, A40"},
    {sm_89, "RTX 40, L4, L40S"},
    {sm_100, "B200, GB200"},
    {sm_103, "B300, GB300"},
    {sm_120, "RTX 50, RTX PRO 6000"},
    {sm_121, "DGX Spark"},
    {sm_110, "Jetson Thor"},
    {sm_87, "Jetson Orin"},
    {sm_88, "further Ampere (sm_88)"},
    {sm_75, "T4, RTX 20"},
    {sm_70, "V100"},
};

/// The row of `hardware`. Throws where there is none.
constexpr const Cards& row_of(Hardware hardware) {
  for (const Cards& row : cards)
    if (row.hardware == hardware) return row;
  throw std::logic_error("a hardware without a row of cards");
}

static_assert([] {
  for (int number = 0; number <= static_cast<int>(sm_121); ++number) static_cast<void>(row_of(static_cast<Hardware>(number)));
  return std::size(cards) == static_cast<std::size_t>(sm_121) + 1;
}());  // each has one row

/// "rtx4090" of "NVIDIA GeForce RTX 4090": small letters and digits, without the maker's and the series' names.
std::string plain_name(std::string_view card) {
  std::string plain;
  for (const char c : card)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string_view word : {"nvidia", "geforce", "tesla", "quadro"})
    if (plain.starts_with(word)) plain.erase(0, word.size());
  return plain;
}

/// Whether `card` is what a row calls `name`: the same, or of a series such as "RTX 40" the number of a card, "4090" or "rtx4070ti".
bool names_card(std::string_view name, std::string_view card) {
  constexpr std::string_view series = "rtx";
  constexpr std::size_t series_digits = 2, card_digits = 4;
  if (plain_name(name) == card) return true;
  std::string digits = plain_name(name);
  if (!digits.starts_with(series) || digits.size() != series.size() + series_digits) return false;
  digits.erase(0, series.size());
  if (card.starts_with(series)) card.remove_prefix(series.size());
  const std::string_view number = card.substr(0, std::min(card.find_first_not_of("0123456789"), card.size()));
  return number.size() == card_digits && number.starts_with(digits);
}

/// Whether one of the names in a row, "A100, A30", is that of `card`.
bool row_names_card(std::string_view names, std::string_view card) {
  for (;;) {
    const std::size_t comma = names.find(',');
    if (names_card(names.substr(0, comma), card)) return true;
    if (comma == std::string_view::npos) return false;
    names.remove_prefix(comma + 1);
  }
}

}  // namespace

std::span<const Cards> all_cards() {
  return cards;
}

std::string_view card_names(Hardware hardware) {
  return row_of(hardware).names;
}

std::optional<Hardware> hardware_of_card(std::string_view card) {
  const std::string plain = plain_name(card);
  if (plain.empty()) return std::nullopt;
  for (const Cards& row : cards)
    if (row_names_card(row.names, plain)) return row.hardware;
  return std::nullopt;
}

}  // namespace warpmat

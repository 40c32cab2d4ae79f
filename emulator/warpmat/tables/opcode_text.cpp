#include <warpmat/tables/opcode_text.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace warpmat {
namespace {

/// The first word of `text` as it is written, and what is beside it.
OpcodeText first_word(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  OpcodeText found;
  const auto skip_blanks = [&] {
    const std::size_t count = std::min(text.find_first_not_of(blanks), text.size());
    text.remove_prefix(count);
    return count != 0;
  };
  bool has_blanks = skip_blanks();
  if (text.starts_with('@')) {
    found.beside.emplace_back("a predicate");
    text.remove_prefix(std::min(text.find_first_of(blanks), text.size()));
    skip_blanks();
  }
  const std::size_t end = std::min(text.find_first_of(" \t\r\n;{["), text.size());
  found.opcode = text.substr(0, end);
  text.remove_prefix(end);
  has_blanks |= skip_blanks() && (text.empty() || text.front() == ';');
  const std::size_t semicolon = std::min(text.find(';'), text.size());
  if (semicolon > 0) found.beside.emplace_back("operands");
  if (has_blanks) found.beside.emplace_back("blanks");
  if (semicolon < text.size()) found.beside.emplace_back("a semicolon");
  return found;
}

}  // namespace

std::string OpcodeText::listed() const {
  std::string list = beside.front();
  for (std::size_t i = 1; i < beside.size(); ++i) list += (i + 1 < beside.size() ? ", " : " and ") + beside[i];
  return list;
}

OpcodeText opcode_in(std::string_view text) {
  OpcodeText found = first_word(text);
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  std::string small = found.opcode;
  std::ranges::transform(small, small.begin(), lower);
  // .scale_vec::2X alone has a capital.
  for (std::size_t at = small.find("scale_vec::"); at != std::string::npos; at = small.find("scale_vec::", at + 1))
    if (at + 12 < small.size()) small[at + 12] = 'X';
  if (small != found.opcode) found.beside.emplace_back("capitals");
  found.opcode = std::move(small);
  return found;
}

OpcodeText machine_name_in(std::string_view text) {
  OpcodeText found = first_word(text);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string large = found.opcode;
  for (std::size_t i = 0; i < large.size(); ++i) {
    const bool crosses = large[i] == 'x' && i > 0 && i + 1 < large.size() && is_digit(large[i - 1]) && is_digit(large[i + 1]);  // 64x8x16
    if (large[i] >= 'a' && large[i] <= 'z' && !crosses) large[i] = static_cast<char>(large[i] - 'a' + 'A');
  }
  if (large != found.opcode) found.beside.emplace_back("small letters");
  found.opcode = std::move(large);
  return found;
}

}  // namespace warpmat

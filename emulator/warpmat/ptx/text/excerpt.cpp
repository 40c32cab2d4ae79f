#include <warpmat/ptx/text/excerpt.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <fmt/core.h>

namespace warpmat {
namespace {

constexpr std::size_t max_excerpt_bytes = 200;

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

/// A character and its number of bytes; one byte and `valid` false if the text is not UTF-8 (RFC 3629).
struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

Character first_character(std::string_view text) {
  struct Length {
    unsigned mask, lead;     // of the first byte
    std::uint32_t min_code;  // the smallest code with this many bytes
  };
  constexpr std::array<Length, 4> lengths{{{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}}};
  const unsigned first = static_cast<unsigned char>(text.front());
  for (std::size_t bytes = 1; bytes <= lengths.size(); ++bytes) {
    const Length& length = lengths[bytes - 1];
    if ((first & length.mask) != length.lead) continue;
    if (text.size() < bytes) return {};
    std::uint32_t code = first & ~length.mask;
    for (const char byte : text.substr(1, bytes - 1)) {
      if (!continues_character(byte)) return {};
      code = code << 6 | (static_cast<unsigned char>(byte) & 0x3f);
    }
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    if (code < length.min_code || code > 0x10ffff || surrogate) return {};
    return {code, bytes, true};
  }
  return {};
}

/// Whether a terminal may do something else with the character than show it in one column. Sorted by code.
bool is_control(std::uint32_t code) {
  const bool control = code < 0x20 || (code >= 0x7f && code <= 0x9f);
  const bool separator = code == 0x2028 || code == 0x2029 || code == 0xfeff;
  const bool direction = (code >= 0x200b && code <= 0x200f) || (code >= 0x202a && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f);
  return control || separator || direction;
}

/// The visible form of `character`, with which `text` begins.
std::string shown(std::string_view text, const Character& character) {
  if (character.valid && (character.code == '\t' || !is_control(character.code))) return std::string(text.substr(0, character.bytes));
  std::string escaped;
  for (const char byte : text.substr(0, character.bytes)) escaped += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  return escaped;
}

std::size_t columns(std::string_view shown_text) {
  return static_cast<std::size_t>(std::ranges::count_if(shown_text, [](char byte) { return !continues_character(byte); }));
}

}  // namespace

std::string excerpt(std::string_view rest, int column) {
  auto caret_at = static_cast<std::size_t>(column - 1);
  std::string_view line = rest.substr(0, rest.find('\n'));
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (line.size() > max_excerpt_bytes) {
    const std::size_t begin = std::min(caret_at - std::min(caret_at, max_excerpt_bytes / 2), line.size() - max_excerpt_bytes);
    line = line.substr(begin, max_excerpt_bytes);
    caret_at -= begin;
  }
  std::string text, caret;
  std::size_t at = 0;
  while (at < line.size()) {
    const Character character = first_character(line.substr(at));
    const std::string visible = shown(line.substr(at), character);
    if (at < caret_at) caret += visible == "\t" ? "\t" : std::string(columns(visible), ' ');
    text += visible;
    at += character.bytes;
  }
  if (caret_at > line.size()) caret.append(caret_at - line.size(), ' ');
  return text + '\n' + caret + '^';
}

}  // namespace warpmat

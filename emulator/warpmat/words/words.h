#pragma once

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <warpmat/text.h>

namespace warpmat {

/// The number that all of `text` is, whole ones in decimal or after 0x; nothing for other text, or what the type does not hold.
template <std::integral Number>
std::optional<Number> number_of(std::string_view text) {
  const bool negative = text.starts_with('-'), hexadecimal = text.substr(negative ? 1 : 0).starts_with("0x");
  text.remove_prefix(std::size_t{negative} + (hexadecimal ? 2 : 0));
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  const auto below = static_cast<std::int64_t>(0 - size);
  if (!negative || size == 0) return std::in_range<Number>(size) ? std::optional(static_cast<Number>(size)) : std::nullopt;
  return below < 0 && std::in_range<Number>(below) ? std::optional(static_cast<Number>(below)) : std::nullopt;
}
template <std::floating_point Number>
std::optional<Number> number_of(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// The parts of `text` between separators: one more than there are separators. They last as long as the text.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at; (at = text.find(separator)) != std::string_view::npos; text.remove_prefix(at + 1))
    parts.push_back(text.substr(0, at));
  parts.push_back(text);
  return parts;
}

/// Reads a text of the command line from left to right: "C=A*B^T:128x128x64,lda=72", "C.npy:f32:128x64:2ulp", "64x64:f16". All of these
/// are words with one character between them, and are refused alike.
class WordReader {
 public:
  /// `what`: "tile"; `right`: "write ROWSxCOLUMNS:FORMAT, as in 64x64:f16". A part of another text, which refuses in its place, has
  /// neither.
  explicit WordReader(std::string_view text, std::string_view what = {}, std::string_view right = {})
      : text_(text), what_(what), right_(right), rest_(text) {}

  std::string_view text() const { return text_; }
  /// Whether all words are taken. Behind a separator there is one, if an empty one.
  bool ended() const { return ended_; }

  /// Takes what comes before the next `separator`, and it; all that is left where there is none.
  std::string_view until(char separator) {
    const std::size_t at = rest_.find(separator);
    if (at == std::string_view::npos) return rest();
    const std::string_view word = rest_.substr(0, at);
    rest_.remove_prefix(at + 1);
    return word;
  }
  /// Takes all that is left.
  std::string_view rest() {
    ended_ = true;
    return std::exchange(rest_, rest_.substr(rest_.size()));
  }
  /// until() where the separator must be there.
  std::string_view before(char separator) {
    if (rest_.find(separator) == std::string_view::npos) refuse(rest_, format_text("there is no '{}'", separator));
    return until(separator);
  }

  /// The number of a word, at least `least` and at most `most`. `name`: "size".
  template <std::integral Number>
  Number number(std::string_view word, Number least, Number most, std::string_view name) const {
    const auto value = number_of<Number>(word);
    if (!value || *value < least || *value > most) refuse(word, format_text("'{}' is no {}", word, name));
    return *value;
  }

  /// `word`: the part of the text that is wrong, which says the place.
  [[noreturn]] void refuse(std::string_view word, std::string_view why) const {
    throw std::invalid_argument(
        format_text("'{}' is no {}: {} (character {}); {}", text_, what_, why, word.data() - text_.data() + 1, right_));
  }

 private:
  std::string_view text_, what_, right_, rest_;
  bool ended_ = false;
};

}  // namespace warpmat

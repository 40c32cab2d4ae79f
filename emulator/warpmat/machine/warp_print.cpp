// vprintf and __assertfail, which kernels may call without defining them.

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/operations.h>

namespace warpmat::machine {

namespace {

constexpr std::size_t longest_text = 1 << 20;

/// One conversion of a format: "%-8.3lf".
struct Conversion {
  std::string flags;   ///< with the %, up to the length
  std::string length;  ///< "ll"
  char letter = 0;
  std::size_t end = 0;  ///< the end of the conversion in the format
};

Conversion read_conversion(const std::string& format, std::size_t at) {
  Conversion c;
  std::size_t i = format.find_first_not_of("-+ #0123456789.*", at + 1);
  if (i == std::string::npos) i = format.size();
  c.flags = format.substr(at, i - at);
  const std::size_t letter = format.find_first_not_of("hlLqjzt", i);
  c.end = letter == std::string::npos ? format.size() : letter + 1;
  if (letter != std::string::npos) {
    c.length = format.substr(i, letter - i);
    c.letter = format[letter];
  }
  return c;
}

std::string read_string(WarpState& warp, int lane, std::uint64_t address) {
  std::string text;
  for (; text.size() < longest_text; ++address) {
    const char c = static_cast<char>(*warp.locate_lane(Space::generic, lane, address, 1, false));
    if (c == '\0') break;
    text += c;
  }
  return text;
}

std::string format_argument(WarpState& warp, int lane, const std::string& flags, const std::string& length, char letter,
                            const std::function<std::uint64_t(std::size_t)>& take) {
  const auto formatted = [&](const char* modifier, auto value) {
    const std::string format = flags + modifier + letter;
    const int size = std::snprintf(nullptr, 0, format.c_str(), value);
    std::string text(static_cast<std::size_t>(std::max(size, 0)) + 1, '\0');
    std::snprintf(text.data(), text.size(), format.c_str(), value);
    text.pop_back();
    return text;
  };
  switch (letter) {
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o': {
      const bool is_signed = letter == 'd' || letter == 'i';
      const std::uint64_t value = take(length.starts_with("l") || length == "j" || length == "z" || length == "t" || length == "q" ? 8 : 4);
      if (!length.empty() && length[0] != 'h')
        return is_signed ? formatted("ll", static_cast<long long>(value)) : formatted("ll", static_cast<unsigned long long>(value));
      if (length == "hh") return is_signed ? formatted("hh", static_cast<int>(value)) : formatted("hh", static_cast<unsigned>(value));
      if (length == "h") return is_signed ? formatted("h", static_cast<int>(value)) : formatted("h", static_cast<unsigned>(value));
      return is_signed ? formatted("", static_cast<int>(value)) : formatted("", static_cast<unsigned>(value));
    }
    case 'c': return formatted("", static_cast<int>(take(4)));
    case 'p': return formatted("", reinterpret_cast<void*>(take(8)));
    case 's': {
      const std::uint64_t address = take(8);
      return address == 0 ? "(null)" : formatted("", read_string(warp, lane, address).c_str());
    }
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A': return formatted("", std::bit_cast<double>(take(8)));
    default: return flags + length + (letter == 0 ? std::string() : std::string(1, letter));
  }
}

}  // namespace

/// vprintf(format, arguments): the arguments are stored consecutively at their natural alignment, floats as f64.
void print(WarpState& warp, const code::Call& call, LaneMask mask) {
  for (; mask != 0; mask &= mask - 1) {
    const int lane = first_lane(mask);
    std::uint8_t* const local = warp.local_memory(lane);
    std::uint64_t format_address = 0, next = 0;
    std::memcpy(&format_address, local + call.arguments[0].caller, 8);
    std::memcpy(&next, local + call.arguments[1].caller, 8);
    const std::string format = read_string(warp, lane, format_address);
    const auto take = [&](std::size_t bytes) {
      next = (next + bytes - 1) / bytes * bytes;
      std::uint64_t value = 0;
      std::memcpy(&value, warp.locate_lane(Space::generic, lane, next, static_cast<std::uint32_t>(bytes), false), bytes);
      next += bytes;
      return value;
    };
    std::string& out = warp.block().printed();
    std::int32_t count = 0;
    for (std::size_t i = 0; i < format.size();) {
      if (format[i] != '%') {
        out += format[i++];
        continue;
      }
      Conversion c = read_conversion(format, i);
      i = c.end;
      if (c.letter == '%') {
        out += '%';
        continue;
      }
      for (std::size_t star = c.flags.find('*'); star != std::string::npos; star = c.flags.find('*'))
        c.flags.replace(star, 1, std::to_string(static_cast<std::int32_t>(take(4))));
      ++count;
      out += format_argument(warp, lane, c.flags, c.length, c.letter, take);
    }
    for (const code::ArgumentCopy& result : call.returns) std::memcpy(local + result.caller, &count, 4);
  }
}

/// __assertfail(message, file, line, function, character size).
void assert_fail(WarpState& warp, const code::Call& call, LaneMask mask) {
  const int lane = first_lane(mask);
  const std::uint8_t* const local = warp.local_memory(lane);
  const auto argument = [&](std::size_t i, std::size_t bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, local + call.arguments[i].caller, bytes);
    return value;
  };
  if (call.arguments.size() < 4) warp.trap(lane, std::nullopt, "an assertion failed", Trap::Kind::stopped);
  warp.trap(lane, std::nullopt,
            fmt::format("{}:{}: {}: assertion `{}` failed", read_string(warp, lane, argument(1, 8)), argument(2, 4),
                        read_string(warp, lane, argument(3, 8)), read_string(warp, lane, argument(0, 8))),
            Trap::Kind::stopped);
}

}  // namespace warpmat::machine

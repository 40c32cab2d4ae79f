// vprintf and __assertfail, which kernels may call without defining them.

#include <algorithm>
#include <atomic>
#include <cstring>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/call_values.h>
#include <warpmat/machine/operations.h>
#include <warpmat/machine/printf_format.h>

namespace warpmat::machine {

namespace {

/// Of a string that a kernel names, and of a width or precision: CUDA's buffer for all output of printf has as many bytes unless a program
/// asks for more (cudaLimitPrintfFifoSize).
constexpr std::size_t longest_text = 1 << 20;

/// The characters up to a zero, at most `most`.
std::string read_string(WarpState& warp, int lane, std::uint64_t address, std::size_t most = longest_text) {
  std::string text;
  while (text.size() < most) {
    const auto c = static_cast<char>(warp.range(Space::generic, lane, address, text.size() + 1, 1, false).back());
    if (c == '\0') break;
    text += c;
  }
  return text;
}

/// The arguments of a printf, stored consecutively at their natural alignment, floats as f64.
class PrintedArguments {
 public:
  PrintedArguments(WarpState& warp, int lane, std::uint64_t address) : warp_(warp), lane_(lane), next_(address) {}

  std::uint64_t take(std::size_t bytes) {
    next_ = (next_ + bytes - 1) / bytes * bytes;
    std::uint64_t value = 0;
    std::memcpy(&value, warp_.range(Space::generic, lane_, next_, bytes, bytes, false).data(), bytes);
    next_ += bytes;
    return value;
  }

 private:
  WarpState& warp_;
  int lane_;
  std::uint64_t next_;
};

std::string string_argument(WarpState& warp, int lane, const Conversion& c, std::uint64_t address) {
  const auto most = std::min(static_cast<std::size_t>(c.precision.value_or(longest_text)), longest_text);
  const std::string text = address == 0 ? "(null)" : read_string(warp, lane, address, most);
  const std::string padding(static_cast<std::size_t>(c.width) - std::min(static_cast<std::size_t>(c.width), text.size()), ' ');
  return c.flags.find('-') != std::string::npos ? text + padding : padding + text;
}

std::string converted(WarpState& warp, int lane, const Conversion& c, PrintedArguments& arguments) {
  if (c.is_longer_than(longest_text))
    warp.trap(lane, std::nullopt,
              fmt::format("printf: '{}' has a width or precision of more than {} characters", c.text.substr(0, 64), longest_text),
              Trap::Kind::limit);
  if (c.letter == 's') return string_argument(warp, lane, c, arguments.take(8));
  const std::size_t bytes = c.bytes();
  return bytes == 0 ? std::string(c.text) : formatted(c, arguments.take(bytes));
}

/// Appends a lane's output. Returns the number of its conversions, which is the result of printf.
std::int32_t print_lane(WarpState& warp, int lane, const std::string& format, PrintedArguments arguments, std::string& out) {
  std::int32_t count = 0;
  for (std::size_t i = 0; i < format.size();) {
    const std::size_t text = std::min(format.find('%', i), format.size());
    out.append(format, i, text - i);
    i = text;
    if (i == format.size()) break;
    const Conversion c = read_conversion(format, i, [&] { return static_cast<std::int32_t>(arguments.take(4)); });
    i += c.text.size();
    if (c.letter == '%') {
      out += '%';
      continue;
    }
    ++count;
    out += converted(warp, lane, c, arguments);
  }
  return count;
}

void count_printed(WarpState& warp, int lane, std::size_t bytes) {
  const std::uint64_t most = warp.launch().options.most_printed;
  std::atomic<std::uint64_t>* const all = warp.launch().printed_bytes;
  if (most != 0 && all != nullptr && all->fetch_add(bytes) + bytes > most)
    warp.trap(lane, std::nullopt, fmt::format("the launch has printed more than {} bytes", most), Trap::Kind::limit);
}

}  // namespace

/// vprintf(format, arguments)
void print(WarpState& warp, const code::Call& call, LaneMask mask) {
  std::string& out = warp.block().printed();
  for (; mask != 0; mask &= mask - 1) {
    const int lane = first_lane(mask);
    const std::string format = read_string(warp, lane, argument<std::uint64_t>(warp, call, lane, 0));
    const std::size_t before = out.size();
    const std::int32_t count = print_lane(warp, lane, format, {warp, lane, argument<std::uint64_t>(warp, call, lane, 1)}, out);
    count_printed(warp, lane, out.size() - before);
    give_result(warp, call, lane, static_cast<std::uint32_t>(count));
  }
}

/// __assertfail(message, file, line, function, character size).
void assert_fail(WarpState& warp, const code::Call& call, LaneMask mask) {
  const int lane = first_lane(mask);
  const auto string = [&](std::size_t i) { return read_string(warp, lane, argument<std::uint64_t>(warp, call, lane, i)); };
  warp.trap(lane, std::nullopt,
            fmt::format("{}:{}: {}: assertion `{}` failed", string(1), argument<std::uint32_t>(warp, call, lane, 2), string(3), string(0)),
            Trap::Kind::stopped);
}

}  // namespace warpmat::machine

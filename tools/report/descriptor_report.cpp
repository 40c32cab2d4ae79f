#include "tools/report/descriptor_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/wgmma.h>

#include <algorithm>
#include <span>
#include <vector>

#include "tools/report/tensor_map_names.h"

namespace warpmat {
namespace {

constexpr std::size_t most_listed = 8;

/// "0x400, 0x800, and 3 more".
template <typename T>
std::string some_of(const std::set<T>& numbers, const char* format) {
  std::vector<std::string> shown;
  for (const T number : numbers)
    if (shown.size() < most_listed) shown.push_back(fmt::format(fmt::runtime(format), number));
  if (numbers.size() > most_listed) shown.push_back(fmt::format("and {} more", numbers.size() - most_listed));
  return fmt::format("{}", fmt::join(shown, ", "));
}

template <typename T>
std::string list(const T& numbers, std::uint32_t count) {
  return fmt::format("{}", fmt::join(std::span(numbers).first(count), " x "));
}

std::string text_of(const TensorMap& map, const std::string& buffer) {
  const bool tile = map.mode() == TensorMap::Mode::tile;
  std::string text = fmt::format("tensor map of {}: {}, dimensions {}, ", buffer, name(map.type()), list(map.dims(), map.rank()));
  if (map.rank() > 1) text += fmt::format("strides {} bytes, ", list(map.strides(), map.rank() - 1));
  text += tile ? fmt::format("box {}, ", list(map.box(), map.rank()))
               : fmt::format("{} channels of {} pixels, ", map.arguments().channels, map.arguments().pixels);
  const auto strides = std::span(map.element_strides()).first(map.rank());
  if (std::ranges::any_of(strides, [](std::uint32_t stride) { return stride != 1; }))
    text += fmt::format("element strides {}, ", list(map.element_strides(), map.rank()));
  if (map.interleave() != TensorMap::Interleave::none)
    text += fmt::format("interleave {}, ", interleave_names[static_cast<std::size_t>(map.interleave())]);
  return text + fmt::format("swizzle {}; rows of {} bytes lie {} apart in shared memory",
                            swizzle_names[static_cast<std::size_t>(map.arguments().swizzle_number())], map.row_bytes(), map.row_pitch());
}

}  // namespace

void DescriptorReport::bulk_issues(const machine::Event& event, const machine::BulkEvent& copy) {
  if (copy.map == nullptr) return;
  const TensorMap& map = *copy.map;
  const std::optional<DeviceMemory::Buffer> buffer = memory_.find(map.address());
  const std::string of = !buffer ? fmt::format("{:#x}", map.address())
                         : map.address() == buffer->address
                             ? fmt::format("'{}'", buffer->name)
                             : fmt::format("'{}' from byte {} on", buffer->name, map.address() - buffer->address);
  said(event, text_of(map, of));
}

DescriptorReport::Said& DescriptorReport::said(const machine::Event& event, const std::string& text) {
  Said& said = all_[{event.source(), std::string(event.opcode()), text}];
  said.lines.insert(event.line());
  return said;
}

void DescriptorReport::add(const machine::Event& event, char operand, Major major, std::uint64_t descriptor) {
  const MatrixDescriptor says = MatrixDescriptor::decode(descriptor);
  const std::string base = says.base_offset() == 0 ? "" : fmt::format("base offset {}, ", says.base_offset());
  const std::string text =
      fmt::format("operand {}: leading byte offset {}, stride byte offset {}, {}swizzle {}, {}-major", operand, says.leading(),
                  says.stride(), base, swizzle_names[static_cast<std::size_t>(says.swizzle())], major == Major::k ? "K" : "MN");
  said(event, text).starts.insert(says.start());
}

void DescriptorReport::product_issues(const machine::ProductEvent& event) {
  const machine::Product& product = event.product;
  const auto& immediates = product.instruction().immediates();
  if (!product.a_in_registers()) add(event.event, 'a', immediates.major_a, product.a_descriptor());
  add(event.event, 'b', immediates.major_b, product.b_descriptor());
}

std::string DescriptorReport::text() const {
  std::multimap<int, std::string> by_line;
  for (const auto& [key, said] : all_) {
    const auto& [source, opcode, text] = key;
    by_line.emplace(*said.lines.begin(), fmt::format("{}{}line{} {} ({}): {}{}\n", source, source.empty() ? "" : ", ",
                                                     said.lines.size() == 1 ? "" : "s", some_of(said.lines, "{}"), opcode, text,
                                                     said.starts.empty() ? "" : "; start " + some_of(said.starts, "{:#x}")));
  }
  std::string all;
  for (const auto& [line, text] : by_line) all += text;
  return all;
}

}  // namespace warpmat

#include <warpmat/cuda/libraries/measured_orders.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>
#include <string_view>

#include <measured_orders.inc>

namespace warpmat::cuda {
namespace {

SumOrder order_of(const std::string& text) {
  SumOrder order;
  std::istringstream words(text);
  words >> order.instruction;
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    std::int64_t value = 0;
    if (equals != std::string::npos) std::from_chars(word.data() + equals + 1, word.data() + word.size(), value);
    if (name == "split_k") order.split_k = value;
    if (name == "tile_k") order.tile_k = value;
    if (name == "slices") order.slices = value;
    if (name == "residue_first") order.residue_first = true;
  }
  return order;
}

/// By "A D layout MxNxK", rows first, as torch's mm and int_mm have them.
std::map<std::string, SumOrder> read_table() {
  std::map<std::string, SumOrder> orders;
  std::istringstream lines{std::string(measured_text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string operation, order, shapes, call, a, b, d, layout;
    std::getline(fields, operation, '|'), std::getline(fields, order, '|'), std::getline(fields, shapes);
    std::istringstream(operation) >> call >> a >> b >> d >> layout;
    if ((call != "mm" && call != "int_mm") || order == " unknown ") continue;
    std::istringstream words(shapes);
    for (std::string shape; words >> shape;)
      orders.emplace(a + " " + d + " " + layout + " " + shape.substr(0, shape.find(':')), order_of(order));
  }
  return orders;
}

std::string_view type_word(int type, Compute compute) {
  switch (type) {
    case r_16f: return "f16";
    case r_16bf: return "bf16";
    case r_32f: return compute == Compute::f32_as_tf32 ? "tf32" : "f32";
    case r_64f: return "f64";
    default: return "";
  }
}

}  // namespace

std::optional<SumOrder> measured_order(const ProductShape& shape) {
  static const std::map<std::string, SumOrder> orders = read_table();
  const std::string_view a = type_word(shape.type_a, shape.compute), d = type_word(shape.type_d, Compute::f32);
  const bool transposed = shape.operation_a != op_n;
  const bool dense = shape.leading_a == (transposed ? shape.k : shape.m) && shape.leading_b == shape.k && shape.leading_d == shape.m;
  if (a.empty() || d.empty() || shape.compute == Compute::f16 || shape.operation_b != op_n || !dense || shape.promote_every != 0) return {};
  std::ostringstream key;  // columns there are rows here
  key << a << ' ' << d << (transposed ? " nt " : " nn ") << shape.n << 'x' << shape.m << 'x' << shape.k;
  const auto found = orders.find(key.str());
  return found == orders.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::vector<KRange>> parts_of(const SumOrder& order, std::int64_t k, std::int64_t step) {
  const std::int64_t tile = order.tile_k != 0 ? order.tile_k : step;
  const std::int64_t tiles = (k + tile - 1) / tile, width = std::max<std::int64_t>(1, (tiles + order.split_k - 1) / order.split_k) * tile;
  std::vector<std::vector<KRange>> parts;
  for (std::int64_t first = 0; first < k; first += width) {
    const std::int64_t last = std::min(k, first + width), residue = order.residue_first ? (last - first) % tile : 0;
    if (residue != 0 && residue < last - first)
      parts.push_back({{first, first + residue}, {first + residue, last}});
    else
      parts.push_back({{first, last}});
  }
  return parts;
}

std::vector<std::vector<KRange>> slices_of(const SumOrder& order, const std::vector<KRange>& part) {
  if (order.slices == 1) return {part};
  const std::int64_t width = std::max<std::int64_t>(1, order.tile_k / order.slices);
  std::vector<std::vector<KRange>> slices(static_cast<std::size_t>(order.slices));
  for (const auto& [start, end] : part)
    for (std::int64_t tile = start; tile < end; tile += order.tile_k)
      for (std::size_t i = 0; i < slices.size(); ++i) {
        const std::int64_t first = tile + static_cast<std::int64_t>(i) * width, last = std::min({first + width, tile + order.tile_k, end});
        if (first < last) slices[i].emplace_back(first, last);
      }
  return slices;
}

}  // namespace warpmat::cuda

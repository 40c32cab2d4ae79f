// Tensor maps. An input is the number of a kernel, five coordinates, and the bytes of a map: 128 as they are, or the arguments from which
// one is encoded. A kernel that copies by any of them ends with a result or a report.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <warpmat/launch.h>
#include <warpmat/machine/tensor_map_bytes.h>

#include "fuzz/input.h"

namespace {

using namespace warpmat;

// Of "RANK" dimensions with the coordinates "AT".
constexpr const char* statements[] = {
    "cp.async.bulk.tensor.RANKd.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [%l0, {AT}], [%r1];",
    "cp.async.bulk.tensor.RANKd.global.shared::cta.tile.bulk_group [%l0, {AT}], [%r0];",
    "cp.reduce.async.bulk.tensor.RANKd.global.shared::cta.add.tile.bulk_group [%l0, {AT}], [%r0];",
    "cp.reduce.async.bulk.tensor.RANKd.global.shared::cta.xor.tile.bulk_group [%l0, {AT}], [%r0];",
    "cp.async.bulk.prefetch.tensor.RANKd.L2.global.tile [%l0, {AT}];",
    "cp.async.bulk.tensor.RANKd.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r0], [%l0, {AT}], [%r1], {OFFSETS};",
    "cp.async.bulk.tensor.RANKd.global.shared::cta.im2col_no_offs.bulk_group [%l0, {AT}], [%r0];",
    "tensormap.replace.tile.global_dim.global.b1024.b32 [%l1], 0, %r10; tensormap.replace.tile.box_dim.global.b1024.b32 [%l1], 0, %r11; "
    "tensormap.replace.tile.global_stride.global.b1024.b64 [%l1], 0, %l2; tensormap.replace.tile.rank.global.b1024.b32 [%l1], %r12; "
    "cp.async.bulk.tensor.RANKd.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [%l1, {AT}], [%r1];",
};
constexpr std::size_t ranks = TensorMap::max_dimensions;
constexpr std::uint64_t memory_at = 0x7f00'0000'0000, memory_bytes = 1 << 14;

void replace(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) text.replace(at, what.size(), by);
}

std::string list(const char* prefix, std::size_t first, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? prefix : std::string(", ") + prefix) + std::to_string(first + i);
  return text;
}

/// Thread 0 copies; nothing waits for it.
std::string text_of(std::string statement, std::size_t rank) {
  replace(statement, "RANK", std::to_string(rank));
  replace(statement, "AT", list("%r", 10, rank));
  replace(statement, "OFFSETS", list("%s", 0, std::max<std::size_t>(rank, 2) - 2));
  return R"(
.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .align 64 .b8 map[128], .param .u64 memory, .param .align 4 .b8 at[20]) {
  .reg .b32 %r<20>; .reg .b64 %l<8>; .reg .pred %p; .reg .b16 %s<4>;
  .shared .align 1024 .b8 tile[16384];
  .shared .align 8 .b64 full;
  mov.b64 %l0, map; cvta.param.u64 %l0, %l0;
  ld.param.u64 %l1, [memory];
  ld.param.u32 %r10, [at]; ld.param.u32 %r11, [at+4]; ld.param.u32 %r12, [at+8]; ld.param.u32 %r13, [at+12]; ld.param.u32 %r14, [at+16];
  cvt.u16.u32 %s0, %r12; cvt.u16.u32 %s1, %r13; cvt.u16.u32 %s2, %r14; mov.b64 %l2, {%r13, %r14};
  mov.u32 %r0, tile; mov.u32 %r1, full; mov.u32 %r2, %tid.x;
  setp.ne.u32 %p, %r2, 0;
  @%p bra END;
  mbarrier.init.shared::cta.b64 [%r1], 1;
  fence.proxy.async;
)" + statement +
         R"(
  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
  END: ret;
})";
}

/// One of the kernels of each statement and rank.
const Kernel& kernel_of(std::size_t number) {
  static const std::vector<Kernel> kernels = [] {
    std::vector<Kernel> made;
    for (const char* statement : statements)
      for (std::size_t rank = std::strstr(statement, "im2col") != nullptr ? 3 : 1; rank <= ranks; ++rank)
        made.emplace_back(Module(text_of(statement, rank)), "kernel", KernelOptions{.target = "sm_90a"});
    return made;
  }();
  return kernels[number % kernels.size()];
}

template <typename T, std::size_t n>
void take(Input& input, std::array<T, n>& values) {
  for (T& value : values) value = static_cast<T>(input.size());
}

template <typename T>
T take_below(Input& input, std::size_t limit) {
  return static_cast<T>(input.below(limit));
}

/// Arguments whose enumerators are known ones.
TensorMap::Arguments arguments_from(Input& input) {
  TensorMap::Arguments map;
  map.type = take_below<TensorMap::Type>(input, static_cast<std::size_t>(TensorMap::Type::u6x16_p32) + 1);
  map.rank = take_below<std::uint32_t>(input, ranks + 2);
  map.address = memory_at + input.size();
  take(input, map.dims);
  take(input, map.strides);
  take(input, map.box);
  take(input, map.element_strides);
  map.interleave = take_below<TensorMap::Interleave>(input, 3);
  map.set_swizzle(take_below<int>(input, TensorMap::swizzle_numbers));
  map.l2_promotion = take_below<TensorMap::L2Promotion>(input, 4);
  map.fill = take_below<TensorMap::Fill>(input, 2);
  map.mode = take_below<TensorMap::Mode>(input, 2);
  take(input, map.lower_corner);
  take(input, map.upper_corner);
  map.channels = static_cast<std::uint32_t>(input.size());
  map.pixels = static_cast<std::uint32_t>(input.size());
  return map;
}

TensorMap::Encoded encoded(const TensorMap::Arguments& arguments) {
  if (TensorMap::problem(arguments)) return {};
  const TensorMap map(arguments);
  const auto decoded = TensorMap::decode(map.encode());
  if (!decoded || decoded->encode() != map.encode()) std::abort();
  return map.encode();
}

TensorMap::Encoded map_from(Input& input) {
  if (input.yes()) return encoded(arguments_from(input));
  TensorMap::Encoded bytes{};
  input.take(bytes.data(), bytes.size());
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const Kernel& kernel = kernel_of(input.take<std::uint8_t>());
  std::array<std::int32_t, ranks> at{};
  take(input, at);
  const TensorMap::Encoded map = map_from(input);
  static_cast<void>(tensor_map_arguments(map));
  DeviceMemory memory;
  std::vector<std::uint8_t> first(memory_bytes, 1);
  std::ranges::copy(map, first.begin());
  memory.place(memory_at, first, "first");
  memory.place(memory_at + memory_bytes, std::vector<std::uint8_t>(memory_bytes, 2), "second");
  try {
    LaunchOptions options;
    options.most_operations = 1000;
    options.checks = {.races = true, .lanes = true};
    launch(kernel, {.grid = {1}, .block = {32}}, memory, {map, memory_at, at}, options);
  } catch (const Trap&) {
  } catch (const std::invalid_argument&) {
  }
  return 0;
}

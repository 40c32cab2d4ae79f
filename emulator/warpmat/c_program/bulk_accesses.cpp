// What bulk and tensor copies access, in C.

#include <algorithm>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <warpmat/c_program/handles.h>
#include <warpmat/machine/bulk_copies.h>
#include <warpmat/machine/tensor_map_bytes.h>

using namespace warpmat;
using namespace warpmat::c;
using namespace warpmat::machine;

namespace {

constexpr std::uint64_t linear_unit = 16;        // of sizes and addresses without a tensor map
constexpr std::uint64_t tensor_alignment = 128;  // of a box in shared memory

warpmat_memory_access access_of(warpmat_space space, bool write, std::uint64_t address, std::uint64_t bytes, std::size_t row,
                                std::uint32_t byte) {
  return {
      address, static_cast<std::uint32_t>(bytes), space, write, WARPMAT_P, {-1, -1, 0}, {static_cast<int>(row), static_cast<int>(byte), 0}};
}

/// The read of a part, if there is one, and its write.
void add_part(const warpmat_bulk_copy& copy, const TensorPart& part, std::vector<warpmat_memory_access>& all) {
  const bool stores = copy.stores != 0;
  const auto of_shared = access_of(WARPMAT_SPACE_SHARED, !stores, part.offset, part.bytes, part.row, part.row_byte);
  if (stores) all.push_back(of_shared);
  if (part.address) all.push_back(access_of(WARPMAT_SPACE_GLOBAL, stores, *part.address, part.bytes, part.row, part.row_byte));
  if (!stores) all.push_back(of_shared);
}

std::optional<std::string> linear_problem(const warpmat_bulk_copy& copy) {
  if (copy.bytes % linear_unit != 0 || copy.bytes > UINT32_MAX) return fmt::format("{} bytes are copied: a multiple of 16", copy.bytes);
  if (copy.global % linear_unit != 0 || copy.shared % linear_unit != 0) return "both addresses are multiples of 16";
  return std::nullopt;
}

/// Nothing if all is well.
std::optional<std::string> tensor_problem(const warpmat_bulk_copy& copy, const TensorMap& map, const TensorPlace& place) {
  if (copy.shared % tensor_alignment != 0) return "the address in shared memory is a multiple of 128";
  return coordinates_problem(map, place, copy.stores != 0);
}

/// Throws std::invalid_argument.
std::vector<warpmat_memory_access> accesses_of(const warpmat_bulk_copy& copy) {
  std::vector<warpmat_memory_access> all;
  if (copy.map == nullptr) {
    if (const auto problem = linear_problem(copy)) throw std::invalid_argument(*problem);
    if (copy.bytes != 0) add_part(copy, {copy.shared, copy.global, copy.bytes, 0, 0}, all);
    return all;
  }
  TensorPlace place;
  std::ranges::copy(copy.coordinates, place.coordinates.begin());
  std::ranges::copy(copy.offsets, place.offsets.begin());
  const std::optional<TensorMap::Arguments> given = tensor_map_arguments({copy.map, TensorMap::bytes});
  if (!given) throw std::invalid_argument("the 128 bytes are no tensor map of warpmat; a GPU's are others: warpmat_tensor_map_encode");
  const TensorMap map(*given);
  if (const auto problem = tensor_problem(copy, map, place)) throw std::invalid_argument(*problem);
  for_each_part(map, place, copy.stores != 0, copy.shared, 0, [&](const TensorPart& part) { add_part(copy, part, all); });
  return all;
}

}  // namespace

warpmat_status warpmat_bulk_accesses(const warpmat_bulk_copy* copy, warpmat_memory_access* list, size_t capacity, size_t* count,
                                     warpmat_error* error) {
  if (copy == nullptr || count == nullptr)
    return report(error, WARPMAT_BAD_ARGUMENT, copy == nullptr ? "the copy is null" : "count is null");
  if (!WARPMAT_HAS_SIZE(copy, bytes)) return report(error, WARPMAT_BAD_ARGUMENT, "copy->size is not that of a warpmat_bulk_copy");
  return done(error, [&] {
    const std::vector<warpmat_memory_access> all = accesses_of(*copy);
    *count = all.size();
    if (list != nullptr) std::copy_n(all.begin(), std::min(all.size(), capacity), list);
  });
}

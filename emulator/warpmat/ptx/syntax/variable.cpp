#include <warpmat/ptx/syntax/variable.h>

#include <bit>

#include <fmt/core.h>

#include <warpmat/numeric/checked_size.h>
#include <warpmat/ptx/text/token_reader.h>

namespace warpmat::syntax {

const DataType& type_of(const Variable& variable) {
  const DataType* type = find_ptx_type(variable.type);
  if (type == nullptr || type->is_predicate())
    throw StatementError{variable.location, fmt::format("a variable cannot be .{}", variable.type)};
  return *type;
}

std::int64_t size_of(const Variable& variable) {
  CheckedSize bytes = CheckedSize(type_of(variable).bytes()) * variable.vector;
  for (const std::int64_t extent : variable.extents) {
    if (extent < 0 && variable.values.empty()) return 0;
    bytes = bytes * (extent < 0 ? CheckedSize(variable.values.size()) : CheckedSize(extent));
  }
  if (!bytes.fits(largest_variable))
    throw StatementError{variable.location, fmt::format("'{}' is larger than {} bytes", variable.name, largest_variable)};
  return static_cast<std::int64_t>(*bytes.value());
}

std::int64_t alignment_of(const Variable& variable) {
  const std::int64_t alignment = variable.alignment != 0 ? variable.alignment : type_of(variable).bytes() * variable.vector;
  if (alignment <= 0 || !std::has_single_bit(static_cast<std::uint64_t>(alignment)) || alignment > 1 << 20)
    throw StatementError{variable.location, fmt::format("the alignment {} is not a power of two", alignment)};
  return alignment;
}

}  // namespace warpmat::syntax

#include <warpmat/scalar/kernel.h>

#include <map>
#include <string>

#include <warpmat/scalar/by_instruction_set.h>
#include <warpmat/scalar/kernels.h>

namespace warpmat::scalar {
namespace {

using Index = std::map<std::string_view, Function>;

constexpr std::span<const Kernel> (*subjects[])() = {integer_kernels,
                                                     bit_kernels,
                                                     comparison_kernels,
                                                     float_kernels,
                                                     half_kernels,
                                                     approximate_kernels,
                                                     video_kernels,
                                                     conversion_kernels,
                                                     small_conversion_kernels,
                                                     packed_conversion_kernels};

constinit ByInstructionSet<Index> indices;

const Index& index() {
  return indices.get([] {
    Index made;
    for (const auto subject : subjects)
      for (const Kernel& kernel : subject()) made.emplace(kernel.name, kernel.function);
    return made;
  });
}

/// Replaces an integer type by the untyped one: "add.s32" becomes "add.b32". `dot` is the start of the type: the last part, or the first of
/// two types ("slct.u32.f32").
std::string with_untyped(std::string_view name, std::size_t dot) {
  std::string untyped(name);
  const char c = dot + 1 < untyped.size() ? untyped[dot + 1] : '\0';
  if (c == 'u' || c == 's' || c == 'f') untyped[dot + 1] = 'b';
  return untyped;
}

}  // namespace

Function find_kernel(std::string_view name) {
  const Index& kernels = index();
  if (const auto found = kernels.find(name); found != kernels.end()) return found->second;
  for (const std::size_t dot : {name.rfind('.'), name.find('.')})
    if (dot != std::string_view::npos)
      if (const auto found = kernels.find(with_untyped(name, dot)); found != kernels.end()) return found->second;
  return nullptr;
}

}  // namespace warpmat::scalar

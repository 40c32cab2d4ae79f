#include <warpmat/lower/system_functions.h>

#include <algorithm>
#include <span>
#include <string>

#include <fmt/core.h>

#include <warpmat/lower/module_symbols.h>
#include <warpmat/ptx/text/token_reader.h>
#include <warpmat/text.h>

namespace warpmat::code {
namespace {

/// As nvcc 13.0 declares them (-rdc=true for those of CUDA's device runtime).
constexpr SystemFunction system_functions[] = {
    {"vprintf", Call::Target::print, 4, {8, 8}},
    {"__assertfail", Call::Target::assert_fail, 0, {8, 8, 4, 8, 8}},
    {"malloc", Call::Target::allocate, 8, {8}},
    {"free", Call::Target::free, 0, {8}},
    {"__cudaCDP2GetParameterBufferV2", Call::Target::prepare_launch, 8, {8, 12, 12, 4}},
    {"__cudaCDP2LaunchDeviceV2", Call::Target::launch, 4, {8, 8}},
    {"__cudaCDP2LaunchDeviceV2_ptsz", Call::Target::launch, 4, {8, 8}},
    {"__cudaCDP2MemcpyAsync", Call::Target::copy, 4, {8, 8, 8, 4, 8}},
    {"__cudaCDP2MemcpyAsync_ptsz", Call::Target::copy, 4, {8, 8, 8, 4, 8}},
    {"__cudaCDP2MemsetAsync", Call::Target::fill, 4, {8, 4, 8, 8}},
    {"__cudaCDP2MemsetAsync_ptsz", Call::Target::fill, 4, {8, 4, 8, 8}},
    {"__cudaCDP2Malloc", Call::Target::put_memory, 4, {8, 8}},
    {"__cudaCDP2Free", Call::Target::free_memory, 4, {8}},
    {"__cudaCDP2StreamCreateWithFlags", Call::Target::put_handle, 4, {8, 4}},
    {"__cudaCDP2EventCreateWithFlags", Call::Target::put_handle, 4, {8, 4}},
    {"__cudaCDP2GetDevice", Call::Target::put_zero, 4, {8}},
    {"__cudaCDP2StreamDestroy", Call::Target::succeed, 4, {8}},
    {"__cudaCDP2StreamWaitEvent", Call::Target::succeed, 4, {8, 8, 4}},
    {"__cudaCDP2StreamWaitEvent_ptsz", Call::Target::succeed, 4, {8, 8, 4}},
    {"__cudaCDP2EventRecord", Call::Target::succeed, 4, {8, 8}},
    {"__cudaCDP2EventRecord_ptsz", Call::Target::succeed, 4, {8, 8}},
    {"__cudaCDP2EventDestroy", Call::Target::succeed, 4, {8}},
    {"__cudaCDP2GetLastError", Call::Target::succeed, 4},
    {"__cudaCDP2PeekAtLastError", Call::Target::succeed, 4},
    {"__cudaCDP2GetErrorString", Call::Target::succeed, 8, {4}},
    {"__cudaCDP2GetErrorName", Call::Target::succeed, 8, {4}},
};

using Sizes = std::span<const std::uint8_t>;

Sizes results_of(const SystemFunction& function) {
  return {&function.result, std::size_t{function.result != 0}};
}

Sizes parameters_of(const SystemFunction& function) {
  const auto end = std::ranges::find(function.parameters, 0);
  return {function.parameters.begin(), end};
}

bool has_sizes(const std::vector<syntax::Variable>& declared, Sizes expected) {
  return std::ranges::equal(declared, expected, [](const syntax::Variable& variable, std::uint8_t bytes) {
    return variable.space == Space::param && size_of(variable) == bytes;
  });
}

/// "(.param .b64 _, .param .align 4 .b8 _[12])"
std::string list_of(Sizes all_bytes) {
  std::vector<std::string> all;
  for (const std::uint8_t bytes : all_bytes)
    all.push_back(bytes <= 8 ? fmt::format(".param .b{} _", 8 * bytes) : fmt::format(".param .align 4 .b8 _[{}]", bytes));
  return fmt::format("({})", joined(all, ", "));
}

}  // namespace

const SystemFunction* find_system_function(std::string_view name) {
  const auto found = std::ranges::find(system_functions, name, &SystemFunction::name);
  return found == std::end(system_functions) ? nullptr : found;
}

void check_declaration(const SystemFunction& known, const syntax::Function& declared) {
  const Sizes results = results_of(known), parameters = parameters_of(known);
  if (has_sizes(declared.returns, results) && has_sizes(declared.parameters, parameters)) return;
  fail(declared.location, fmt::format("'{0}' is declared otherwise than warpmat provides it: .extern .func {1}{0} {2}", known.name,
                                      results.empty() ? "" : list_of(results) + " ", list_of(parameters)));
}

}  // namespace warpmat::code

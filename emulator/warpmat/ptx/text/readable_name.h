#pragma once

#include <span>
#include <string>
#include <string_view>

namespace warpmat {

// nvcc mangles the names of kernels, parameters and variables. People write and read the C++ names.

/// The C++ name without parameter types, for messages: "gemm<128>" of _Z4gemmILi128EEvPf, "gemm::tile" of a variable in it,
/// "gemm_param_3" of its parameter. A name that is not mangled stays.
std::string readable_name(std::string_view name);

/// The C++ name with parameter types: "void gemm<128>(float*)". A name that is not mangled stays.
std::string demangled_name(std::string_view name);

/// "'scale', 'void gemm<128>(float*)' (_Z4gemmILi128EEvPf)": names to choose from.
std::string quoted_names(std::span<const std::string_view> names);

/// The one of `names` that `wanted` says: the name itself; or the C++ name with or without parameter types, template arguments and
/// namespaces, where one name alone has it. Empty where none has. Throws std::invalid_argument where several have.
std::string_view find_name(std::span<const std::string_view> names, std::string_view wanted);

}  // namespace warpmat

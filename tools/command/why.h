#pragma once

#include <warpmat/provenance.h>

#include <string>
#include <string_view>

namespace warpmat {

/// Prints the way of an element (ProductRequest::element) to standard output. With `files` it writes the operands of its products by mma to
/// FILES.a.npy, FILES.b.npy and FILES.c.npy, and prints the commands that explain each product for `target`. With `against`, a name for
/// explain_pair(), it prints parting_of() first.
void print_why(const Why& why, const std::string& files, std::string_view target, const std::string& against);

/// The first product of an element's way whose result on `target` has other bits than on `against` with the same operands, and the k at
/// which their sums part; or that there is none. Products whose operands were not kept (wgmma, scale factors, metadata) are named.
std::string parting_of(const Why& why, std::string_view target, const std::string& against);

}  // namespace warpmat

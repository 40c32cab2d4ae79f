#pragma once

#include <string_view>

namespace warpmat::ask {

/// The texts of operands.h and host.cpp.txt, of which ask.cu consists besides its tables.
std::string_view operands_source();
std::string_view host_source();

}  // namespace warpmat::ask

#pragma once

#include <cstddef>
#include <string>

namespace warpmat {

/// `warpmat diff --scalar`: compares every scalar instruction with a GPU. `forms`: only opcodes in which this regular expression is found;
/// `elements` of each class, a multiple of 256. `record`: a file for the digests of the GPU's answers, or empty. Throws if something
/// differs.
void diff_scalar(const std::string& target, const std::string& forms, std::size_t elements, const std::string& record);

}  // namespace warpmat

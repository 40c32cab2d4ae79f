#pragma once

#include <span>
#include <string_view>

namespace warpmat {

/// A file of a new project.
struct NewFile {
  std::string_view name, text;
};

/// The files of examples/unit_test and the README's example, which the build makes a source of.
std::span<const NewFile> new_files();

}  // namespace warpmat

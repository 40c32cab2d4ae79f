#pragma once

#include <string>
#include <vector>

// The files of the source tree that the tests of its structure read.

struct SourceFile {
  std::string path;  ///< relative to the root of the tree
  std::string text;
};

/// The files below `folders` of the tree whose names end with one of `extensions`, such as ".h", in the order of their paths; all files if
/// no extension is named. Throws std::runtime_error for a folder that does not exist or has no such file.
std::vector<SourceFile> source_files(const std::vector<std::string>& folders, const std::vector<std::string>& extensions = {});

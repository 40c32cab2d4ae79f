#pragma once

#include <string>

// Where the build has put things: in one file, so that no other object depends on the folder that it is built in.

/// A file or folder of the source tree, by its name relative to the root.
std::string source_path(const std::string& name);

/// The command `warpmat`, and the same with an emulator for a GPU. Empty where the command is not built.
std::string command_path();
std::string pretend_path();

/// The folder with the full set of published results, WARPMAT_VECTORS of the configuration; it need not exist.
std::string published_vectors_path();

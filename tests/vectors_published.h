#pragma once

#include <string>
#include <vector>

/// A table: its lines, each split at its tabulators.
using Table = std::vector<std::vector<std::string>>;

/// Whether the directory WARPMAT_VECTORS holds `name`, a file or a directory.
bool has_vectors(const std::string& name);

/// The compressed table `file` of the directory WARPMAT_VECTORS. Throws std::runtime_error where it cannot be read to its end.
Table read_vectors(const std::string& file);

/// The lines of a compressed text file. Throws std::runtime_error where it cannot be read to its end.
std::vector<std::string> read_compressed_lines(const std::string& path);

/// What a test says for which has_vectors(name) is false: the build looks for this beginning to count the test as skipped.
std::string no_vectors(const std::string& name);

#pragma once

#include <string>
#include <vector>

/// A table: its lines, each split at its tabulators.
using Table = std::vector<std::vector<std::string>>;

/// A compressed table. Throws std::runtime_error where it cannot be read to its end.
Table read_table(const std::string& path);

/// A compressed text file. Throws std::runtime_error where it cannot be read to its end.
std::string read_compressed_text(const std::string& path);

/// The lines of a compressed text file. Throws std::runtime_error where it cannot be read to its end.
std::vector<std::string> read_compressed_lines(const std::string& path);

#pragma once

#include <warpmat/forms.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

// What two assemblers say of a list of statements, each of one line.

/// Their messages, by the number of the statement, counted from 0. Who does not appear is accepted.
using Complaints = std::map<int, std::string>;

/// Those of this library's parser.
Complaints warpmat_says(const std::string& target, warpmat::PtxVersion version, const std::string& declarations,
                        const std::vector<std::string>& statements);

/// Whether ptxas 13.0 is installed.
bool has_ptxas();

/// Those of ptxas; nothing if it cannot be run. It reports some errors only once others are gone, and nothing behind a syntax error.
std::optional<Complaints> ptxas_says(const std::string& target, warpmat::PtxVersion version, const std::string& declarations,
                                     const std::vector<std::string>& statements);

/// The numbers of the statements that ptxas takes, asked again without those it refuses until there is no error left.
std::vector<int> ptxas_accepts(const std::string& target, warpmat::PtxVersion version, const std::string& declarations,
                               const std::vector<std::string>& statements);

/// The PTX versions that ptxas 13.0 knows, oldest first.
extern const std::vector<warpmat::PtxVersion> ptxas_versions;

/// "6.5".
warpmat::PtxVersion version_of(const std::string& text);

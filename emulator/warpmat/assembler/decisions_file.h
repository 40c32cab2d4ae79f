#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include <warpmat/assembler.h>

namespace warpmat {

// Answers of ptxas are kept, each as a small text in the user's cache folder: a kernel is assembled once.

/// A digest of a question's parts.
std::string decisions_digest(std::initializer_list<std::string_view> parts);

/// Where an answer to a question with these parts is kept. Nothing where the user has no cache folder.
std::optional<std::filesystem::path> decisions_file(std::initializer_list<std::string_view> parts);

/// The decisions as the lines of such a file.
std::string decisions_text(const AssemblerDecisions& decisions);
/// The decisions of such lines; nothing if they are not whole.
std::optional<AssemblerDecisions> read_decisions_text(const std::string& text);

/// What the file holds; nothing if there is none, or if it is not whole.
std::optional<AssemblerDecisions> read_decisions(const std::filesystem::path& file);

/// Writes the file, or, where that cannot be done, nothing: the next run asks again.
void write_decisions(const std::filesystem::path& file, const AssemblerDecisions& decisions);

}  // namespace warpmat

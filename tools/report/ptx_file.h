#pragma once

#include <warpmat/machine/launch.h>
#include <warpmat/ptx/program.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace warpmat {

/// The text of a PTX file. Throws std::runtime_error naming the file.
std::string read_ptx(const std::filesystem::path& path);

/// Whether the text is a module with functions, not a bare list of statements.
bool has_functions(const std::string& text);

/// The program of a PTX file; `target` as in parse(). Throws std::runtime_error with the first error of the text; for a whole kernel one
/// that says which command takes it.
Program read_program(const std::filesystem::path& path, std::string_view target);

/// The module of a PTX file. Throws std::runtime_error with the first error of the text; for a list of statements one that says which
/// command takes it.
Module read_module(const std::filesystem::path& path);

/// The kernel `entry` of the module of a PTX file. Throws as read_module does.
Kernel read_kernel(const std::filesystem::path& path, const Module& module, std::string_view entry, const KernelOptions& options);

/// Throws std::runtime_error that says which commands take files, where `opcode` is the name of one.
void refuse_file(const std::string& opcode);

/// The canonical opcode of a statement: "mad.lo.u32".
const std::string& statement_opcode(const Statement& statement);

}  // namespace warpmat

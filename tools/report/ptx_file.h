#pragma once

#include <warpmat/launch.h>
#include <warpmat/program.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace warpmat {

/// PTX, and what messages call the file that it comes from.
struct PtxText {
  std::string text, name;
};

/// The PTX of a file. CUDA C++ is compiled where nvcc is found, for `target` ("sm_90a"; also where that is empty). Throws
/// std::runtime_error naming the file; where it holds no PTX, one that says what to type.
PtxText read_ptx(const std::filesystem::path& path, std::string_view target);

/// Whether the text is a module with functions, not a bare list of statements.
bool has_functions(const std::string& text);

/// Whether the file has statements alone, as `warpmat run` takes them: no entry, and no CUDA C++. Throws std::runtime_error.
bool is_statement_list(const std::filesystem::path& path);

/// The program of a PTX file; `target` as in parse(). Throws std::runtime_error with the first error of the text; for a whole kernel it
/// names the command for kernels.
Program read_program(const std::filesystem::path& path, std::string_view target);

/// A module, and what messages call the file that it comes from.
struct ModuleFile {
  Module module;
  std::string name;
};

/// The module of a file, compiled as read_ptx has it. Throws std::runtime_error with the first error of the text; for a list of statements
/// one that says which command takes it.
ModuleFile read_module(const std::filesystem::path& path, std::string_view target);

/// The kernel `entry` of a module. Throws as read_module does.
Kernel read_kernel(const ModuleFile& file, std::string_view entry, const KernelOptions& options);

/// Throws std::runtime_error if `opcode` is the name of a file, and names the commands for files.
void refuse_file(const std::string& opcode);

/// The canonical opcode of a statement: "mad.lo.u32".
std::string_view statement_opcode(const Statement& statement);

}  // namespace warpmat

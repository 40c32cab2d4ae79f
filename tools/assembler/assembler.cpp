#include "tools/assembler/assembler.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

extern char** environ;  // NOLINT: POSIX

namespace warpmat {
namespace {

namespace fs = std::filesystem;

/// A folder that goes away with what is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "warpmat-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error(fmt::format("cannot make a folder {}: {}", name, std::strerror(errno)));
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string read_all(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Runs a program without a shell; what it writes goes to `output`. Returns its exit status.
int run_process(std::vector<std::string> words, const fs::path& output) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t process = 0;
  const int error = posix_spawn(&process, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error(fmt::format("cannot start {}: {}", words[0], std::strerror(error)));
  int status = 0;
  while (waitpid(process, &status, 0) < 0)
    if (errno != EINTR) throw std::runtime_error(fmt::format("cannot wait for {}: {}", words[0], std::strerror(errno)));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool is_program(const fs::path& path) {
  return fs::is_regular_file(path) && access(path.c_str(), X_OK) == 0;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::optional<fs::path> find_ptxas() {
  std::vector<fs::path> folders;
  if (const char* const path = std::getenv("PATH")) {
    const std::string_view all = path;
    for (std::size_t begin = 0; begin <= all.size();) {
      const std::size_t end = std::min(all.find(':', begin), all.size());
      if (end > begin) folders.emplace_back(all.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  for (const char* const name : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* const home = std::getenv(name); home != nullptr && *home != '\0') folders.push_back(fs::path(home) / "bin");
  folders.emplace_back("/usr/local/cuda/bin");
  for (const fs::path& folder : folders)
    if (is_program(folder / "ptxas")) return folder / "ptxas";
  return std::nullopt;
}

std::string version_of(const fs::path& ptxas) {
  const TemporaryFolder folder;
  const fs::path output = folder.path() / "version";
  const int status = run_process({ptxas.string(), "--version"}, output);
  const std::string text = read_all(output);
  constexpr std::string_view before = "release ";
  const std::size_t at = text.find(before);
  if (status != 0 || at == std::string::npos)
    throw std::runtime_error(fmt::format("{} does not say its version: {}", ptxas.string(), first_line(text)));
  const std::size_t begin = at + before.size();
  return "ptxas " + text.substr(begin, text.find_first_of(",\n", begin) - begin);
}

std::string assemble(const fs::path& ptxas, std::string_view text, std::string_view target) {
  const TemporaryFolder folder;
  const fs::path source = folder.path() / "module.ptx", object = folder.path() / "module.cubin", output = folder.path() / "output";
  std::ofstream file(source, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error(fmt::format("cannot write {}", source.string()));
  const int status =
      run_process({ptxas.string(), fmt::format("-arch={}", target), "-lineinfo", source.string(), "-o", object.string()}, output);
  if (status != 0) throw std::runtime_error(fmt::format("ptxas does not assemble the module: {}", first_line(read_all(output))));
  return read_all(object);
}

SumsInCode sums_by_ptxas(const fs::path& ptxas, const Module& module, std::string_view entry, std::string_view target) {
  const NumberedModule numbered = number_statements(*module.syntax());
  return read_sums(numbered, read_cubin(assemble(ptxas, numbered.text, target)), entry);
}

}  // namespace warpmat

#include "command.h"
#include "paths.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace warpmat {
namespace {

namespace fs = std::filesystem;

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// This process's environment with `changed`, "NAME=value" each, in place of what has those names.
std::vector<std::string> environment_with(const std::vector<std::string>& changed) {
  const auto sets = [](const std::string& variable, std::string_view other) {
    return other.starts_with(std::string_view(variable).substr(0, variable.find('=') + 1));
  };
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (std::ranges::none_of(changed, [&](const std::string& c) { return sets(c, *variable); })) all.emplace_back(*variable);
  all.insert(all.end(), changed.begin(), changed.end());
  return all;
}

/// Where a process that is started reads and writes.
class Streams {
 public:
  Streams(const std::string& out, const std::string& err) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  }
  ~Streams() { posix_spawn_file_actions_destroy(&actions_); }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

/// The exit status as a shell has it: 127 if there is no such program, 128 and the signal's number if one ended it.
int status_of(const std::string& program, const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
              const Streams& streams) {
  std::vector<std::string> words{program}, variables = environment_with(environment);
  words.insert(words.end(), arguments.begin(), arguments.end());
  pid_t process = 0;
  constexpr int no_such_program = 127;
  const int failure =
      ::posix_spawnp(&process, program.c_str(), streams.actions(), nullptr, pointers_to(words).data(), pointers_to(variables).data());
  if (failure == ENOENT) return no_such_program;
  if (failure != 0) throw std::system_error(failure, std::generic_category(), program);
  int status = 0;
  while (::waitpid(process, &status, 0) < 0)
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), program);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

// Without a shell: one test starts the command a thousand times.
Outcome run_program(const std::string& program, const std::vector<std::string>& arguments, const std::vector<std::string>& environment) {
  const TemporaryDirectory directory;
  const int status = status_of(program, arguments, environment, Streams(directory.path("out"), directory.path("err")));
  return {status, read_text(directory.path("out")), read_text(directory.path("err"))};
}

TemporaryDirectory::TemporaryDirectory() {
  std::string name = (fs::temp_directory_path() / "warpmat_test_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::vector<std::string> TemporaryDirectory::files() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path_)) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

Outcome run_command(const std::vector<std::string>& arguments, const std::vector<std::string>& environment) {
  return run_program(command_path(), arguments, environment);
}
Outcome run_pretending(const std::vector<std::string>& arguments, const std::vector<std::string>& environment) {
  return run_program(pretend_path(), arguments, environment);
}

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace warpmat

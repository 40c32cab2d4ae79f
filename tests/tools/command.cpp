#include "command.h"
#include "paths.h"

#include <fmt/core.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace warpmat {
namespace {

namespace fs = std::filesystem;

std::string quoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

Outcome run_program(const std::string& program, const std::vector<std::string>& arguments, const std::vector<std::string>& environment) {
  const TemporaryDirectory directory;
  std::string line = "env";
  for (const std::string& variable : environment) line += ' ' + quoted(variable);
  line += ' ' + quoted(program);
  for (const std::string& argument : arguments) line += ' ' + quoted(argument);
  line += fmt::format(" >{} 2>{} </dev/null", quoted(directory.path("out")), quoted(directory.path("err")));
  const int status = std::system(line.c_str());
  if (!WIFEXITED(status)) throw std::runtime_error("did not exit: " + line);
  return {WEXITSTATUS(status), read_text(directory.path("out")), read_text(directory.path("err"))};
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

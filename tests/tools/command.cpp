#include "command.h"
#include "paths.h"
#include "tools/report/supervision.h"

#include <stdlib.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace warpmat {

namespace fs = std::filesystem;

// Without a shell: one test starts the command a thousand times.
Outcome run_program(const std::string& program, const std::vector<std::string>& arguments, const std::vector<std::string>& environment) {
  const TemporaryDirectory directory;
  std::vector<std::string> words{find_program(program).string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  Variables variables;
  for (const std::string& variable : environment) {
    const std::size_t equals = variable.find('=');
    variables.emplace_back(variable.substr(0, equals), variable.substr(equals + 1));
  }
  try {
    const int status = run_program(words, {ProcessOutput::Kind::to_file, directory.path("out"), directory.path("err")}, variables);
    return {status, read_text(directory.path("out")), read_text(directory.path("err"))};
  } catch (const Interrupted& e) {  // no failure of one test, but the end of all
    std::_Exit(e.exit_status());
  }
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

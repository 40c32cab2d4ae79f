#include <warpmat/assembler/ptxas.h>

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <vector>

#include <warpmat/files/process.h>
#include <warpmat/files/toolkit_program.h>

namespace warpmat {
namespace {

namespace fs = std::filesystem;

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::optional<fs::path> find_ptxas() {
  return find_toolkit_program("ptxas");
}

std::string version_of(const fs::path& ptxas) {
  const TemporaryFolder folder;
  const fs::path output = folder / "version";
  const int status = run_program({ptxas.string(), "--version"}, {ProcessOutput::Kind::to_file, output});
  const std::string text = contents(output);
  constexpr std::string_view before = ", V";
  const std::size_t at = text.find(before);
  if (status != 0 || at == std::string::npos)
    throw std::runtime_error(fmt::format("{} does not say its version: {}", ptxas.string(), first_line(text)));
  const std::size_t begin = at + before.size();
  return "ptxas " + text.substr(begin, text.find_first_of(" ,\n", begin) - begin);
}

std::string assemble(const fs::path& ptxas, std::string_view text, std::string_view target, std::string_view entry,
                     std::string_view options) {
  const TemporaryFolder folder;
  const fs::path source = folder / "module.ptx", object = folder / "module.cubin", output = folder / "output";
  std::ofstream file(source, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error(fmt::format("cannot write {}", source.string()));
  std::vector<std::string> words{ptxas.string(), fmt::format("-arch={}", target), "-lineinfo", source.string(), "-o", object.string()};
  if (!entry.empty()) words.insert(words.end(), {"--entry", std::string(entry)});
  std::istringstream more{std::string(options)};
  for (std::string word; more >> word;) words.push_back(word);
  const int status = run_program(words, {ProcessOutput::Kind::to_file, output});
  if (status != 0) throw std::runtime_error(fmt::format("ptxas does not assemble the module: {}", first_line(contents(output))));
  return contents(object);
}

}  // namespace warpmat

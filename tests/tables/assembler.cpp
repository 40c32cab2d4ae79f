#include "tables/assembler.h"

#include <unistd.h>
#include <warpmat/program.h>

#include <regex>

#include "test.h"

using namespace warpmat;

namespace {

std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text + '\n';
}

std::string lines_of(const std::vector<std::string>& statements) {
  std::string text;
  for (const std::string& statement : statements) text += statement + '\n';
  return text;
}

void add(Complaints& complaints, int statement, const std::string& message) {
  complaints[statement] += message + '\n';
}

}  // namespace

const std::vector<PtxVersion> ptxas_versions{{6, 3}, {6, 4}, {6, 5}, {7, 0}, {7, 1}, {7, 2}, {7, 3}, {7, 4}, {7, 5}, {7, 6}, {7, 7},
                                             {7, 8}, {8, 0}, {8, 1}, {8, 2}, {8, 3}, {8, 4}, {8, 5}, {8, 6}, {8, 7}, {8, 8}, {9, 0}};

PtxVersion version_of(const std::string& text) {
  const std::size_t dot = text.find('.');
  return {std::stoi(text.substr(0, dot)), std::stoi(text.substr(dot + 1))};
}

Complaints warpmat_says(const std::string& target, PtxVersion version, const std::string& declarations,
                        const std::vector<std::string>& statements) {
  Complaints complaints;
  try {
    static_cast<void>(
        parse(fmt::format(".version {}\n.target {}\n{}{}", to_string(version), target, one_line(declarations), lines_of(statements))));
  } catch (const SyntaxError& e) {
    constexpr int first_line = 4;
    for (const Diagnostic& error : e.errors) add(complaints, error.location.line - first_line, error.message);
  }
  return complaints;
}

bool has_ptxas() {
  return std::system("ptxas --version 2>/dev/null | grep -q 'release 13.0'") == 0;
}

std::optional<Complaints> ptxas_says(const std::string& target, PtxVersion version, const std::string& declarations,
                                     const std::vector<std::string>& statements) {
  const auto directory = std::filesystem::temp_directory_path() / fmt::format("warpmat_ptxas_{}_{}", ::getpid(), target);
  std::filesystem::create_directories(directory);
  const auto module_path = (directory / "module.ptx").string(), log_path = (directory / "log").string();
  std::ofstream(module_path) << fmt::format(".version {}\n.target {}\n.address_size 64\n.visible .entry k() {{\n{}{}ret;\n}}\n",
                                            to_string(version), target, one_line(declarations), lines_of(statements));
  const int status = std::system(fmt::format("ptxas -O0 -arch={} '{}' -o /dev/null > '{}' 2>&1", target, module_path, log_path).c_str());
  std::ifstream log(log_path);
  const std::string output{std::istreambuf_iterator<char>(log), {}};
  std::filesystem::remove_all(directory);
  Complaints complaints;
  constexpr int first_line = 6;
  const std::regex error(R"(line (\d+); (?:error|fatal)\s*: ([^\n]*))");
  for (std::sregex_iterator it(output.begin(), output.end(), error), end; it != end; ++it)
    add(complaints, std::stoi((*it)[1]) - first_line, (*it)[2]);
  if (status != 0 && complaints.empty()) return std::nullopt;
  return complaints;
}

std::vector<int> ptxas_accepts(const std::string& target, PtxVersion version, const std::string& declarations,
                               const std::vector<std::string>& statements) {
  std::vector<int> left(statements.size());
  std::iota(left.begin(), left.end(), 0);
  for (;;) {
    std::vector<std::string> asked;
    for (const int i : left) asked.push_back(statements[static_cast<std::size_t>(i)]);
    const auto complaints = ptxas_says(target, version, declarations, asked);
    REQUIRE(complaints);
    if (complaints->empty()) return left;
    std::vector<int> kept;
    for (std::size_t i = 0; i < left.size(); ++i)
      if (!complaints->contains(static_cast<int>(i))) kept.push_back(left[i]);
    REQUIRE(kept.size() < left.size());
    left = kept;
  }
}

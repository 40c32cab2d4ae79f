#include <regex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "structure/source_files.h"
#include "test.h"

namespace warpmat::arrows_test {
namespace {

// The allowed includes between folders, as in docs/inside/architecture.md. The test reads every #include of the source tree.

namespace fs = std::filesystem;

const fs::path source_dir = source_path("");

/// A folder, or one file, and the other folders that its files may include. A nested folder has a name with a slash; a folder without a
/// row belongs to the row of its parent.
struct Folder {
  std::string name;
  std::set<std::string> may_include;
};

const std::string emulator = "emulator/warpmat/";

const std::vector<Folder> folders = {
    {emulator + "words", {}},
    {emulator + "numeric", {}},
    {emulator + "layout", {"words"}},
    {emulator + "device", {}},
    {emulator + "scalar", {"numeric"}},
    {emulator + "warp", {}},
    {emulator + "tables", {"numeric", "layout", "warp"}},
    {emulator + "execute/operands", {"numeric", "layout", "warp", "tables"}},
    {emulator + "execute/reference", {"numeric", "layout", "warp", "tables", "execute/operands"}},
    {emulator + "execute/fast", {"numeric", "layout", "warp", "tables", "execute/operands"}},
    {emulator + "execute",
     {"numeric", "layout", "scalar", "warp", "tables", "ptx/catalogue", "execute/operands", "execute/reference", "execute/fast"}},
    {emulator + "explain", {"numeric", "layout", "warp", "tables", "execute", "execute/operands", "execute/reference"}},
    {emulator + "c", {"numeric", "layout", "scalar", "warp", "tables", "ptx/catalogue", "execute", "execute/operands"}},
    {emulator + "c_program",
     {"numeric", "layout", "warp",    "tables", "execute", "execute/operands", "c",       "ptx/text",   "ptx/syntax", "ptx/catalogue",
      "ir",      "lower",  "machine", "launch", "lists",   "matrices",         "explain", "provenance", "checks",     "assembler"}},
    {emulator + "matrices", {"numeric", "layout", "warp", "tables", "execute", "execute/operands"}},
    {emulator + "ptx/text", {"numeric", "tables"}},
    {emulator + "ptx/syntax", {"numeric", "tables", "ptx/text"}},
    {emulator + "ptx/catalogue", {"numeric", "scalar", "layout", "warp", "tables"}},  // of the core, without modules
    {emulator + "ir", {"numeric", "scalar", "layout", "warp", "tables", "execute", "execute/operands", "ptx/catalogue"}},  // no text
    {emulator + "lower",
     {"numeric", "scalar", "layout", "warp", "tables", "execute", "execute/operands", "ptx/text", "ptx/syntax", "ptx/catalogue", "ir"}},
    {emulator + "machine",
     {"numeric", "layout", "scalar", "warp", "tables", "execute", "execute/operands", "ptx/text", "ptx/syntax", "ptx/catalogue", "ir"}},
    {emulator + "lists",
     {"words", "numeric", "layout", "warp", "tables", "execute", "execute/operands", "matrices", "ptx/text", "ptx/syntax", "ptx/catalogue",
      "ir", "lower", "machine"}},
    {emulator + "assembler",
     {"numeric", "scalar", "warp", "tables", "execute", "execute/operands", "files", "ptx/text", "ptx/syntax", "ptx/catalogue", "ir",
      "lower", "machine"}},
    {emulator + "files", {"numeric"}},
    {emulator + "pool", {"machine"}},
    {emulator + "machine_code", {"numeric", "scalar", "ptx/syntax", "ptx/catalogue", "ir"}},
    {emulator + "profile", {"ir", "ptx/syntax", "ptx/catalogue", "warp", "machine"}},
    {emulator + "provenance",
     {"words", "numeric", "layout", "scalar", "warp", "tables", "execute", "execute/operands", "ptx/text", "ptx/syntax", "ptx/catalogue",
      "ir", "machine"}},
    {emulator + "checks",
     {"numeric", "layout", "scalar", "warp", "explain", "tables", "execute", "execute/operands", "ptx/text", "ptx/syntax", "ptx/catalogue",
      "ir", "machine"}},
    {emulator + "report", {"warp", "ptx/text"}},
    {emulator + "launch",
     {"assembler", "words", "numeric", "tables", "ptx/text", "ptx/syntax", "ptx/catalogue", "ir", "lower", "machine", "checks"}},
    {emulator + "products",
     {"layout", "warp", "tables", "execute", "execute/operands", "execute/fast", "ptx/text", "ptx/syntax", "ptx/catalogue", "ir", "lower"}},
    {emulator + "cuda",
     {"assembler", "products", "words", "numeric", "scalar", "files", "pool", "machine_code", "warp", "tables", "ptx/text", "ir", "lower",
      "ptx/syntax", "machine", "launch", "provenance", "profile", "report"}},
    {"gpu/cases", {"emulator", "gpu/runners"}},
    {"gpu/runners", {"emulator"}},
    {"gpu/models", {"emulator"}},
    {"gpu/compare", {"emulator", "gpu/cases", "gpu/runners"}},
    {"gpu/recordings", {"emulator", "gpu/cases", "gpu/runners", "gpu/compare"}},
    {"gpu/ask", {"emulator", "gpu/cases", "gpu/runners"}},
    {"gpu/cuda", {"emulator", "gpu/runners"}},
    {"gpu/programs", {"emulator", "gpu/compare"}},
    {"gpu/programs/driver", {"emulator", "gpu/cuda", "gpu/programs"}},
    {"gpu/lab/rules", {"emulator", "gpu/models"}},
    {"gpu/lab/mutants", {"emulator", "gpu/cases", "gpu/models", "gpu/runners", "gpu/compare", "gpu/recordings", "gpu/lab/rules"}},
    {"gpu/lab/device", {"emulator"}},
    {"gpu/lab/kernels", {"emulator", "gpu/cases", "gpu/runners"}},
    {"gpu/lab/constants", {"emulator", "gpu/cases", "gpu/runners", "gpu/cuda"}},
    {"tools/assembler", {"emulator", "tools/report"}},
    {"tools/report", {"emulator", "gpu/cases", "gpu/runners", "gpu/compare", "gpu/models"}},
    {"tools/command_line", {"emulator", "tools/report"}},
    {"tools/debug", {"emulator", "tools/report"}},
    {"tools/command", {"emulator", "gpu/runners", "tools/assembler", "tools/debug", "tools/report", "tools/command_line"}},
    {"tools/browser", {"emulator", "gpu/recordings", "gpu/runners", "tools/report", "tools/command"}},
    {"tools/gpu/report", {"emulator", "gpu", "tools/report", "tools/command_line"}},
    {"tools/gpu", {"emulator", "gpu", "tools/report", "tools/gpu/report", "tools/command_line"}},
    {"tools/lab/report", {"emulator", "gpu", "tools/report", "tools/gpu/report", "tools/command_line"}},
    {"tools/lab", {"emulator", "gpu", "tools/assembler", "tools/report", "tools/gpu/report", "tools/lab/report", "tools/command_line"}},
    {"bench", {"emulator", "gpu", "tools/report"}},
    {"python/binding", {"emulator", "gpu/cuda", "gpu/runners", "tools/assembler", "tools/report"}},
    {"python/tests", {"emulator", "gpu"}},
    {"tests/oracle", {}},  // the checker shares nothing with the checked
};

/// The public headers, which lie in one folder and include only each other, with the lowest folder that may include each: those that may
/// include that folder may, too.
const std::map<std::string, std::string> public_headers = {
    {"formats.h", "numeric"},
    {"dot.h", "numeric"},
    {"layout.h", "layout"},
    {"warp.h", "warp"},
    {"forms.h", "tables"},
    {"wgmma.h", "tables"},
    {"instruction.h", "execute/operands"},
    {"c.h", "c"},
    {"matrices.h", "matrices"},
    {"explain.h", "explain"},
    {"diagnostic.h", "ptx/text"},
    {"program.h", "lower"},
    {"launch.h", "machine"},
    {"observer.h", "machine"},
    {"provenance.h", "provenance"},
    {"assembler.h", "assembler"},
    {"operands.h", "lists"},
    {"c_explain.h", "c_program"},
    {"c_observer.h", "c_program"},
    {"c_program.h", "c_program"},
    {"warpmat.h", "tools"},
};
const Folder face{"the public headers", {}};

/// The lowest folder that may include public header `path`, as public_headers says; nothing for other files.
std::optional<std::string> lowest_user(const std::string& path) {
  if (!path.starts_with(emulator)) return std::nullopt;
  const auto found = public_headers.find(path.substr(emulator.size()));
  if (found == public_headers.end()) return std::nullopt;
  return found->second;
}

/// Headers outside all rows, which every folder may include: version, exports, formatting of messages.
const std::set<std::string> for_all = {emulator + "text.h", emulator + "version.h"};
const std::set<std::string> without_row = {emulator + "text.h", emulator + "text.cpp", emulator + "version.h", emulator + "version.cpp",
                                           "emulator/compiled_flags.cpp"};

/// Whether `path` belongs to `folder`. Both are relative to the root, or to the include root of the emulator.
bool is_in(const std::string& path, const std::string& folder) {
  return path.starts_with(folder + "/") || path == folder;
}

/// The row with the longest name that contains `path`, or nullptr.
const Folder* folder_of(const std::string& path) {
  if (lowest_user(path)) return &face;
  const Folder* found = nullptr;
  for (const Folder& folder : folders)
    if (is_in(path, folder.name) && (found == nullptr || folder.name.size() > found->name.size())) found = &folder;
  return found;
}

bool allowed(const Folder& from, const std::string& included) {
  const Folder* to = folder_of(included);
  if (to == &from || for_all.contains(included)) return true;
  if (to == nullptr) return false;
  const std::string target = to == &face ? emulator + *lowest_user(included) : to->name;
  if (target == from.name) return true;
  if (to == &face && from.may_include.contains("emulator")) return true;
  return std::ranges::any_of(from.may_include,
                             [&](const std::string& name) { return target == name || target == emulator + name || is_in(target, name); });
}

/// The files of this project that `text`, of file `path`, includes, relative to the root: named from there, from the emulator's include
/// root, or from beside the file.
std::vector<std::string> included_by(const std::string& path, const std::string& text) {
  static const std::regex include(R"re(#include ([<"])([^>"]+)[>"])re");
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), include), end; match != end; ++match) {
    const std::string name = (*match)[2];
    const std::string top = name.substr(0, name.find('/'));
    const std::string beside = (fs::path(path).parent_path() / name).lexically_normal();
    if (top == "warpmat")
      found.push_back("emulator/" + name);
    else if (std::set<std::string>{"gpu", "tools", "bench", "python"}.contains(top))
      found.push_back(name);
    else if ((*match)[1] == "\"" && fs::exists(source_dir / beside))
      found.push_back(beside);
  }
  return found;
}

/// The errors in the includes of a file, a line each: forbidden includes, and files that do not exist.
std::vector<std::string> wrong_arrows(const std::string& path, const std::string& text) {
  std::vector<std::string> wrong;
  const Folder* from = folder_of(path);
  if (from == nullptr) return wrong;
  for (const std::string& included : included_by(path, text)) {
    if (!fs::exists(source_dir / included)) wrong.push_back(fmt::format("{} includes {}, which does not exist", path, included));
    if (!allowed(*from, included)) wrong.push_back(fmt::format("{} includes {}: its folder may not include that one", path, included));
  }
  return wrong;
}

std::map<std::string, std::string> files_with_arrows() {
  std::map<std::string, std::string> files;
  for (SourceFile& file :
       source_files({"emulator", "gpu", "tools", "bench", "python", "tests/oracle"}, {".h", ".cpp", ".inc", ".cu", ".cuh"}))
    files[file.path] = std::move(file.text);
  return files;
}

/// A circle of includes that contains `path`, if there is one: the files in order.
std::optional<std::vector<std::string>> circle_from(const std::string& path, const std::map<std::string, std::string>& files,
                                                    std::vector<std::string>& trail, std::set<std::string>& done) {
  if (const auto seen = std::ranges::find(trail, path); seen != trail.end()) return std::vector<std::string>(seen, trail.end());
  const auto file = files.find(path);
  if (file == files.end() || done.contains(path)) return std::nullopt;
  trail.push_back(path);
  for (const std::string& included : included_by(file->first, file->second))
    if (included != path)  // a kernel's file includes itself, once for each instruction set
      if (auto circle = circle_from(included, files, trail, done)) return circle;
  trail.pop_back();
  done.insert(path);
  return std::nullopt;
}

TEST_CASE("every include is allowed between its folders", "[structure]") {
  const auto files = files_with_arrows();
  REQUIRE(files.size() > 100);
  std::vector<std::string> wrong, unlisted;
  for (const auto& [path, text] : files) {
    if (folder_of(path) == nullptr && !without_row.contains(path)) unlisted.push_back(path);
    for (const std::string& line : wrong_arrows(path, text)) wrong.push_back(line);
  }
  CHECK(fmt::format("{}", fmt::join(wrong, "\n")) == "");
  CHECK(fmt::format("{}", fmt::join(unlisted, "\n")) == "");
}

TEST_CASE("no file includes itself through others", "[structure]") {
  const auto files = files_with_arrows();
  std::set<std::string> done;
  for (const auto& [path, text] : files) {
    std::vector<std::string> trail;
    const auto circle = circle_from(path, files, trail, done);
    CHECK(fmt::format("{}", fmt::join(circle.value_or(std::vector<std::string>{}), " -> ")) == "");
  }
}

TEST_CASE("no folders include each other", "[structure]") {
  std::map<std::string, std::set<std::string>> above;  // by folder: the folders that its files include
  for (const auto& [path, text] : files_with_arrows())
    for (const std::string& included : included_by(path, text)) {
      const std::string from = fs::path(path).parent_path(), to = fs::path(included).parent_path();
      if (from != to) above[from].insert(to);
    }
  CHECK(above.size() > 30);
  // Without the folders that include nothing, and without those that nothing includes, again and again, circles remain.
  const auto is_below_all = [&](const std::string& folder) { return !above.contains(folder); };
  const auto is_above_all = [&](const auto& row) {
    return std::ranges::none_of(above, [&](const auto& other) { return other.second.contains(row.first); });
  };
  for (std::size_t before = 0; before != above.size();) {
    before = above.size();
    for (auto& [folder, includes] : above) std::erase_if(includes, is_below_all);
    std::erase_if(above, [](const auto& row) { return row.second.empty(); });
    std::erase_if(above, is_above_all);
  }
  for (const auto& [folder, includes] : above) CHECK(fmt::format("{} -> {}", folder, fmt::join(includes, ", ")) == folder + " -> ");
}

TEST_CASE("no row allows two folders to include each other", "[structure]") {
  for (const Folder& a : folders)
    for (const Folder& b : folders) {
      if (&a == &b) continue;
      const auto may = [](const Folder& from, const Folder& to) {
        return std::ranges::any_of(from.may_include,
                                   [&](const std::string& name) { return to.name == name || to.name == emulator + name; });
      };
      INFO(a.name << " and " << b.name);
      CHECK(!(may(a, b) && may(b, a)));
    }
}

TEST_CASE("the public headers lie in one folder and are few", "[structure]") {
  std::set<std::string> known, found;
  for (const auto& [name, folder] : public_headers) known.insert(emulator + name);
  for (const std::string& header : for_all)
    if (header != emulator + "text.h") known.insert(header);
  for (const auto& [path, text] : files_with_arrows())
    if (fs::path(path).parent_path() == fs::path(emulator).parent_path() && path.ends_with(".h") && path != emulator + "text.h")
      found.insert(path);
  CHECK(found == known);
  CHECK(known.size() <= 22);
}

TEST_CASE("examples and documents include public headers alone", "[structure]") {
  static const std::regex include(R"re(#include <warpmat/([^>"]+)>)re");
  std::size_t includes = 0;
  std::vector<std::string> wrong;
  for (const auto& [path, text] : source_files({"examples", "docs", "tests/package"}))
    for (std::sregex_iterator match(text.begin(), text.end(), include), end; match != end; ++match, ++includes) {
      const std::string name = (*match)[1];
      if (name.find('/') == std::string::npos ? name == "text.h" : !name.starts_with("device/"))
        wrong.push_back(fmt::format("{} includes {}", path, name));
    }
  CHECK(includes > 15);
  CHECK(fmt::format("{}", fmt::join(wrong, "\n")) == "");
}

TEST_CASE("a forbidden include is found", "[structure]") {
  const std::string up = "#include <warpmat/program.h>\n", eigen_header = "#include <warpmat/matrices.h>\n";
  CHECK(wrong_arrows(emulator + "tables/form.cpp", "#include <warpmat/formats.h>\n").empty());
  CHECK(wrong_arrows(emulator + "tables/form.cpp", "#include <warpmat/numeric/exact.h>\n").empty());
  CHECK(wrong_arrows(emulator + "tables/form.cpp", up).size() == 1);
  CHECK(wrong_arrows(emulator + "tables/form.cpp", eigen_header).size() == 1);
  CHECK(wrong_arrows(emulator + "numeric/dot.cpp", "#include <warpmat/layout.h>\n").size() == 1);
  CHECK(wrong_arrows(emulator + "execute/reference/execute.cpp", "#include \"gpu/lab/rules/events.h\"\n").size() == 1);
  const std::string checks = "#include <warpmat/checks/checks.h>\n";
  CHECK(wrong_arrows(emulator + "machine/warp_memory.cpp", checks).size() == 1);
  CHECK(wrong_arrows(emulator + "launch.h", checks).size() == 1);
  CHECK(wrong_arrows(emulator + "launch.h", "#include <warpmat/program.h>\n").empty());
  CHECK(wrong_arrows(emulator + "launch/launch.cpp", checks).empty());
  CHECK(wrong_arrows("gpu/runners/runner.h", "#include \"gpu/cuda/driver.h\"\n").size() == 1);
  CHECK(wrong_arrows("tools/report/npy.h", "#include \"tools/command/commands.h\"\n").size() == 1);
  CHECK(wrong_arrows(emulator + "ptx/syntax/lexer.cpp", "#include <warpmat/ptx/catalogue/row.h>\n").size() == 1);
  CHECK(wrong_arrows(emulator + "tables/form.cpp", "#include \"../lists/memory_origin.h\"\n").size() == 1);
  CHECK(wrong_arrows("tools/report/npy.h", "#include \"../command/commands.h\"\n").size() == 1);
  CHECK(wrong_arrows("tools/command/run.cpp", "#include <warpmat/ptx/text/no_such_file.h>\n").size() == 1);
  CHECK(wrong_arrows("tests/oracle/oracle.cpp", "#include \"wide.h\"\n").empty());
  CHECK(wrong_arrows("tests/oracle/oracle.cpp", "#include <warpmat/formats.h>\n").size() == 1);
  CHECK(wrong_arrows("tests/oracle/oracle.cpp", "#include \"../numeric/operand_classes.h\"\n").size() == 1);
}

}  // namespace
}  // namespace warpmat::arrows_test

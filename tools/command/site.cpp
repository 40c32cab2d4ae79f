#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>

#include <warpmat/files/output_file.h>
#include "commands.h"
#include "embedded_files.h"

#include "tools/report/site_data.h"

namespace warpmat {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view first_page = "index.html";
constexpr std::string_view mark = "<meta name=\"generator\" content=\"warpmat site\">";  // in tools/site/index.html

/// Whether an earlier `warpmat site` wrote `directory`.
bool is_site(const fs::path& directory) {
  std::ifstream in(directory / first_page, std::ios::binary);
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  return page.find(mark) != std::string::npos;
}

/// Prepares a directory for output: a new one, an empty one, or that of an older page.
void make_directory(const fs::path& directory) {
  std::error_code error;
  if (directory.empty()) throw std::runtime_error("--out is empty: it would be the name of a directory");
  if (fs::exists(directory, error) && !fs::is_directory(directory, error))
    throw std::runtime_error(fmt::format("{} is no directory", directory.string()));
  if (fs::exists(directory, error) && !fs::is_empty(directory) && !is_site(directory))
    throw std::runtime_error(
        fmt::format("{} is not empty, and what is in it was not written by 'warpmat site': name a new directory, or an older page's",
                    directory.string()));
  error.clear();
  fs::create_directories(directory, error);
  if (error) throw std::runtime_error(fmt::format("cannot make {}: {}", directory.string(), error.message()));
}

void write_site(const fs::path& directory) {
  make_directory(directory);
  const std::string data = site_data();
  write_file(directory / "tables.js", {data});
  std::size_t bytes = data.size();
  for (const EmbeddedFile& file : site_files()) {
    write_file(directory / file.name, {file.text});
    bytes += file.text.size();
  }
  fmt::print("{}: {} files, {} kB; open {} in a browser, or put the directory on any web server\n", directory.string(),
             site_files().size() + 1, (bytes + 999) / 1000, (directory / first_page).string());
}

}  // namespace

void add_site(Command app) {
  const auto directory = std::make_shared<std::string>();
  const Command command = app.add_subcommand("site", "Write a page to look at layouts, evidence and bank conflicts in a browser");
  command.add_option("--out", *directory, "Where it goes: a directory that does not exist, is empty, or has an older page")
      .required()
      .type_name("DIRECTORY");
  command.footer(
      "The page needs no network and no server. It shows every operand of every form as a matrix and as registers, how its bits are known\n"
      "on each target, and a tile in shared memory with its bank conflicts. Its address holds all that is chosen: copy it to show "
      "somebody.\n"
      "\n"
      "Examples:\n"
      "  warpmat site --out page");
  command.callback([directory] { write_site(*directory); });
}

}  // namespace warpmat

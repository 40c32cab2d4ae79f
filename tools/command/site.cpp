#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>

#include <warpmat/files/output_file.h>
#include <warpmat/files/process.h>
#include "commands.h"
#include "embedded_files.h"

#include "tools/report/input_file.h"
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

/// The page that executes: tools/browser builds it by emscripten, beside this build or for the package.
fs::path live_page() {
  const fs::path built = command_folder() / WARPMAT_LIVE_IN_BUILD, installed = command_folder() / WARPMAT_LIVE_INSTALLED;
  for (const fs::path& page : {built, installed})
    if (std::error_code error; fs::exists(page, error)) return page;
  throw std::runtime_error(fmt::format(
      "the page that executes is neither {} nor {}; in a checkout `cmake --preset wasm && cmake --build --preset wasm` makes it, "
      "with Debian's package emscripten",
      built.lexically_normal().string(), installed.lexically_normal().string()));
}

void write_live(const fs::path& file) {
  const std::string page = read_file(live_page());
  write_file(file, {page});
  fmt::print("{}: {} kB; open it in a browser, or put it on any web server\n", file.string(), (page.size() + 999) / 1000);
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
  const auto live = std::make_shared<std::string>();
  const Command command = app.add_subcommand("site", "Write a page to look at layouts, evidence and bank conflicts in a browser");
  const CommandOption out =
      command.add_option("--out", *directory, "Where it goes: a directory that does not exist, is empty, or has an older page")
          .type_name("DIRECTORY");
  const CommandOption one_file =
      command.add_option("--live", *live, "Write the page that executes PTX in the browser: one file").type_name("FILE");
  command.footer(
      "The page needs no network and no server. It shows every operand of every form as a matrix and as registers, how its bits are known\n"
      "on each target, and a tile in shared memory with its bank conflicts. Its address holds all that is chosen: copy it to show "
      "somebody.\n"
      "\n"
      "--live writes a page with an editor that executes lists and kernels by WebAssembly: registers and matrices, another card beside\n"
      "this one, where an element comes from, banks, races. It needs no network either.\n"
      "\n"
      "Examples:\n"
      "  warpmat site --out page\n"
      "  warpmat site --live live.html");
  command.callback([directory, live, out, one_file] {
    if (out.count() + one_file.count() == 0) require_option("--out or --live");
    if (one_file.count() != 0) write_live(*live);
    if (out.count() != 0) write_site(*directory);
  });
}

}  // namespace warpmat

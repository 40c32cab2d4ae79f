#include <fmt/core.h>
#include <warpmat/explain/table.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "commands.h"
#include "tools/report/swizzle_search.h"

namespace warpmat {
namespace {

using Json = nlohmann::ordered_json;

struct SwizzleOptions {
  std::string tile;
  std::vector<std::string> stores, loads;
  bool json = false, all = false;
};

/// A layout with the wavefronts of each access.
struct Tried {
  SwizzleCandidate candidate;
  std::vector<TileWavefronts> accesses;
  std::uint64_t taken = 0, least = 0;
};

std::vector<TileAccess> accesses_of(const SwizzleOptions& options) {
  std::vector<TileAccess> accesses;
  for (const std::string& name : options.stores) accesses.push_back(parse_access(name, true));
  for (const std::string& name : options.loads) accesses.push_back(parse_access(name, false));
  if (accesses.empty()) throw std::invalid_argument("which accesses? --store cp.async.16, --load ldmatrix.x4, ...");
  return accesses;
}

/// All layouts: fewest wavefronts first, then least memory, then the order of the search.
std::vector<Tried> tried_layouts(const SwizzleTile& tile, const std::vector<TileAccess>& accesses) {
  std::vector<Tried> all;
  for (SwizzleCandidate& candidate : swizzle_candidates(tile, accesses)) {
    Tried& tried = all.emplace_back(Tried{std::move(candidate), {}});
    for (const TileAccess& access : accesses) {
      tried.accesses.push_back(tile_wavefronts(tile, access, tried.candidate.layout));
      tried.taken += tried.accesses.back().taken;
      tried.least += tried.accesses.back().least;
    }
  }
  std::ranges::stable_sort(
      all, [](const Tried& a, const Tried& b) { return a.taken != b.taken ? a.taken < b.taken : a.candidate.bytes < b.candidate.bytes; });
  return all;
}

std::string names_of(const SwizzleTile& tile, const SwizzleCandidate& candidate) {
  std::string text = "address in bytes: " + address_formula(tile, candidate) + '\n';
  if (const auto cute = cute_swizzle(tile, candidate); cute && candidate.bits > 0)
    text += fmt::format("CuTe: {} on elements, Swizzle<{},{},{}> on bytes\n", *cute, candidate.bits, candidate.base, candidate.shift);
  const auto mode = tma_mode(tile, candidate);
  text += fmt::format("TMA: {}\n", mode ? *mode : "no mode of a tensor map for a box of this tile");
  return text;
}

std::string text_of(const SwizzleTile& tile, const std::vector<TileAccess>& accesses, const std::vector<Tried>& all, bool every) {
  std::vector<std::string> header{"layout", "bytes"};
  for (const TileAccess& access : accesses) header.push_back(access.name);
  header.insert(header.end(), {"wavefronts", "conflicts"});
  Table table(header);
  constexpr std::size_t few = 8;
  for (const Tried& tried : all) {
    const bool shown = every || &tried < &all[std::min(few, all.size())] || tried.candidate.name == "rows";
    if (!shown) continue;
    std::vector<std::string> row{tried.candidate.name, std::to_string(tried.candidate.bytes)};
    for (const TileWavefronts& w : tried.accesses) row.push_back(std::to_string(w.taken));
    row.push_back(std::to_string(tried.taken));
    row.push_back(std::to_string(tried.taken - tried.least));
    table.add(std::move(row));
  }
  const Tried& best = all.front();
  return fmt::format(
      "{} rows of {} bytes of {}; wavefronts of all of the tile, by the rule that was measured on an H200\n\n{}\nBest: {}, {}\n{}",
      tile.rows, tile.row_bytes(), tile.format, table.text(), best.candidate.name,
      best.taken == best.least ? "without conflicts" : fmt::format("{} conflicts", best.taken - best.least),
      names_of(tile, best.candidate));
}

Json json_of(const SwizzleTile& tile, const std::vector<TileAccess>& accesses, const std::vector<Tried>& all) {
  Json array = Json::array();
  for (const Tried& tried : all) {
    const auto cute = cute_swizzle(tile, tried.candidate);
    const auto mode = tma_mode(tile, tried.candidate);
    Json json{{"layout", tried.candidate.name}, {"bytes", tried.candidate.bytes}, {"wavefronts", tried.taken}, {"least", tried.least}};
    for (std::size_t i = 0; i < accesses.size(); ++i) json["accesses"][accesses[i].name] = tried.accesses[i].taken;
    json["formula"] = address_formula(tile, tried.candidate);
    json["cute"] = cute ? Json(*cute) : Json(nullptr);
    json["tma"] = mode ? Json(*mode) : Json(nullptr);
    array.push_back(std::move(json));
  }
  return array;
}

void swizzle(const SwizzleOptions& options) {
  const SwizzleTile tile = parse_tile(options.tile);
  const std::vector<TileAccess> accesses = accesses_of(options);
  const std::vector<Tried> all = tried_layouts(tile, accesses);
  fmt::print("{}", options.json ? json_of(tile, accesses, all).dump(1) + '\n' : text_of(tile, accesses, all, options.all));
}

constexpr const char* swizzle_footer =
    R"(Stores and loads access all of the tile, 32 lanes at a time: cp.async.N and ldmatrix, stmatrix by N bytes and rows of 16 bytes; ld.N and st.N by N
bits. Lanes go along the rows, with .column down the rows; ldmatrix.x4 takes blocks of 16 rows and two chunks of 16 bytes, lanes 0 to 15 the
rows of the first. Layouts that are tried: rows one behind another, every XOR swizzle of chunks as wide as the widest access, padded rows.
A layout's name is one that 'warpmat run --layout' takes.

Examples:
  warpmat swizzle --tile 64x64:f16 --store cp.async.16 --load ldmatrix.x4.trans
  warpmat swizzle --tile 128x32:f16 --store cp.async.16 --load ldmatrix.x4 --all
  warpmat swizzle --tile 32x32:f32 --store st.32 --load ld.32.column --json)";

}  // namespace

void add_swizzle(Command app) {
  const Command command = app.add_subcommand("swizzle", "Find the layout of a tile in shared memory without bank conflicts");
  const auto options = std::make_shared<SwizzleOptions>();
  command.add_option("--tile", options->tile, "The matrix: ROWSxCOLUMNS:FORMAT").required().type_name("TILE");
  command.add_option("--store", options->stores, "How the tile is stored; may be repeated").allow_extra_args(false).type_name("ACCESS");
  command.add_option("--load", options->loads, "How the tile is loaded; may be repeated").allow_extra_args(false).type_name("ACCESS");
  command.add_flag("--all", options->all, "Print every layout that was tried, not the best and the plain one alone");
  command.add_flag("--json", options->json, "Print JSON in place of text");
  command.footer(swizzle_footer);
  command.callback([options] { swizzle(*options); });
}

}  // namespace warpmat

#include <warpmat/ptx/catalogue/restrictions.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include <warpmat/ptx/catalogue/kernel_row.h>

namespace warpmat::inline v0_1::catalogue {
namespace {

/// What the qualifiers of a statement ask for beyond its row. It applies where each word of `qualifiers` holds: "a|b" where one of them is
/// written, "!a|b" where none is.
struct Restriction {
  std::string_view mnemonics;  ///< "ld|st"
  std::string_view qualifiers;
  Requirement requirement;       ///< what they need; not read where there is a reason
  std::string_view reason = {};  ///< why no target has them, as the end of a sentence
  PtxVersion from = {};          ///< the PTX version from which on that is so
};

constexpr Requirement never{};

// Names of groups of qualifiers, written in capitals.
struct Group {
  std::string_view name, qualifiers;
};
constexpr std::array groups{
    Group{"SCOPE", ".cta|.cluster|.gpu|.sys"},
    Group{"ORDER", ".relaxed|.acquire|.release|.acq_rel"},
    Group{"OPERATOR", ".ca|.cg|.cs|.lu|.cv|.wb|.wt"},
    Group{"PRIORITY",
          ".L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate|.L2::evict_normal|.L2::evict_first|"
          ".L2::evict_last"},
    Group{"PRIORITY_L1", ".L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate"},
    Group{"PRIORITY_L2", ".L2::evict_normal|.L2::evict_first|.L2::evict_last"},
    Group{"PREFETCH", ".L2::64B|.L2::128B|.L2::256B"},
    Group{"OWN", ".local|.const|.param|.param::entry|.param::func"},
    Group{"SHARED", ".shared|.shared::cta|.shared::cluster"},
    Group{"BITS_32", ".b32|.u32|.s32|.f32"},
    Group{"BITS_64", ".b64|.u64|.s64|.f64"},
    Group{"HALF", ".f16|.bf16|.f16x2|.bf16x2"},
};

constexpr std::string_view wants_scope = "needs a scope beside the order: .cta, .cluster, .gpu or .sys";
constexpr std::string_view wants_order = "has a scope, which only goes with an order: .relaxed, .acquire or .release";
constexpr std::string_view own_memory = "orders memory that only the lane itself sees; orders are for .global and .shared";
constexpr std::string_view two_ways = "says twice how caches treat it: a cache operator goes with no order and no eviction priority";
constexpr std::string_view global_caches = "advises the caches of global memory, and names another space";
constexpr std::string_view plain_mmio = "is .mmio, which is .mmio.relaxed.sys on one element of global memory, without advice to caches";
constexpr std::string_view wants_256 = "has .L2::evict_..., which needs 256 bits: .v8 of 32 bits or .v4 of 64";
constexpr std::string_view too_wide = "has a vector of more than 128 bits, or of more than 256 in global memory";
constexpr std::string_view no_sync = "needs .sync on sm_70 and later from PTX 6.4 on";

constexpr Requirement cluster = since(90, {7, 8}), sub_space = since(1, {7, 8}), hint = since(80, {7, 4}), advice = since(1, {7, 4});
constexpr Requirement wide = since(100, {8, 8});

constexpr std::array restrictions{
    // The memory consistency model: PTX ISA 9.1 sections 9.7.9.8, 9.7.9.11, 9.7.13.5 and 9.7.13.6.
    Restriction{"ld|st|multimem", "ORDER !SCOPE", never, wants_scope},
    Restriction{"ld|st|multimem", "SCOPE !ORDER|.async", never, wants_order},
    Restriction{"ld|st", "ORDER|.volatile OWN", never, own_memory},
    Restriction{"ld|st", "ORDER|.volatile|.mmio OPERATOR", never, two_ways},
    Restriction{"ld|st", "PRIORITY OPERATOR", never, two_ways},
    Restriction{"ld|st", ".volatile PRIORITY|.L2::cache_hint", never, "is .volatile, which goes with no advice to caches"},
    Restriction{"ld|st", "PRIORITY|.L2::cache_hint|PREFETCH OWN|SHARED", never, global_caches},
    Restriction{"ld|st", ".mmio !.relaxed|.async", never, plain_mmio},
    Restriction{"ld|st", ".mmio !.sys|.async", never, plain_mmio},
    Restriction{"ld|st", ".mmio .v2|.v4|.v8|PRIORITY|.L2::cache_hint|PREFETCH|SHARED|OWN", never, plain_mmio},
    Restriction{"ld", ".nc !.global", never, "is .nc, which reads .global memory"},
    Restriction{"ld", ".nc .weak|.volatile|ORDER", never, "is .nc, which reads read-only memory: it takes no order"},
    Restriction{"ld", ".nc .lu|.cv", never, "is .nc, which takes .ca, .cg or .cs"},
    // Widths.
    Restriction{"ld|st|ldu", ".v2|.v4|.v8 .b128", never, too_wide},
    Restriction{"ld|st|ldu", ".v8 BITS_64", never, too_wide},
    Restriction{"ldu", ".v4 BITS_64", never, too_wide},
    Restriction{"ld|st", "PRIORITY_L2 !.v4|.v8", never, wants_256},
    Restriction{"ld|st", "PRIORITY_L2 .v4 !BITS_64", never, wants_256},
    Restriction{"ld|st", "PRIORITY_L2 .v8 !BITS_32", never, wants_256},
    Restriction{"ld|st", ".v8 BITS_32 OWN|SHARED", never, too_wide},
    Restriction{"ld|st", ".v4 BITS_64 OWN|SHARED", never, too_wide},
    Restriction{"ld|st", ".v8 BITS_32", wide},
    Restriction{"ld|st", ".v4 BITS_64", wide},
    Restriction{"ld|st", ".b128 .sys", since(70, {8, 4})},
    Restriction{"ld|st|ldu", ".b128", since(70, {8, 3})},
    // atom and red.
    Restriction{"atom|red", ".L2::cache_hint SHARED", never, global_caches},
    Restriction{"atom|red", ".v2|.v4|.v8 SHARED", never, "has a vector, which needs global memory"},
    Restriction{"atom|red", ".v2|.v4|.v8", since(90, {8, 1})},
    Restriction{"atom|red", ".bf16|.bf16x2", cluster},
    Restriction{"atom|red", ".min|.max HALF", since(90, {8, 1})},
    Restriction{"atom", ".b128 .sys", since(90, {8, 4})},
    Restriction{"atom", ".b128", since(90, {8, 3})},
    Restriction{"atom|red", "!.v2|.v4|.v8 .f16", since(70, {6, 3})},
    Restriction{"atom|red", ".f16x2", since(60, {6, 2})},
    Restriction{"atom", ".b16", since(70, {6, 3})},
    // What many instructions share.
    Restriction{"ld|st|atom|red|fence|multimem", ".cluster", cluster},
    Restriction{"ld|st|atom|red|cvta|isspacep", ".shared::cluster", cluster},
    Restriction{"ld|st|atom|red|cvta|isspacep|cp", ".shared::cta", sub_space},
    Restriction{"ld|st|cvta|isspacep", ".param::entry|.param::func", since(1, {8, 3})},
    Restriction{"ld|st", ".mmio !.async", since(70, {8, 2})},
    Restriction{"ld|st|atom|red|cp", ".L2::cache_hint", hint},
    Restriction{"ld|cp", ".L2::256B", hint},
    Restriction{"ld|cp", "PREFETCH", advice},
    Restriction{"ld|st", "PRIORITY_L1", advice},
    Restriction{"cvta|isspacep", ".param", since(1, {7, 7})},
    Restriction{"bar|barrier", ".cta", sub_space},
    Restriction{"mbarrier", ".test_wait|.try_wait|.arrive|.arrive_drop .relaxed", since(90, {8, 6})},
    // Lanes.
    Restriction{"shfl|vote", "!.sync", never, no_sync, {6, 4}},
};

bool is_in(std::string_view word, std::string_view list);

/// Whether `match` has one of `alternatives`, "a|b".
bool has_one(const Match& match, std::string_view alternatives) {
  while (!alternatives.empty()) {
    const std::size_t length = std::min(alternatives.find('|'), alternatives.size());
    const std::string_view one = alternatives.substr(0, length);
    const auto group = one.starts_with('.') ? groups.end() : std::ranges::find(groups, one, &Group::name);
    if (group != groups.end() ? has_one(match, group->qualifiers) : match.has(one)) return true;
    alternatives.remove_prefix(std::min(length + 1, alternatives.size()));
  }
  return false;
}

bool holds(const Match& match, std::string_view words) {
  while (!words.empty()) {
    const std::size_t length = std::min(words.find(' '), words.size());
    std::string_view word = words.substr(0, length);
    words.remove_prefix(std::min(length + 1, words.size()));
    const bool absent = word.starts_with('!');
    if (absent) word.remove_prefix(1);
    if (has_one(match, word) == absent) return false;
  }
  return true;
}

/// Whether `list`, "a|b", names `word`.
bool is_in(std::string_view word, std::string_view list) {
  while (!list.empty()) {
    const std::size_t length = std::min(list.find('|'), list.size());
    if (list.substr(0, length) == word) return true;
    list.remove_prefix(std::min(length + 1, list.size()));
  }
  return false;
}

/// bar.cta.sync, barrier.cluster.arrive.aligned: what these say they say in this order alone.
bool in_order_of_barriers(const Match& match) {
  if (!match.is(Name::bar) && !match.is(Name::barrier)) return true;
  const auto at = [&](std::string_view qualifier) { return std::ranges::find(match.qualifiers, qualifier) - match.qualifiers.begin(); };
  for (const char* unit : {".cta", ".warp", ".cluster"})
    if (match.has(unit) && at(unit) != 0) return false;
  for (const char* action : {".sync", ".arrive", ".wait", ".red"})
    if (match.has(action) && match.has(".aligned") && at(action) > at(".aligned")) return false;
  return true;
}

std::string spelling(const Match& match) {
  return fmt::format("{}{}", match.pattern->mnemonic, fmt::join(match.qualifiers, ""));
}

}  // namespace

std::optional<std::string> refusal(const Match& match, const Target& target, PtxVersion version) {
  if (const auto rule = unmet(match.pattern->row.requirement, target, version)) return fmt::format("{} {}", spelling(match), *rule);
  if (!in_order_of_barriers(match))
    return fmt::format("the qualifiers of {} are in another order than in {}", spelling(match), match.pattern->row.opcode);
  if (match.has(".replace") && match.is(Name::tensormap) && target.features == Target::Features::baseline)
    return fmt::format("{} needs a target with the features of an architecture, such as sm_90a; the target is {}", spelling(match),
                       target.name);
  if (match.is(Name::multimem) && has_one(match, ".e4m3x4|.e5m2x4") && target.family == 120 && target.features == Target::Features::family)
    return fmt::format("{} needs sm_120a or sm_121a of this family; the target is {}", spelling(match), target.name);
  for (const Restriction& restriction : restrictions) {
    if (!is_in(match.pattern->mnemonic, restriction.mnemonics) || version < restriction.from || !holds(match, restriction.qualifiers))
      continue;
    if (!restriction.reason.empty()) return fmt::format("{} {}", spelling(match), restriction.reason);
    if (const auto rule = unmet(restriction.requirement, target, version)) return fmt::format("{} {}", spelling(match), *rule);
  }
  return std::nullopt;
}

}  // namespace warpmat::inline v0_1::catalogue

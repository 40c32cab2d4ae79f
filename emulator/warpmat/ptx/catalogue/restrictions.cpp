#include <warpmat/ptx/catalogue/restrictions.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <warpmat/ptx/catalogue/kernel_row.h>
#include <warpmat/text.h>

namespace warpmat::catalogue {
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

static_assert(restrictions.size() <= 64);  // a bit each

// The table is taken apart when this file is compiled: every new opcode of a module is compared with it.

/// Calls visit(part) for each part of `text`.
template <typename Visit>
constexpr void for_each_part(std::string_view text, char separator, Visit visit) {
  while (!text.empty()) {
    const std::size_t length = std::min(text.find(separator), text.size());
    visit(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
}

/// Calls visit(qualifier) for each of `alternatives`, "a|b", and of the groups among them.
template <typename Visit>
constexpr void for_each_qualifier(std::string_view alternatives, Visit visit) {
  for_each_part(alternatives, '|', [&](std::string_view one) {
    if (one.starts_with('.')) return visit(one);
    for_each_part(std::ranges::find(groups, one, &Group::name)->qualifiers, '|', visit);
  });
}

constexpr std::string_view without_negation(std::string_view word) {
  return word.substr(word.starts_with('!'));
}

/// Some strings of the table, each once and in order.
struct Names {
  static constexpr std::size_t most = 128;

  constexpr void add(std::string_view name) {
    const auto end = all.begin() + count, place = std::lower_bound(all.begin(), end, name);
    if (place != end && *place == name) return;
    std::copy_backward(place, end, end + 1);
    *place = name;
    ++count;
  }
  /// Its number; -1 if there is none.
  constexpr int find(std::string_view name) const {
    const auto end = all.begin() + count, place = std::lower_bound(all.begin(), end, name);
    return place != end && *place == name ? static_cast<int>(place - all.begin()) : -1;
  }

  std::array<std::string_view, most> all{};
  std::ptrdiff_t count = 0;
};

constexpr Names qualifiers = [] {
  Names names;
  for (const Restriction& restriction : restrictions)
    for_each_part(restriction.qualifiers, ' ', [&](std::string_view word) {
      for_each_qualifier(without_negation(word), [&](std::string_view qualifier) { names.add(qualifier); });
    });
  return names;
}();

constexpr Names mnemonics = [] {
  Names names;
  for (const Restriction& restriction : restrictions)
    for_each_part(restriction.mnemonics, '|', [&](std::string_view mnemonic) { names.add(mnemonic); });
  return names;
}();

/// Qualifiers that restrictions name.
class QualifierSet {
 public:
  constexpr void add(std::string_view qualifier) {
    const int number = qualifiers.find(qualifier);
    if (number >= 0) bits_[static_cast<std::size_t>(number) / 64] |= std::uint64_t{1} << number % 64;
  }
  constexpr bool meets(const QualifierSet& other) const { return ((bits_[0] & other.bits_[0]) | (bits_[1] & other.bits_[1])) != 0; }

 private:
  std::array<std::uint64_t, Names::most / 64> bits_{};
};

/// A word of Restriction::qualifiers.
struct Word {
  QualifierSet alternatives;
  bool absent = false;
};

struct Words {
  std::array<Word, 3> all{};
  std::size_t count = 0;
};

constexpr std::array<Words, restrictions.size()> words_of_restrictions = [] {
  std::array<Words, restrictions.size()> result{};
  for (std::size_t i = 0; i < restrictions.size(); ++i)
    for_each_part(restrictions[i].qualifiers, ' ', [&](std::string_view text) {
      Word& word = result[i].all[result[i].count++];
      word.absent = text.starts_with('!');
      for_each_qualifier(without_negation(text), [&](std::string_view qualifier) { word.alternatives.add(qualifier); });
    });
  return result;
}();

/// By the number of a mnemonic: a bit for each restriction of it.
constexpr std::array<std::uint64_t, static_cast<std::size_t>(mnemonics.count)> restrictions_of = [] {
  std::array<std::uint64_t, static_cast<std::size_t>(mnemonics.count)> result{};
  for (std::size_t i = 0; i < restrictions.size(); ++i)
    for_each_part(restrictions[i].mnemonics, '|',
                  [&](std::string_view mnemonic) { result[static_cast<std::size_t>(mnemonics.find(mnemonic))] |= std::uint64_t{1} << i; });
  return result;
}();

bool holds(const QualifierSet& written, const Words& words) {
  return std::all_of(words.all.begin(), words.all.begin() + static_cast<std::ptrdiff_t>(words.count),
                     [&](const Word& word) { return written.meets(word.alternatives) != word.absent; });
}

std::string spelling(const Match& match) {
  return format_text("{}{}", match.pattern->mnemonic, joined(match.qualifiers, ""));
}

/// What the row of a statement needs. Conversions of e4m3 and e5m2 came to sm_90 with PTX 7.8, and to sm_89 later: ptxas 13.0.
const Requirement& requirement_of(const Match& match, const Target& target) {
  const Requirement& of_row = match.pattern->row.requirement;
  return match.is(Name::cvt) && of_row == sm89 && target.number >= 90 ? sm90 : of_row;
}

}  // namespace

std::optional<std::string> refusal(const Match& match, const Target& target, PtxVersion version) {
  if (const auto rule = unmet(requirement_of(match, target), target, version)) return format_text("{} {}", spelling(match), *rule);
  if (match.has(".replace") && match.is(Name::tensormap) && target.features == Target::Features::baseline)
    return format_text("{} needs a target with the features of an architecture, such as sm_90a; the target is {}", spelling(match),
                       target.name);
  const auto is_quad_of_fp8 = [](const DataType* type) {
    return type->elements == 4 && (type->format == Format::e4m3 || type->format == Format::e5m2);
  };
  if (match.is(Name::multimem) && std::ranges::any_of(match.types, is_quad_of_fp8) && target.family == 120 &&
      target.features == Target::Features::family)
    return format_text("{} needs sm_120a or sm_121a of this family; the target is {}", spelling(match), target.name);
  const int mnemonic = mnemonics.find(match.pattern->mnemonic);
  if (mnemonic < 0) return std::nullopt;
  QualifierSet written;
  for (const std::string_view qualifier : match.qualifiers) written.add(qualifier);
  for (std::uint64_t left = restrictions_of[static_cast<std::size_t>(mnemonic)]; left != 0; left &= left - 1) {
    const auto number = static_cast<std::size_t>(std::countr_zero(left));
    const Restriction& restriction = restrictions[number];
    if (version < restriction.from || !holds(written, words_of_restrictions[number])) continue;
    if (!restriction.reason.empty()) return format_text("{} {}", spelling(match), restriction.reason);
    if (const auto rule = unmet(restriction.requirement, target, version)) return format_text("{} {}", spelling(match), *rule);
  }
  return std::nullopt;
}

}  // namespace warpmat::catalogue

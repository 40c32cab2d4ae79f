#include <warpmat/tables/opcode.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include <warpmat/formats.h>
#include <warpmat/tables/types.h>
#include <warpmat/text.h>

namespace warpmat::inline v0_1 {
namespace {

constexpr std::string_view type_class = "~type";

std::vector<std::string> split(std::string_view opcode) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t dot = opcode.find('.');
    parts.emplace_back(opcode.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    opcode.remove_prefix(dot + 1);
  }
}

/// Qualifiers of one class keep their order; classes mix freely. Types are a class; so are layouts, the operations of .b1, and the formats
/// of a decompressing load. Every other qualifier is a class of its own.
std::string_view qualifier_class(const std::string& qualifier) {
  if (find_ptx_type(qualifier) != nullptr || find_format(qualifier) != nullptr) return type_class;
  if (qualifier == "row" || qualifier == "col") return "~layout";
  if (qualifier == "xor" || qualifier == "and" || qualifier == "popc") return "~reduction";
  if (qualifier == "b8x16" || qualifier == "b6x16_p32" || qualifier == "b4x16_p64") return "~load format";
  return qualifier;
}

/// wmma.load.a, wmma.store.d and wmma.mma are mnemonics with dots: keeps their first parts together at the front.
void join_wmma(OpcodeKey& parts) {
  if (parts.front() != "wmma" || parts.size() < 4) return;
  const std::size_t joined = parts[1] == "mma" ? 2 : 3;
  for (std::size_t i = 1; i < joined; ++i) parts.front() += "." + parts[i];
  parts.erase(parts.begin() + 1, parts.begin() + static_cast<std::ptrdiff_t>(joined));
}

}  // namespace

OpcodeKey opcode_key(std::string_view opcode) {
  OpcodeKey parts = split(opcode);
  join_wmma(parts);
  for (std::string& part : parts)
    if (part == "shared::cta") part = "shared";
  using Classed = std::pair<std::string_view, std::string>;
  std::vector<Classed> qualifiers;
  for (std::size_t i = 1; i < parts.size(); ++i) qualifiers.emplace_back(qualifier_class(parts[i]), parts[i]);
  // The classes may be views of `parts`, which are overwritten only after the sort.
  std::ranges::stable_sort(qualifiers, {}, &Classed::first);
  for (std::size_t i = 1; i < parts.size(); ++i) parts[i] = std::move(qualifiers[i - 1].second);
  return parts;
}

namespace {

/// The first word of `text` as it is written, and what is beside it.
OpcodeText first_word(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  OpcodeText found;
  const auto skip_blanks = [&] {
    const std::size_t count = std::min(text.find_first_not_of(blanks), text.size());
    text.remove_prefix(count);
    return count != 0;
  };
  bool has_blanks = skip_blanks();
  if (text.starts_with('@')) {
    found.beside.emplace_back("a predicate");
    text.remove_prefix(std::min(text.find_first_of(blanks), text.size()));
    skip_blanks();
  }
  const std::size_t end = std::min(text.find_first_of(" \t\r\n;{["), text.size());
  found.opcode = text.substr(0, end);
  text.remove_prefix(end);
  has_blanks |= skip_blanks() && (text.empty() || text.front() == ';');
  const std::size_t semicolon = std::min(text.find(';'), text.size());
  if (semicolon > 0) found.beside.emplace_back("operands");
  if (has_blanks) found.beside.emplace_back("blanks");
  if (semicolon < text.size()) found.beside.emplace_back("a semicolon");
  return found;
}

}  // namespace

std::string OpcodeText::listed() const {
  std::string list = beside.front();
  for (std::size_t i = 1; i < beside.size(); ++i) list += (i + 1 < beside.size() ? ", " : " and ") + beside[i];
  return list;
}

OpcodeText opcode_in(std::string_view text) {
  OpcodeText found = first_word(text);
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  std::string small = found.opcode;
  std::ranges::transform(small, small.begin(), lower);
  // .scale_vec::2X alone has a capital.
  for (std::size_t at = small.find("scale_vec::"); at != std::string::npos; at = small.find("scale_vec::", at + 1))
    if (at + 12 < small.size()) small[at + 12] = 'X';
  if (small != found.opcode) found.beside.emplace_back("capitals");
  found.opcode = std::move(small);
  return found;
}

OpcodeText machine_name_in(std::string_view text) {
  OpcodeText found = first_word(text);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string large = found.opcode;
  for (std::size_t i = 0; i < large.size(); ++i) {
    const bool crosses = large[i] == 'x' && i > 0 && i + 1 < large.size() && is_digit(large[i - 1]) && is_digit(large[i + 1]);  // 64x8x16
    if (large[i] >= 'a' && large[i] <= 'z' && !crosses) large[i] = static_cast<char>(large[i] - 'a' + 'A');
  }
  if (large != found.opcode) found.beside.emplace_back("small letters");
  found.opcode = std::move(large);
  return found;
}

namespace {

using Parts = std::vector<const OpcodePart*>;

bool by_text(const OpcodePart& a, const OpcodePart& b) {
  return a.text < b.text;
}

/// The parts of `from` that `without` lacks, both sorted. Repeated parts count as often as they occur.
Parts difference(const std::vector<OpcodePart>& from, const std::vector<OpcodePart>& without) {
  Parts rest;
  auto other = without.begin();
  for (const OpcodePart& part : from) {
    int order = 1;  // order of the other part's text relative to this one's
    while (other != without.end() && (order = other->text.compare(part.text)) < 0) ++other;
    if (order == 0)
      ++other;
    else
      rest.push_back(&part);
  }
  return rest;
}

std::string dotted(const Parts& parts) {
  std::string text;
  for (const OpcodePart* part : parts) text += (text.empty() ? "." : " .") + part->text;
  return text;
}

/// Another shape is another instruction, so it counts double; a sparse product is one with other operands besides, and counts thrice.
double weight_of(std::string_view part) {
  if (part == "sp" || part.starts_with("sp::")) return 3;
  return part.size() > 1 && part[0] == 'm' && part[1] >= '0' && part[1] <= '9' ? 2 : 1;
}

/// The cost of a slip of the pen; nothing costs less.
constexpr double slip = 0.5;

/// Whether one word is the other with a letter left out, at any place, or with two neighbours exchanged: "share" for "shared".
bool is_slip(std::string_view a, std::string_view b) {
  constexpr std::size_t min_letters = 4;
  if (a.size() > b.size()) std::swap(a, b);
  if (a.size() < min_letters || b.size() > a.size() + 1) return false;
  const std::size_t same = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  if (a.size() < b.size()) return a.substr(same) == b.substr(same + 1);
  if (same + 2 > a.size()) return false;
  return a[same] == b[same + 1] && a[same + 1] == b[same] && a.substr(same + 2) == b.substr(same + 2);
}

/// The cost of writing `b` for `a`: twice the weight if they have nothing in common, and less for types of one width. It is lowest if only
/// numbers differ; then it grows with the logarithm of their ratio.
double replacement(const OpcodePart& a, const OpcodePart& b) {
  constexpr double one_width = 1.5, one_doubling = 0.125, max_doublings = 4;
  if (a.letters == b.letters) {
    double doublings = 0;
    for (std::size_t i = 0; i < a.numbers.size(); ++i)
      doublings += std::min(std::abs(std::log2((a.numbers[i] + 1e-3) / (b.numbers[i] + 1e-3))), max_doublings);
    return std::max(a.weight, b.weight) * (1 + one_doubling * doublings);
  }
  if (!a.is_type && !b.is_type && is_slip(a.text, b.text)) return slip;
  return a.is_type && b.is_type && a.numbers == b.numbers ? one_width : a.weight + b.weight;
}

/// The distance of an opcode with the parts `extra` from one that has `missing` instead. The most similar parts are paired.
double distance(const Parts& extra, const Parts& missing) {
  constexpr std::size_t most = 16;  // longer lists are never similar, and pairing takes time
  struct Pair {
    double cost;
    std::size_t extra, missing;
  };
  std::vector<Pair> pairs;
  if (extra.size() <= most)
    for (std::size_t i = 0; i < extra.size(); ++i)
      for (std::size_t j = 0; j < missing.size(); ++j) pairs.push_back({replacement(*extra[i], *missing[j]), i, j});
  std::ranges::stable_sort(pairs, {}, &Pair::cost);
  std::vector<bool> extra_paired(extra.size()), missing_paired(missing.size());
  double sum = 0;
  for (const Pair& pair : pairs) {
    if (extra_paired[pair.extra] || missing_paired[pair.missing]) continue;
    extra_paired[pair.extra] = missing_paired[pair.missing] = true;
    sum += pair.cost;
  }
  for (std::size_t i = 0; i < extra.size(); ++i) sum += extra_paired[i] ? 0 : extra[i]->weight;
  for (std::size_t j = 0; j < missing.size(); ++j) sum += missing_paired[j] ? 0 : missing[j]->weight;
  return sum;
}

/// "wmma" of "wmma.load.a".
std::string_view first_part(std::string_view mnemonic) {
  return mnemonic.substr(0, mnemonic.find('.'));
}

}  // namespace

OpcodePart::OpcodePart(std::string_view spelling)
    : text(spelling), weight(weight_of(spelling)), is_type(qualifier_class(text) == type_class) {
  constexpr double largest = 1e9;  // upper bound: larger numbers become this one
  const auto is_digit = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
  for (std::size_t at = 0; at < text.size();) {
    if (!is_digit(at)) {
      letters += text[at++];
      continue;
    }
    numbers.push_back(0);
    letters += ' ';
    for (; is_digit(at); ++at) numbers.back() = std::min(numbers.back() * 10 + (text[at] - '0'), largest);
  }
}

KnownOpcode::KnownOpcode(std::string_view spelling) : opcode(spelling) {
  const OpcodeKey key = opcode_key(spelling);
  mnemonic = key.front();
  for (const std::string& part : key) sorted.emplace_back(part);
  std::ranges::sort(sorted, by_text);
}

double distance(const KnownOpcode& a, const KnownOpcode& b) {
  return distance(difference(a.sorted, b.sorted), difference(b.sorted, a.sorted));
}

const std::string& nearest_part(std::span<const std::string> choices, std::span<const std::string_view> given) {
  const std::string* nearest = &choices.front();
  std::optional<double> least;
  for (const std::string& choice : choices)
    for (const std::string_view part : given)
      if (const double cost = replacement(OpcodePart(part), OpcodePart(choice)); !least || cost < *least) {
        least = cost;
        nearest = &choice;
      }
  return *nearest;
}

std::string other_order(std::string_view opcode, std::string_view known) {
  return format_text("the qualifiers of '{}' are in another order than in {}", opcode, known);
}

std::string explain_unknown(std::string_view opcode, std::span<const KnownOpcode> known) {
  const KnownOpcode wanted(opcode);
  const KnownOpcode* nearest = nullptr;
  Parts missing, extra;
  double least = 0;
  const bool known_mnemonic = std::ranges::find(known, wanted.mnemonic, &KnownOpcode::mnemonic) != known.end();
  for (const KnownOpcode& candidate : known) {
    if (known_mnemonic ? candidate.mnemonic != wanted.mnemonic : first_part(candidate.mnemonic) != first_part(wanted.mnemonic)) continue;
    Parts m = difference(candidate.sorted, wanted.sorted), e = difference(wanted.sorted, candidate.sorted);
    // Each qualifier that is left out, added or replaced costs a slip at least: what cannot be nearer is not looked at.
    if (nearest != nullptr && slip * static_cast<double>(std::max(e.size(), m.size())) >= least) continue;
    const double far = distance(e, m);
    if (nearest != nullptr && far >= least) continue;
    nearest = &candidate;
    least = far;
    missing = std::move(m);
    extra = std::move(e);
  }
  if (nearest == nullptr) return format_text("unknown instruction '{}'", opcode);
  if (missing.empty() && extra.empty()) return other_order(opcode, nearest->opcode);
  std::string change;
  if (!extra.empty()) change += format_text(" without {}", dotted(extra));
  if (!missing.empty()) change += format_text("{} with {}", change.empty() ? "" : " and", dotted(missing));
  return format_text("no such form of {}; the nearest is {}: the same{}", wanted.mnemonic, nearest->opcode, change);
}

}  // namespace warpmat::inline v0_1

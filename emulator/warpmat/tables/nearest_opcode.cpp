#include <warpmat/tables/nearest_opcode.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include <warpmat/tables/opcode.h>
#include <warpmat/text.h>

namespace warpmat {
namespace {

using Parts = std::vector<const OpcodePart*>;

/// The cost of a typo; nothing costs less.
constexpr double typo = 0.5;

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

/// At most distance() of two lists of parts, both sorted, from the number of parts that each has alone: every replacement costs a
/// typo at least, every part that is left out or added at least 1.
double least_distance(const std::vector<OpcodePart>& a, const std::vector<OpcodePart>& b) {
  std::size_t common = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const int order = a[i].text.compare(b[j].text);
    common += order == 0;
    i += order <= 0;
    j += order >= 0;
  }
  const auto [few, many] = std::minmax({a.size() - common, b.size() - common});
  return typo * static_cast<double>(few) + static_cast<double>(many - few);
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

/// Whether one word is the other with a letter left out, at any place, or with two neighbours exchanged: "share" for "shared".
bool is_typo(std::string_view a, std::string_view b) {
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
  if (!a.is_type && !b.is_type && is_typo(a.text, b.text)) return typo;
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

/// What is compared as one part: the mnemonic, but of wmma the whole name, "wmma.load.a" or "wmma.mma", if it begins so and qualifiers
/// follow.
std::string_view head_of(std::string_view opcode) {
  std::string_view rest = opcode;
  if (take_part(rest) == "wmma" && name_of(opcode) != "wmma" && std::ranges::count(rest, '.') > 2 && take_part(rest) != ".mma")
    take_part(rest);
  return opcode.substr(0, opcode.size() - rest.size());
}

/// "wmma" of "wmma.load.a".
std::string_view first_part(std::string_view mnemonic) {
  return mnemonic.substr(0, mnemonic.find('.'));
}

}  // namespace

OpcodePart::OpcodePart(std::string_view spelling)
    : text(spelling), weight(weight_of(spelling)), is_type(order_of(spelling) == QualifierOrder::types) {
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

std::string name_first(std::string_view opcode) {
  std::vector<std::string_view> parts = parts_of(opcode);
  std::stable_partition(parts.begin() + 1, parts.end(), [&](std::string_view part) { return is_part_of_name(parts.front(), part); });
  return joined(parts, "");
}

KnownOpcode::KnownOpcode(std::string_view spelling) : opcode(spelling) {
  const std::string ordered = name_first(spelling);
  mnemonic = head_of(ordered);
  sorted.emplace_back(mnemonic);
  for (std::string_view rest = std::string_view(ordered).substr(mnemonic.size()); !rest.empty();) {
    const std::string_view part = take_part(rest).substr(1);
    sorted.emplace_back(part == "shared::cta" ? "shared" : part);  // which is what it means
  }
  std::ranges::sort(sorted, by_text);
}

double distance(const KnownOpcode& a, const KnownOpcode& b) {
  return distance(difference(a.sorted, b.sorted), difference(b.sorted, a.sorted));
}

namespace {

/// The first of the comparable opcodes at the least distance; nullptr if none is comparable. The one with the least bound comes first: then
/// most others need no distance.
template <typename Comparable>
const KnownOpcode* nearest_of(const KnownOpcode& wanted, std::span<const KnownOpcode> known, Comparable comparable) {
  std::vector<std::pair<double, const KnownOpcode*>> candidates;  // the bound first
  for (const KnownOpcode& candidate : known)
    if (comparable(candidate)) candidates.emplace_back(least_distance(wanted.sorted, candidate.sorted), &candidate);
  if (candidates.empty()) return nullptr;
  const KnownOpcode* nearest = std::ranges::min_element(candidates)->second;
  double least = distance(wanted, *nearest);
  for (const auto& [bound, candidate] : candidates) {
    if (bound > least || candidate == nearest) continue;
    const double far = distance(wanted, *candidate);
    if (std::pair(far, candidate) >= std::pair(least, nearest)) continue;
    nearest = candidate;
    least = far;
  }
  return nearest;
}

}  // namespace

std::string explain_unknown(std::string_view opcode, std::span<const KnownOpcode> known) {
  const KnownOpcode wanted(opcode);
  const bool known_mnemonic = std::ranges::find(known, wanted.mnemonic, &KnownOpcode::mnemonic) != known.end();
  const auto comparable = [&](const KnownOpcode& candidate) {
    return known_mnemonic ? candidate.mnemonic == wanted.mnemonic : first_part(candidate.mnemonic) == first_part(wanted.mnemonic);
  };
  const KnownOpcode* const nearest = nearest_of(wanted, known, comparable);
  if (nearest == nullptr) return format_text("unknown instruction '{}'", opcode);
  const Parts missing = difference(nearest->sorted, wanted.sorted), extra = difference(wanted.sorted, nearest->sorted);
  if (missing.empty() && extra.empty()) return other_order(opcode, nearest->opcode);
  std::string change;
  if (!extra.empty()) change += format_text(" without {}", dotted(extra));
  if (!missing.empty()) change += format_text("{} with {}", change.empty() ? "" : " and", dotted(missing));
  return format_text("no such form of {}; the nearest is {}: the same{}", wanted.mnemonic, nearest->opcode, change);
}

namespace {

/// The one of `choices`, of one place, that is nearest to one of `given`; the first if nothing is given. Letters and numbers decide: types
/// of one width are not nearer than others here.
const std::string& nearest_part(std::span<const std::string> choices, std::span<const std::string_view> given) {
  const auto plain = [](std::string_view text) {
    OpcodePart part(text);
    part.is_type = false;
    return part;
  };
  const std::string* nearest = &choices.front();
  std::optional<double> least;
  for (const std::string& choice : choices)
    for (const std::string_view part : given)
      if (const double cost = replacement(plain(part), plain(choice)); !least || cost < *least) {
        least = cost;
        nearest = &choice;
      }
  return *nearest;
}

/// What a row has in common with an opcode that it does not spell.
struct Likeness {
  Likeness(const OpcodeRow& row, std::span<const std::string_view> qualifiers);

  std::string spelling;     ///< with the most of the qualifiers; at places without any of them it shows all alternatives
  std::string nearest;      ///< the same with the nearest alternative there
  std::size_t unknown = 0;  ///< qualifiers that the row does not have
};

Likeness::Likeness(const OpcodeRow& row, std::span<const std::string_view> qualifiers) : spelling(row.mnemonic), nearest(row.mnemonic) {
  std::vector<std::string_view> left(qualifiers.begin(), qualifiers.end());
  std::vector<const OpcodePlace*> unfilled;
  for (const OpcodePlace& place : row.places) {
    const auto given = std::ranges::find_first_of(left, place.alternatives);
    if (given != left.end()) {
      spelling += *given;
      nearest += *given;
      left.erase(given);
    } else if (!place.optional) {
      spelling += place.alternatives.size() == 1 ? place.alternatives.front() : format_text("({})", joined(place.alternatives, "|"));
      unfilled.push_back(&place);
    }
  }
  unknown = left.size();
  for (const OpcodePlace* place : unfilled) nearest += nearest_part(place->alternatives, left);
}

}  // namespace

std::string nearest_spelling(std::string_view opcode, std::span<const OpcodeRow* const> rows) {
  const std::vector<std::string_view> parts = parts_of(opcode);
  const KnownOpcode wanted(opcode);
  std::optional<Likeness> nearest;
  double least = 0;
  for (const OpcodeRow* const row : rows) {
    Likeness like(*row, std::span(parts).subspan(1));
    const double far = distance(wanted, KnownOpcode(like.nearest));
    if (nearest && std::pair(like.unknown, far) >= std::pair(nearest->unknown, least)) continue;
    nearest = std::move(like);
    least = far;
  }
  return nearest->spelling;
}

}  // namespace warpmat

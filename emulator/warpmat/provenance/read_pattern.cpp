#include <warpmat/provenance/read_pattern.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <warpmat/machine/kernel_trap.h>

namespace warpmat::provenance {

namespace {

constexpr std::size_t fewest_elements = 16;  // that make a pattern
constexpr double most_have_it = 0.6;         // of the elements that one line stores
constexpr double each_dimension = 0.01;      // which a dimension more must explain
constexpr std::size_t most_findings = 4;
constexpr std::size_t widest_stencil = 27;  // elements
constexpr std::size_t most_fitted = std::size_t{1} << 13;

using Shape = std::vector<std::uint64_t>;

/// An element, or a byte of one, as its number and what was read for it.
struct Sample {
  std::uint64_t index = 0;
  std::int64_t address = 0;
};

/// An address that depends on an element's number by its digits, as row and column: numbers of rows, of columns, and so on.
struct Fit {
  std::vector<std::uint64_t> strides{1};  ///< elements from one value of a digit to the next, descending
  std::vector<std::int64_t> slopes{};     ///< bytes
  std::int64_t start = 0;
  double agreement = 0;

  std::uint64_t digit(std::uint64_t index, std::size_t i) const { return (i == 0 ? index : index % strides[i - 1]) / strides[i]; }
  std::int64_t address(std::uint64_t index) const {
    std::int64_t at = start;
    for (std::size_t i = 0; i < strides.size(); ++i) at += slopes[i] * static_cast<std::int64_t>(digit(index, i));
    return at;
  }
};

/// Counts, and says which number came most often.
class Votes {
 public:
  void add(std::int64_t number) {
    const std::size_t count = ++counts_[number];
    if (count > most_ || (count == most_ && number < winner_)) {
      most_ = count;
      winner_ = number;
    }
  }
  std::optional<std::int64_t> winner() const { return most_ == 0 ? std::nullopt : std::optional(winner_); }

 private:
  std::unordered_map<std::int64_t, std::size_t> counts_;
  std::size_t most_ = 0;
  std::int64_t winner_ = 0;
};

/// The slope of a digit: by neighbours in which all others are the same.
std::int64_t slope_of(const Fit& fit, std::size_t digit, const std::vector<Sample>& samples) {
  const auto others = [&](const Sample& sample) { return sample.index - fit.digit(sample.index, digit) * fit.strides[digit]; };
  std::vector<Sample> sorted = samples;
  std::ranges::sort(sorted, {}, [&](const Sample& s) { return std::pair(others(s), s.index); });
  Votes votes;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const Sample &one = sorted[i - 1], &next = sorted[i];
    if (others(one) != others(next)) continue;
    const auto steps = static_cast<std::int64_t>(fit.digit(next.index, digit) - fit.digit(one.index, digit));
    if (steps != 0 && (next.address - one.address) % steps == 0) votes.add((next.address - one.address) / steps);
  }
  return votes.winner().value_or(0);
}

Fit fit_by(const std::vector<std::uint64_t>& strides, const std::vector<Sample>& samples) {
  Fit fit{strides, std::vector<std::int64_t>(strides.size())};
  for (std::size_t i = strides.size(); i-- > 0;) fit.slopes[i] = slope_of(fit, i, samples);
  Votes votes;
  for (const Sample& sample : samples) votes.add(sample.address - fit.address(sample.index));
  fit.start = votes.winner().value_or(0);
  const auto agreeing = std::ranges::count_if(samples, [&](const Sample& s) { return fit.address(s.index) == s.address; });
  fit.agreement = static_cast<double>(agreeing) / static_cast<double>(samples.size());
  return fit;
}

/// Runs of neighbours from all over the samples, so few that many fits can be tried.
std::vector<Sample> some_of(const std::vector<Sample>& samples) {
  if (samples.size() <= most_fitted) return samples;
  constexpr std::uint64_t run = 64;
  const std::uint64_t of = samples.size() / most_fitted + 1;
  std::vector<Sample> some;
  for (const Sample& sample : samples)
    if ((sample.index / run * 0x9e3779b97f4a7c15ULL >> 40) % of == 0) some.push_back(sample);
  return some;
}

/// The fit with the fewest dimensions that explains as much as any, up to three.
Fit best_fit(const std::vector<Sample>& all, const std::vector<std::uint64_t>& numbers) {
  const std::vector<Sample> samples = some_of(all);
  Fit best = fit_by({1}, samples);
  for (int dimensions = 2; dimensions <= 3 && best.agreement < 1 - each_dimension; ++dimensions) {
    Fit better = best;
    std::set<std::vector<std::uint64_t>> tried;
    for (const std::uint64_t number : numbers) {
      std::vector<std::uint64_t> strides = best.strides;
      strides.push_back(number);
      if (dimensions == 3) strides.push_back(number * best.strides.front());
      for (std::size_t extra = 1; extra <= (dimensions == 3 ? 2u : 1u); ++extra) {
        std::vector<std::uint64_t> some = best.strides;
        some.push_back(strides[strides.size() - extra]);
        std::ranges::sort(some, std::greater());
        if (std::ranges::adjacent_find(some) != some.end() || !tried.insert(some).second) continue;
        Fit fit = fit_by(some, samples);
        if (fit.agreement > better.agreement + each_dimension) better = std::move(fit);
      }
    }
    if (better.strides == best.strides) break;
    best = std::move(better);
  }
  return best;
}

/// What one line reads for the elements that another line stores.
struct LinePattern {
  std::uint32_t line = 0;
  const Shape* shape = nullptr;
  Fit fit{};  ///< of the lowest address
  std::uint64_t buffer = 0, end = 0;
  std::int64_t element = 1;  ///< bytes
  std::int64_t row = 0;      ///< bytes from one row of the matrix that is read to the next; 0: it has none
};

/// The elements of one buffer that one line stores.
struct Group {
  std::uint64_t buffer = 0;
  std::uint32_t line = 0, bytes = 0;
  std::vector<const StoredElement*> elements{};
  std::uint64_t index(const StoredElement& element) const { return (element.address - buffer) / bytes; }
};

/// Reads of one line from one buffer.
using LineBuffer = std::pair<std::uint32_t, std::uint64_t>;

LineBuffer place_of(const LineReads& reads) {
  return {reads.line, reads.buffer};
}

LineBuffer place_of(const LinePattern& pattern) {
  return {pattern.line, pattern.buffer};
}

const LineReads* reads_of(const StoredElement& element, LineBuffer place) {
  const auto found = std::ranges::find_if(element.reads, [&](const LineReads& reads) { return place_of(reads) == place; });
  return found == element.reads.end() ? nullptr : &*found;
}

class Finder {
 public:
  explicit Finder(const ReadLaunch& launch) : launch_(launch) { join(); }

  ReadPattern find() {
    for (const Group& group : groups_) look_at(group);
    if (launch_.errs && pattern_.findings.empty()) find_unused();
    if (launch_.errs && pattern_.findings.empty() && is_complete()) {
      find_unread();
      find_unstored();
    }
    return std::move(pattern_);
  }

 private:
  /// The elements of all clusters, with shapes that are numbered alike, by buffer and line.
  void join() {
    std::map<Shape, std::uint32_t> numbers;
    for (const auto& [cluster, reads] : launch_.clusters)
      for (const Shape& shape : reads.shapes) numbers.try_emplace(shape, 0);
    for (auto& [shape, number] : numbers) {
      number = static_cast<std::uint32_t>(shapes_.size());
      shapes_.push_back(shape);
    }
    std::map<std::uint64_t, StoredElement> last;
    for (const auto& [cluster, reads] : launch_.clusters)
      for (StoredElement element : reads.stored) {
        for (LineReads& line : element.reads) line.shape = numbers.at(reads.shapes[line.shape]);
        last[element.address] = std::move(element);
      }
    for (auto& [address, element] : last) elements_.push_back(std::move(element));
    std::map<std::pair<std::uint64_t, std::uint32_t>, Group> groups;
    for (const StoredElement& element : elements_) {
      const auto buffer = launch_.memory.find(element.address);
      if (!buffer) continue;
      const std::uint32_t line = machine::first_of_line(launch_.program, element.statement);
      Group& group = groups[{buffer->address, line}];
      if (group.elements.empty()) group = {buffer->address, line, element.bytes};
      if (group.bytes == element.bytes) group.elements.push_back(&element);
    }
    for (auto& [key, group] : groups) groups_.push_back(std::move(group));
  }

  void look_at(const Group& group) {
    if (group.elements.size() < fewest_elements || std::ranges::any_of(group.elements, &StoredElement::adds)) return;
    std::map<LineBuffer, std::size_t> lines;
    for (const StoredElement* const element : group.elements)
      for (const LineReads& line : element->reads) ++lines[place_of(line)];
    std::vector<LinePattern> found;
    for (const auto& [line, count] : lines)
      if (line.second != 0 && static_cast<double>(count) >= most_have_it * static_cast<double>(group.elements.size()))
        if (auto pattern = pattern_of(group, line)) found.push_back(std::move(*pattern));
    for (const LinePattern& pattern : found) patterns_.push_back(pattern);
    describe(group, found);
    for (const LinePattern& pattern : found) find_exceptions(group, pattern);
    for (const LinePattern& more : found)
      for (const LinePattern& fewer : found) compare(group, more, fewer);
  }

  std::optional<LinePattern> pattern_of(const Group& group, LineBuffer line) const {
    std::map<std::uint32_t, std::size_t> shapes;
    for (const StoredElement* const element : group.elements)
      if (const LineReads* const reads = reads_of(*element, line)) ++shapes[reads->shape];
    const auto most = std::ranges::max_element(shapes, {}, [](const auto& shape) { return shape.second; });
    if (static_cast<double>(most->second) < most_have_it * static_cast<double>(group.elements.size())) return std::nullopt;
    LinePattern pattern{line.first, &shapes_[most->first]};
    pattern.buffer = line.second;
    pattern.end = launch_.memory.find(pattern.buffer)->end();
    std::vector<Sample> samples;
    std::uint64_t step = 0;
    for (const StoredElement* const element : group.elements) {
      const LineReads* const reads = reads_of(*element, line);
      if (reads == nullptr || reads->shape != most->first) continue;
      step = std::gcd(step, reads->first - pattern.buffer);
      samples.push_back({group.index(*element), static_cast<std::int64_t>(reads->first)});
    }
    for (const std::uint64_t distance : *pattern.shape) step = std::gcd(step, distance);
    pattern.element = static_cast<std::int64_t>(std::gcd(step == 0 ? 8 : step, std::uint64_t{8}));
    pattern.fit = best_fit(samples, launch_.numbers);
    if (pattern.fit.agreement < most_have_it) return std::nullopt;
    find_rows(group, pattern);
    return pattern;
  }

  // ---- Names

  std::string element_name(std::uint64_t buffer, std::uint64_t index, std::uint64_t pitch) const {
    const std::string name = launch_.name(buffer);
    return pitch > 1 ? fmt::format("{}[{},{}]", name, index / pitch, index % pitch) : fmt::format("{}[{}]", name, index);
  }
  /// Of an element that is stored: with row and column where the pattern has them.
  std::string stored_name(const Group& group, const Fit& fit, const StoredElement& element) const {
    return element_name(group.buffer, group.index(element), fit.strides.size() > 1 ? fit.strides[fit.strides.size() - 2] : 1);
  }
  std::string read_name(const LinePattern& pattern, std::uint64_t address) const {
    const auto buffer = launch_.memory.find(address);
    if (!buffer || buffer->address != pattern.buffer) return launch_.memory.describe(address);
    return element_name(pattern.buffer, (address - pattern.buffer) / static_cast<std::uint64_t>(pattern.element),
                        static_cast<std::uint64_t>(pattern.row / pattern.element));
  }

  Trap::Note note(std::string text, std::uint32_t statement) const {
    return {std::move(text), machine::place_of(launch_.program, statement)};
  }

  void report(std::uint32_t statement, Trap::Reason reason) {
    if (pattern_.findings.size() >= most_findings || !reported_.insert({statement, reason.headline.substr(0, 8)}).second) return;
    reason.help = "see how these lines compute the place of that element, and those of its neighbours";
    Trap::Site site = machine::site_at({.kernel = std::string(launch_.program.entry), .warp = -1}, launch_.program, statement);
    pattern_.findings.push_back(machine::kernel_trap(std::move(site), std::nullopt, reason, Trap::Kind::mispaired));
  }

  void describe(const Group& group, const std::vector<LinePattern>& found) {
    if (found.empty()) return;
    std::map<std::uint64_t, std::set<std::int64_t>> reads;  // one element's, by buffer
    for (const LinePattern& pattern : found)
      for (const std::uint64_t distance : *pattern.shape)
        reads[pattern.buffer].insert(pattern.fit.start + static_cast<std::int64_t>(distance));
    std::vector<std::string> parts;
    for (const auto& [buffer, addresses] : reads) parts.push_back(fmt::format("{} of {}", addresses.size(), launch_.name(buffer)));
    const std::string text = fmt::format("each element of {} depends on {}", launch_.name(group.buffer), fmt::join(parts, " and "));
    if (pattern_.text.find(text) == std::string::npos) pattern_.text += (pattern_.text.empty() ? "" : "; ") + text;
  }

  // ---- Exceptions

  /// The rows of the matrix that is read: those that leave the fewest exceptions, and the fewest elements at edges that are none.
  void find_rows(const Group& group, LinePattern& pattern) const {
    std::set<std::int64_t> rows{0};
    for (const std::int64_t slope : pattern.fit.slopes) rows.insert(std::abs(slope));
    for (const std::uint64_t number : launch_.numbers) rows.insert(static_cast<std::int64_t>(number) * pattern.element);
    for (const std::int64_t threads : {1, 2, 4, 8, 16})  // of a block, which kernels mean to look at by itself, unless the result is wrong
      if (!launch_.errs) rows.insert(threads * launch_.threads * pattern.element);
    std::size_t fewest = ~std::size_t{0};
    for (const std::int64_t row : rows) {
      if (row != 0 && row <= pattern.element) continue;
      LinePattern tried = pattern;
      tried.row = row;
      std::size_t wrong = 0;
      for (const StoredElement* const element : group.elements)
        wrong += is_edge(tried, group.index(*element)) == is_exception(group, tried, *element) ? 0u : 1u;
      if (wrong >= fewest) continue;
      fewest = wrong;
      pattern.row = row;
    }
  }

  /// Whether the pattern would have the element read something beyond the matrix: before or behind a row, or the buffer. Kernels treat such
  /// elements in a way of their own.
  static bool is_edge(const LinePattern& pattern, std::uint64_t index) {
    const std::int64_t lowest = pattern.fit.address(index), rows = pattern.row;
    const std::int64_t along = rows == 0 ? 0 : (lowest - pattern.fit.start) % rows;
    return std::ranges::any_of(*pattern.shape, [&](std::uint64_t distance) {
      const std::int64_t address = lowest + static_cast<std::int64_t>(distance);
      if (address < static_cast<std::int64_t>(pattern.buffer) || address >= static_cast<std::int64_t>(pattern.end)) return true;
      if (rows == 0 || pattern.shape->size() > static_cast<std::size_t>(rows / pattern.element) / 2) return false;
      const std::int64_t off = pattern.fit.start - static_cast<std::int64_t>(pattern.buffer) + static_cast<std::int64_t>(distance);
      const std::int64_t beside =
          off - rows * static_cast<std::int64_t>(std::llround(static_cast<double>(off) / static_cast<double>(rows)));
      return along + beside < 0 || along + beside >= rows;
    });
  }

  bool is_exception(const Group& group, const LinePattern& pattern, const StoredElement& element) const {
    const LineReads* const reads = reads_of(element, place_of(pattern));
    return reads == nullptr || &shapes_[reads->shape] != pattern.shape ||
           static_cast<std::int64_t>(reads->first) != pattern.fit.address(group.index(element));
  }

  std::set<std::uint64_t> expected(const LinePattern& pattern, std::uint64_t index) const {
    std::set<std::uint64_t> all;
    for (const std::uint64_t distance : *pattern.shape) all.insert(static_cast<std::uint64_t>(pattern.fit.address(index)) + distance);
    return all;
  }
  std::set<std::uint64_t> actual(const StoredElement& element, LineBuffer line) const {
    std::set<std::uint64_t> all;
    if (const LineReads* const reads = reads_of(element, line))
      for (const std::uint64_t distance : shapes_[reads->shape]) all.insert(reads->first + distance);
    return all;
  }

  void find_exceptions(const Group& group, const LinePattern& pattern) {
    const StoredElement* first = nullptr;
    std::size_t exceptions = 0, looked_at = 0;
    for (const StoredElement* const element : group.elements) {
      const std::uint64_t index = group.index(*element);
      if (is_edge(pattern, index)) continue;
      ++looked_at;
      if (!is_exception(group, pattern, *element)) continue;
      ++exceptions;
      if (first == nullptr) first = element;
    }
    if (first == nullptr || static_cast<double>(exceptions) > (1 - most_have_it) * static_cast<double>(looked_at)) return;
    report_exception(group, pattern, *first, exceptions, looked_at);
  }

  /// Whether another line reads, for this element, what the pattern has this one read.
  bool is_read_elsewhere(const StoredElement& element, LineBuffer line, std::uint64_t address) const {
    return std::ranges::any_of(element.reads, [&](const LineReads& other) {
      return place_of(other) != line && actual(element, place_of(other)).contains(address);
    });
  }

  /// Whether elements that a line loads affect nothing.
  bool loses(std::uint32_t line) const {
    return std::ranges::any_of(launch_.clusters, [&](const auto& cluster) {
      const auto found = cluster.second.loads.find(line);
      return found != cluster.second.loads.end() && found->second.unused != 0;
    });
  }

  bool is_read(const Group& group, LineBuffer line, std::uint64_t address) const {
    return std::ranges::any_of(group.elements, [&](const StoredElement* e) {
      const LineReads* const reads = reads_of(*e, line);
      return reads != nullptr && std::ranges::binary_search(shapes_[reads->shape], address - reads->first);
    });
  }

  void report_exception(const Group& group, const LinePattern& pattern, const StoredElement& element, std::size_t exceptions,
                        std::size_t looked_at) {
    const std::set<std::uint64_t> wanted = expected(pattern, group.index(element)), has = actual(element, place_of(pattern));
    std::vector<std::uint64_t> missing, strange;
    std::ranges::set_difference(wanted, has, std::back_inserter(missing));
    std::ranges::set_difference(has, wanted, std::back_inserter(strange));
    std::erase_if(missing, [&](std::uint64_t address) { return is_read_elsewhere(element, place_of(pattern), address); });
    if (missing.empty() && strange.empty()) return;
    const std::string name = stored_name(group, pattern.fit, element);
    std::string headline = fmt::format("{} breaks the pattern of its neighbours: it ", name);
    if (!missing.empty()) headline += "does not depend on " + read_name(pattern, missing.front());
    if (!strange.empty()) headline += (missing.empty() ? "depends on " : ", but on ") + read_name(pattern, strange.front());
    std::vector<Trap::Note> notes;
    const bool loaded = !missing.empty() && (loses(pattern.line) || is_read(group, place_of(pattern), missing.front()));
    notes.push_back(note(fmt::format("this line loads {}", loaded ? "that, too" : "what the others depend on"), pattern.line));
    if (!loaded) notes.push_back(note("stored here", element.statement));
    notes.push_back({fmt::format("this is so for {} of {} elements", exceptions, looked_at)});
    report(loaded ? element.statement : pattern.line, {std::move(headline), std::move(notes)});
  }

  /// Of two lines that read one matrix for the same elements, one reads many, and the other nearly as many of them.
  void compare(const Group& group, const LinePattern& more, const LinePattern& fewer) {
    constexpr std::size_t many = 8;
    if (more.buffer != fewer.buffer) return;
    if (more.shape->size() < many || fewer.shape->size() >= more.shape->size() || 2 * fewer.shape->size() < more.shape->size()) return;
    const StoredElement& element = *group.elements[group.elements.size() / 2];
    if (is_exception(group, more, element) || is_exception(group, fewer, element)) return;
    const std::set<std::uint64_t> all = expected(more, group.index(element)), some = expected(fewer, group.index(element));
    if (!std::ranges::includes(all, some)) return;
    std::vector<std::uint64_t> missing;
    std::ranges::set_difference(all, some, std::back_inserter(missing));
    std::vector<Trap::Note> notes{note(fmt::format("{} elements that this line loads have a part in it", all.size()), more.line)};
    const std::uint32_t place = add_way(fewer.line, notes);
    report(place,
           {fmt::format("{} elements of {} have a part in {}, but by another line only {}: {} is left out", all.size(),
                        launch_.name(more.buffer), stored_name(group, fewer.fit, element), some.size(), read_name(fewer, missing.front())),
            std::move(notes)});
  }

  /// Adds where the unused elements of a line got to, to the notes. Returns the statement that is nearest to the fault.
  std::uint32_t add_way(std::uint32_t line, std::vector<Trap::Note>& notes) const {
    for (const auto& [cluster, reads] : launch_.clusters) {
      const auto found = reads.loads.find(line);
      if (found == reads.loads.end() || found->second.unused == 0) continue;
      const LineLoads& loads = found->second;
      if (loads.last_stored != LineLoads::none) {
        notes.push_back(note("this stores the outcome in shared memory, and no statement reads it there", loads.last_stored));
        if (loads.reader == LineLoads::none) return loads.last_stored;
        notes.push_back(note("this reads what the others stored there", loads.reader));
        return loads.reader;
      }
      if (loads.last_computed != LineLoads::none) {
        notes.push_back(note("this is the last that computes with it", loads.last_computed));
        return loads.last_computed;
      }
    }
    return line;
  }

  // ---- What is unusual

  /// Elements that are loaded and affect nothing, while others that the same line loads do.
  void find_unused() {
    std::map<std::uint32_t, std::pair<std::size_t, std::size_t>> lines;
    std::map<std::uint32_t, std::string> examples;
    for (const auto& [cluster, reads] : launch_.clusters)
      for (const auto& [line, loads] : reads.loads) {
        lines[line].first += loads.unused;
        lines[line].second += loads.all;
        if (loads.unused == 0 || examples.contains(line)) continue;
        if (const auto buffer = launch_.memory.find(loads.address))
          examples[line] = element_name(buffer->address, (loads.address - buffer->address) / loads.bytes, 1);
      }
    for (const auto& [line, count] : lines) {
      if (count.first == 0 || count.first == count.second) continue;
      std::vector<Trap::Note> notes{note("loaded here", line)};
      const std::uint32_t place = add_way(line, notes);
      report(place, {fmt::format("{} of {} elements that are loaded have no part in any result, such as {}", count.first, count.second,
                                 examples[line]),
                     std::move(notes)});
    }
  }

  bool is_complete() const {
    return launch_.all_clusters &&
           std::ranges::all_of(launch_.clusters, [](const auto& one) { return one.second.whole && !one.second.sampled; });
  }

  /// Elements of a matrix that no statement loads, while others are.
  void find_unread() {
    std::map<std::uint64_t, std::uint64_t> loaded;
    for (const auto& [cluster, reads] : launch_.clusters)
      for (const auto& [first, end] : reads.loaded) {
        std::uint64_t& to = loaded[first];
        to = std::max(to, end);
      }
    std::set<std::uint64_t> buffers;
    for (const LinePattern& pattern : patterns_) {
      if (!buffers.insert(pattern.buffer).second) continue;
      std::uint64_t next = pattern.buffer, unread = 0, example = 0;
      const auto skip_to = [&](std::uint64_t address) {
        if (address > next && unread == 0) example = next;
        if (address > next) unread += address - next;
      };
      for (auto range = loaded.lower_bound(pattern.buffer); range != loaded.end() && range->first < pattern.end; ++range) {
        skip_to(range->first);
        next = std::max(next, range->second);
      }
      skip_to(pattern.end);
      const bool is_stencil = pattern.shape->size() > 1 && pattern.shape->size() <= widest_stencil;  // which leaves out corners
      if (unread == 0 || (is_stencil && unread * 100 < pattern.end - pattern.buffer)) continue;
      const auto bytes = static_cast<std::uint64_t>(pattern.element);
      report(pattern.line, {fmt::format("no statement reads {} of {} elements of {}, such as {}", unread / bytes,
                                        (pattern.end - pattern.buffer) / bytes, launch_.name(pattern.buffer), read_name(pattern, example)),
                            {note("the others are loaded here", pattern.line)}});
    }
  }

  /// Elements of a buffer that no statement stores, while nearly all others are. A frame around a matrix is none.
  void find_unstored() {
    std::map<std::uint64_t, std::vector<const StoredElement*>> buffers;
    for (const StoredElement& element : elements_)
      if (const auto buffer = launch_.memory.find(element.address)) buffers[buffer->address].push_back(&element);
    for (const auto& [address, elements] : buffers) {
      const std::uint64_t end = launch_.memory.find(address)->end();
      std::uint64_t stored = 0, next = address, hole = 0, hole_end = 0;
      for (const StoredElement* const element : elements) {
        if (element->address > next && hole_end == 0) std::tie(hole, hole_end) = std::pair(next, element->address);
        next = element->address + element->bytes;
        stored += element->bytes;
      }
      if (next < end && hole_end == 0) std::tie(hole, hole_end) = std::pair(next, end);
      if (hole_end == 0 || hole == address || stored * 2 < end - address) continue;
      const std::uint32_t bytes = elements.front()->bytes;
      report(elements.back()->statement,
             {fmt::format("no statement stores {} of {} elements of {}, such as [{}]", (end - address - stored) / bytes,
                          (end - address) / bytes, launch_.name(address), (hole - address) / bytes),
              {note("the others are stored here", elements.back()->statement)}});
    }
  }

  const ReadLaunch& launch_;
  std::vector<Shape> shapes_;
  std::vector<StoredElement> elements_;  ///< ascending
  std::vector<Group> groups_;
  std::vector<LinePattern> patterns_;
  std::set<std::pair<std::uint32_t, std::string>> reported_;
  ReadPattern pattern_;
};

}  // namespace

ReadPattern find_pattern(const ReadLaunch& launch) {
  return Finder(launch).find();
}

}  // namespace warpmat::provenance

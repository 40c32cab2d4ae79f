#include <warpmat/machine/kernel_trap.h>
#include <warpmat/provenance/companion.h>
#include <warpmat/provenance/notes.h>

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include <warpmat/launch.h>
#include <warpmat/machine/stored_buffer.h>

namespace warpmat::provenance {
namespace {

constexpr std::array<std::string_view, 2> nouns{"scale factor", "metadata code"};

std::string_view noun(const Companion::Subject& subject) {
  return nouns[subject.told.kind == CompanionMatrix::Kind::scale ? 0 : 1];
}

}  // namespace

std::uint32_t Companion::add(Use use) {
  const std::lock_guard lock(mutex_);
  uses_.push_back(std::move(use));
  return static_cast<std::uint32_t>(uses_.size() - 1);
}

void Companion::note(const Subject& subject, std::span<const Entry> entries, int size, Dim3 block, int warp) {
  const std::lock_guard lock(mutex_);
  if (cells_.empty()) {
    const GemmMatrix& factor = subject.factor;
    size_ = size;
    blocks_ = static_cast<std::size_t>((subject.told.depth + size - 1) / size);
    cells_.resize(static_cast<std::size_t>(subject.is_b ? factor.columns : factor.rows) * blocks_);
  }
  if (size != size_) return;  // blocks of another form, which are not compared with these
  for (const Entry& entry : entries) {
    const std::size_t at = static_cast<std::size_t>(entry.line) * blocks_ + static_cast<std::size_t>(entry.block);
    const Cell now{entry.bit, entry.use, block, warp};
    computed_ |= entry.computed;
    Cell& before = cells_[at];
    if (before.bit == 0) before = now;
    if (before.bit != now.bit && (!twofold_ || at < twofold_->at)) twofold_ = Twofold{at, before, now};
  }
}

// ---- What is said

/// "row 8, k 0 to 31 of A".
std::string Companion::place(const Subject& subject, std::size_t at) const {
  const auto first = block(at) * static_cast<std::size_t>(size_);
  return fmt::format("{} {}, k {} to {} of {}", subject.is_b ? "column" : "row", line(at), first,
                     first + static_cast<std::size_t>(size_) - 1, subject.factor.name);
}

/// "SA[8,0]", "byte 64 of 'SA'", "bits 4 to 7 of byte 2 of 'E'".
std::string Companion::entry(const Subject& subject, const Cell& cell) const {
  const GemmMatrix& told = subject.told.matrix;
  if (const auto found = told.place(cell.bit)) return told.element(found->first, found->second);
  const std::uint64_t address = cell.bit / 8, bit = cell.bit % 8;
  const std::optional<DeviceMemory::Buffer> buffer = subject.memory.find(address);
  const bool part = subject.told.kind == CompanionMatrix::Kind::metadata;
  return (part ? fmt::format("bits {} to {} of ", bit, bit + 3) : "") +
         (!buffer ? fmt::format("the byte at {:#x}", address)
                  : fmt::format(
                        "byte {} of {}", address - buffer->address,
                        buffer->name.empty() ? fmt::format("the buffer at {:#x}", buffer->address) : fmt::format("'{}'", buffer->name)));
}

Trap Companion::trap(const Subject& subject, const Cell& cell, std::size_t at, const std::string& what,
                     const std::vector<Trap::Note>& first) const {
  const Use& use = uses_[cell.use];
  Trap::Site site = use.site;
  site.block = cell.block;
  site.warp = cell.warp;
  const auto l = static_cast<std::int64_t>(line(at)), k = static_cast<std::int64_t>(block(at)) * size_;
  const std::string element = subject.is_b ? subject.factor.element(k, l) : subject.factor.element(l, k);
  return machine::kernel_trap(
      site, std::nullopt,
      {what, together(std::vector<Trap::Note>{{fmt::format("the entry is its {}, the element {}", noun(subject), element)}}, first,
                      use.entry, use.element)},
      Trap::Kind::mispaired);
}

// ---- What is looked for

std::optional<Trap> Companion::fault(const Subject& subject) const {
  if (subject.told.told()) return other_than_told(subject);
  if (twofold_)
    return trap(subject, twofold_->second, twofold_->at,
                fmt::format("{} has two {}s, {} and {}", place(subject, twofold_->at), noun(subject), entry(subject, twofold_->first),
                            entry(subject, twofold_->second)),
                uses_[twofold_->first.use].entry);
  if (auto found = several_places(subject)) return found;
  if (auto found = descending(subject)) return found;
  return unused(subject);
}

std::optional<Trap> Companion::other_than_told(const Subject& subject) const {
  const GemmMatrix& told = subject.told.matrix;
  const auto wrong = [&](const Cell& cell, std::size_t at) -> std::optional<Trap> {
    const auto l = static_cast<std::int64_t>(line(at)), b = static_cast<std::int64_t>(block(at));
    if (cell.bit == 0 || cell.bit == told.bit_of(l, b)) return std::nullopt;
    return trap(
        subject, cell, at,
        fmt::format("{} has {} as its {}; {} belongs there", place(subject, at), entry(subject, cell), noun(subject), told.element(l, b)));
  };
  for (std::size_t at = 0; at < cells_.size(); ++at) {
    if (auto found = wrong(cells_[at], at)) return found;
    if (twofold_ && twofold_->at == at) return wrong(twofold_->second, at);
  }
  return std::nullopt;
}

/// How far apart in `cells_` places are whose numbers of block or line differ in bit `bit`.
std::size_t Companion::step(bool along_k, int bit) const {
  return (along_k ? 1 : blocks_) << bit;
}

/// The place whose block or line has bit `bit` set, which that of `at` has not. Nothing where the entry of one is not known.
std::optional<std::size_t> Companion::neighbour(std::size_t at, bool along_k, int bit) const {
  const std::size_t number = along_k ? block(at) : line(at), all = along_k ? blocks_ : cells_.size() / blocks_;
  const std::size_t next = number | std::size_t{1} << bit;
  if (next == number || next >= all) return std::nullopt;
  const std::size_t other = at + step(along_k, bit);
  return cells_[at].bit == 0 || cells_[other].bit == 0 ? std::nullopt : std::optional(other);
}

/// The number of low bits of line or block on which no entry depends: 2^n lines or blocks have one.
int Companion::alike(bool along_k) const {
  int bits = 0;
  for (; step(along_k, bits) < (along_k ? blocks_ : cells_.size()); ++bits)
    for (std::size_t at = 0; at < cells_.size(); ++at)
      if (const auto other = neighbour(at, along_k, bits); other && cells_[at].bit != cells_[*other].bit) return bits;
  return bits;
}

/// The places with known entries, by address and then in order.
std::vector<std::size_t> Companion::by_address() const {
  std::vector<std::size_t> all;
  for (std::size_t at = 0; at < cells_.size(); ++at)
    if (cells_[at].bit != 0) all.push_back(at);
  std::ranges::stable_sort(all, {}, [&](std::size_t at) { return cells_[at].bit; });
  return all;
}

std::optional<Trap> Companion::several_places(const Subject& subject) const {
  const int lines = alike(false), blocks = alike(true);
  const auto group = [&](std::size_t at) { return std::pair(line(at) >> lines, block(at) >> blocks); };
  const std::vector<std::size_t> all = by_address();
  std::optional<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t i = 1, first = 0; i < all.size(); ++i) {
    if (cells_[all[i]].bit != cells_[all[first]].bit) first = i;
    if (group(all[i]) != group(all[first]) && (!found || all[i] < found->second)) found.emplace(all[first], all[i]);
  }
  if (!found) return std::nullopt;
  return trap(subject, cells_[found->second], found->second,
              fmt::format("{} has the {} of {}, {}", place(subject, found->second), noun(subject), place(subject, found->first),
                          entry(subject, cells_[found->second])));
}

std::optional<Trap> Companion::descending(const Subject& subject) const {
  for (std::size_t at = 0; at < cells_.size(); ++at)
    for (const bool along_k : {true, false})
      for (int bit = 0; step(along_k, bit) < cells_.size(); ++bit) {
        const auto other = neighbour(at, along_k, bit);
        if (!other || cells_[*other].bit >= cells_[at].bit) continue;
        if (find_buffer(subject.memory, cells_[*other].bit / 8) != find_buffer(subject.memory, cells_[at].bit / 8)) continue;
        return trap(subject, cells_[at], at,
                    fmt::format("{} has {} as its {}, and {} has {}, which lies before it: they are exchanged", place(subject, at),
                                entry(subject, cells_[at]), noun(subject), place(subject, *other), entry(subject, cells_[*other])));
      }
  return std::nullopt;
}

/// Several blocks of k have one entry, and the next one has another as far away as theirs would lie apart: no block has those between.
std::optional<Trap> Companion::unused(const Subject& subject) const {
  const int bits = alike(true);
  const std::uint64_t width = subject.told.kind == CompanionMatrix::Kind::scale ? 8 : 4;
  const auto next = cells_.empty() || bits == 0 || computed_ ? std::nullopt : neighbour(0, true, bits);
  if (!next || cells_[*next].bit - cells_[0].bit != width << bits) return std::nullopt;
  const auto is_next = [&](const Cell& cell) { return cell.bit == cells_[0].bit + width; };
  if (std::ranges::any_of(cells_, is_next) || cells_[1].bit == 0) return std::nullopt;
  Cell absent = cells_[0];
  absent.bit += width;
  return trap(subject, cells_[1], 1,
              fmt::format("{} has {} as its {}, as {} has, and none has {}", place(subject, 1), entry(subject, cells_[1]), noun(subject),
                          place(subject, 0), entry(subject, absent)));
}

std::optional<Trap> Companion::common(const Subject& subject, const Companion& other, const Subject& of_other) const {
  if (subject.told.told() || of_other.told.told() || subject.factor.address == of_other.factor.address) return std::nullopt;
  const std::vector<std::size_t> mine = by_address(), others = other.by_address();
  const auto one_for_all = [](const std::vector<std::size_t>& all, const std::vector<Cell>& cells) {
    return all.empty() || cells[all.front()].bit == cells[all.back()].bit;
  };
  if (one_for_all(mine, cells_) || one_for_all(others, other.cells_)) return std::nullopt;
  for (const std::size_t at : mine) {
    const auto found = std::ranges::lower_bound(others, cells_[at].bit, {}, [&](std::size_t i) { return other.cells_[i].bit; });
    if (found == others.end() || other.cells_[*found].bit != cells_[at].bit) continue;
    return trap(subject, cells_[at], at,
                fmt::format("{} and {} have one {}, {}", place(subject, at), other.place(of_other, *found), noun(subject),
                            entry(subject, cells_[at])));
  }
  return std::nullopt;
}

}  // namespace warpmat::provenance

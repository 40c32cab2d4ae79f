#include <warpmat/machine/mbarrier.h>

#include <utility>

#include <fmt/core.h>

#include <warpmat/ptx/catalogue/mbarrier_state.h>

namespace warpmat::machine {
namespace {

// From the low bits: 20 bits of missing arrivals, 20 of expected ones, 21 of signed pending bytes, 1 of phase.
constexpr int expected_at = 20, bytes_at = 40, phase_at = 63;
constexpr std::int64_t max_bytes = (std::int64_t{1} << 20) - 1;  // PTX ISA 9.1 section 9.7.13.15.2: the tx-count's range

/// "1 arrival", "3 arrivals".
std::string arrivals(std::uint64_t count) {
  return fmt::format("{} {}", count, count == 1 ? "arrival" : "arrivals");
}
}  // namespace

MbarrierWord MbarrierWord::begin(std::uint64_t count) {
  MbarrierWord word(0);
  word.set(count, count, 0, 0);
  return word;
}

std::uint64_t MbarrierWord::missing() const {
  return bits_ & max_mbarrier_count;
}

std::uint64_t MbarrierWord::expected() const {
  return bits_ >> expected_at & max_mbarrier_count;
}

std::int64_t MbarrierWord::bytes() const {
  return static_cast<std::int64_t>(bits_ << 1) >> (bytes_at + 1);
}

std::uint64_t MbarrierWord::phase() const {
  return bits_ >> phase_at;
}

void MbarrierWord::set(std::uint64_t missing, std::uint64_t expected, std::int64_t bytes, std::uint64_t phase) {
  constexpr std::uint64_t bytes_mask = (std::uint64_t{1} << (phase_at - bytes_at)) - 1;
  bits_ = missing | expected << expected_at | (static_cast<std::uint64_t>(bytes) & bytes_mask) << bytes_at | phase << phase_at;
}

void MbarrierWord::complete_phase() {
  if (missing() == 0 && bytes() == 0) set(expected(), expected(), 0, phase() ^ 1);
}

std::optional<std::string> MbarrierWord::arrive(std::uint64_t count) {
  if (count == 0 || count > missing())
    return fmt::format("{} at an mbarrier whose phase misses {} of {}", arrivals(count), missing(), expected());
  set(missing() - count, expected(), bytes(), phase());
  complete_phase();
  return std::nullopt;
}

std::optional<std::string> MbarrierWord::arrive_and_drop(std::uint64_t count) {
  if (count > expected())
    return fmt::format("{} {} an mbarrier that expects {}", arrivals(count), count == 1 ? "leaves" : "leave", expected());
  set(missing(), expected() - count, bytes(), phase());
  if (auto problem = arrive(count)) return problem;
  return std::nullopt;
}

std::optional<std::string> MbarrierWord::expect(std::uint64_t added) {
  if (added > static_cast<std::uint64_t>(max_bytes) || bytes() + static_cast<std::int64_t>(added) > max_bytes)
    return fmt::format("{} bytes more are expected where {} are: an mbarrier counts to {}", added, bytes(), max_bytes);
  set(missing(), expected(), bytes() + static_cast<std::int64_t>(added), phase());
  complete_phase();
  return std::nullopt;
}

std::optional<std::string> MbarrierWord::complete(std::uint64_t came) {
  if (came > static_cast<std::uint64_t>(max_bytes) || bytes() - static_cast<std::int64_t>(came) < -max_bytes)
    return fmt::format("{} bytes more have come where {} are expected: an mbarrier counts to {}", came, bytes(), max_bytes);
  set(missing(), expected(), bytes() - static_cast<std::int64_t>(came), phase());
  complete_phase();
  return std::nullopt;
}

std::optional<std::string> MbarrierWord::add_missing() {
  if (missing() >= max_mbarrier_count) return fmt::format("an mbarrier counts to {} arrivals", max_mbarrier_count);
  set(missing() + 1, expected(), bytes(), phase());
  return std::nullopt;
}

void MbarrierHistory::announce(int warp, std::uint32_t statement, std::uint64_t bytes) {
  phase_.announced += bytes;
  ++phase_.statements;
  phase_.announcer = {warp, statement, 1};
}

void MbarrierHistory::add(int warp, std::uint32_t statement, bool completes) {
  constexpr std::size_t most = 3;
  if (completes) {
    ++phases_;
    earlier_ = 0;
    last_phase_ = std::exchange(phase_, {});
    return changes_.clear();
  }
  if (!changes_.empty() && changes_.back().warp == warp && changes_.back().statement == statement) {
    ++changes_.back().times;
    return;
  }
  changes_.push_back({warp, statement, 1});
  if (changes_.size() <= most) return;
  earlier_ += changes_.front().times;
  changes_.erase(changes_.begin());
}

}  // namespace warpmat::machine

#include <warpmat/explain.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include <warpmat/warp.h>

namespace warpmat::checks {
namespace {

constexpr std::uint64_t word_bytes = 4, row_bytes = word_bytes * banks;

/// Whether each participating lane i accesses the same address as lane i ^ `bit`.
bool in_pairs(std::span<const std::uint64_t> addresses, LaneMask mask, std::size_t bit) {
  for (std::size_t lane = 0; lane < warp_size; ++lane)
    if ((mask >> lane & 1) != 0 && ((mask >> (lane ^ bit) & 1) == 0 || addresses[lane] != addresses[lane ^ bit])) return false;
  return true;
}

/// The number of lanes in a phase.
std::size_t phase_lanes(BankAccess access, std::uint32_t bytes, std::span<const std::uint64_t> addresses, LaneMask mask) {
  const std::size_t moved_at_once = row_bytes / std::max<std::uint64_t>(bytes, word_bytes);
  const bool paired = access == BankAccess::load && bytes > word_bytes && (in_pairs(addresses, mask, 1) || in_pairs(addresses, mask, 2));
  return paired ? 2 * moved_at_once : moved_at_once;
}

BankPhase phase_of(BankAccess access, std::uint32_t bytes, std::span<const std::uint64_t> addresses, LaneMask mask) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, LaneMask> words;  // by bank and word
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    for (std::uint64_t word = addresses[lane] / word_bytes; word <= (addresses[lane] + bytes - 1) / word_bytes; ++word)
      words[{word % banks, word}] |= lane_bit(static_cast<int>(lane));
  }
  BankPhase phase{.lanes = mask, .words = {}};
  std::array<int, banks> asked{};
  for (const auto& [place, users] : words) {
    phase.words.push_back({static_cast<int>(place.first), place.second, users});
    asked[place.first] += access == BankAccess::copy ? std::popcount(users) : 1;
  }
  phase.wavefronts = *std::ranges::max_element(asked);
  for (const BankWord& word : phase.words)
    if (phase.wavefronts > 1 && asked[static_cast<std::size_t>(word.bank)] == phase.wavefronts) phase.colliding |= word.lanes;
  return phase;
}

}  // namespace

std::vector<BankPhase> bank_phases(BankAccess access, std::uint32_t bytes, std::span<const std::uint64_t> addresses, LaneMask mask) {
  constexpr std::uint32_t most = 16;
  if (!std::has_single_bit(bytes) || bytes > most || addresses.size() != warp_size)
    throw std::invalid_argument("a warp accesses 1, 2, 4, 8 or 16 bytes in each lane, and has 32 addresses");
  const std::size_t size = phase_lanes(access, bytes, addresses, mask);
  std::vector<BankPhase> phases;
  for (std::size_t first = 0; first < warp_size; first += size) {
    const LaneMask of_phase = size >= warp_size ? all_lanes : (lane_bit(static_cast<int>(size)) - 1) << first;
    if ((mask & of_phase) != 0) phases.push_back(phase_of(access, bytes, addresses, mask & of_phase));
  }
  return phases;
}

int wavefronts(std::span<const BankPhase> phases) {
  int sum = 0;
  for (const BankPhase& phase : phases) sum += phase.wavefronts;
  return sum;
}

Evidence bank_evidence(Hardware hardware, BankAccess access, std::uint32_t bytes, LaneMask mask) {
  const bool whole = access == BankAccess::matrix ? std::popcount(mask) % 8 == 0 : mask == all_lanes;
  const bool compared = hardware == Hardware::sm_90 && whole && (access != BankAccess::copy || bytes == 16);
  return compared ? Evidence::measured : Evidence::assumed;
}

GlobalRequest global_request(std::uint32_t bytes, std::span<const std::uint64_t> addresses, LaneMask mask) {
  constexpr std::uint64_t sector = 32, line = 128;
  std::set<std::uint64_t> sectors, lines, places;
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    for (std::uint64_t i = 0; i < bytes; ++i) {
      const std::uint64_t at = addresses[lane] + i;
      places.insert(at);
      sectors.insert(at / sector);
      lines.insert(at / line);
    }
  }
  return {static_cast<int>(sectors.size()), static_cast<int>(lines.size()), static_cast<int>((places.size() + sector - 1) / sector)};
}

}  // namespace warpmat::checks

// The C interface of bank conflicts.

#include <algorithm>
#include <limits>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include <fmt/core.h>

#include <warpmat/c_explain.h>
#include <warpmat/c_program/handles.h>
#include <warpmat/explain.h>

using namespace warpmat;
using namespace warpmat::c;

namespace {

static_assert(static_cast<int>(checks::BankAccess::store) == WARPMAT_BANK_STORE);
static_assert(static_cast<int>(checks::BankAccess::matrix) == WARPMAT_BANK_MATRIX);
static_assert(static_cast<int>(checks::BankAccess::copy) == WARPMAT_BANK_COPY);

std::span<const std::uint64_t> of_warp(const std::uint64_t* addresses) {
  need(addresses, "addresses");
  return {addresses, warp_size};
}

checks::BankAccess access_of(const warpmat_bank_access& access) {
  if (!is_enumerator(access, WARPMAT_BANK_LOAD, WARPMAT_BANK_COPY))
    throw std::invalid_argument("an access is one of those from WARPMAT_BANK_LOAD to WARPMAT_BANK_COPY");
  return static_cast<checks::BankAccess>(access);
}

/// Refuses what no access of its kind has. `bytes` is a power of two.
void check_access(warpmat_bank_access access, std::uint32_t bytes, std::span<const std::uint64_t> addresses, std::uint32_t lanes) {
  if (access == WARPMAT_BANK_MATRIX && bytes != 16)
    throw std::invalid_argument(fmt::format("ldmatrix and stmatrix access 16 bytes in each lane, not {}", bytes));
  if (access == WARPMAT_BANK_COPY && bytes < 4)
    throw std::invalid_argument(fmt::format("cp.async copies 4, 8 or 16 bytes in each lane, not {}", bytes));
  for (std::size_t lane = 0; lane < addresses.size(); ++lane)
    if ((lanes >> lane & 1) != 0 && addresses[lane] % bytes != 0)
      throw std::invalid_argument(fmt::format("lane {}: address {:#x} is not a multiple of {} bytes", lane, addresses[lane], bytes));
}

std::vector<checks::BankPhase> phases_of(const warpmat_bank_access& access, std::uint32_t bytes, const std::uint64_t* addresses,
                                         std::uint32_t lanes) {
  std::vector<checks::BankPhase> phases = bank_phases(access_of(access), bytes, of_warp(addresses), lanes);  // checks `bytes`
  check_access(access, bytes, of_warp(addresses), lanes);
  return phases;
}

/// Refuses what no access of a warp to global memory has.
void check_request(std::uint32_t bytes, std::span<const std::uint64_t> addresses, std::uint32_t lanes) {
  constexpr std::uint32_t most = 128;
  if (bytes == 0 || bytes > most) throw std::invalid_argument(fmt::format("a lane accesses 1 to {} bytes, not {}", most, bytes));
  for (std::size_t lane = 0; lane < addresses.size(); ++lane)
    if ((lanes >> lane & 1) != 0 && addresses[lane] > std::numeric_limits<std::uint64_t>::max() - (bytes - 1))
      throw std::invalid_argument(fmt::format("lane {}: {} bytes from address {:#x} on end beyond 2^64", lane, bytes, addresses[lane]));
}

}  // namespace

warpmat_status warpmat_find_bank_conflicts(warpmat_bank_access access, uint32_t bytes, const uint64_t* addresses, uint32_t lanes,
                                           const char* target_name, warpmat_bank_conflicts* conflicts, warpmat_error* error) {
  if (target_name != nullptr && find_target_or_card(target_name) == nullptr)
    return report(error, WARPMAT_UNKNOWN_TARGET, "unknown target; warpmat_target_name lists them");
  return done(error, [&] {
    WARPMAT_NEED_SIZE(conflicts, evidence, "conflicts");
    const std::vector<checks::BankPhase> phases = phases_of(access, bytes, addresses, lanes);
    warpmat_bank_conflicts all{};
    if (phases.size() > std::size(all.phase)) throw std::logic_error("more phases than WARPMAT_MOST_BANK_PHASES");
    all.wavefronts = wavefronts(phases);
    all.phases = static_cast<int>(phases.size());
    std::ranges::transform(phases, all.phase, [](const checks::BankPhase& phase) {
      return warpmat_bank_phase{phase.lanes, phase.wavefronts, phase.colliding};
    });
    if (target_name != nullptr) all.evidence = name(bank_evidence(target(target_name).hardware, access_of(access), bytes, lanes)).data();
    copy_out(all, conflicts);
  });
}

warpmat_status warpmat_bank_words(warpmat_bank_access access, uint32_t bytes, const uint64_t* addresses, uint32_t lanes, int phase,
                                  warpmat_bank_word* list, size_t capacity, size_t* count, warpmat_error* error) {
  return done(error, [&] {
    need(count, "count");
    const std::vector<checks::BankPhase> phases = phases_of(access, bytes, addresses, lanes);
    if (phase < 0 || static_cast<std::size_t>(phase) >= phases.size())
      throw std::invalid_argument(fmt::format("the access has {} phases; number {} does not exist", phases.size(), phase));
    const std::vector<checks::BankWord>& words = phases[static_cast<std::size_t>(phase)].words;
    *count = words.size();
    if (list == nullptr) return;
    std::transform(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(std::min(words.size(), capacity)), list,
                   [](const checks::BankWord& word) {
                     return warpmat_bank_word{word.bank, word.word, word.lanes};
                   });
  });
}

warpmat_status warpmat_find_global_request(uint32_t bytes, const uint64_t* addresses, uint32_t lanes, warpmat_global_request* request,
                                           warpmat_error* error) {
  return done(error, [&] {
    WARPMAT_NEED_SIZE(request, least_sectors, "request");
    check_request(bytes, of_warp(addresses), lanes);
    const checks::GlobalRequest found = checks::global_request(bytes, of_warp(addresses), lanes);
    copy_out(warpmat_global_request{request->size, found.sectors, found.lines, found.min_sectors}, request);
  });
}

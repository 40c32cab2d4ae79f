#include <warpmat/cuda/host_access.h>

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <utility>

#include <fmt/core.h>

#include <warpmat/cuda/errors.h>

namespace warpmat::cuda {
namespace {

/// Pages mapped in place of the program's.
struct Replacement {
  std::uint64_t first = 0, bytes = 0;
  void* kept = nullptr;  ///< where the program's pages are meanwhile; null where there were none
  bool contains(std::uint64_t address) const { return address - first < bytes; }
};

/// The state of the signal handler, which must not allocate: the table of replacements has a fixed size.
struct FaultState {
  std::atomic<const std::vector<HostRange>*> ranges = nullptr;
  std::array<Replacement, 4096> replacements;
  std::size_t count = 0;  ///< of replacements
  std::uint64_t first_refused = 0, page_bytes = 4096;
  std::atomic_flag busy;  ///< several threads run a kernel
  struct Signal {
    int number;
    struct sigaction before {};  ///< the program's
  };
  std::array<Signal, 2> signals{{{.number = SIGSEGV}, {.number = SIGBUS}}};
};

FaultState faults;

void* pages_at(std::uint64_t address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

void* map_anonymous(void* at, std::uint64_t bytes, int protection, int flags) {
  return ::mmap(at, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

bool move_pages(void* from, std::uint64_t bytes, void* to) {
  return ::mremap(from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) != MAP_FAILED;
}

/// Maps zeroed pages where there are none.
bool map_missing(const Replacement& made) {
  void* const mapped = map_anonymous(pages_at(made.first), made.bytes, PROT_READ | PROT_WRITE, MAP_FIXED_NOREPLACE);
  if (mapped == pages_at(made.first)) return true;
  if (mapped != MAP_FAILED) ::munmap(mapped, made.bytes);  // of a kernel that takes the address as a hint
  return false;
}

/// Puts a copy of the program's pages, as far as they can be read, in their place. Fails where they are not all of one mapping.
bool replace_pages(Replacement& made) {
  void* const copy = map_anonymous(nullptr, made.bytes, PROT_READ | PROT_WRITE, 0);
  void* const away = map_anonymous(nullptr, made.bytes, PROT_NONE, 0);
  const auto give_up = [&] {
    for (void* const mapped : {copy, away})
      if (mapped != MAP_FAILED) ::munmap(mapped, made.bytes);
    return false;
  };
  if (copy == MAP_FAILED || away == MAP_FAILED) return give_up();
  const iovec to{copy, made.bytes}, from{pages_at(made.first), made.bytes};
  static_cast<void>(::process_vm_readv(::getpid(), &to, 1, &from, 1, 0));
  if (!move_pages(pages_at(made.first), made.bytes, away)) return give_up();
  made.kept = away;
  return move_pages(copy, made.bytes, pages_at(made.first));
}

const HostRange* range_with(std::uint64_t address) {
  const auto* const ranges = faults.ranges.load();
  if (ranges == nullptr) return nullptr;
  for (const HostRange& range : *ranges)
    if (address - range.first < range.bytes) return &range;
  return nullptr;
}

bool is_replaced(std::uint64_t address) {
  for (std::size_t i = 0; i < faults.count; ++i)
    if (faults.replacements[i].contains(address)) return true;
  return false;
}

/// Puts pages at the address: as many up to the end of its range as can be had at once.
bool replace_at(std::uint64_t address) {
  const HostRange* const range = range_with(address);
  if (range == nullptr) return false;
  if (is_replaced(address)) return true;  // another thread was here
  if (faults.count == faults.replacements.size()) return false;
  const std::uint64_t page = address / faults.page_bytes * faults.page_bytes;
  for (std::uint64_t pages = (range->first + range->bytes - 1 - page) / faults.page_bytes + 1; pages != 0; pages /= 2) {
    Replacement made{.first = page, .bytes = pages * faults.page_bytes};
    if (!map_missing(made) && !replace_pages(made)) continue;
    if (faults.count == 0) faults.first_refused = address;
    faults.replacements[faults.count++] = made;
    return true;
  }
  return false;
}

/// Leaves a signal to the program's handler. Where it has none, the access is made once more, and ends the program.
void leave_to_program(int number, siginfo_t* information, void* context) {
  const FaultState::Signal& signal = faults.signals[number == SIGSEGV ? 0 : 1];
  if ((signal.before.sa_flags & SA_SIGINFO) != 0) return signal.before.sa_sigaction(number, information, context);
  if (signal.before.sa_handler != SIG_DFL && signal.before.sa_handler != SIG_IGN) return signal.before.sa_handler(number);
  ::sigaction(number, &signal.before, nullptr);
  if (information->si_code <= 0) ::raise(number);  // another process sent it
}

void on_fault(int number, siginfo_t* information, void* context) {
  while (faults.busy.test_and_set()) continue;
  const bool done = information->si_code > 0 && replace_at(reinterpret_cast<std::uintptr_t>(information->si_addr));
  faults.busy.clear();
  if (!done) leave_to_program(number, information, context);
}

}  // namespace

HostAccess::HostAccess(std::vector<HostRange> ranges) : ranges_(std::move(ranges)) {
  if (ranges_.empty()) return;
  faults.page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  faults.ranges = &ranges_;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  for (FaultState::Signal& signal : faults.signals) ::sigaction(signal.number, &action, &signal.before);
}

HostAccess::~HostAccess() {
  if (ranges_.empty()) return;
  for (const FaultState::Signal& signal : faults.signals) {
    struct sigaction now {};
    ::sigaction(signal.number, nullptr, &now);
    if (now.sa_sigaction == on_fault) ::sigaction(signal.number, &signal.before, nullptr);  // else the program has a new one
  }
  faults.ranges = nullptr;
  for (; faults.count != 0; --faults.count) {
    const Replacement& last = faults.replacements[faults.count - 1];
    if (last.kept == nullptr)
      ::munmap(pages_at(last.first), last.bytes);
    else
      static_cast<void>(move_pages(last.kept, last.bytes, pages_at(last.first)));
  }
}

std::optional<std::uint64_t> HostAccess::refused() const {
  return faults.count == 0 ? std::nullopt : std::optional(faults.first_refused);
}

std::string refused_text(std::uint64_t address) {
  return fmt::format("{:#x} is no memory that the program can use: it is not mapped, is protected, or lies behind the end of its file",
                     address);
}

void access_host(std::vector<HostRange> ranges, const std::function<void()>& body) {
  const HostAccess access(std::move(ranges));
  body();
  if (const auto address = access.refused()) throw ApiError(cudaErrorInvalidValue, refused_text(*address));
}

}  // namespace warpmat::cuda

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace warpmat::cuda {

/// Bytes at the program's own addresses.
struct HostRange {
  std::uint64_t first = 0, bytes = 0;
};

/// Makes errors of accesses to the program's memory that would end it: the program may have unmapped what it registered, protected it, or
/// cut off the file behind it. As long as this lives, such an access in one of the ranges is to other pages, which lie there until it ends.
/// One lives at a time, under mutex().
class HostAccess {
 public:
  explicit HostAccess(std::vector<HostRange> ranges);
  HostAccess(const HostAccess&) = delete;
  HostAccess& operator=(const HostAccess&) = delete;
  ~HostAccess();

  /// The address of the first access that the program could not have made.
  std::optional<std::uint64_t> refused() const;

 private:
  std::vector<HostRange> ranges_;
};

/// Runs `body`, which reads or writes these ranges. Throws ApiError with cudaErrorInvalidValue where the program could not do that.
void access_host(std::vector<HostRange> ranges, const std::function<void()>& body);
/// Says of the address what HostAccess::refused() means.
std::string refused_text(std::uint64_t address);

}  // namespace warpmat::cuda

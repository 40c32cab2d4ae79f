#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace warpmat::programs {

/// Memory that the program has from the driver, or has registered.
struct Allocation {
  std::string name;  ///< "cuMemAlloc_3": the call, and the allocation's number
  std::uint64_t bytes = 0;
  bool host = false;  ///< pinned or registered: the host reads it at its address
};

/// All of it, by address.
class Allocations {
 public:
  void add(std::uint64_t address, std::uint64_t bytes, const char* call, bool host = false) {
    if (address != 0 && bytes != 0) all_[address] = {std::string(call) + "_" + std::to_string(++count_), bytes, host};
  }
  void remove(std::uint64_t address) { all_.erase(address); }
  void remove(std::uint64_t first, std::uint64_t bytes) { all_.erase(all_.lower_bound(first), all_.lower_bound(first + bytes)); }
  void clear() { all_.clear(); }
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const auto& each : all_) sum += each.second.bytes;
    return sum;
  }
  const std::map<std::uint64_t, Allocation>& all() const { return all_; }

 private:
  std::map<std::uint64_t, Allocation> all_;
  std::uint64_t count_ = 0;
};

}  // namespace warpmat::programs

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <warpmat/checks/checks.h>
#include <warpmat/ir/code.h>

namespace warpmat::checks {

/// Reports what breaks the rules of wgmma (PTX ISA 9.1 section 9.7.15): accumulators and registers of A that are used before the wait, a
/// missing wgmma.fence, operands in shared memory that change between a statement and the wait for it. Always made.
class WgmmaCheck : public machine::Observer {
 public:
  WgmmaCheck(const Setup& setup, std::uint64_t cluster);

  void block_begins(const machine::BlockEvent& event) override;
  void operation(const machine::Event& event) override;
  void run(const machine::RunEvent& event) override;
  void performs(const machine::Event& event) override;
  void product_issues(const machine::ProductEvent& event) override;
  void product_completes(const machine::ProductEvent& event) override;
  void barrier_completes(const machine::BarrierEvent& event) override;

 private:
  /// The last writer of a register.
  struct Write {
    std::uint64_t time = 0;  ///< WarpRegisters::time then; 0: none
    std::uint32_t statement = 0;
  };
  /// A product that has not completed. Registers have numbers: their byte offset among the warp's, divided by their alignment.
  struct Pending {
    const code::Operation* operation;
    std::size_t frame;  ///< byte offset of its function's registers
  };
  /// The accumulators that some pending products have in common.
  struct Accumulators {
    std::uint32_t number;    ///< of their registers: of ProductRegisters::accumulators
    std::size_t frame;       ///< as Pending::frame
    std::uint32_t products;  ///< their number
    std::uint64_t issued;    ///< WarpRegisters::time of the last of them
  };
  struct WarpRegisters {
    std::vector<Pending> pending;  ///< in the order of their statements
    std::uint64_t time = 0;        ///< the number of operations so far
    std::uint64_t fenced_at = 0;   ///< the time of the last wgmma.fence; 0: none
    bool fences = false;           ///< the warp waits at wgmma.fence, not at wgmma.wait_group
    std::vector<Write> writes;     ///< by register
    std::vector<std::uint64_t>
        used;  ///< by register: the time of the last product of which it is an accumulator that is complete, or operand a
    std::vector<Accumulators> groups;    ///< of the pending products
    std::vector<std::uint32_t> users;    ///< by register: the number of those groups that have it
    std::vector<std::uint32_t> readers;  ///< by register: the number of pending products that read it as operand a
  };

  WarpRegisters& registers(const machine::Event& event);
  std::size_t number_of(const code::Operation& operation) const;
  std::vector<Accumulators>::iterator group_of(WarpRegisters& warp, const Pending& product) const;
  void follow(const machine::Event& event, std::uint32_t ahead, std::size_t frame, std::uint64_t time, WarpRegisters& warp);
  void check_use(const machine::Event& event, std::uint32_t ahead, std::size_t frame, const WarpRegisters& warp) const;
  template <typename Visit>
  void for_each_result(std::size_t frame, const code::Operation& operation, Visit visit) const;
  template <typename Visit>
  void for_each_source(std::size_t frame, const code::Operation& operation, int count, Visit visit) const;
  template <typename Visit>
  void for_each_of_a(std::size_t frame, const code::Operation& operation, Visit visit) const;

  void report_unfenced(const machine::Event& event, const WarpRegisters& warp, std::size_t number, const char* what);

  const Setup& setup_;
  const std::uint64_t cluster_;
  std::vector<std::vector<WarpRegisters>> warps_;  ///< by rank and warp
};

}  // namespace warpmat::checks

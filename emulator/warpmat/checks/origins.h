#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include <warpmat/checks/byte_flow.h>
#include <warpmat/checks/checks.h>
#include <warpmat/checks/origin.h>
#include <warpmat/tables/form.h>
#include <warpmat/tables/wgmma.h>

namespace warpmat::checks {

/// An operand of a product, as the origins of its elements: `lines` rows of A or columns of B by `depth` elements along k.
struct OperandOrigins {
  int lines = 0, depth = 0;
  std::vector<Origin> elements{};  ///< by line, then along k
  const Origin& at(int line, int k) const { return elements[static_cast<std::size_t>(line * depth + k)]; }
};

/// The product that one warp forms by mma, wmma.mma or its part of a wgmma.mma_async.
struct OriginProduct {
  const machine::Event& event;
  const Form& form;                                   ///< of wgmma: its tile
  OperandOrigins a, b;                                ///< a.depth is half of b.depth if A is sparse
  std::vector<Origin> c{};                            ///< by row and column
  std::vector<bool> c_zero{};                         ///< whether the element is zero
  OperandOrigins scales_a{}, scales_b{}, metadata{};  ///< by line and block of k; without lines where the form has none
  const Origin& c_at(int row, int column) const { return c[static_cast<std::size_t>(row * b.lines + column)]; }
};

/// Follows where bytes come from, through registers, shared and local memory of a cluster. What reads global memory, multiplies or writes
/// to global memory is told to a derived class, which says what is of interest.
class Origins : public machine::Observer {
 public:
  explicit Origins(const Setup& setup);

  void block_begins(const machine::BlockEvent& event) override;
  void operation(const machine::Event& event) override;
  void performs(const machine::Event& event) override;
  void exchange(const machine::ExchangeEvent& event) override;
  void access(const machine::AccessEvent& event) override;
  void remote_access(const machine::RemoteAccess& event) override;
  void calls(const machine::CallEvent& event) override;
  void returns(const machine::CallEvent& event) override;
  void bulk_reads(const machine::BulkEvent& event) override;
  void bulk_completes(const machine::BulkEvent& event) override;
  void product_issues(const machine::ProductEvent& event) override;

 protected:
  /// Bytes that are written to global memory.
  struct GlobalWrite {
    std::uint64_t address;
    std::uint32_t bytes;
    const Origin* origins;  ///< of each of them
    std::uint32_t statement;
    int warp, lane;
    bool adds;  ///< atom, red, cp.reduce
  };

  /// Whether bytes of global memory at `address` are followed.
  virtual bool follows(std::uint64_t address) const = 0;
  /// The number of the product, for Origin::of_sum; nothing if its results are not followed.
  virtual std::optional<std::uint32_t> multiplies(const OriginProduct& product) = 0;
  /// What is computed from two different elements of products, by an addition if `adds`.
  virtual Origin combines(const Origin& a, const Origin& b, bool adds) = 0;
  virtual void writes(const GlobalWrite& write, const machine::WarpState& warp) = 0;

  const Setup& setup() const { return setup_; }
  Ways& ways() { return ways_; }
  std::span<const Origin> shared(int rank) const { return blocks_[static_cast<std::size_t>(rank)].shared; }

 private:
  struct BlockOrigins {
    const std::uint8_t* first;
    std::vector<Origin> shared;
    std::vector<WarpOrigins> warps;
    std::vector<const machine::WarpState*> states;  ///< of warps that have executed something
  };
  /// Where the elements of an operand of a form lie in the registers of the operand.
  struct ElementPlace {
    std::uint16_t reg;
    std::uint8_t lane, byte, bit;
  };
  struct FormPlaces {
    int products = 1;
    std::vector<ElementPlace> a, b, c, d;  ///< by product, line and k; by product, row and column
  };
  struct CachedFlow {
    std::uint64_t key = 0;
    ByteFlow flow;
  };

  BlockOrigins& block(const machine::Event& event);
  WarpOrigins& registers(const machine::Event& event);
  std::size_t place(const machine::Event& event, code::Slot slot) const;
  const RegisterOrigins* find(const machine::Event& event, code::Slot slot);
  std::uint32_t step(std::uint32_t way, std::uint32_t Way::*member, std::uint32_t statement, int warp = -1);
  void clear_results(const machine::Event& event, LaneMask lanes);

  void compute(const machine::Event& event);
  const ByteFlow& flow_of(const machine::Event& event, const std::vector<const RegisterOrigins*>& known);
  Origin combined(const std::vector<SourceByte>& parts, const std::vector<const RegisterOrigins*>& known, int lane, bool sums);
  void select(const machine::Event& event);

  void load(const machine::AccessEvent& event, code::Slot slot, std::size_t at, std::uint32_t bytes, int width, int first_byte);
  void store(const machine::AccessEvent& event, code::Slot slot, std::size_t at, std::uint32_t bytes, int first_byte);
  Origin read(const machine::AccessEvent& event, int lane, std::size_t at);
  Origin in_global(std::uint64_t address, std::uint32_t way) const;
  void copy_asynchronously(const machine::AccessEvent& event);
  void move_rows(const machine::AccessEvent& event, const Form& form);
  void move_run(const machine::AccessEvent& event);
  void transpose(const machine::Event& event, const Form& form);

  const FormPlaces& places(const Form& form);
  static Origin element(const RegisterOrigins* from, const ElementPlace& place, const Fragment& fragment);
  void multiply(const machine::Event& event, const Form& form);
  void find_companions(const machine::Event& event, const Form& form, OriginProduct& product);
  OperandOrigins companions(const machine::Event& event, const Form& form, OperandName name, int matrix, int first_source);
  void write_results(const machine::Event& event, const Fragment& fragment, const std::vector<ElementPlace>& places, std::size_t first,
                     int first_slot, int first_column, std::optional<std::uint32_t> number);
  OperandOrigins in_shared(const machine::Event& event, const std::vector<std::uint32_t>& chunks, Major major, int lines, int depth,
                           int bits);

  const Setup& setup_;
  const bool has_companions_;  ///< whether a form has scale factors or metadata: then all of global memory is followed
  Ways ways_;
  std::vector<BlockOrigins> blocks_;  ///< by rank
  std::unordered_map<const std::uint8_t*, Origin> local_;
  std::unordered_map<const code::Operation*, CachedFlow> flows_;
  std::unordered_map<const Form*, FormPlaces> places_;
  std::unordered_map<std::uint64_t, std::vector<Origin>> reads_;  ///< what bulk copies that have not completed have read, by number
  std::size_t run_ = 0;                                           ///< wmma: the next of its runs
};

}  // namespace warpmat::checks

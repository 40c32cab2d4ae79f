#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include <warpmat/forms.h>
#include <warpmat/ir/code.h>
#include <warpmat/observer.h>
#include <warpmat/provenance/byte_flow.h>
#include <warpmat/provenance/origin.h>
#include <warpmat/wgmma.h>

namespace warpmat::provenance {

/// An operand of a product, as the origins of its elements: `lines` rows of A or columns of B by `depth` elements along k.
struct OperandOrigins {
  int lines = 0, depth = 0;
  std::vector<Origin> elements{};  ///< by line, then along k
  /// Contents with one `id` are the same; those of one `slot` replace each other. Slots are numbered from 0 on.
  std::uint32_t slot = 0;
  std::uint64_t id = 0;
  const Origin& at(int line, int k) const { return elements[static_cast<std::size_t>(line * depth + k)]; }
};

/// The product that one warp forms by mma, wmma.mma or its part of a wgmma.mma_async.
struct OriginProduct {
  const machine::Event& event;
  const Form& form;                                   ///< of wgmma: its tile
  const OperandOrigins &a, &b;                        ///< a.depth is half of b.depth if A is sparse
  std::vector<Origin> c{};                            ///< by row and column; empty if none has an origin, or if `whole` says all
  std::optional<std::uint32_t> whole{};               ///< the product whose results the accumulators are, element by element
  OperandOrigins scales_a{}, scales_b{}, metadata{};  ///< by line and block of k; without lines where the form has none
  Origin c_at(int row, int column) const {
    if (whole) return Origin::of_sum(*whole, row, column);
    return c.empty() ? Origin{} : c[static_cast<std::size_t>(row * b.lines + column)];
  }
  /// The product whose results all accumulators are, element by element: one of zeros beyond the end of K leaves them as they are.
  std::optional<std::uint32_t> previous() const;
};

/// Follows where bytes come from, through registers, shared and local memory of a cluster. What reads global memory, multiplies or writes
/// to global memory is told to a derived class, which says what is of interest.
class Origins : public machine::Observer {
 public:
  explicit Origins(const code::Program& program);

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
  /// Is called before a product is looked at: numbers of products that products_in_use() does not have may now name others.
  virtual void collect() {}
  /// A lane's part of a scalar operation.
  struct Computation {
    const machine::Event& event;
    int lane;
    bool adds;  ///< or subtracts
  };

  /// What is computed from two different origins that are of_product().
  virtual Origin combines(const Origin& a, const Origin& b, const Computation& how) = 0;
  virtual void writes(const GlobalWrite& write, const machine::WarpState& warp) = 0;

  const code::Program& program() const { return program_; }
  Ways& ways() { return ways_; }
  const Ways& ways() const { return ways_; }
  /// The products, by number, whose results some byte still has. Forgets operands that were looked at.
  std::vector<bool> products_in_use(std::size_t products);
  /// Of a register of the event's warp; nullptr: no byte has an origin.
  const RegisterOrigins* find(const machine::Event& event, code::Slot slot);
  std::span<const Origin> shared(int rank) const { return blocks_[static_cast<std::size_t>(rank)].shared; }
  /// Of a byte of a lane's local memory.
  Origin local(const std::uint8_t* place) const {
    const auto found = local_.find(place);
    return found == local_.end() ? Origin{} : found->second;
  }

 private:
  /// What a descriptor of B names: the warps of a warpgroup read it one after the other.
  struct SharedOperand {
    std::vector<std::uint32_t> chunks{};
    std::uint64_t changes = 0;
    std::uint32_t statement = Way::no_statement;
    OperandOrigins origins{};
  };
  struct BlockOrigins {
    const std::uint8_t* first;
    std::vector<Origin> shared;
    std::vector<WarpOrigins> warps;
    std::vector<const machine::WarpState*> states;  ///< of warps that have executed something
    std::uint64_t changes = 0;                      ///< of `shared`
    SharedOperand operand_b{};
  };
  /// Where the elements of an operand of a form lie in the registers of the operand.
  struct ElementPlace {
    std::uint16_t reg;
    std::uint8_t lane, byte, bit;
    friend bool operator==(const ElementPlace&, const ElementPlace&) = default;
  };
  struct FormPlaces {
    int products = 1;
    std::vector<ElementPlace> a, b, c, d;       ///< by product, line and k; by product, row and column
    std::vector<const SumPattern*> patterns{};  ///< by register of d; none if there are several products
    bool c_as_d = false;                        ///< registers of c are those of d
  };
  /// Where an element of a register of ldmatrix or stmatrix lies.
  struct RowByte {
    std::uint8_t reg, lane, byte;  ///< byte: of the register
    std::uint8_t row_lane;         ///< the lane that has the address of the row
    std::uint16_t row_bit;
  };
  /// The elements of an operand that were found last in these registers.
  struct CachedOperand {
    const Form* form = nullptr;
    OperandName name{};
    int product = 0;
    const WarpOrigins* warp = nullptr;
    std::vector<std::pair<std::size_t, std::uint64_t>> registers{};  ///< places and stamps
    OperandOrigins origins{};
  };
  /// What is known of a scalar operation.
  struct StatementFlow {
    bool depends = false;  ///< on the values of sources without an origin
    bool adds = false;
    std::uint64_t key = 0;  ///< for which `flow` was found
    std::shared_ptr<const ByteFlow> flow{};
  };

  BlockOrigins& block(const machine::Event& event);
  WarpOrigins& registers(const machine::Event& event);
  std::size_t place(const machine::Event& event, code::Slot slot) const;
  std::uint32_t step(std::uint32_t way, std::uint32_t Way::*member, std::uint32_t statement, int warp = -1);
  void clear_results(const machine::Event& event, LaneMask lanes);
  void move_registers(const machine::Event& event, std::size_t from, code::Slot from_slot, std::size_t to);

  void compute(const machine::Event& event);
  /// By source; nullptr: no byte has an origin.
  using Sources = std::array<const RegisterOrigins*, 17>;
  StatementFlow& flow_of(const machine::Event& event, const Sources& known);
  std::optional<Origin> of_elements(const Sources& known, std::uint32_t sources, const Computation& how);
  Origin joined(const Origin& a, const Origin& b, const Computation& how);
  Origin combined(std::span<const SourceByte> parts, const Sources& known, const Computation& how);
  bool all_computed(const machine::Event& event, const ByteFlow& flow, const Sources& known) const;
  void select(const machine::Event& event);

  void load(const machine::AccessEvent& event, code::Slot slot, std::size_t at, std::uint32_t bytes, int width, int first_byte);
  void store(const machine::AccessEvent& event, code::Slot slot, std::size_t at, std::uint32_t bytes, int first_byte);
  void read(const machine::AccessEvent& event, int lane, std::size_t at, std::span<Origin> to);
  Origin in_global(std::uint64_t address, std::uint32_t way) const;
  void copy_asynchronously(const machine::AccessEvent& event);
  void move_rows(const machine::AccessEvent& event, const Form& form);
  void move_run(const machine::AccessEvent& event);
  void transpose(const machine::Event& event, const Form& form);

  const FormPlaces& places(const Form& form);
  const SumPattern* pattern(const Fragment& fragment, const std::vector<ElementPlace>& places, int reg);
  static Origin element(const RegisterOrigins* from, const ElementPlace& place, const Fragment& fragment);
  const OperandOrigins& operand(const machine::Event& event, const Form& form, OperandName name, const std::vector<ElementPlace>& from,
                                int product);
  const RegisterOrigins& peek(const machine::Event& event, code::Slot slot);
  void find_accumulators(OriginProduct& product, const FormPlaces& places, OperandName name, const std::vector<code::Slot>& slots);
  const std::vector<RowByte>& row_bytes(const Form& form);
  void multiply(const machine::Event& event, const Form& form);
  void find_companions(const machine::Event& event, const Form& form, OriginProduct& product);
  OperandOrigins companions(const machine::Event& event, const Form& form, OperandName name, int matrix, int first_source);
  void write_results(const machine::Event& event, const Fragment& fragment, const FormPlaces& places, int product, int first_slot,
                     int first_column, std::optional<std::uint32_t> number);
  const OperandOrigins& operand_b(const machine::Event& event, const std::vector<std::uint32_t>& chunks, Major major, int lines, int depth,
                                  int bits);
  OperandOrigins in_shared(const machine::Event& event, const std::vector<std::uint32_t>& chunks, Major major, int lines, int depth,
                           int bits);

  const code::Program& program_;
  const bool has_companions_;  ///< whether a form has scale factors or metadata: then all of global memory is followed
  Ways ways_;
  std::vector<BlockOrigins> blocks_;  ///< by rank
  std::unordered_map<const std::uint8_t*, Origin> local_;
  std::vector<StatementFlow> statements_;  ///< by statement
  std::unordered_map<std::uint64_t, std::shared_ptr<const ByteFlow>> flows_;
  std::unordered_map<const Form*, FormPlaces> places_;
  std::unordered_map<const Form*, std::vector<RowByte>> row_bytes_;
  std::deque<SumPattern> patterns_;
  std::unordered_map<std::uint64_t, CachedOperand> operands_;
  struct LastStep {
    std::uint32_t way = Way::no_statement;
    std::uint32_t Way::*member = nullptr;
    std::uint32_t statement = 0;
    int warp = -1;
    std::uint32_t longer = 0;
  };
  std::array<LastStep, 2> last_steps_{};
  static constexpr std::uint32_t slot_of_a_ = 0;                  ///< of operands a in shared memory
  std::uint32_t slots_ = 1;                                       ///< of OperandOrigins
  std::uint64_t contents_ = 0;                                    ///< OperandOrigins::id of the last
  bool sums_ = false;                                             ///< whether a register has had elements of a product's result
  std::unordered_map<std::uint64_t, std::vector<Origin>> reads_;  ///< what bulk copies that have not completed have read, by number
  std::size_t run_ = 0;                                           ///< wmma: the next of its runs
};

}  // namespace warpmat::provenance

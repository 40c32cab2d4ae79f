#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <warpmat/version.h>

namespace warpmat {

// ---- Sets of lanes ----

/// A set of lanes of a warp, or the predicate register of a warp: bit i is lane i.
using LaneMask = std::uint32_t;

WARPMAT_LOCAL inline constexpr LaneMask all_lanes = 0xffffffff;

inline constexpr LaneMask lane_bit(int lane) {
  return LaneMask{1} << lane;
}

/// The lowest lane of a mask that is not empty.
inline constexpr int first_lane(LaneMask mask) {
  return std::countr_zero(mask);
}

// ---- Registers, shared memory, traps ----

WARPMAT_LOCAL inline constexpr int warp_size = 32;

/// One 32-bit register of a warp: a word for each lane. A 64-bit operand is two registers, the low half first. The alignment keeps vectors
/// of lanes from crossing a cache line.
struct alignas(64) Register : std::array<std::uint32_t, warp_size> {};

/// CUDA's dim3.
struct WARPMAT_API Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

enum class OperandName : std::uint8_t;  // forms.h

/// An error of what is executed: an instruction, a list of statements or a kernel. It says what is wrong (kind, address, reason) and where.
/// An instruction that raised it has changed nothing. An error of a kernel ends the launch. Nothing changes a Trap.
class WARPMAT_API Trap : public std::runtime_error {
 public:
  enum class Kind : std::uint8_t {
    misuse,        ///< lanes, operands or barriers violate PTX's rules
    undefined,     ///< the ISA does not define what a matrix instruction's operand holds, or what a shuffle reads: Checks::lanes
    misaligned,    ///< an address is not a multiple of the access size
    out_of_range,  ///< an access outside its memory
    unwritten,     ///< an uninitialised value affects the result: Checks::uninitialised
    unordered,     ///< two accesses are not ordered: Checks::copies, Checks::races
    deadlock,      ///< every warp that has not exited waits
    limit,         ///< LaunchOptions::most_operations and ::stop
    stopped,       ///< the kernel executed a trap, or its own assertion failed
    mispaired,     ///< a matrix instruction multiplies, or a statement stores, what the products of a ProductCheck rule out
    refused,       ///< a callback of RowMemory refused a row
  };
  /// A line of the source, as .loc has it.
  struct SourceLine {
    std::string file;           ///< as the compiler wrote it
    int line = 0, column = 0;   ///< from 1 on; 0: not known
    std::string function = {};  ///< in which the line is, where that is inlined in the line that follows; empty: not known
  };
  /// A statement of a kernel's PTX.
  struct Place {
    int line = 0;                               ///< of the PTX, from 1 on; 0: no statement
    std::string statement = {};                 ///< the opcode
    std::vector<SourceLine> source_lines = {};  ///< the line, then those that it is inlined in, outwards
    std::string source = {};                    ///< the same as a text: "file.cu:12"
  };
  /// What else takes part in an error.
  struct Note {
    std::string text;  ///< "stored here by warp 3"
    Place at = {};
  };
  /// What is wrong, in parts. A text alone is a headline.
  struct WARPMAT_API Reason {
    Reason(std::string of, std::vector<Note> with = {}, std::string do_this = {});
    Reason(const char* of) : Reason(std::string(of)) {}
    std::string headline;
    std::vector<Note> notes;
    std::string help;  ///< what to do about it; may be empty
    /// All parts in a line: "HEADLINE; NOTE: line 9 (st.shared.u32; file.cu:12); HELP".
    std::string text() const;
  };
  /// The place of the error. Outside of kernels only lane, warp and operand are known.
  struct Site {
    std::string kernel = {};  ///< its name in PTX; empty outside of kernels
    Dim3 block{0, 0, 0};
    std::int64_t warp = 0;                      ///< in its block; in a batch
    int lane = -1;                              ///< 0 to 31; -1 if no single lane is at fault
    int line = 0;                               ///< of the PTX, from 1 on
    std::string statement = {};                 ///< the opcode
    std::string source = {};                    ///< "file.cu:12", if the PTX has .loc
    std::optional<OperandName> operand = {};    ///< of a matrix instruction
    std::vector<SourceLine> source_lines = {};  ///< of `source`, in parts
  };

  /// `text`: the whole message.
  Trap(Kind kind, Site site, std::optional<std::uint64_t> address, Reason reason, const std::string& text);
  /// Of an instruction that knows neither kernel nor text. `where` names the place if it is known: "line 7".
  Trap(Kind kind, std::optional<OperandName> operand, int lane, std::optional<std::uint64_t> address, const std::string& reason,
       const std::string& where = {});

  /// The same trap of an instruction, of which `where` is known now, or also the number of its warp.
  [[nodiscard]] Trap at(const std::string& where) const { return at(where, site.warp); }
  [[nodiscard]] Trap at(const std::string& where, std::int64_t warp) const;
  /// The same trap, which is about `operand`.
  [[nodiscard]] Trap of(OperandName operand) const;
  /// The same trap with another reason.
  [[nodiscard]] Trap because(const Reason& other_reason) const;

  const Kind kind;
  const Site site;
  const std::optional<std::uint64_t> address;  ///< of the wrong byte, in shared memory outside of kernels
  const Reason parts;                          ///< what is wrong and what would be right
  const std::string reason;                    ///< parts.text()
};

/// The shared memory of a warp: bytes from address `base` on, every access checked. On some GPUs a kernel's shared memory does not begin at
/// 0.
class WARPMAT_API SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes = 0, std::uint32_t base = 0) : SharedMemory(std::vector<std::uint8_t>(bytes), base) {}
  explicit SharedMemory(std::vector<std::uint8_t> bytes, std::uint32_t base = 0) : owned_(std::move(bytes)), bytes_(owned_), base_(base) {}
  /// Memory that uses `bytes`, which must outlive it.
  [[nodiscard]] static SharedMemory borrowing(std::span<std::uint8_t> bytes, std::uint32_t base = 0);

  SharedMemory(const SharedMemory& other)
      : owned_(other.owned_), bytes_(other.owned_.empty() ? other.bytes_ : std::span(owned_)), base_(other.base_) {}
  SharedMemory(SharedMemory&&) = default;
  SharedMemory& operator=(SharedMemory other) noexcept;
  ~SharedMemory() = default;

  std::size_t size() const { return bytes_.size(); }
  std::uint32_t base() const { return base_; }
  std::span<std::uint8_t> bytes() { return bytes_; }
  std::span<const std::uint8_t> bytes() const { return bytes_; }

  /// The `size` bytes at `address`, for `lane`. Throws Trap unless `address` is a multiple of `size` and the bytes are inside. `what` names
  /// the access in the message: "row".
  std::span<std::uint8_t> at(int lane, std::uint64_t address, std::size_t size, const char* what);
  std::span<const std::uint8_t> at(int lane, std::uint64_t address, std::size_t size, const char* what) const;

 private:
  std::vector<std::uint8_t> owned_;  ///< empty where the bytes are borrowed
  std::span<std::uint8_t> bytes_;
  std::uint32_t base_;
};

}  // namespace warpmat

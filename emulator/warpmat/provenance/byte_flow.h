#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <warpmat/ir/code.h>

namespace warpmat::provenance {

/// A source of a scalar operation: its value in 32 lanes, and the bytes of a lane's value whose way is of interest; 0: none.
struct FlowSource {
  const void* values;
  int width = 0;  ///< 4, 8; 16: two arrays of 8
};

/// Byte `byte` of source `source`.
struct SourceByte {
  std::int16_t source = -1, byte = 0;
  friend bool operator==(const SourceByte&, const SourceByte&) = default;
};

/// From where the bytes of an operation's results come.
struct ByteFlow {
  /// One byte of a result, in one lane.
  struct Byte {
    SourceByte moved{};               ///< it is this byte of a source, unchanged; else source is -1
    std::vector<SourceByte> parts{};  ///< else those bytes of sources of which it depends
  };
  struct Result {
    int width = 0;              ///< 0: a predicate
    std::vector<Byte> bytes{};  ///< by lane and byte if the flow differs between lanes, else by byte
    std::uint32_t sources = 0;  ///< a bit for each source that every byte has, in all lanes
    bool alike = false;         ///< every byte is computed, from bytes of these sources and of no others
  };
  bool by_lane = false;
  std::vector<Result> results{};

  const Byte& of(int result, int lane, int byte) const {
    const Result& r = results[static_cast<std::size_t>(result)];
    return r.bytes[static_cast<std::size_t>((by_lane ? lane * r.width : 0) + byte)];
  }
};

/// Finds it by executing the operation on other bytes in the sources that have a width: a byte of a result that equals a byte of a source
/// in each of many executions was moved, and one that changes with it was computed from it. So the flow needs no list of instructions;
/// masks, shifts and permutations are as exact as a move. `operation` computes (catalogue::computes). `by_lane`: sources without a width
/// differ between lanes, so the flow may.
ByteFlow byte_flow(const code::Program& program, const code::Operation& operation, std::span<const FlowSource> sources, bool by_lane);

}  // namespace warpmat::provenance

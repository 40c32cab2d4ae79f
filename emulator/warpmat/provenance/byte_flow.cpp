#include <warpmat/provenance/byte_flow.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <warpmat/warp.h>

namespace warpmat::provenance {
namespace {

constexpr int most_sources = 17, most_results = 9, most_width = 16;
// Executions after which a byte that always equals another is taken for moved: in all lanes at once, or in a lane alone. A choice of two
// values by their size falls on the same one in all of them by chance of 2^-128 and 2^-16.
constexpr int move_rounds = 4, move_rounds_by_lane = 16;
constexpr int change_rounds = 2;  // executions with one byte changed

struct alignas(64) Values {
  std::array<std::uint8_t, std::size_t{most_width} * warp_size> bytes{};
};

std::size_t index_of(int width, int lane, int byte) {
  if (width == most_width) return static_cast<std::size_t>(byte / 8 * 8 * warp_size + lane * 8 + byte % 8);
  return static_cast<std::size_t>(lane * width + byte);
}

/// Bytes of numbers between about 2^-7 and 2 in each format of 8, 16 and 32 bits, so that a sum depends visibly on each of its terms.
class Bytes {
 public:
  std::uint8_t next(int byte) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    const auto random = static_cast<std::uint8_t>(state_ >> 24);
    return byte % 2 == 0 ? random : static_cast<std::uint8_t>(0x3c | (random & 3));
  }
  static std::uint8_t changed(std::uint8_t value, int byte) { return value ^ (byte % 2 == 0 ? 0xff : 3); }

 private:
  std::uint64_t state_ = 0x9e3779b97f4a7c15ULL;
};

/// An operation on values of ours.
class Trial {
 public:
  Trial(const code::Program& program, const code::Operation& operation, std::span<const FlowSource> sources)
      : program_(program), operation_(operation), sources_(sources), values_(sources.size()), results_(operation.results) {
    for (std::size_t i = 0; i < sources.size(); ++i) pointers_[i] = sources[i].width == 0 ? sources[i].values : values_[i].bytes.data();
  }

  void fill(Bytes& bytes) {
    for (std::size_t s = 0; s < sources_.size(); ++s)
      for (int lane = 0; lane < warp_size; ++lane)
        for (int b = 0; b < sources_[s].width; ++b) values_[s].bytes[index_of(sources_[s].width, lane, b)] = bytes.next(b);
  }

  void change(SourceByte at) {
    const int width = sources_[static_cast<std::size_t>(at.source)].width;
    for (int lane = 0; lane < warp_size; ++lane) {
      std::uint8_t& byte = values_[static_cast<std::size_t>(at.source)].bytes[index_of(width, lane, at.byte)];
      byte = Bytes::changed(byte, at.byte);
    }
  }

  const std::vector<Values>& run() {
    std::array<void*, most_results> to{};
    for (std::size_t i = 0; i < results_.size(); ++i) to[i] = results_[i].bytes.data();
    if (operation_.kernel != nullptr)
      operation_.kernel(to.data(), pointers_.data(), program_.of<scalar::Modifiers>(operation_));
    else
      operation_.function(to.data(), pointers_.data());
    return results_;
  }

  std::uint8_t source(SourceByte at, int lane) const {
    const auto s = static_cast<std::size_t>(at.source);
    return values_[s].bytes[index_of(sources_[s].width, lane, at.byte)];
  }

 private:
  const code::Program& program_;
  const code::Operation& operation_;
  std::span<const FlowSource> sources_;
  std::vector<Values> values_, results_;
  std::array<const void*, most_sources> pointers_{};
};

int width_of(const code::Operation& operation, int result) {
  switch (operation.result_class(std::min(result, 3))) {
    case code::RegisterClass::word: return 4;
    case code::RegisterClass::wide: return 8;
    case code::RegisterClass::quad: return most_width;
    case code::RegisterClass::predicate: return 0;
  }
  return 0;
}

/// The candidates for a move, a bit for each lane, by result byte and source byte.
using Candidates = std::vector<std::vector<LaneMask>>;

void find_moves(ByteFlow& flow, const std::vector<SourceByte>& from, const std::vector<Candidates>& equal) {
  const auto byte_of = [&](std::size_t r, std::size_t b, int lane) {
    const LaneMask needed = flow.by_lane ? lane_bit(lane) : all_lanes;
    SourceByte moved;
    for (std::size_t s = 0; s < from.size() && moved.source < 0; ++s)
      if ((equal[r][b][s] & needed) == needed) moved = from[s];
    return moved;
  };
  for (std::size_t r = 0; r < flow.results.size(); ++r)
    for (int lane = 0; lane < (flow.by_lane ? warp_size : 1); ++lane)
      for (std::size_t b = 0; b < equal[r].size(); ++b) flow.results[r].bytes.push_back({byte_of(r, b, lane), {}});
}

void find_sources(ByteFlow::Result& result) {
  if (result.bytes.empty()) return;
  std::uint32_t all = 0;
  result.sources = ~std::uint32_t{0};
  result.alike = true;
  for (const ByteFlow::Byte& byte : result.bytes) {
    std::uint32_t of_byte = byte.moved.source < 0 ? 0 : 1u << byte.moved.source;
    for (const SourceByte& part : byte.parts) of_byte |= 1u << part.source;
    result.sources &= of_byte;
    all |= of_byte;
    result.alike &= byte.moved.source < 0;
  }
  result.alike &= all == result.sources;
}

}  // namespace

ByteFlow byte_flow(const code::Program& program, const code::Operation& operation, std::span<const FlowSource> sources, bool by_lane) {
  ByteFlow flow;
  flow.by_lane = by_lane;
  for (int i = 0; i < operation.results; ++i) flow.results.push_back({width_of(operation, i), {}});
  std::vector<SourceByte> from;
  for (std::size_t s = 0; s < sources.size(); ++s)
    for (int b = 0; b < sources[s].width; ++b) from.push_back({static_cast<std::int16_t>(s), static_cast<std::int16_t>(b)});

  Trial trial(program, operation, sources);
  Bytes bytes;
  std::vector<Candidates> equal;
  for (const ByteFlow::Result& result : flow.results)
    equal.emplace_back(static_cast<std::size_t>(result.width), std::vector<LaneMask>(from.size(), all_lanes));
  for (int round = 0; round < (by_lane ? move_rounds_by_lane : move_rounds); ++round) {
    trial.fill(bytes);
    const std::vector<Values>& results = trial.run();
    for (std::size_t r = 0; r < equal.size(); ++r)
      for (std::size_t b = 0; b < equal[r].size(); ++b)
        for (int lane = 0; lane < warp_size; ++lane) {
          const std::uint8_t found = results[r].bytes[index_of(flow.results[r].width, lane, static_cast<int>(b))];
          for (std::size_t s = 0; s < from.size(); ++s)
            if (found != trial.source(from[s], lane)) equal[r][b][s] &= ~lane_bit(lane);
        }
  }
  find_moves(flow, from, equal);

  for (int round = 0; round < change_rounds; ++round) {
    trial.fill(bytes);
    const std::vector<Values> before = trial.run();
    for (const SourceByte& changed : from) {
      trial.change(changed);
      const std::vector<Values>& after = trial.run();
      trial.change(changed);
      for (std::size_t r = 0; r < flow.results.size(); ++r) {
        ByteFlow::Result& result = flow.results[r];
        for (std::size_t i = 0; i < result.bytes.size(); ++i) {
          ByteFlow::Byte& byte = result.bytes[i];
          if (byte.moved.source >= 0 || std::ranges::find(byte.parts, changed) != byte.parts.end()) continue;
          const int b = static_cast<int>(i) % result.width;
          for (int lane = 0; lane < warp_size; ++lane) {
            if (flow.by_lane && lane != static_cast<int>(i) / result.width) continue;
            const std::size_t at = index_of(result.width, lane, b);
            if (before[r].bytes[at] == after[r].bytes[at]) continue;
            byte.parts.push_back(changed);
            break;
          }
        }
      }
    }
  }
  for (ByteFlow::Result& result : flow.results) find_sources(result);
  return flow;
}

}  // namespace warpmat::provenance

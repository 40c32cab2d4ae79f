#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace warpmat::machine {

/// The memory of blocks and launches that have ended, for the next blocks of this launch and for later ones: to give it back to the system
/// and ask again costs more than to clear what must be zero. Several threads may call it at once; most have a part of their own, so that
/// none waits for another.
class SpareStorage {
 public:
  struct Piece {
    std::unique_ptr<std::uint8_t[]> bytes;
    std::size_t size = 0;
  };

  /// The same of `spare`, or new memory where that is null.
  static Piece take_from(SpareStorage* spare, std::size_t bytes) {
    return spare != nullptr ? spare->take(bytes) : Piece{std::make_unique_for_overwrite<std::uint8_t[]>(bytes), bytes};
  }

  /// At least `bytes`, with any contents.
  Piece take(std::size_t bytes) {
    const std::size_t own = own_part();
    Piece piece = pop(parts_[own]);
    for (std::size_t i = 1; i < parts && piece.bytes == nullptr; ++i) piece = pop(parts_[(own + i) % parts]);
    if (piece.size < bytes) piece = {std::make_unique_for_overwrite<std::uint8_t[]>(bytes), bytes};
    return piece;
  }

  /// Keeps the piece, or frees it where enough is kept.
  void give(Piece piece) {
    Part& part = parts_[own_part()];
    const std::unique_lock lock(part.mutex, std::try_to_lock);
    if (!lock || part.pieces.size() == most_pieces || part.bytes + piece.size > most_bytes) return;
    part.bytes += piece.size;
    part.pieces.push_back(std::move(piece));
  }

  static constexpr std::size_t parts = 16, most_pieces = 17;  ///< pieces of a part: of the blocks of a cluster, and a launch's constants
  static constexpr std::size_t most_bytes = 4 << 20;          ///< of a part; a larger block is not kept

 private:
  struct alignas(64) Part {  // a cache line of its own
    std::mutex mutex;        // only tried: in a child of fork() it may be locked for ever, by a thread that the child does not have
    std::vector<Piece> pieces;
    std::size_t bytes = 0;
  };

  /// An empty piece where the part has none.
  static Piece pop(Part& part) {
    const std::unique_lock lock(part.mutex, std::try_to_lock);
    if (!lock || part.pieces.empty()) return {};
    Piece piece = std::move(part.pieces.back());
    part.pieces.pop_back();
    part.bytes -= piece.size;
    return piece;
  }

  /// The part of this thread. One that has none left takes from the others, so all keep no more than has been in use at once.
  static std::size_t own_part() {
    static std::atomic<std::size_t> threads = 0;
    thread_local const std::size_t thread = threads++;
    return thread % parts;
  }

  std::array<Part, parts> parts_;
};

}  // namespace warpmat::machine

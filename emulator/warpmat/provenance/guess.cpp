#include <warpmat/provenance.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <warpmat/machine/internals.h>
#include <warpmat/provenance/affine.h>
#include <warpmat/provenance/meetings.h>
#include <warpmat/provenance/pointers.h>
#include <warpmat/provenance/read_pattern.h>

namespace warpmat {

using namespace provenance;

namespace {

constexpr std::uint64_t most_clusters = 256;
constexpr std::size_t most_elements = std::size_t{1} << 18;
constexpr double least_agreement = 0.55;    ///< of rows, columns and k
constexpr double least_of_matching = 0.35;  ///< where the buffers have the sizes of a product
constexpr std::size_t most_products = 64;

using Buffers = std::array<std::uint64_t, matrix_count>;  ///< their addresses

/// The meetings of all clusters.
Meetings joined(const std::map<std::uint64_t, Meetings>& clusters) {
  Meetings all;
  for (const auto& [number, one] : clusters) {
    all.stored.insert(all.stored.end(), one.stored.begin(), one.stored.end());
    all.along_k.insert(one.along_k.begin(), one.along_k.end());
    for (std::size_t matrix = 0; matrix < matrix_count; ++matrix) {
      for (const auto& [bits, count] : one.distances[matrix]) all.distances[matrix][bits] += count;
      for (const auto& [bits, count] : one.widths[matrix]) all.widths[matrix][bits] += count;
    }
    all.products += one.products;
    all.multiplied += one.multiplied;
    all.chained += one.chained;
    all.sparse |= one.sparse;
  }
  return all;
}

/// The width that most elements have; of factors that are all computed the largest whose multiples they begin at, but for a few.
int width_of(const Meetings& all, const std::vector<const Meeting*>& meetings, MatrixNumber number, std::uint64_t address) {
  const auto& widths = all.widths[number];
  if (!widths.empty()) return std::ranges::max_element(widths, {}, [](const auto& width) { return width.second; })->first;
  for (const int width : {64, 32, 16, 8}) {
    const auto multiples = static_cast<std::size_t>(std::ranges::count_if(
        meetings, [&](const Meeting* m) { return (m->bits[number] - address * 8) % static_cast<std::uint64_t>(width) == 0; }));
    if (multiples * 20 >= meetings.size() * 19) return width;
  }
  return 4;
}

}  // namespace

struct Guesser::State {
  State(const Kernel& kernel_, const LaunchConfig& config_, const DeviceMemory& memory_, const std::vector<Argument>& arguments_)
      : kernel(kernel_), config(config_), memory(memory_) {
    for (std::size_t i = 0; i < std::min(arguments_.size(), program_of(kernel).parameters.size()); ++i) {
      const std::vector<std::uint8_t>& bytes = arguments_[i].bytes();
      std::uint64_t value = 0;
      if (bytes.size() == 4 || bytes.size() == 8) std::memcpy(&value, bytes.data(), bytes.size());
      if (const auto pointer = pointer_of(arguments_[i], memory)) pointers.push_back(*pointer);
      if (value > 1 && value < 1 << 24) hints.numbers.push_back(value);
    }
    std::set<std::uint64_t> parts{config.grid.x, config.grid.y, config.grid.z};
    for (const std::uint64_t number : parts)
      if (number > 1 && number <= most_products) hints.parts.push_back(number);
  }

  std::uint64_t clusters() const {
    const std::uint64_t blocks = program_of(kernel).limits.cluster(config.cluster).count();
    return std::max<std::uint64_t>(1, config.grid.count() / std::max<std::uint64_t>(1, blocks));
  }
  std::uint64_t step() const { return (clusters() + most_clusters - 1) / most_clusters; }

  /// Where a matrix in the buffer begins: at the last address that the kernel got and that no element lies before, but for a few.
  std::uint64_t start_of(const DeviceMemory::Buffer& buffer, const std::vector<const Meeting*>& meetings, MatrixNumber number) const {
    std::vector<std::uint64_t> bits;
    for (const Meeting* const meeting : meetings) bits.push_back(meeting->bits[number]);
    const auto low = bits.begin() + static_cast<std::ptrdiff_t>(bits.size() / 100);
    std::ranges::nth_element(bits, low);
    std::uint64_t start = buffer.address;
    for (const std::uint64_t pointer : pointers)
      if (pointer >= buffer.address && pointer < buffer.end() && pointer * 8 <= *low) start = std::max(start, pointer);
    return start;
  }

  /// By which the kernel's user knows the matrix: the buffer, or the number of the parameter with its address.
  std::string name_of(std::uint64_t address) const {
    const auto buffer = memory.find(address);
    const auto pointer = std::ranges::find(pointers, address);
    const bool is_named = buffer->address == address && buffer->name.find(' ') == std::string_view::npos && !buffer->name.empty();
    if (is_named || pointer == pointers.end()) return std::string(buffer->name);
    return pointer_name(static_cast<std::size_t>(pointer - pointers.begin()));
  }

  /// One of the products alike: number `part`, whose matrices begin behind those of the ones before.
  MatrixProduct product_of(const AffineProduct& product, std::uint64_t part) const {
    const auto& [a, b, c] = product.matrices;
    const std::uint64_t stored = product.k / (product.sparse ? 2 : 1);
    bool fills = true;
    const auto matrix_of = [&](const AffineMatrix& matrix, std::uint64_t rows, std::uint64_t columns) {
      const std::uint64_t stored_rows = matrix.transposed ? columns : rows, stored_columns = matrix.transposed ? rows : columns;
      fills &= (matrix.end - matrix.address) * 8 == stored_rows * matrix.pitch * static_cast<std::uint64_t>(matrix.bits);
      return ProductMatrix{.name = name_of(matrix.address),
                           .offset = part * matrix.part,
                           .transposed = matrix.transposed,
                           .pitch = static_cast<std::int64_t>(matrix.pitch == stored_columns ? 0 : matrix.pitch),
                           .bits = matrix.bits};
    };
    MatrixProduct all{.c = matrix_of(c, product.m, product.n),
                      .a = matrix_of(a, product.m, stored),
                      .b = matrix_of(b, product.k, product.n),
                      .m = static_cast<std::int64_t>(product.m),
                      .n = static_cast<std::int64_t>(product.n),
                      .k = static_cast<std::int64_t>(product.k)};
    if (fills) all.a.bits = all.b.bits = all.c.bits = 0;  // the buffers' sizes say them
    return all;
  }

  std::string text_for_people(const AffineProduct& product) const {
    const auto name = [&](const AffineMatrix& matrix) { return name_of(matrix.address) + (matrix.transposed ? "^T" : ""); };
    const auto& [a, b, c] = product.matrices;
    return fmt::format("{} = {}*{}, {}x{}x{}", name(c), name(a), name(b), product.m, product.n, product.k);
  }

  /// Of a wrong result: the matrices that fill only a part of their buffers, as those do whose leading dimension is wrong.
  std::string unread_text(const AffineProduct& product) const {
    const std::array<std::array<std::uint64_t, 2>, matrix_count> sizes{
        {{product.m, product.k / (product.sparse ? 2 : 1)}, {product.k, product.n}, {product.m, product.n}}};
    std::string text;
    for (const MatrixNumber number : {of_a, of_b, of_c}) {
      const AffineMatrix& matrix = product.matrices[number];
      const auto [rows, columns] = sizes[number];
      const std::uint64_t stored_rows = matrix.transposed ? columns : rows;
      const std::uint64_t bytes = stored_rows * matrix.pitch * static_cast<std::uint64_t>(matrix.bits) / 8,
                          all = matrix.end - matrix.address;
      if (matrix.part == 0 && bytes < all)
        text += fmt::format("; {} is taken as {} rows of {} elements, {} of its {} bytes", name_of(matrix.address), stored_rows,
                            matrix.pitch, bytes, all);
    }
    return text;
  }

  std::string why_none(const Meetings& all) const {
    const std::string nothing = "no product is recognised: ";
    if (program_of(kernel).call_tree.recursive) return nothing + "the kernel's functions call themselves";
    if (program_of(kernel).executes(catalogue::Semantics::tensor_memory)) return nothing + "products of tcgen05.mma are not followed";
    if (all.products == 0) return nothing + "no matrix instruction was executed";
    if (all.chained != 0) return nothing + "a factor is the result of another product; --gemm 'S=Q*K^T:...;O=S*V:...' says both";
    if (all.multiplied == 0) return nothing + "the factors are not elements of global memory, or are computed from several";
    if (all.stored.empty()) return nothing + "no sum of products is stored in global memory";
    return nothing + "the addresses of the elements that meet fit no matrices of equal rows";
  }

  /// Numbers of elements that rows may have.
  std::vector<std::uint64_t> row_lengths() const {
    std::set<std::uint64_t> lengths(hints.numbers.begin(), hints.numbers.end());
    lengths.insert({warp_size / 8, warp_size / 4, warp_size / 2, warp_size});  // of groups that shuffle
    for (const auto& [threads, blocks] :
         {std::pair(config.block.x, config.grid.x), std::pair(config.block.y, config.grid.y), std::pair(config.block.z, config.grid.z)})
      lengths.insert({threads, blocks, std::uint64_t{threads} * blocks});
    for (const std::uint64_t one : hints.numbers) {
      lengths.insert({one + 1, one - 1});
      if (lengths.size() < 12)
        for (const std::uint64_t other : hints.numbers) lengths.insert(one * other);
    }
    std::erase_if(lengths, [](std::uint64_t length) { return length < 2; });
    return {lengths.begin(), lengths.end()};
  }

  std::unique_ptr<machine::Observer> observer(std::uint64_t cluster);
  Guess guess(bool errs) const;
  Guess guess_reads(bool errs) const;

  const Kernel kernel;
  const LaunchConfig config;
  const DeviceMemory& memory;
  std::vector<std::uint64_t> pointers;
  AffineHints hints;
  std::mutex mutex;
  std::map<std::uint64_t, Meetings> found;  ///< by cluster
  std::map<std::uint64_t, Reads> reads;     ///< by cluster, where nothing is multiplied
};

Guess Guesser::State::guess_reads(bool errs) const {
  const auto name = [&](std::uint64_t address) { return name_of(address); };
  const bool all = std::ranges::all_of(reads, [](const auto& one) { return one.second.whole; });
  const ReadPattern pattern =
      find_pattern({program_of(kernel), memory, row_lengths(), name, reads, std::int64_t{config.block.x}, step() == 1 && all, errs});
  if (!pattern.text.empty()) return {{}, pattern.text, pattern.findings};
  return {{},
          all ? "no pattern is recognised in what its elements depend on" : "it does too much for its elements to be followed",
          pattern.findings};
}

Guess Guesser::State::guess(bool errs) const {
  const Meetings all = joined(found);
  std::map<Buffers, std::vector<const Meeting*>> groups;
  for (const Meeting& meeting : all.stored) {
    Buffers buffers{};
    for (std::size_t i = 0; i < matrix_count; ++i)
      if (const auto buffer = memory.find(meeting.bits[i] / 8)) buffers[i] = buffer->address;
    groups[buffers].push_back(&meeting);
  }
  std::vector<std::pair<Buffers, std::vector<const Meeting*>>> largest(groups.begin(), groups.end());
  std::ranges::stable_sort(largest, std::greater(), [](const auto& group) { return group.second.size(); });
  Guess guess;
  std::set<std::uint64_t> results;
  for (const auto& [buffers, meetings] : largest) {
    if (all.chained != 0 || !results.insert(buffers[of_c]).second) continue;  // elements of another buffer are exceptions
    std::array<AffineMatrix, matrix_count> matrices;
    for (const MatrixNumber number : {of_a, of_b, of_c}) {
      const auto buffer = memory.find(buffers[number]);
      AffineMatrix& matrix = matrices[number];
      matrix.address = start_of(*buffer, meetings, number);
      matrix.end = buffer->end();
      matrix.bits = width_of(all, meetings, number, matrix.address);
    }
    std::vector<const Meeting*> inside;
    std::ranges::copy_if(meetings, std::back_inserter(inside), [&](const Meeting* m) {
      return std::ranges::all_of(std::array{of_a, of_b, of_c}, [&](MatrixNumber i) { return m->bits[i] >= matrices[i].address * 8; });
    });
    if (inside.empty()) continue;
    const AffineProduct product = fit(inside, all, matrices, hints, errs);
    if (product.agreement < (product.sizes_match ? least_of_matching : least_agreement)) continue;
    std::size_t strangers = 0;
    for (const auto& [others, some] : largest)
      if (others[of_c] == buffers[of_c] && others != buffers) strangers += some.size() / 4;
    const std::size_t exceptions = product.exceptions + strangers, elements = product.elements + strangers;
    const bool fits = exceptions * 2 < elements;
    if (fits)
      guess.text += guess.text.empty() ? "looks like " : "; and like ";
    else
      guess.text += fmt::format("{}most elements fit no product; the nearest is ", guess.text.empty() ? "" : "; ");
    guess.text += text_for_people(product);
    const std::uint64_t parts =
        product.matrices[of_c].part == 0 ? 1 : (matrices[of_c].end - matrices[of_c].address) / product.matrices[of_c].part;
    if (parts > 1)
      guess.text += product.sums_parts ? fmt::format(" in {} parts of K, each with a result", parts) : fmt::format(", {} times", parts);
    if (!fits)
      guess.text += fmt::format(", which {} of {} fit", elements - exceptions, elements);
    else if (exceptions != 0)
      guess.text += fmt::format(", except {} of {} elements", exceptions, elements);
    if (errs && exceptions != 0) guess.text += unread_text(product);
    if (product.padded_k != product.k)
      guess.text += fmt::format("; rows of both factors have {} elements, of which k {} to {} have no part in it", product.padded_k,
                                product.k, product.padded_k - 1);
    for (std::uint64_t part = 0; part < parts && !product.sums_parts && product.is_likely; ++part)
      guess.products.push_back(product_of(product, part));
  }
  if (guess.text.empty()) guess.text = why_none(all);
  return guess;
}

Guesser::Guesser(const Kernel& kernel, const LaunchConfig& config, const DeviceMemory& memory, const std::vector<Argument>& arguments)
    : state_(std::make_shared<State>(kernel, config, memory, arguments)) {}

void Guesser::observe(LaunchOptions& options) const {
  options.observers_of_clusters.push_back([state = state_](std::uint64_t cluster) { return state->observer(cluster); });
}

std::unique_ptr<machine::Observer> Guesser::State::observer(std::uint64_t cluster) {
  if (program_of(kernel).call_tree.recursive) return nullptr;
  if (cluster % step() != 0 && cluster + 1 != clusters()) return nullptr;
  if (!multiplies(program_of(kernel)))
    return std::make_unique<ReadRecorder>(program_of(kernel), memory, [this, cluster](Reads&& each) {
      const std::lock_guard lock(mutex);
      reads.emplace(cluster, std::move(each));
    });
  const std::size_t followed = static_cast<std::size_t>(std::min(clusters(), most_clusters));
  return std::make_unique<MeetingRecorder>(program_of(kernel), std::max<std::size_t>(256, most_elements / followed),
                                           [this, cluster](Meetings&& each) {
                                             const std::lock_guard lock(mutex);
                                             found.emplace(cluster, std::move(each));
                                           });
}

Guess Guesser::result(bool errs) const {
  return multiplies(program_of(state_->kernel)) || program_of(state_->kernel).call_tree.recursive ? state_->guess(errs)
                                                                                                  : state_->guess_reads(errs);
}

}  // namespace warpmat

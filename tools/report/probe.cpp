#include "tools/report/probe.h"

#include <fmt/core.h>
#include <warpmat/formats.h>
#include <warpmat/matrices/element_map.h>
#include <warpmat/matrices/index_set.h>
#include <warpmat/provenance.h>
#include <warpmat/words/words.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "tools/report/npy.h"

namespace warpmat {
namespace {

constexpr std::size_t most_launches = 64;  ///< for each of A and B

[[noreturn]] void refuse_probe(const std::string& text, const std::string& why) {
  throw std::runtime_error(fmt::format("'{}': {}", text, why));
}

// ---- The text ---------------------------------------------------------------------------------------------------------------------------

/// The format of a buffer: its dtype, that of random numbers, or of a .npy file.
Format probed_format(const std::string& text, const LaunchBuffer& buffer) {
  std::optional<ElementType> type = buffer.type;
  if (const auto parts = split(buffer.source, ':'); !type && parts.size() > 2 && parts[0] == "random") {
    if (const FormatRow* const row = find_format(parts[1])) type = ElementType::of(row->format);
  } else if (!type && buffer.source.ends_with(".npy")) {
    const DType dtype = read_npy(buffer.source).dtype;
    if (dtype == DType::float16 || dtype == DType::float32 || dtype == DType::float64 || dtype == DType::int8)
      type = find_buffer_type(name(dtype));
  }
  if (type && type->format) return *type->format;
  refuse_probe(text, fmt::format("the type of {0}'s elements is not known: write it behind the name, such as {0}:f16", buffer.name));
}

ProbedMatrix probed_matrix(const std::string& text, const ProductMatrix& matrix, const LaunchDescription& description) {
  const auto buffer = std::ranges::find(description.buffers, matrix.name, &LaunchBuffer::name);
  if (buffer == description.buffers.end()) refuse_probe(text, fmt::format("there is no buffer '{}'", matrix.name));
  return {.buffer = matrix.name, .format = matrix.format ? *matrix.format : probed_format(text, *buffer), .transposed = matrix.transposed};
}

std::size_t stored_bytes(const ProbedMatrix& matrix) {
  return (matrix.rows * matrix.columns * static_cast<std::size_t>(row(matrix.format).bits) + 7) / 8;
}

void set_shape(const std::string& text, ProbedMatrix& matrix, std::size_t rows, std::size_t columns, const PreparedLaunch& prepared) {
  matrix.rows = matrix.transposed ? columns : rows;
  matrix.columns = matrix.transposed ? rows : columns;
  const std::uint64_t size = prepared.sizes.at(matrix.buffer);
  if (stored_bytes(matrix) != size)
    refuse_probe(text, fmt::format("buffer {} has {} bytes; {} x {} elements of {} are {}", matrix.buffer, size, matrix.rows,
                                   matrix.columns, name(matrix.format), stored_bytes(matrix)));
}

// ---- Numbers that say which element they are --------------------------------------------------------------------------------------------

/// The largest n for which the format has all of 0 to n.
std::uint64_t counts_to(const FormatRow& format) {
  if (is_integer(format)) return (std::uint64_t{1} << std::min(format.bits - (format.is_signed ? 1 : 0), 30)) - 1;
  if (!format.has_zero) return 0;
  const double exact = std::ldexp(1.0, std::min(format.fraction_bits + 1, 30));
  return static_cast<std::uint64_t>(std::min(exact, std::floor(to_double(format.format, largest_finite(format.format, false)))));
}

void put_number(std::vector<std::uint8_t>& bytes, std::size_t index, Format format, double number) {
  const std::uint64_t code = from_double(format, number);
  const int bits = row(format).bits;
  for (int b = 0; b < bits; ++b) {
    const std::size_t at = index * static_cast<std::size_t>(bits) + static_cast<std::size_t>(b);
    bytes[at / 8] = static_cast<std::uint8_t>(bytes[at / 8] | (code >> b & 1) << at % 8);
  }
}

double number_at(const std::vector<std::uint8_t>& bytes, std::size_t index, Format format) {
  const int bits = row(format).bits;
  std::uint64_t code = 0;
  for (int b = 0; b < bits; ++b) {
    const std::size_t at = index * static_cast<std::size_t>(bits) + static_cast<std::size_t>(b);
    code |= std::uint64_t{static_cast<std::uint8_t>(bytes[at / 8] >> at % 8 & 1)} << b;
  }
  return to_double(format, code);
}

std::size_t digits_of(std::size_t size, std::size_t base) {
  std::size_t digits = 1;
  for (std::size_t reach = base; reach < size; reach *= base) ++digits;
  return digits;
}

// ---- One matrix -------------------------------------------------------------------------------------------------------------------------

/// What arrives in the place of an element.
struct Arrival {
  enum class Kind : std::uint8_t { unknown, nothing, element, other } kind = Kind::unknown;
  std::size_t outer = 0, k = 0;
};

/// A matrix with numbers, `moving`, times the identity in `fixed`. Its outer index is the row of A, or the column of B in the product.
class Side {
 public:
  Side(const Probe& probe, bool of_a, const ProbeLaunch& launch)
      : c_(probe.c), moving_(of_a ? probe.a : probe.b), fixed_(of_a ? probe.b : probe.a), of_a_(of_a), launch_(launch) {
    outer_first_ = of_a_ != moving_.transposed;
    outer_ = outer_first_ ? moving_.rows : moving_.columns;
    k_ = outer_first_ ? moving_.columns : moving_.rows;
    other_ = c_rows_are_outer() ? c_columns() : c_rows();
    base_ = static_cast<std::size_t>(std::min(counts_to(row(moving_.format)), counts_to(row(c_.format))));
    if (base_ < 2 || counts_to(row(fixed_.format)) < 1)
      throw std::runtime_error(fmt::format("--probe: {} and {} have too few numbers for a probe", name(moving_.format), name(c_.format)));
    arrivals_.resize(outer_ * k_);
    run();
  }

  bool right() const {
    for (std::size_t i = 0; i < arrivals_.size(); ++i)
      if (wrong(i)) return false;
    return true;
  }

  /// Whether the k of what arrives depends on the outer index: then it is this matrix that is read wrong.
  bool depends_on_outer() const {
    for (std::size_t k = 0; k < k_; ++k) {
      std::optional<std::size_t> first;
      for (std::size_t outer = 0; outer < outer_; ++outer) {
        const Arrival& arrival = arrivals_[outer * k_ + k];
        if (arrival.kind != Arrival::Kind::element) continue;
        if (first && *first != arrival.k) return true;
        first = arrival.k;
      }
    }
    return false;
  }

  std::string text() const {
    std::size_t wrong_count = 0, nothing = 0, other = 0, known = 0;
    std::vector<bool> mask(arrivals_.size());
    ElementMap map{moving_.rows, moving_.columns, std::vector<std::optional<std::size_t>>(arrivals_.size())};
    for (std::size_t i = 0; i < arrivals_.size(); ++i) {
      const Arrival& arrival = arrivals_[i];
      known += arrival.kind == Arrival::Kind::unknown ? 0u : 1u;
      nothing += arrival.kind == Arrival::Kind::nothing ? 1u : 0u;
      other += arrival.kind == Arrival::Kind::other ? 1u : 0u;
      if (arrival.kind == Arrival::Kind::element) map.sources[stored(i / k_, i % k_)] = stored(arrival.outer, arrival.k);
      if (!wrong(i)) continue;
      ++wrong_count;
      mask[stored(i / k_, i % k_)] = true;
    }
    const std::string_view fixed = fixed_.buffer, name = moving_.buffer;
    std::string text = fmt::format("{} numbered, {} the identity, {} launches: ", name, fixed, launches_);
    const std::string part = known == arrivals_.size() ? "" : fmt::format(" (of {}; the others were not probed)", arrivals_.size());
    if (wrong_count == 0) return text + fmt::format("all {} elements{} are read where they belong\n", known, part);
    text += fmt::format("{} of {} elements{} are not read where they belong\n", wrong_count, known, part);
    text += fmt::format("  where: {}\n", describe_mask(mask, moving_.columns));
    const StandsThere stands = [&](std::size_t at, std::size_t from) { return map.sources[at] == from; };
    if (const auto rule = describe_map(map, mask, stands, name)) text += fmt::format("  what: as the product reads {}, {}\n", name, *rule);
    if (nothing != 0) text += fmt::format("  in {} places nothing arrives\n", nothing);
    if (other != 0) text += fmt::format("  in {} places a sum or another number arrives\n", other);
    return text + examples(mask);
  }

 private:
  bool c_rows_are_outer() const { return of_a_; }
  std::size_t c_rows() const { return c_.transposed ? c_.columns : c_.rows; }
  std::size_t c_columns() const { return c_.transposed ? c_.rows : c_.columns; }
  /// Index in its buffer of an element of the moving matrix.
  std::size_t stored(std::size_t outer, std::size_t k) const {
    return outer_first_ ? outer * moving_.columns + k : k * moving_.columns + outer;
  }
  std::size_t stored_in_c(std::size_t outer, std::size_t other) const {
    const std::size_t row = c_rows_are_outer() ? outer : other, column = c_rows_are_outer() ? other : outer;
    return c_.transposed ? column * c_.columns + row : row * c_.columns + column;
  }
  std::size_t stored_in_fixed(std::size_t other, std::size_t k) const {
    const bool other_first = of_a_ == fixed_.transposed;
    return other_first ? other * fixed_.columns + k : k * fixed_.columns + other;
  }

  bool wrong(std::size_t i) const {
    const Arrival& arrival = arrivals_[i];
    return arrival.kind != Arrival::Kind::unknown &&
           (arrival.kind != Arrival::Kind::element || arrival.outer != i / k_ || arrival.k != i % k_);
  }

  /// The numbers that arrive where `number` of (outer, k) is in each element of the moving matrix, and an identity from k = `first` on in
  /// the other.
  template <typename Number>
  std::vector<double> arrive(std::size_t first, Number number) {
    std::vector<std::uint8_t> moving(stored_bytes(moving_)), fixed(stored_bytes(fixed_));
    for (std::size_t outer = 0; outer < outer_; ++outer)
      for (std::size_t k = 0; k < k_; ++k) put_number(moving, stored(outer, k), moving_.format, static_cast<double>(number(outer, k)));
    for (std::size_t other = 0; other < other_ && first + other < k_; ++other)
      put_number(fixed, stored_in_fixed(other, first + other), fixed_.format, 1);
    const auto c = launch_({{moving_.buffer, moving}, {fixed_.buffer, fixed}, {c_.buffer, std::vector<std::uint8_t>(stored_bytes(c_))}});
    ++launches_;
    std::vector<double> numbers(outer_ * other_);
    for (std::size_t outer = 0; outer < outer_; ++outer)
      for (std::size_t other = 0; other < other_; ++other)
        numbers[outer * other_ + other] = number_at(c, stored_in_c(outer, other), c_.format);
    return numbers;
  }

  /// Adds digit `weight` of one index to the arrivals of the k from `first` on. `factors` are by what the kernel multiplies the numbers.
  void add_digit(std::size_t first, const std::vector<double>& numbers, const std::vector<double>& factors, std::size_t weight,
                 std::size_t Arrival::*index) {
    for (std::size_t outer = 0; outer < outer_; ++outer)
      for (std::size_t other = 0; other < other_ && first + other < k_; ++other) {
        const double scaled = numbers[outer * other_ + other], factor = factors[outer * other_ + other];
        const double number = factor == 0 ? scaled : scaled / factor, nearest = std::round(number);
        Arrival& arrival = arrivals_[outer * k_ + first + other];
        const bool digit = nearest >= 1 && nearest <= static_cast<double>(base_) && std::abs(number - nearest) <= (scaled_ ? 0.49 : 0);
        const auto kind = number == 0 ? Arrival::Kind::nothing : digit ? Arrival::Kind::element : Arrival::Kind::other;
        arrival.kind = arrival.kind == Arrival::Kind::unknown || arrival.kind == kind ? kind : Arrival::Kind::other;
        if (digit) arrival.*index += weight * (static_cast<std::size_t>(nearest) - 1);
      }
  }

  /// What becomes of ones: 1, unless the kernel scales its results; then numbers that a rounding does not confuse are fewer.
  std::vector<double> factors_from(std::size_t first) {
    const auto one = [](std::size_t, std::size_t) { return 1; };
    if (first != 0 && !scaled_) return std::vector<double>(outer_ * other_, 1);
    const std::vector<double> factors = arrive(first, one);
    if (first == 0 && std::ranges::any_of(factors, [](double factor) { return factor != 0 && factor != 1; })) {
      scaled_ = true;
      const FormatRow& format = row(c_.format);
      if (!is_integer(format)) base_ = std::min(base_, std::size_t{1} << std::min(std::max(format.fraction_bits - 2, 1), 30));
    }
    return factors;
  }

  void run() {
    for (std::size_t slice = 0, most = 1; slice < most && slice * other_ < k_; ++slice) {
      const std::size_t first = slice * other_;
      const std::vector<double> factors = factors_from(first);
      most = std::max<std::size_t>(1, most_launches / (digits_of(outer_, base_) + digits_of(k_, base_) + 1));
      for (std::size_t weight = 1; weight == 1 || weight < outer_; weight *= base_)
        add_digit(first, arrive(first, [&](std::size_t outer, std::size_t) { return outer / weight % base_ + 1; }), factors, weight,
                  &Arrival::outer);
      for (std::size_t weight = 1; weight == 1 || weight < k_; weight *= base_)
        add_digit(first, arrive(first, [&](std::size_t, std::size_t k) { return k / weight % base_ + 1; }), factors, weight, &Arrival::k);
    }
    for (Arrival& arrival : arrivals_)
      if (arrival.kind == Arrival::Kind::element && (arrival.outer >= outer_ || arrival.k >= k_)) arrival.kind = Arrival::Kind::other;
  }

  /// The first three.
  std::string examples(const std::vector<bool>& mask) const {
    std::string text;
    std::size_t shown = 0;
    const auto element = [&](std::size_t index) {
      return fmt::format("{}[{},{}]", moving_.buffer, index / moving_.columns, index % moving_.columns);
    };
    for (std::size_t at = 0; at < mask.size() && shown < 3; ++at) {
      if (!mask[at]) continue;
      ++shown;
      const std::size_t outer = outer_first_ ? at / moving_.columns : at % moving_.columns;
      const std::size_t k = outer_first_ ? at % moving_.columns : at / moving_.columns;
      const Arrival& arrival = arrivals_[outer * k_ + k];
      text += fmt::format("  in the place of {} the product reads {}\n", element(at),
                          arrival.kind == Arrival::Kind::element   ? element(stored(arrival.outer, arrival.k))
                          : arrival.kind == Arrival::Kind::nothing ? "nothing"
                                                                   : "another number, or several");
    }
    return text;
  }

  const ProbedMatrix &c_, &moving_, &fixed_;
  bool of_a_, outer_first_ = false, scaled_ = false;
  const ProbeLaunch& launch_;
  std::size_t outer_ = 0, k_ = 0, other_ = 0;  ///< sizes: of the moving matrix's index besides k, of k, of C's other index
  std::size_t base_ = 0, launches_ = 0;        ///< a number is a digit of an index in this base, plus 1
  std::vector<Arrival> arrivals_;              ///< by outer index, then k
};

/// Which of the two is read wrong, as far as the probes tell.
std::string conclusion(const Side& a, const Side& b, const Probe& probe) {
  const std::string &name_a = probe.a.buffer, &name_b = probe.b.buffer;
  if (a.right() && b.right()) return "";
  constexpr std::string_view way = "its copies, swizzle, addresses of ldmatrix, or descriptor";
  if (a.depends_on_outer() && b.depends_on_outer()) return fmt::format("both {} and {} are read wrong: {}\n", name_a, name_b, way);
  if (a.depends_on_outer() || b.depends_on_outer())
    return fmt::format("{} is read wrong, {} is not: look at {}\n", a.depends_on_outer() ? name_a : name_b,
                       a.depends_on_outer() ? name_b : name_a, way);
  return fmt::format("all rows move alike: the order of k in {} or in {}, or where {} is stored\n", name_a, name_b, probe.c.buffer);
}

}  // namespace

Probe parse_probe(const std::string& text, const LaunchDescription& description, const PreparedLaunch& prepared) {
  const std::vector<MatrixProduct> products = parse_products(text);
  if (products.size() != 1 || products[0].convolution) refuse_probe(text, "a probe is of one product of matrices, as C=A*B^T:128x128x64");
  const MatrixProduct& product = products[0];
  Probe probe{probed_matrix(text, product.c, description), probed_matrix(text, product.a, description),
              probed_matrix(text, product.b, description)};
  if (probe.a.buffer == probe.b.buffer || probe.a.buffer == probe.c.buffer || probe.b.buffer == probe.c.buffer)
    refuse_probe(text, "a probe needs three buffers");
  const auto m = static_cast<std::size_t>(product.m), n = static_cast<std::size_t>(product.n), k = static_cast<std::size_t>(product.k);
  if (m > 1u << 20 || n > 1u << 20 || k > 1u << 20) refuse_probe(text, "sizes are at most 1,048,576");
  set_shape(text, probe.c, m, n, prepared);
  set_shape(text, probe.a, m, k, prepared);
  set_shape(text, probe.b, k, n, prepared);
  return probe;
}

ProbeResult probe(const Probe& probe, const ProbeLaunch& launch) {
  const Side a(probe, true, launch), b(probe, false, launch);
  return {a.right() && b.right(), a.text() + b.text() + conclusion(a, b, probe)};
}

}  // namespace warpmat

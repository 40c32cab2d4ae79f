#include <warpmat/cuda/libraries/random_sequences.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace warpmat::cuda {
namespace {

// ---- MT19937 ----

constexpr std::size_t mt_size = 624, mt_middle = 397, mt_degree = 19937;
constexpr std::uint32_t mt_matrix = 0x9908b0df, upper_bit = 0x80000000;
using MersenneWords = std::array<std::uint32_t, mt_size>;

std::uint32_t mersenne_step(std::uint32_t first, std::uint32_t second, std::uint32_t middle) {
  const std::uint32_t y = (first & upper_bit) | (second & ~upper_bit);
  return middle ^ (y >> 1) ^ ((y & 1) != 0 ? mt_matrix : 0);
}
std::uint32_t mersenne_tempered(std::uint32_t y) {
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680;
  y ^= (y << 15) & 0xefc60000;
  return y ^ (y >> 18);
}
void make_next_words(MersenneWords& words) {
  for (std::size_t i = 0; i < mt_size; ++i) words[i] = mersenne_step(words[i], words[(i + 1) % mt_size], words[(i + mt_middle) % mt_size]);
}

/// Polynomials over bits: the coefficient of t^i is bit i.
using BitPolynomial = std::vector<std::uint64_t>;

void add_shifted(BitPolynomial& to, const BitPolynomial& from, std::size_t shift) {
  const std::size_t words = shift / 64, bits = shift % 64;
  to.resize(std::max(to.size(), from.size() + words + 1));
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i + words] ^= from[i] << bits;
    if (bits != 0) to[i + words + 1] ^= from[i] >> (64 - bits);
  }
}
/// factor * (t^a + t^b).
BitPolynomial times_pair(const BitPolynomial& factor, std::size_t a, std::size_t b) {
  BitPolynomial product;
  add_shifted(product, factor, a);
  add_shifted(product, factor, b);
  return product;
}

/// The exponents of the characteristic polynomial of MT19937's recurrence, as Matsumoto and Nishimura's appendix A has it, descending.
std::vector<std::size_t> mersenne_polynomial() {
  constexpr std::size_t word_bits = 32, lower_bits = 31;
  BitPolynomial sum, power{1};  // of t^n + t^m
  for (std::size_t i = word_bits; i-- > lower_bits;) {
    if ((mt_matrix >> i & 1) != 0) add_shifted(sum, power, 0);
    power = times_pair(power, mt_size, mt_middle);
  }
  for (std::size_t i = lower_bits; i-- > 0;) {
    if ((mt_matrix >> i & 1) != 0) add_shifted(sum, power, 0);
    power = times_pair(power, mt_size - 1, mt_middle - 1);
  }
  add_shifted(sum, power, 0);
  std::vector<std::size_t> exponents;
  for (std::size_t i = mt_degree + 1; i-- > 0;)
    if ((sum[i / 64] >> (i % 64) & 1) != 0) exponents.push_back(i);
  return exponents;
}

/// The square, reduced. The second exponent is far enough below the first one to reduce whole words.
BitPolynomial squared(const BitPolynomial& factor, const std::vector<std::size_t>& modulus) {
  BitPolynomial square(2 * factor.size() + 1);
  for (std::size_t i = 0; i < factor.size(); ++i)
    for (std::size_t bit = 0; bit < 64; ++bit)
      if ((factor[i] >> bit & 1) != 0) square[2 * i + bit / 32] |= std::uint64_t{1} << (2 * bit % 64);
  for (std::size_t word = square.size(); word-- > mt_degree / 64;) {
    const std::size_t first = word == mt_degree / 64 ? mt_degree : 64 * word;  // coefficients from here on
    const std::uint64_t high = square[word] >> (first % 64);
    for (const std::size_t exponent : modulus) {
      const std::size_t at = first - mt_degree + exponent;
      square[at / 64] ^= high << (at % 64);
      if (at % 64 != 0 && at / 64 + 1 < square.size()) square[at / 64 + 1] ^= high >> (64 - at % 64);
    }
  }
  square.resize(factor.size());
  return square;
}

/// t^(2^2048) modulo the characteristic polynomial: which words add up to one so far away. In digits of four bits, the lowest first.
const std::vector<std::uint8_t>& mersenne_jump() {
  static const std::vector<std::uint8_t> jump = [] {
    const std::vector<std::size_t> modulus = mersenne_polynomial();
    BitPolynomial power(mt_degree / 64 + 1);
    power[0] = 2;
    for (int i = 0; i < 2048; ++i) power = squared(power, modulus);
    std::vector<std::uint8_t> digits;
    for (std::size_t i = 0; i < mt_degree; i += 4) digits.push_back(power[i / 64] >> (i % 64) & 15);
    return digits;
  }();
  return jump;
}

/// The words 2^2048 numbers further on. Sums of four neighbours in all ways are made once, for each digit of the jump to add one.
MersenneWords jumped(const MersenneWords& words) {
  constexpr std::size_t size = mt_degree + mt_size + 8;
  std::array<std::vector<std::uint32_t>, 16> sums;
  std::vector<std::uint32_t>& all = sums[1];
  all.assign(words.begin(), words.end());
  all.resize(size);
  for (std::size_t i = mt_size; i < size; ++i) all[i] = mersenne_step(all[i - mt_size], all[i - mt_size + 1], all[i - mt_size + mt_middle]);
  for (std::size_t digit = 2; digit < sums.size(); ++digit) {
    const auto shift = static_cast<std::size_t>(std::bit_width(digit)) - 1, rest = digit - (std::size_t{1} << shift);
    sums[digit].assign(all.begin() + static_cast<std::ptrdiff_t>(shift), all.end());
    sums[digit].resize(size);
    for (std::size_t i = 0; rest != 0 && i < size; ++i) sums[digit][i] ^= sums[rest][i];
  }
  // By columns of words that stay in registers.
  using Block = std::uint32_t __attribute__((vector_size(16)));
  constexpr std::size_t blocks = 12, width = blocks * sizeof(Block) / sizeof(std::uint32_t);
  static_assert(mt_size % width == 0);
  MersenneWords sum;
  const std::vector<std::uint8_t>& jump = mersenne_jump();
  for (std::size_t first = 0; first < mt_size; first += width) {
    std::array<Block, blocks> column{};
    for (std::size_t i = 0; i < jump.size(); ++i) {
      if (jump[i] == 0) continue;
      std::array<Block, blocks> added;
      std::memcpy(&added, sums[jump[i]].data() + 4 * i + first, sizeof added);
      for (std::size_t b = 0; b < blocks; ++b) column[b] ^= added[b];
    }
    std::memcpy(sum.data() + first, &column, sizeof column);
  }
  return sum;
}

/// Eight threads have a generator: they give its 624 numbers in 78 turns. Those of a turn behind the first follow each other by sevens.
class MersenneTwister final : public NumberSequence {
 public:
  explicit MersenneTwister(std::uint64_t seed) {
    origin_[0] = static_cast<std::uint32_t>(seed);
    for (std::size_t i = 1; i < mt_size; ++i)
      origin_[i] = 1812433253u * (origin_[i - 1] ^ (origin_[i - 1] >> 30)) + static_cast<std::uint32_t>(i);
  }

  std::vector<std::uint64_t> take(std::size_t count) override {
    std::vector<std::uint64_t> numbers(count);
    for (std::uint64_t& number : numbers) number = next();
    return numbers;
  }

 private:
  static constexpr std::size_t generators = 8192, threads = 8, turns = mt_size / threads, width = 7;

  struct Generator {
    MersenneWords words;
    std::uint64_t blocks;  ///< of words that were made
  };

  static std::size_t place(std::size_t turn, std::size_t thread) {
    constexpr std::size_t first[] = {0, 113, 170, 283, 340, 397, 510, 567};
    constexpr std::size_t starts[] = {1, 57, 114, 171, 227, 284, 341, 398, 454, 511, 568};
    return turn == 0 ? first[thread] : starts[(turn - 1) / width] + width * thread + (turn - 1) % width;
  }

  std::uint32_t next() {
    const std::uint64_t row = taken_ / (generators * threads), column = taken_ % (generators * threads);
    ++taken_;
    Generator& generator = generator_of(column / threads);
    for (; generator.blocks <= row / turns; ++generator.blocks) make_next_words(generator.words);
    return mersenne_tempered(generator.words[place(row % turns, column % threads)]);
  }

  Generator& generator_of(std::size_t number) {
    while (made_.size() <= number) {
      if (!made_.empty()) origin_ = jumped(origin_);
      made_.push_back({origin_, 0});
    }
    return made_[number];
  }

  std::uint64_t taken_ = 0;
  MersenneWords origin_;  ///< of the last generator that was made
  std::vector<Generator> made_;
};

// ---- MTGP32 ----

struct MtgpParameters {
  std::uint32_t position;
  std::uint8_t first_shift, second_shift;
  std::array<std::uint32_t, 4> recursion, tempering;
};
constexpr MtgpParameters mtgp_parameters[] = {
#include <warpmat/cuda/libraries/mtgp32_parameters.inc>
};

/// The entry of a table of 16.
std::uint32_t of_rows(const std::array<std::uint32_t, 4>& rows, std::uint32_t bits) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) sum ^= (bits >> i & 1) != 0 ? rows[i] : 0;
  return sum;
}

class Mtgp32 final : public NumberSequence {
 public:
  Mtgp32(std::uint64_t seed, std::size_t generators) : seed_(static_cast<std::uint32_t>(seed ^ seed >> 32)), count_(generators) {}

  std::vector<std::uint64_t> take(std::size_t count) override {
    std::vector<std::uint64_t> numbers(count);
    for (std::uint64_t& number : numbers) {
      const std::size_t generator = taken_++ / in_turn % count_;
      while (states_.size() <= generator) states_.push_back(seeded(states_.size()));
      number = next(states_[generator], mtgp_parameters[generator]);
    }
    return numbers;
  }

 private:
  static constexpr std::size_t in_turn = 256, words = 351, ring = 1024;
  struct State {
    std::array<std::uint32_t, ring> words{};
    std::size_t first = 0;
  };

  State seeded(std::size_t generator) const {
    const std::array<std::uint32_t, 4>& rows = mtgp_parameters[generator].recursion;
    const std::uint32_t hidden = rows[2] ^ (rows[3] << 16);
    std::uint32_t fill = hidden + (hidden >> 16);
    fill += fill >> 8;
    State state;
    std::fill_n(state.words.begin(), words, (fill & 0xff) * 0x01010101u);
    state.words[0] = seed_ + static_cast<std::uint32_t>(generator) + 1;
    state.words[1] = hidden;
    for (std::size_t i = 1; i < words; ++i)
      state.words[i] ^= 1812433253u * (state.words[i - 1] ^ (state.words[i - 1] >> 30)) + static_cast<std::uint32_t>(i);
    return state;
  }

  static std::uint32_t next(State& state, const MtgpParameters& of) {
    const auto at = [&](std::size_t i) -> std::uint32_t& { return state.words[(state.first + i) % ring]; };
    std::uint32_t x = (at(0) & 0xfff80000u) ^ at(1);
    x ^= x << of.first_shift;
    const std::uint32_t y = x ^ (at(of.position) >> of.second_shift), made = y ^ of_rows(of.recursion, y);
    at(words) = made;
    std::uint32_t beside = at(of.position - 1);
    beside ^= beside >> 16;
    beside ^= beside >> 8;
    state.first = (state.first + 1) % ring;
    return made ^ of_rows(of.tempering, beside);
  }

  std::uint32_t seed_;
  std::size_t count_;
  std::uint64_t taken_ = 0;
  std::vector<State> states_;
};

// ---- Sobol ----

constexpr std::uint32_t sobol_numbers[] = {
#include <warpmat/cuda/libraries/sobol_numbers.inc>
};

/// Of numbers below 2^degree: whether powers of t reach every polynomial but 0 modulo this one, which has bit `degree`.
bool is_primitive(std::uint32_t polynomial, int degree) {
  std::uint32_t power = 1;
  for (std::uint32_t count = 1;; ++count) {
    power <<= 1;
    if ((power >> degree & 1) != 0) power ^= polynomial;
    if (power <= 1) return power == 1 && count == (1u << degree) - 1;
  }
}

/// The direction numbers of a dimension follow from its first ones by its polynomial.
void extend_directions(std::uint64_t* v, std::uint32_t polynomial, int degree) {
  for (int k = degree; k < 64; ++k) {
    v[k] = v[k - degree] ^ (v[k - degree] >> degree);
    for (int i = 1; i < degree; ++i)
      if ((polynomial >> (degree - i) & 1) != 0) v[k] ^= v[k - i];
  }
}

class Sobol final : public NumberSequence {
 public:
  Sobol(int bits, bool scrambled, std::size_t dimensions, std::uint64_t offset)
      : bits_(bits), scrambled_(scrambled), dimensions_(dimensions), next_(offset) {}

  std::vector<std::uint64_t> take(std::size_t count) override {
    std::vector<std::uint64_t> numbers;
    numbers.reserve(count);
    const std::size_t points = count / dimensions_;
    for (std::size_t dimension = 0; dimension < dimensions_; ++dimension) {
      const std::uint64_t* const directions = sobol_directions(scrambled_).data() + 64 * dimension;
      const std::uint64_t constant = scrambled_ ? scramble_constants()[dimension] : 0;
      for (std::size_t i = 0; i < points; ++i) numbers.push_back((constant ^ point(directions, next_ + i)) >> (64 - bits_));
    }
    next_ += points;
    return numbers;
  }

 private:
  static std::uint64_t point(const std::uint64_t* directions, std::uint64_t number) {
    std::uint64_t sum = 0;
    for (std::uint64_t gray = number ^ number >> 1; gray != 0; gray &= gray - 1) sum ^= directions[std::countr_zero(gray)];
    return sum;
  }

  int bits_;
  bool scrambled_;
  std::size_t dimensions_;
  std::uint64_t next_;
};

constexpr std::uint32_t scramble_words[] = {
#include <warpmat/cuda/libraries/sobol_scrambles.inc>
};

/// A constant for each dimension, and 64 numbers: what bit 63, 62, ... of a plain number becomes.
struct Scrambles {
  std::vector<std::uint64_t> constants, columns;
};
const Scrambles& scrambles() {
  static const Scrambles all = [] {
    std::size_t bit = 0;
    const auto next = [&](std::size_t count) {
      std::uint64_t number = 0;
      for (std::size_t i = 0; i < count; ++i, ++bit) number |= std::uint64_t{scramble_words[bit / 32] >> (bit % 32) & 1} << i;
      return number;
    };
    Scrambles made;
    for (std::size_t dimension = 0; dimension < scrambled_dimensions; ++dimension) {
      made.constants.push_back(next(64));
      for (std::size_t below = 64; below-- > 0;) made.columns.push_back(std::uint64_t{1} << below | next(below));
    }
    return made;
  }();
  return all;
}

const std::vector<std::uint64_t>& plain_directions() {
  static const std::vector<std::uint64_t> all = [] {
    std::vector<std::uint64_t> v(64 * sobol_dimensions);
    for (std::size_t k = 0; k < 64; ++k) v[k] = std::uint64_t{1} << (63 - k);
    std::size_t bit = 0, dimension = 1;
    for (int degree = 1; dimension < sobol_dimensions; ++degree)
      for (std::uint32_t polynomial = (1u << degree) | 1; polynomial >> (degree + 1) == 0 && dimension < sobol_dimensions;
           polynomial += 2) {
        if (!is_primitive(polynomial, degree)) continue;
        std::uint64_t* const numbers = v.data() + 64 * dimension++;
        for (int k = 0; k < degree; ++k) {
          std::uint64_t m = 1;
          for (int i = 1; i <= k; ++i, ++bit) m |= std::uint64_t{sobol_numbers[bit / 32] >> (bit % 32) & 1} << i;
          numbers[k] = m << (63 - k);
        }
        extend_directions(numbers, polynomial, degree);
      }
    return v;
  }();
  return all;
}

}  // namespace

const std::vector<std::uint64_t>& sobol_directions(bool scrambled) {
  static const std::vector<std::uint64_t> all = [] {
    const std::vector<std::uint64_t>& plain = plain_directions();
    std::vector<std::uint64_t> v(64 * scrambled_dimensions);
    for (std::size_t i = 0; i < v.size(); ++i)
      for (std::size_t bit = 0; bit < 64; ++bit)
        if ((plain[i] >> (63 - bit) & 1) != 0) v[i] ^= scrambles().columns[i / 64 * 64 + bit];
    return v;
  }();
  return scrambled ? all : plain_directions();
}

const std::vector<std::uint64_t>& scramble_constants() {
  return scrambles().constants;
}

std::unique_ptr<NumberSequence> make_mersenne_twister(std::uint64_t seed) {
  return std::make_unique<MersenneTwister>(seed);
}
std::unique_ptr<NumberSequence> make_mtgp32(std::uint64_t seed, std::size_t generators) {
  return std::make_unique<Mtgp32>(seed, generators);
}
std::unique_ptr<NumberSequence> make_sobol(int bits, bool scrambled, std::size_t dimensions, std::uint64_t offset) {
  return std::make_unique<Sobol>(bits, scrambled, dimensions, offset);
}

}  // namespace warpmat::cuda

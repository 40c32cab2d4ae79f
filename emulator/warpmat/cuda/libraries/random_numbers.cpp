#include <warpmat/cuda/libraries/random_numbers.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include <warpmat/scalar/approximate.h>

namespace warpmat::cuda {
namespace {

// ---- XORWOW: a step is linear over bits ----

using Words = std::array<std::uint32_t, 5>;
using BitMatrix = std::array<Words, 160>;  ///< the image of each bit

Words step(const Words& v) {
  const std::uint32_t t = v[0] ^ (v[0] >> 2);
  return {v[1], v[2], v[3], v[4], (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1))};
}

Words image(const BitMatrix& matrix, const Words& v) {
  Words sum{};
  for (std::size_t bit = 0; bit < matrix.size(); ++bit)
    if ((v[bit / 32] >> (bit % 32) & 1) != 0)
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] ^= matrix[bit][i];
  return sum;
}

BitMatrix squared(const BitMatrix& matrix) {
  BitMatrix square;
  for (std::size_t bit = 0; bit < matrix.size(); ++bit) square[bit] = image(matrix, matrix[bit]);
  return square;
}

/// Powers 2^0 to 2^67 of the step, made when they are first needed.
const BitMatrix& power_of_step(std::size_t exponent) {
  static std::vector<BitMatrix> powers;  // under mutex()
  if (powers.empty()) {
    BitMatrix one;
    for (std::size_t bit = 0; bit < one.size(); ++bit) {
      Words v{};
      v[bit / 32] = 1u << (bit % 32);
      one[bit] = step(v);
    }
    powers.reserve(68);
    powers.push_back(one);
  }
  while (powers.size() <= exponent) powers.push_back(squared(powers.back()));
  return powers[exponent];
}

constexpr std::uint32_t counter_step = 362437;

Words words_of(const Xorwow::State& state) {
  return {state[0], state[1], state[2], state[3], state[4]};
}
void set_words(Xorwow::State& state, const Words& words) {
  std::copy(words.begin(), words.end(), state.begin());
}

// ---- MRG32k3a: two recurrences of three numbers ----

constexpr std::uint64_t modulus[2] = {4294967087, 4294944443};
using Matrix3 = std::array<std::array<std::uint64_t, 3>, 3>;
constexpr Matrix3 steps[2] = {{{{0, 1, 0}, {0, 0, 1}, {modulus[0] - 810728, 1403580, 0}}},
                              {{{0, 1, 0}, {0, 0, 1}, {modulus[1] - 1370589, 0, 527612}}}};

/// Products of numbers below 2^32, each reduced, have sums below 2^34.
Matrix3 product(const Matrix3& a, const Matrix3& b, std::uint64_t m) {
  Matrix3 all{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) all[i][j] = (a[i][0] * b[0][j] % m + a[i][1] * b[1][j] % m + a[i][2] * b[2][j] % m) % m;
  return all;
}
void apply(const Matrix3& matrix, std::uint64_t* v, std::uint64_t m) {
  std::uint64_t all[3];
  for (std::size_t i = 0; i < 3; ++i) all[i] = (matrix[i][0] * v[0] % m + matrix[i][1] * v[1] % m + matrix[i][2] * v[2] % m) % m;
  std::copy(all, all + 3, v);
}
/// Power 2^exponent of a step.
Matrix3 power_of(int which, int exponent) {
  Matrix3 power = steps[which];
  for (int i = 0; i < exponent; ++i) power = product(power, power, modulus[which]);
  return power;
}

// ---- Philox ----

/// Four numbers.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> c, std::uint64_t key) {
  auto low = static_cast<std::uint32_t>(key), high = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xd2511f53} * c[0], second = std::uint64_t{0xcd9e8d57} * c[2];
    c = {static_cast<std::uint32_t>(second >> 32) ^ c[1] ^ low, static_cast<std::uint32_t>(second),
         static_cast<std::uint32_t>(first >> 32) ^ c[3] ^ high, static_cast<std::uint32_t>(first)};
    low += 0x9e3779b9;
    high += 0xbb67ae85;
  }
  return c;
}

// ---- Functions ----

template <typename T>
T from_bits(std::uint64_t bits) {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  else
    return std::bit_cast<double>(bits);
}

/// c[0] x^n + c[1] x^(n - 1) + ..., by fused multiply-adds, of constants as bits.
template <typename T, std::size_t n>
T polynomial(T x, const std::uint64_t (&constants)[n]) {
  T sum = from_bits<T>(constants[0]);
  for (std::size_t i = 1; i < n; ++i) sum = std::fma(sum, x, from_bits<T>(constants[i]));
  return sum;
}

std::uint32_t upper(double x) {
  return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(x) >> 32);
}
double with_upper(double x, std::uint32_t word) {
  return std::bit_cast<double>(std::uint64_t{word} << 32 | (std::bit_cast<std::uint64_t>(x) & 0xffffffff));
}

/// The unit's 1/x in the upper word, rcp.approx.ftz.f64.
double reciprocal_guess(double x) {
  return std::bit_cast<double>(scalar::of_upper_word<multi_function::rcp64h>(std::bit_cast<std::uint64_t>(x)));
}

float approximate_sine(float x) {
  return std::bit_cast<float>(scalar::approximate_sin(std::bit_cast<std::uint32_t>(x)));
}
float approximate_cosine(float x) {
  return std::bit_cast<float>(scalar::approximate_cos(std::bit_cast<std::uint32_t>(x)));
}

}  // namespace

Xorwow::State Xorwow::seeded(std::uint64_t seed) {
  const std::uint32_t low = 1099087573u * (static_cast<std::uint32_t>(seed) ^ 0xaad26b49u);
  const std::uint32_t high = 2591861531u * (static_cast<std::uint32_t>(seed >> 32) ^ 0xf7dcefddu);
  return {123456789u + low, 362436069u ^ low, 521288629u + high, 88675123u ^ high, 5783321u + low, 6615241u + high + low};
}
std::uint32_t Xorwow::next(State& state) {
  set_words(state, step(words_of(state)));
  state[5] += counter_step;
  return state[4] + state[5];
}
void Xorwow::skip(State& state, std::uint64_t count) {
  state[5] += counter_step * static_cast<std::uint32_t>(count);
  Words words = words_of(state);
  for (std::size_t bit = 0; count >> bit != 0 && bit < 64; ++bit)
    if ((count >> bit & 1) != 0) words = image(power_of_step(bit), words);
  set_words(state, words);
}
void Xorwow::skip_thread(State& state) {
  set_words(state, image(power_of_step(67), words_of(state)));  // the counter has gone round
}

Mrg32k3a::State Mrg32k3a::seeded(std::uint64_t seed) {
  State state;
  state.fill(12345);
  if (seed == 0) return state;
  const std::uint64_t factors[2] = {static_cast<std::uint32_t>(seed) ^ 0x55555555u, static_cast<std::uint32_t>(seed >> 32) ^ 0xaaaaaaaau};
  for (std::size_t i = 0; i < 6; ++i) state[i] = state[i] * factors[(i / 3 + i % 3) % 2] % modulus[i / 3];
  return state;
}
std::uint32_t Mrg32k3a::next(State& state) {
  apply(steps[0], state.data(), modulus[0]);
  apply(steps[1], state.data() + 3, modulus[1]);
  const std::uint64_t first = state[2], second = state[5];
  return static_cast<std::uint32_t>(first > second ? first - second : first + modulus[0] - second);
}
void Mrg32k3a::skip(State& state, std::uint64_t count) {
  for (int which = 0; which < 2; ++which) {
    Matrix3 power = steps[which];
    for (std::uint64_t rest = count; rest != 0; rest >>= 1) {
      if ((rest & 1) != 0) apply(power, state.data() + std::ptrdiff_t{3} * which, modulus[which]);
      power = product(power, power, modulus[which]);
    }
  }
}
void Mrg32k3a::skip_thread(State& state) {
  static const Matrix3 far[2] = {power_of(0, 76), power_of(1, 76)};
  for (int which = 0; which < 2; ++which) apply(far[which], state.data() + std::ptrdiff_t{3} * which, modulus[which]);
}

std::uint32_t Philox::next(State& state) {
  if (state.used == 4) {
    state.numbers = philox({static_cast<std::uint32_t>(state.block), static_cast<std::uint32_t>(state.block >> 32),
                            static_cast<std::uint32_t>(state.thread), static_cast<std::uint32_t>(state.thread >> 32)},
                           state.seed);
    ++state.block;
    state.used = 0;
  }
  return state.numbers[state.used++];
}

float log_of_gpu(float x) {
  const auto bits = static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(x));
  const auto exponent = static_cast<std::int32_t>(static_cast<std::uint32_t>(bits - 0x3f2aaaab) & 0xff800000u);
  const float f = std::bit_cast<float>(bits - exponent) - 1.0f;
  constexpr std::uint64_t constants[] = {0xbe055027, 0x3e1039f6, 0xbdf8cdcc, 0x3e0f2955, 0xbe2ad8b9,
                                         0x3e4ced0b, 0xbe7fff22, 0x3eaaaa78, 0xbf000000};
  const float sum = std::fma(polynomial(f, constants) * f, f, f);
  return std::fma(static_cast<float>(exponent) * 0x1p-23f, from_bits<float>(0x3f317218), sum);
}

double log_of_gpu(double x) {
  const std::uint32_t word = upper(x);
  auto exponent = static_cast<std::int32_t>(word >> 20) - 1023;
  double m = with_upper(x, (word & 0x800fffffu) | 0x3ff00000u);
  if (upper(m) >= 0x3ff6a09fu) {
    m = with_upper(m, upper(m) - 0x100000u);
    ++exponent;
  }
  const double above = m + 1.0, below = m - 1.0, guess = reciprocal_guess(above);
  const double error = std::fma(-above, guess, 1.0), inverse = std::fma(std::fma(error, error, error), guess, guess);
  const double half = below * inverse, u = std::fma(below, inverse, half), square = u * u;
  constexpr std::uint64_t constants[] = {0x3eb1380b3ae80f1e, 0x3ed0ee258b7a8b04, 0x3ef3b2669f02676f, 0x3f1745cba9ab0956,
                                         0x3f3c71c72d1b5154, 0x3f624924923be72d, 0x3f8999999999a3c4, 0x3fb5555555555554};
  const double series = square * polynomial(square, constants);
  const double rest = below - u, correction = inverse * std::fma(-u, below, rest + rest);
  const double low = std::fma(series, u, correction);
  const double ln2_high = from_bits<double>(0x3fe62e42fefa39ef), ln2_low = from_bits<double>(0x3c7abc9e3b39803f);
  const double e = exponent, high = std::fma(e, ln2_high, u);
  const double lost = std::fma(-e, ln2_high, high) - u;
  return high + std::fma(e, ln2_low, low - lost);
}

float exp_of_gpu(float x) {
  const float scaled = std::fma(x, from_bits<float>(0x3bbb989d), 0.5f);
  const float inside = std::isnan(scaled) ? 0.0f : scaled < 0 ? 0.0f : scaled > 1 ? 1.0f : scaled;
  const double exact = static_cast<double>(inside) * 252.0 + 12582913.0;  // toward minus infinity, to whole numbers
  const auto shifted = static_cast<float>(std::floor(exact));
  const float whole = shifted - 12583039.0f;
  const float part = std::fma(x, from_bits<float>(0x32a57060), std::fma(x, from_bits<float>(0x3fb8aa3b), -whole));
  const float power = std::bit_cast<float>(std::bit_cast<std::uint32_t>(shifted) << 23);
  return std::bit_cast<float>(multi_function::ex2(std::bit_cast<std::uint32_t>(part))) * power;
}

double exp_of_gpu(double x) {
  const double shifted = std::fma(x, from_bits<double>(0x3ff71547652b82fe), 0x1.8p52);
  const auto whole = static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(shifted));
  const double count = shifted - 0x1.8p52;
  const double part = std::fma(count, from_bits<double>(0xbc7abc9e3b39803f), std::fma(count, from_bits<double>(0xbfe62e42fefa39ef), x));
  constexpr std::uint64_t constants[] = {0x3e5ade1569ce2bdf, 0x3e928af3fca213ea, 0x3ec71dee62401315, 0x3efa01997c89eb71,
                                         0x3f2a01a014761f65, 0x3f56c16c1852b7af, 0x3f81111111122322, 0x3fa55555555502a1,
                                         0x3fc5555555555511, 0x3fe000000000000b, 0x3ff0000000000000, 0x3ff0000000000000};
  const double fraction = polynomial(part, constants);
  const float size = std::abs(std::bit_cast<float>(upper(x)));
  if (size < from_bits<float>(0x4086232b)) return with_upper(fraction, upper(fraction) + (static_cast<std::uint32_t>(whole) << 20));
  if (size >= from_bits<float>(0x40874800)) return x < 0 ? 0.0 : x + from_bits<double>(0x7ff0000000000000);
  const std::int32_t half = whole / 2;
  return with_upper(fraction, upper(fraction) + (static_cast<std::uint32_t>(half) << 20)) *
         with_upper(0.0, (static_cast<std::uint32_t>(whole - half) << 20) + 0x3ff00000u);
}

NormalPair<float> box_muller(float u, float angle) {
  const float length = std::sqrt(-2.0f * log_of_gpu(u));
  return {length * approximate_sine(angle), length * approximate_cosine(angle)};
}

NormalPair<double> box_muller(double u, double half_turns) {
  const double length = std::sqrt(-2.0 * log_of_gpu(u));
  const double quadrant = std::nearbyint(half_turns * 2.0), rest = std::fma(-quadrant, 0.5, half_turns);
  const double angle = std::fma(rest, from_bits<double>(0x400921fb54442d18), rest * from_bits<double>(0x3ca1a62633145c07));
  const double square = angle * angle;
  constexpr std::uint64_t of_cosine[] = {0xbda8ff8320fd8164, 0x3e21eea7c1ef8528, 0xbe927e4f8e06e6d9, 0x3efa01a019ddbce9,
                                         0xbf56c16c16c15d47, 0x3fa5555555555551, 0xbfe0000000000000, 0x3ff0000000000000};
  constexpr std::uint64_t of_sine[] = {
      0x3de5db65f9785eba, 0xbe5ae5f12cb0d246, 0x3ec71de369ace392, 0xbf2a01a019db62a1, 0x3f81111111110818, 0xbfc5555555555554, 0x0};
  double cosine = polynomial(square, of_cosine), sine = std::fma(polynomial(square, of_sine), angle, angle);
  const auto turns = static_cast<std::uint64_t>(static_cast<std::int64_t>(quadrant));
  if ((turns & 1) != 0) {
    std::swap(sine, cosine);
    cosine = -cosine;
  }
  if ((turns & 2) != 0) sine = -sine, cosine = -cosine;
  if (half_turns == std::trunc(half_turns)) sine = half_turns * 0.0;
  return {length * sine, length * (cosine + 0.0)};
}

namespace {

/// The logarithm as the inverse of erfc has it: of normal numbers from 0 to 1.
double log_of_erfc(double x) {
  const auto exponent = static_cast<std::int32_t>(upper(x) >> 20 & 2046) - 1022;
  const double m = with_upper(x, (upper(x) & 0x801fffffu) | 0x3fe00000u);
  const double above = m + 1.0, below = m - 1.0, guess = reciprocal_guess(above);
  const double error = std::fma(-above, guess, 1.0), inverse = std::fma(std::fma(error, error, error), guess, guess);
  const double ratio = below * inverse, rest = std::fma(-ratio, below, std::fma(-2.0, ratio, below));
  const double u = std::fma(rest, inverse, ratio), square = u * u;
  constexpr std::uint64_t constants[] = {0x3fb5c5c218c775c9, 0x3fa55cf59cdc5d89, 0x3faefd18cf6ebb9c, 0x3fb10682edcb8d1b,
                                         0x3fb3b1dd3ac7fc96, 0x3fb745cb459b54a6, 0x3fbc71c741a0669f, 0x3fc249249209112e,
                                         0x3fc99999999a06c1, 0x3fd5555555555535};
  const double half = std::fma(square * polynomial(square, constants), u, u);
  return std::fma(double(exponent), from_bits<double>(0x3fe62e42fefa39ef), half + half);
}

float erfc_inverse(float x) {
  const auto log2_of = [](float a) { return std::bit_cast<float>(multi_function::lg2(std::bit_cast<std::uint32_t>(a))); };
  if (x >= from_bits<float>(0x3b5ed289)) {
    constexpr std::uint64_t constants[] = {0xaf8a6370, 0x3221f645, 0xb4016fda, 0x3468f846, 0x370742aa,
                                           0xb804db4d, 0xba4afea1, 0x3bb5c027, 0x3e24ae0f, 0x3f62dfc4};
    const float sum = polynomial(-log2_of((2.0f - x) * x), constants);
    return std::fma(sum, -x, sum);
  }
  constexpr std::uint64_t constants[] = {0xc27c73f1, 0x42fef829, 0xc2e4361c, 0x42714d9b, 0xc1ae51b3,
                                         0x40cef504, 0xbfea9e05, 0xbcf871f4, 0x3f553775};
  const float w = -log2_of(x), root = std::bit_cast<float>(multi_function::rsq(std::bit_cast<std::uint32_t>(w)));
  return polynomial(root, constants) * (root * w);
}

double erfc_inverse(double x) {
  if (x >= from_bits<double>(0x3f4fa4d2ad8f904d)) {
    constexpr std::uint64_t constants[] = {
        0xbbb135d2e746e627, 0xbc08ddf93324d327, 0x3c37b83eef0b7c9f, 0x3c69ba72cd589b91, 0xbca33689090a6b96, 0x3c782e11898132e0,
        0x3cfde4acfd9e26ba, 0xbd26d33eed66c487, 0xbd36f2167040d8e2, 0x3d872a22c2d77e20, 0xbdac8859c4e5c0af, 0xbdcdc583d118a561,
        0x3e120f47ccf46b3c, 0xbe31a9e38dc84d60, 0xbe5f36cd6d3d46a9, 0x3e9c6b4f5d03b787, 0xbeb6e8a5434ae8a2, 0xbeed1d1f7b8736f6,
        0x3f2879c2a212f024, 0xbf4845769484fca8, 0xbf78b6c33114f909, 0x3fcebd80d9b13e28, 0x3ffa755e7c99ae86};
    const double sum = polynomial(-3.125 - log_of_erfc((2.0 - x) * x), constants);
    return std::fma(sum, -x, sum);
  }
  const double w = -log_of_erfc(x);
  const double guess = std::bit_cast<double>(scalar::of_upper_word<multi_function::rsq64h>(std::bit_cast<std::uint64_t>(w)));
  const double error = std::fma(w, -(guess * guess), 1.0), root = std::fma(std::fma(0.375, error, 0.5), error * guess, guess);
  constexpr std::uint64_t above[] = {0x3febe9222591afab, 0x4000a0e7333839aa, 0x4008768cf7e57d5c, 0x400b77e7e28da583,
                                     0x3ff34f26a4f99cf9, 0x3fc1f674adb019ed, 0x3f75ddae9506431d, 0x3f0ada49aa32489c};
  constexpr std::uint64_t below[] = {0x3ff0000000000000, 0x4001e90ff51c2197, 0x40111ea3a7cf3820, 0x4011a0e4a4749594, 0x400d4e977d38c14d,
                                     0x3ff37fd567ec0d5f, 0x3fc1fb9d7f676033, 0x3f75ddcdf98946e4, 0x3f0ada42d79d8dbb};
  return polynomial(root, above) / (root * polynomial(root, below));
}

}  // namespace

float normal_of(std::uint32_t x) {
  const bool mirrored = x > 0x80000000u;
  const float p = std::fma(static_cast<float>(mirrored ? ~x : x), 0x1p-32f, 0x1p-33f);
  const float root_of_two = from_bits<float>(0x3fb504f3);
  return (mirrored ? root_of_two : -root_of_two) * erfc_inverse(p + p);
}

namespace {
double normal_of_whole(std::uint64_t x, bool mirrored, double step) {
  const double p = std::fma(static_cast<double>(x), step, step / 2), root_of_two = from_bits<double>(0x3ff6a09e667f3bcd);
  return (mirrored ? root_of_two : -root_of_two) * erfc_inverse(p + p);
}
}  // namespace

double normal_double_of(std::uint32_t x) {
  const bool mirrored = x > 0x80000000u;
  return normal_of_whole(mirrored ? ~x : x, mirrored, 0x1p-32);
}
double normal_double_of(std::uint64_t x) {
  const std::uint64_t upper_bits = x >> 11;
  const bool mirrored = upper_bits > 0x10000000000000u;
  return normal_of_whole(mirrored ? 0x1fffffffffffffu - upper_bits : upper_bits, mirrored, 0x1p-53);
}

}  // namespace warpmat::cuda

#include <warpmat/machine/texture_filter.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

namespace warpmat::machine {
namespace {

/// In units of 2^-14: an H200's answers to all 256 codes. They lie beside the curve of the standard by up to 1 in 160.
constexpr std::array<std::uint16_t, 256> srgb_table{
    0,     5,     10,    15,    20,    25,    30,    35,    40,    45,    50,    55,    60,    66,    72,    78,    85,    92,    99,
    107,   115,   123,   131,   140,   150,   159,   169,   180,   190,   201,   213,   224,   236,   250,   262,   276,   290,   304,
    318,   332,   348,   364,   380,   396,   412,   430,   448,   466,   484,   504,   524,   544,   564,   584,   604,   624,   648,
    672,   692,   716,   740,   764,   788,   816,   840,   864,   896,   920,   944,   976,   1000,  1032,  1064,  1088,  1120,  1152,
    1184,  1216,  1248,  1280,  1312,  1352,  1384,  1416,  1456,  1488,  1528,  1560,  1600,  1640,  1672,  1712,  1752,  1792,  1832,
    1872,  1920,  1952,  2000,  2048,  2080,  2128,  2176,  2224,  2272,  2320,  2368,  2416,  2464,  2512,  2560,  2608,  2656,  2704,
    2752,  2816,  2864,  2912,  2976,  3024,  3072,  3136,  3184,  3248,  3296,  3360,  3424,  3472,  3536,  3600,  3664,  3712,  3776,
    3840,  3904,  3968,  4032,  4096,  4160,  4224,  4288,  4352,  4416,  4512,  4576,  4640,  4704,  4768,  4864,  4928,  4992,  5056,
    5152,  5216,  5280,  5376,  5440,  5536,  5600,  5696,  5760,  5824,  5920,  6016,  6080,  6176,  6240,  6336,  6400,  6496,  6592,
    6688,  6752,  6848,  6944,  7008,  7104,  7200,  7296,  7392,  7488,  7584,  7680,  7744,  7872,  7936,  8064,  8128,  8256,  8320,
    8448,  8512,  8640,  8768,  8832,  8960,  9024,  9152,  9280,  9344,  9472,  9600,  9664,  9792,  9920,  9984,  10112, 10240, 10304,
    10432, 10560, 10688, 10816, 10880, 11008, 11136, 11264, 11392, 11456, 11584, 11712, 11840, 11968, 12096, 12224, 12352, 12480, 12608,
    12736, 12864, 12992, 13120, 13248, 13376, 13504, 13632, 13760, 13888, 14016, 14144, 14272, 14400, 14528, 14656, 14848, 14976, 15104,
    15232, 15360, 15488, 15616, 15744, 16000, 16128, 16256, 16384};

/// 256ths of the binary logarithm of 1 + i / 256, as an H200 has them.
constexpr std::array<std::uint8_t, 256> logarithms{
    0,   2,   4,   5,   6,   8,   9,   11,  12,  13,  15,  16,  18,  19,  20,  22,  23,  24,  26,  27,  28,  30,  31,  32,  34,  35,
    36,  38,  39,  40,  42,  43,  44,  45,  47,  48,  49,  50,  52,  53,  54,  55,  57,  58,  59,  60,  62,  63,  64,  65,  66,  68,
    69,  70,  71,  72,  74,  75,  76,  77,  78,  79,  81,  82,  83,  84,  85,  86,  88,  89,  90,  91,  92,  93,  94,  95,  97,  98,
    99,  100, 101, 102, 103, 104, 105, 106, 107, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125,
    126, 127, 128, 129, 130, 131, 132, 133, 135, 136, 137, 137, 138, 139, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149, 150, 151,
    152, 153, 154, 155, 156, 157, 158, 159, 160, 161, 162, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 173, 174, 175,
    176, 177, 178, 179, 180, 181, 181, 182, 183, 184, 185, 186, 187, 188, 188, 189, 190, 191, 192, 193, 194, 195, 195, 196, 197, 198,
    199, 200, 200, 201, 202, 203, 204, 205, 205, 206, 207, 208, 209, 210, 210, 211, 212, 213, 214, 214, 215, 216, 217, 218, 218, 219,
    220, 221, 222, 222, 223, 224, 225, 226, 226, 227, 228, 229, 229, 230, 231, 232, 233, 233, 234, 235, 236, 236, 237, 238, 239, 239,
    240, 241, 242, 242, 243, 244, 245, 245, 246, 247, 248, 248, 249, 250, 251, 251, 252, 253, 253, 254, 255, 255};

constexpr int gradient_bits = 9;  ///< behind the first bit of a component

double last_bit(double x) {
  return std::ldexp(1.0, std::ilogb(x) - gradient_bits);
}
double cut_component(double x) {
  return x == 0 || !std::isfinite(x) ? x : std::trunc(x / last_bit(x)) * last_bit(x);
}

/// Nearly the length: the largest component, of the second one 11 / 32 and an eighth of its last bit, and of the third one a quarter
/// without its last bit.
double footprint(Gradient of) {
  std::ranges::transform(of, of.begin(), [](double x) { return cut_component(std::fabs(x)); });
  std::ranges::sort(of, std::greater<>());
  double length = of[0];
  if (of[1] != 0) length += of[1] * 11 / 32 + last_bit(of[1]) / 8;
  if (of[2] != 0) length += std::trunc(of[2] / last_bit(of[2]) / 2) * last_bit(of[2]) / 2;
  return length;
}

/// That of a diagonal of the pixel: components are 11 / 16 of the sum or difference, and a quarter of its last bit.
double diagonal_footprint(const Gradient& dx, const Gradient& dy, int sign) {
  Gradient both{};
  for (std::size_t i = 0; i < both.size(); ++i) {
    const double sum = std::fabs(cut_component(cut_component(dx[i]) + sign * cut_component(dy[i])));
    if (sum != 0) both[i] = sum * 11 / 16 + last_bit(sum) / 4;
  }
  return footprint(both);
}

constexpr double least_normal = 0x1p-126;
/// Groups are added up with so many bits behind the first bit of the largest texel; what is below is cut downwards.
constexpr int sum_bits = 38;
constexpr int weight_bits = 8;

bool counts(const WeightedTexel& texel) {
  return texel.weight != 0 && std::fabs(texel.value) >= least_normal;
}

/// A sum of whole numbers of 2^power.
struct Sum {
  std::int64_t units = 0;
  int power = 0;
  bool empty = true;
};

/// The texels of a group, cut toward zero behind `kept_bits` of the largest one.
Sum sum_of_group(std::span<const WeightedTexel> texels, std::size_t group, int kept_bits) {
  int largest = 0;
  Sum sum;
  for (const WeightedTexel& texel : texels) {
    if (texel.group != group || !counts(texel)) continue;
    const int exponent = std::ilogb(texel.value);
    largest = sum.empty ? exponent : std::max(largest, exponent);
    sum.empty = false;
  }
  for (const WeightedTexel& texel : texels)
    if (texel.group == group && counts(texel))
      sum.units += static_cast<std::int64_t>(std::trunc(std::ldexp(texel.value, kept_bits - largest))) * texel.weight;
  sum.power = largest - kept_bits - weight_bits;
  return sum;
}

/// The nearest number of the format; half goes away from zero.
float rounded(std::int64_t units, int power, const FilterFormat& format) {
  const std::uint64_t magnitude = units < 0 ? 0 - static_cast<std::uint64_t>(units) : static_cast<std::uint64_t>(units);
  const int excess = std::max(static_cast<int>(std::bit_width(magnitude)) - format.significand, format.least_power - power);
  std::uint64_t kept = magnitude;
  if (excess > 0) kept = excess > 63 ? 0 : (magnitude + (std::uint64_t{1} << (excess - 1))) >> excess;
  const double value = std::ldexp(static_cast<double>(kept), power + std::max(excess, 0));
  return static_cast<float>(units < 0 ? -value : value);
}

/// Where a texel is infinite or no number, its sum is, too. NaN is 0x7fffffff.
float sum_without_numbers(std::span<const WeightedTexel> texels) {
  double sum = 0;
  for (const WeightedTexel& texel : texels)
    if (texel.weight != 0) sum += texel.value * texel.weight;
  return std::isnan(sum) ? std::bit_cast<float>(0x7fffffffu) : static_cast<float>(sum);
}

float zero_of(std::span<const WeightedTexel> texels) {
  return std::ranges::all_of(texels, [](const WeightedTexel& texel) { return texel.weight == 0 || std::signbit(texel.value); }) ? -0.0f
                                                                                                                                : 0.0f;
}

}  // namespace

float filtered_sum(std::span<const WeightedTexel> texels, const FilterFormat& format) {
  if (std::ranges::any_of(texels, [](const WeightedTexel& texel) { return texel.weight != 0 && !std::isfinite(texel.value); }))
    return sum_without_numbers(texels);
  std::array<Sum, most_filter_groups> groups;
  const Sum* largest = nullptr;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    groups[group] = sum_of_group(texels, group, format.kept_bits);
    if (!groups[group].empty && (largest == nullptr || groups[group].power > largest->power)) largest = &groups[group];
  }
  if (largest == nullptr) return zero_of(texels);
  const int power = largest->power - (sum_bits - filter_of_f32.kept_bits - weight_bits);
  std::int64_t sum = 0;
  for (const Sum& group : groups) {
    const int shift = group.power - power;
    sum += group.empty ? 0 : shift >= 0 ? group.units << shift : group.units >> std::min(-shift, 63);
  }
  return rounded(sum, power, format);
}

std::int64_t filtered_integer(std::span<const WeightedTexel> texels) {
  double sum = 0;  // exact: integers of 16 bits, some with 3 fraction bits
  for (const WeightedTexel& texel : texels) sum += texel.value * texel.weight;
  return static_cast<std::int64_t>(std::floor(sum / weight_one + 0.5));
}

double level_of_gradients(const Gradient& dx, const Gradient& dy) {
  for (const Gradient* gradient : {&dx, &dy})
    for (const double x : *gradient)
      if (!std::isfinite(x)) return std::isnan(x) ? 0 : std::numeric_limits<double>::infinity();
  const double longest = std::max({footprint(dx), footprint(dy), diagonal_footprint(dx, dy, 1), diagonal_footprint(dx, dy, -1)});
  if (longest == 0) return 0;
  const int exponent = std::ilogb(longest);
  const auto bits = static_cast<std::size_t>((std::ldexp(longest, -exponent) - 1) * 256);
  return exponent + logarithms[bits] / 256.0;
}

float linear_of_srgb(std::uint8_t code) {
  return std::ldexp(static_cast<float>(srgb_table[code]), -14);
}

}  // namespace warpmat::machine

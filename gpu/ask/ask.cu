// ask.cu: what does your card's matrix unit compute? Written by `warpmat record --program`; do not edit.
//
//   nvcc -o ask ask.cu && ./ask
//
// It runs each matrix instruction of the card, sm_70 or later, on operands that it draws, and prints a digest of each result: one text to paste
// into an issue of warpmat. `warpmat evidence FILE` says what the text decides. It takes seconds, and any nvcc from 11.3 on: the card's driver
// assembles the instructions.

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

// The operands of the questions that ask.cu puts to a card, and the digest of its answers. ask.cu holds a copy of this file, which is why
// it includes nothing of warpmat.

namespace warpmat::ask {

constexpr unsigned lanes = 32, warps = 8;
constexpr unsigned classes = 5;  // exponents near each other; spread; small ones; any bits; a C that is larger than the products

/// How an operand's elements lie in its registers, and what they are.
struct Elements {
  char role;               ///< 'a', 'b', 'c', 'e' (metadata, whose codes are `codes`), 's' (scale factors), 'd' (the result)
  int register_bits;       ///< 32 or 64
  int bits;                ///< of an element's container
  int payload, shift;      ///< the element's own bits in it, and their lowest
  int exponent, fraction;  ///< exponent 0: any bits, of integers
  bool is_signed;
  std::uint32_t codes;  ///< metadata: a bit for each valid code of 4 bits
};

/// The output function of splitmix64.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

constexpr std::uint64_t limited(std::int64_t value, std::int64_t largest) {
  return std::uint64_t(value < 0 ? 0 : value > largest ? largest : value);
}

/// The exponent field of an element: near 1 for most classes, the lowest for A's small numbers, far above for large C.
constexpr std::uint64_t exponent_field(const Elements& e, unsigned of_class, std::uint64_t random) {
  const std::int64_t bias = (std::int64_t(1) << (e.exponent - 1)) - 1, finite = 2 * bias - (e.exponent < 5 && e.exponent > 1 ? 1 : 0);
  if (e.role == 's') return limited(bias - 2 + std::int64_t(random % 5), finite);
  if (of_class == 1) return limited(bias - 12 + std::int64_t(random % 25), finite);
  if (of_class == 2 && e.role != 'b') return e.role == 'c' ? limited(std::int64_t(random % (bias > 60 ? 20 : 4)), finite) : random % 3;
  if (of_class == 4 && e.role == 'c') return limited(bias + 4 + std::int64_t(random % 24), finite);
  return limited(bias - 2 + std::int64_t(random % 4), finite);
}

/// The bits of one element.
constexpr std::uint64_t element(const Elements& e, unsigned of_class, std::uint64_t random) {
  const std::uint64_t all = e.payload == 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << e.payload) - 1;
  if (e.role == 'e') {
    std::uint64_t code = random % 16;
    while ((e.codes >> code & 1) == 0) code = (code + 1) % 16;
    return code;
  }
  if (e.exponent == 0 || (of_class == 3 && e.role != 's')) return random & all;
  const std::uint64_t sign = e.is_signed ? random >> 63 : 0, fraction = random & ((std::uint64_t(1) << e.fraction) - 1);
  return sign << (e.exponent + e.fraction) | exponent_field(e, of_class, mix(random)) << e.fraction | fraction;
}

/// A register of one lane. `question` and `number` are those of the question and of the register in it.
constexpr std::uint64_t register_bits(const Elements& e, std::uint64_t question, unsigned of_class, unsigned warp, unsigned number,
                                      unsigned lane) {
  const std::uint64_t place = ((((question * classes + of_class) * warps + warp) * 64 + number) * lanes + lane) * 32;
  std::uint64_t bits = 0;
  for (int at = 0; at < e.register_bits; at += e.bits)
    bits |= element(e, of_class, mix((place + std::uint64_t(at / e.bits)) * 0x9e3779b97f4a7c15)) << (at + e.shift);
  return bits;
}

/// The digest of answers: add() their words, of the first warp first, by register and lane.
class Digest {
 public:
  constexpr void add(std::uint64_t word) { state_ = mix((state_ ^ word) * 0x9e3779b97f4a7c15 + 1); }
  constexpr std::uint32_t value() const { return std::uint32_t(state_ >> 32); }

 private:
  std::uint64_t state_ = 1;
};

}  // namespace warpmat::ask

using namespace warpmat::ask;

struct Card {
  int capability;
  const char* target;
  int version;  // of PTX
};
const Card cards[] = {
    {70, "sm_70", 65},
    {75, "sm_75", 65},
    {80, "sm_80", 70},
    {86, "sm_86", 71},
    {87, "sm_87", 74},
    {88, "sm_88", 73},
    {89, "sm_89", 78},
    {90, "sm_90a", 80},
    {100, "sm_100a", 86},
    {103, "sm_103a", 88},
    {110, "sm_110a", 90},
    {120, "sm_120a", 87},
    {121, "sm_121a", 88},
};

const Elements elements[] = {
    {'d', 32, 32, 32, 0, 8, 23, true, 0x0},
    {'a', 32, 16, 16, 0, 5, 10, true, 0x0},
    {'b', 32, 16, 16, 0, 5, 10, true, 0x0},
    {'c', 32, 32, 32, 0, 8, 23, true, 0x0},
    {'c', 32, 16, 16, 0, 5, 10, true, 0x0},
    {'d', 32, 16, 16, 0, 5, 10, true, 0x0},
    {'a', 32, 16, 16, 0, 8, 7, true, 0x0},
    {'b', 32, 16, 16, 0, 8, 7, true, 0x0},
    {'a', 32, 32, 32, 0, 8, 23, true, 0x0},
    {'b', 32, 32, 32, 0, 8, 23, true, 0x0},
    {'d', 64, 64, 64, 0, 11, 52, true, 0x0},
    {'a', 64, 64, 64, 0, 11, 52, true, 0x0},
    {'b', 64, 64, 64, 0, 11, 52, true, 0x0},
    {'c', 64, 64, 64, 0, 11, 52, true, 0x0},
    {'a', 32, 8, 8, 0, 4, 3, true, 0x0},
    {'b', 32, 8, 8, 0, 4, 3, true, 0x0},
    {'b', 32, 8, 8, 0, 5, 2, true, 0x0},
    {'a', 32, 8, 8, 0, 5, 2, true, 0x0},
    {'d', 32, 32, 32, 0, 0, 0, true, 0x0},
    {'a', 32, 8, 8, 0, 0, 0, true, 0x0},
    {'b', 32, 8, 8, 0, 0, 0, true, 0x0},
    {'c', 32, 32, 32, 0, 0, 0, true, 0x0},
    {'b', 32, 8, 8, 0, 0, 0, false, 0x0},
    {'a', 32, 8, 8, 0, 0, 0, false, 0x0},
    {'a', 32, 4, 4, 0, 0, 0, true, 0x0},
    {'b', 32, 4, 4, 0, 0, 0, true, 0x0},
    {'b', 32, 4, 4, 0, 0, 0, false, 0x0},
    {'a', 32, 4, 4, 0, 0, 0, false, 0x0},
    {'a', 32, 1, 1, 0, 0, 0, false, 0x0},
    {'b', 32, 1, 1, 0, 0, 0, false, 0x0},
    {'b', 32, 8, 6, 0, 3, 2, true, 0x0},
    {'b', 32, 8, 6, 0, 2, 3, true, 0x0},
    {'b', 32, 8, 4, 2, 2, 1, true, 0x0},
    {'a', 32, 8, 6, 0, 3, 2, true, 0x0},
    {'a', 32, 8, 6, 0, 2, 3, true, 0x0},
    {'a', 32, 8, 4, 2, 2, 1, true, 0x0},
    {'e', 32, 4, 4, 0, 0, 0, false, 0x7bde},
    {'e', 32, 4, 4, 0, 0, 0, false, 0x7310},
    {'e', 32, 4, 4, 0, 0, 0, false, 0x4010},
    {'s', 32, 8, 8, 0, 8, 0, false, 0x0},
    {'a', 32, 4, 4, 0, 2, 1, true, 0x0},
    {'b', 32, 4, 4, 0, 2, 1, true, 0x0},
    {'s', 32, 8, 8, 0, 4, 3, false, 0x0},
};

struct Group {
  const char* stem;
  int count;     // of registers; 0 ends the groups
  int elements;  // which of them
};
struct Row {
  const char* statement;
  int version;     // of PTX
  unsigned cards;  // a bit for each of `cards`
  Group groups[8];
};
const unsigned questions_digest = 0x8dcc1927;
const int row_count = 459;
const Row rows[row_count] = {
    {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};",
     64, 0x1fff, {{"%d", 8, 0}, {"%a", 2, 1}, {"%b", 2, 2}, {"%c", 8, 3}}},
    {"mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};",
     64, 0x1fff, {{"%d", 8, 0}, {"%a", 2, 1}, {"%b", 2, 2}, {"%c", 8, 3}}},
    {"mma.sync.aligned.m8n8k4.col.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};",
     64, 0x1fff, {{"%d", 8, 0}, {"%a", 2, 1}, {"%b", 2, 2}, {"%c", 8, 3}}},
    {"mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};",
     64, 0x1fff, {{"%d", 8, 0}, {"%a", 2, 1}, {"%b", 2, 2}, {"%c", 8, 3}}},
    {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     64, 0x1fff, {{"%d", 8, 0}, {"%a", 2, 1}, {"%b", 2, 2}, {"%c", 4, 4}}},
    {"mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f16 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     64, 0x1fff, {{"%d", 8, 0}, {"%a", 2, 1}, {"%b", 2, 2}, {"%c", 4, 4}}},
    {"mma.sync.aligned.m8n8k4.col.col.f32.f16.f16.f16 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     64, 0x1fff, {{"%d", 8, 0}, {"%a", 2, 1}, {"%b", 2, 2}, {"%c", 4, 4}}},
    {"mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f16 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     64, 0x1fff, {{"%d", 8, 0}, {"%a", 2, 1}, {"%b", 2, 2}, {"%c", 4, 4}}},
    {"mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     64, 0x1fff, {{"%d", 4, 5}, {"%a", 2, 1}, {"%b", 2, 2}, {"%c", 4, 4}}},
    {"mma.sync.aligned.m8n8k4.row.row.f16.f16.f16.f16 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     64, 0x1fff, {{"%d", 4, 5}, {"%a", 2, 1}, {"%b", 2, 2}, {"%c", 4, 4}}},
    {"mma.sync.aligned.m8n8k4.col.col.f16.f16.f16.f16 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     64, 0x1fff, {{"%d", 4, 5}, {"%a", 2, 1}, {"%b", 2, 2}, {"%c", 4, 4}}},
    {"mma.sync.aligned.m8n8k4.col.row.f16.f16.f16.f16 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     64, 0x1fff, {{"%d", 4, 5}, {"%a", 2, 1}, {"%b", 2, 2}, {"%c", 4, 4}}},
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     65, 0x1ffe, {{"%d", 4, 0}, {"%a", 2, 1}, {"%b", 1, 2}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%d0, %d1}, {%a0, %a1}, {%b0}, {%c0, %c1};",
     65, 0x1ffe, {{"%d", 2, 5}, {"%a", 2, 1}, {"%b", 1, 2}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 0}, {"%a", 4, 1}, {"%b", 2, 2}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     70, 0x1ffc, {{"%d", 2, 5}, {"%a", 4, 1}, {"%b", 2, 2}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 0}, {"%a", 2, 6}, {"%b", 1, 7}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 0}, {"%a", 4, 6}, {"%b", 2, 7}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 0}, {"%a", 2, 8}, {"%b", 1, 9}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 0}, {"%a", 4, 8}, {"%b", 2, 9}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     70, 0x1ffc, {{"%d", 2, 10}, {"%a", 1, 11}, {"%b", 1, 12}, {"%c", 2, 13}}},
    {"mma.sync.aligned.m8n8k4.row.col.rn.f64.f64.f64.f64 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     70, 0x1ffc, {{"%d", 2, 10}, {"%a", 1, 11}, {"%b", 1, 12}, {"%c", 2, 13}}},
    {"mma.sync.aligned.m8n8k4.row.col.rz.f64.f64.f64.f64 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     70, 0x1ffc, {{"%d", 2, 10}, {"%a", 1, 11}, {"%b", 1, 12}, {"%c", 2, 13}}},
    {"mma.sync.aligned.m8n8k4.row.col.rm.f64.f64.f64.f64 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     70, 0x1ffc, {{"%d", 2, 10}, {"%a", 1, 11}, {"%b", 1, 12}, {"%c", 2, 13}}},
    {"mma.sync.aligned.m8n8k4.row.col.rp.f64.f64.f64.f64 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     70, 0x1ffc, {{"%d", 2, 10}, {"%a", 1, 11}, {"%b", 1, 12}, {"%c", 2, 13}}},
    {"mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     78, 0x1f80, {{"%d", 4, 10}, {"%a", 2, 11}, {"%b", 1, 12}, {"%c", 4, 13}}},
    {"mma.sync.aligned.m16n8k4.row.col.rn.f64.f64.f64.f64 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     78, 0x1f80, {{"%d", 4, 10}, {"%a", 2, 11}, {"%b", 1, 12}, {"%c", 4, 13}}},
    {"mma.sync.aligned.m16n8k4.row.col.rz.f64.f64.f64.f64 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     78, 0x1f80, {{"%d", 4, 10}, {"%a", 2, 11}, {"%b", 1, 12}, {"%c", 4, 13}}},
    {"mma.sync.aligned.m16n8k4.row.col.rm.f64.f64.f64.f64 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     78, 0x1f80, {{"%d", 4, 10}, {"%a", 2, 11}, {"%b", 1, 12}, {"%c", 4, 13}}},
    {"mma.sync.aligned.m16n8k4.row.col.rp.f64.f64.f64.f64 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     78, 0x1f80, {{"%d", 4, 10}, {"%a", 2, 11}, {"%b", 1, 12}, {"%c", 4, 13}}},
    {"mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     78, 0x1f80, {{"%d", 4, 10}, {"%a", 4, 11}, {"%b", 2, 12}, {"%c", 4, 13}}},
    {"mma.sync.aligned.m16n8k8.row.col.rn.f64.f64.f64.f64 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     78, 0x1f80, {{"%d", 4, 10}, {"%a", 4, 11}, {"%b", 2, 12}, {"%c", 4, 13}}},
    {"mma.sync.aligned.m16n8k8.row.col.rz.f64.f64.f64.f64 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     78, 0x1f80, {{"%d", 4, 10}, {"%a", 4, 11}, {"%b", 2, 12}, {"%c", 4, 13}}},
    {"mma.sync.aligned.m16n8k8.row.col.rm.f64.f64.f64.f64 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     78, 0x1f80, {{"%d", 4, 10}, {"%a", 4, 11}, {"%b", 2, 12}, {"%c", 4, 13}}},
    {"mma.sync.aligned.m16n8k8.row.col.rp.f64.f64.f64.f64 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     78, 0x1f80, {{"%d", 4, 10}, {"%a", 4, 11}, {"%b", 2, 12}, {"%c", 4, 13}}},
    {"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3};",
     78, 0x1f80, {{"%d", 4, 10}, {"%a", 8, 11}, {"%b", 4, 12}, {"%c", 4, 13}}},
    {"mma.sync.aligned.m16n8k16.row.col.rn.f64.f64.f64.f64 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3};",
     78, 0x1f80, {{"%d", 4, 10}, {"%a", 8, 11}, {"%b", 4, 12}, {"%c", 4, 13}}},
    {"mma.sync.aligned.m16n8k16.row.col.rz.f64.f64.f64.f64 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3};",
     78, 0x1f80, {{"%d", 4, 10}, {"%a", 8, 11}, {"%b", 4, 12}, {"%c", 4, 13}}},
    {"mma.sync.aligned.m16n8k16.row.col.rm.f64.f64.f64.f64 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3};",
     78, 0x1f80, {{"%d", 4, 10}, {"%a", 8, 11}, {"%b", 4, 12}, {"%c", 4, 13}}},
    {"mma.sync.aligned.m16n8k16.row.col.rp.f64.f64.f64.f64 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3};",
     78, 0x1f80, {{"%d", 4, 10}, {"%a", 8, 11}, {"%b", 4, 12}, {"%c", 4, 13}}},
    {"mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     87, 0x1fc0, {{"%d", 4, 0}, {"%a", 2, 14}, {"%b", 1, 15}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k16.row.col.f16.e4m3.e4m3.f16 {%d0, %d1}, {%a0, %a1}, {%b0}, {%c0, %c1};",
     87, 0x1fc0, {{"%d", 2, 5}, {"%a", 2, 14}, {"%b", 1, 15}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e5m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     87, 0x1fc0, {{"%d", 4, 0}, {"%a", 2, 14}, {"%b", 1, 16}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k16.row.col.f16.e4m3.e5m2.f16 {%d0, %d1}, {%a0, %a1}, {%b0}, {%c0, %c1};",
     87, 0x1fc0, {{"%d", 2, 5}, {"%a", 2, 14}, {"%b", 1, 16}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k16.row.col.f32.e5m2.e4m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     87, 0x1fc0, {{"%d", 4, 0}, {"%a", 2, 17}, {"%b", 1, 15}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k16.row.col.f16.e5m2.e4m3.f16 {%d0, %d1}, {%a0, %a1}, {%b0}, {%c0, %c1};",
     87, 0x1fc0, {{"%d", 2, 5}, {"%a", 2, 17}, {"%b", 1, 15}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k16.row.col.f32.e5m2.e5m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     87, 0x1fc0, {{"%d", 4, 0}, {"%a", 2, 17}, {"%b", 1, 16}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k16.row.col.f16.e5m2.e5m2.f16 {%d0, %d1}, {%a0, %a1}, {%b0}, {%c0, %c1};",
     87, 0x1fc0, {{"%d", 2, 5}, {"%a", 2, 17}, {"%b", 1, 16}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     84, 0x1fc0, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 2, 15}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     84, 0x1fc0, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 2, 16}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     84, 0x1fc0, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 2, 15}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     84, 0x1fc0, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 2, 16}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1fc0, {{"%d", 2, 5}, {"%a", 4, 14}, {"%b", 2, 15}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e5m2.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1fc0, {{"%d", 2, 5}, {"%a", 4, 14}, {"%b", 2, 16}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e4m3.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1fc0, {{"%d", 2, 5}, {"%a", 4, 17}, {"%b", 2, 15}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e5m2.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1fc0, {{"%d", 2, 5}, {"%a", 4, 17}, {"%b", 2, 16}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     65, 0x1ffe, {{"%d", 2, 18}, {"%a", 1, 19}, {"%b", 1, 20}, {"%c", 2, 21}}},
    {"mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     65, 0x1ffe, {{"%d", 2, 18}, {"%a", 1, 19}, {"%b", 1, 20}, {"%c", 2, 21}}},
    {"mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     65, 0x1ffe, {{"%d", 2, 18}, {"%a", 1, 19}, {"%b", 1, 22}, {"%c", 2, 21}}},
    {"mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.u8.s32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     65, 0x1ffe, {{"%d", 2, 18}, {"%a", 1, 19}, {"%b", 1, 22}, {"%c", 2, 21}}},
    {"mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     65, 0x1ffe, {{"%d", 2, 18}, {"%a", 1, 23}, {"%b", 1, 20}, {"%c", 2, 21}}},
    {"mma.sync.aligned.m8n8k16.row.col.satfinite.s32.u8.s8.s32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     65, 0x1ffe, {{"%d", 2, 18}, {"%a", 1, 23}, {"%b", 1, 20}, {"%c", 2, 21}}},
    {"mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     65, 0x1ffe, {{"%d", 2, 18}, {"%a", 1, 23}, {"%b", 1, 22}, {"%c", 2, 21}}},
    {"mma.sync.aligned.m8n8k16.row.col.satfinite.s32.u8.u8.s32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     65, 0x1ffe, {{"%d", 2, 18}, {"%a", 1, 23}, {"%b", 1, 22}, {"%c", 2, 21}}},
    {"mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 19}, {"%b", 1, 20}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 19}, {"%b", 1, 20}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 19}, {"%b", 1, 22}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.u8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 19}, {"%b", 1, 22}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 23}, {"%b", 1, 20}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k16.row.col.satfinite.s32.u8.s8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 23}, {"%b", 1, 20}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 23}, {"%b", 1, 22}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k16.row.col.satfinite.s32.u8.u8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 23}, {"%b", 1, 22}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 19}, {"%b", 2, 20}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 19}, {"%b", 2, 20}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 19}, {"%b", 2, 22}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 19}, {"%b", 2, 22}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 23}, {"%b", 2, 20}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 23}, {"%b", 2, 20}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 23}, {"%b", 2, 22}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.u8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 23}, {"%b", 2, 22}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     65, 0x1ffe, {{"%d", 2, 18}, {"%a", 1, 24}, {"%b", 1, 25}, {"%c", 2, 21}}},
    {"mma.sync.aligned.m8n8k32.row.col.satfinite.s32.s4.s4.s32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     65, 0x1ffe, {{"%d", 2, 18}, {"%a", 1, 24}, {"%b", 1, 25}, {"%c", 2, 21}}},
    {"mma.sync.aligned.m8n8k32.row.col.s32.s4.u4.s32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     65, 0x1ffe, {{"%d", 2, 18}, {"%a", 1, 24}, {"%b", 1, 26}, {"%c", 2, 21}}},
    {"mma.sync.aligned.m8n8k32.row.col.satfinite.s32.s4.u4.s32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     65, 0x1ffe, {{"%d", 2, 18}, {"%a", 1, 24}, {"%b", 1, 26}, {"%c", 2, 21}}},
    {"mma.sync.aligned.m8n8k32.row.col.s32.u4.s4.s32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     65, 0x1ffe, {{"%d", 2, 18}, {"%a", 1, 27}, {"%b", 1, 25}, {"%c", 2, 21}}},
    {"mma.sync.aligned.m8n8k32.row.col.satfinite.s32.u4.s4.s32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     65, 0x1ffe, {{"%d", 2, 18}, {"%a", 1, 27}, {"%b", 1, 25}, {"%c", 2, 21}}},
    {"mma.sync.aligned.m8n8k32.row.col.s32.u4.u4.s32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     65, 0x1ffe, {{"%d", 2, 18}, {"%a", 1, 27}, {"%b", 1, 26}, {"%c", 2, 21}}},
    {"mma.sync.aligned.m8n8k32.row.col.satfinite.s32.u4.u4.s32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     65, 0x1ffe, {{"%d", 2, 18}, {"%a", 1, 27}, {"%b", 1, 26}, {"%c", 2, 21}}},
    {"mma.sync.aligned.m16n8k32.row.col.s32.s4.s4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 24}, {"%b", 1, 25}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s4.s4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 24}, {"%b", 1, 25}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k32.row.col.s32.s4.u4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 24}, {"%b", 1, 26}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s4.u4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 24}, {"%b", 1, 26}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k32.row.col.s32.u4.s4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 27}, {"%b", 1, 25}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u4.s4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 27}, {"%b", 1, 25}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k32.row.col.s32.u4.u4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 27}, {"%b", 1, 26}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u4.u4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 27}, {"%b", 1, 26}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 24}, {"%b", 2, 25}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.s4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 24}, {"%b", 2, 25}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 24}, {"%b", 2, 26}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.u4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 24}, {"%b", 2, 26}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k64.row.col.s32.u4.s4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 27}, {"%b", 2, 25}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k64.row.col.satfinite.s32.u4.s4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 27}, {"%b", 2, 25}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k64.row.col.s32.u4.u4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 27}, {"%b", 2, 26}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k64.row.col.satfinite.s32.u4.u4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 27}, {"%b", 2, 26}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     70, 0x1ffe, {{"%d", 2, 18}, {"%a", 1, 28}, {"%b", 1, 29}, {"%c", 2, 21}}},
    {"mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.xor.popc {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 28}, {"%b", 1, 29}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     70, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 28}, {"%b", 2, 29}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     71, 0x1ffc, {{"%d", 2, 18}, {"%a", 1, 28}, {"%b", 1, 29}, {"%c", 2, 21}}},
    {"mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 28}, {"%b", 1, 29}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 28}, {"%b", 2, 29}, {"%c", 4, 21}}},
    {"mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     87, 0x1f00, {{"%d", 4, 0}, {"%a", 2, 14}, {"%b", 1, 15}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f16.e4m3.e4m3.f16 {%d0, %d1}, {%a0, %a1}, {%b0}, {%c0, %c1};",
     87, 0x1f00, {{"%d", 2, 5}, {"%a", 2, 14}, {"%b", 1, 15}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f32.e4m3.e5m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     87, 0x1f00, {{"%d", 4, 0}, {"%a", 2, 14}, {"%b", 1, 16}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f16.e4m3.e5m2.f16 {%d0, %d1}, {%a0, %a1}, {%b0}, {%c0, %c1};",
     87, 0x1f00, {{"%d", 2, 5}, {"%a", 2, 14}, {"%b", 1, 16}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f32.e5m2.e4m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     87, 0x1f00, {{"%d", 4, 0}, {"%a", 2, 17}, {"%b", 1, 15}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f16.e5m2.e4m3.f16 {%d0, %d1}, {%a0, %a1}, {%b0}, {%c0, %c1};",
     87, 0x1f00, {{"%d", 2, 5}, {"%a", 2, 17}, {"%b", 1, 15}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f32.e5m2.e5m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};",
     87, 0x1f00, {{"%d", 4, 0}, {"%a", 2, 17}, {"%b", 1, 16}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f16.e5m2.e5m2.f16 {%d0, %d1}, {%a0, %a1}, {%b0}, {%c0, %c1};",
     87, 0x1f00, {{"%d", 2, 5}, {"%a", 2, 17}, {"%b", 1, 16}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     86, 0x1f00, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 2, 15}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e5m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     86, 0x1f00, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 2, 16}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e5m2.e4m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     86, 0x1f00, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 2, 15}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e5m2.e5m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     86, 0x1f00, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 2, 16}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e4m3.e4m3.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1f00, {{"%d", 2, 5}, {"%a", 4, 14}, {"%b", 2, 15}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e4m3.e5m2.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1f00, {{"%d", 2, 5}, {"%a", 4, 14}, {"%b", 2, 16}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e5m2.e4m3.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1f00, {{"%d", 2, 5}, {"%a", 4, 17}, {"%b", 2, 15}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e5m2.e5m2.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1f00, {{"%d", 2, 5}, {"%a", 4, 17}, {"%b", 2, 16}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e3m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 2, 30}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e4m3.e3m2.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 14}, {"%b", 2, 30}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 2, 31}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e4m3.e2m3.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 14}, {"%b", 2, 31}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 2, 32}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e4m3.e2m1.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 14}, {"%b", 2, 32}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e5m2.e3m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 2, 30}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e5m2.e3m2.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 17}, {"%b", 2, 30}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e5m2.e2m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 2, 31}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e5m2.e2m3.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 17}, {"%b", 2, 31}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e5m2.e2m1.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 2, 32}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e5m2.e2m1.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 17}, {"%b", 2, 32}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e4m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 2, 15}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e3m2.e4m3.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 33}, {"%b", 2, 15}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e5m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 2, 16}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e3m2.e5m2.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 33}, {"%b", 2, 16}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e3m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 2, 30}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e3m2.e3m2.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 33}, {"%b", 2, 30}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 2, 31}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e3m2.e2m3.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 33}, {"%b", 2, 31}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m1.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 2, 32}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e3m2.e2m1.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 33}, {"%b", 2, 32}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m3.e4m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 2, 15}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e2m3.e4m3.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 34}, {"%b", 2, 15}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m3.e5m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 2, 16}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e2m3.e5m2.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 34}, {"%b", 2, 16}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m3.e3m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 2, 30}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e2m3.e3m2.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 34}, {"%b", 2, 30}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m3.e2m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 2, 31}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e2m3.e2m3.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 34}, {"%b", 2, 31}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m3.e2m1.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 2, 32}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e2m3.e2m1.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 34}, {"%b", 2, 32}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e4m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 2, 15}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e2m1.e4m3.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 35}, {"%b", 2, 15}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e5m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 2, 16}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e2m1.e5m2.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 35}, {"%b", 2, 16}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 2, 30}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e2m1.e3m2.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 35}, {"%b", 2, 30}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 2, 31}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e2m1.e2m3.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 35}, {"%b", 2, 31}, {"%c", 2, 4}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 2, 32}, {"%c", 4, 3}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e2m1.e2m1.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1};",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 35}, {"%b", 2, 32}, {"%c", 2, 4}}},
    {"mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 0}, {"%a", 2, 1}, {"%b", 2, 2}, {"%c", 4, 3}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%d0, %d1}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1}, %e0, 0;",
     71, 0x1ffc, {{"%d", 2, 5}, {"%a", 2, 1}, {"%b", 2, 2}, {"%c", 2, 4}, {"%e", 1, 36}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 0}, {"%a", 2, 1}, {"%b", 2, 2}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%d0, %d1}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1}, %e0, 0;",
     85, 0x1ffc, {{"%d", 2, 5}, {"%a", 2, 1}, {"%b", 2, 2}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 0}, {"%a", 4, 1}, {"%b", 4, 2}, {"%c", 4, 3}, {"%e", 1, 36}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 0}, {"%a", 4, 1}, {"%b", 4, 2}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     71, 0x1ffc, {{"%d", 2, 5}, {"%a", 4, 1}, {"%b", 4, 2}, {"%c", 2, 4}, {"%e", 1, 36}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     85, 0x1ffc, {{"%d", 2, 5}, {"%a", 4, 1}, {"%b", 4, 2}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 0}, {"%a", 2, 6}, {"%b", 2, 7}, {"%c", 4, 3}, {"%e", 1, 36}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 0}, {"%a", 2, 6}, {"%b", 2, 7}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 0}, {"%a", 4, 6}, {"%b", 4, 7}, {"%c", 4, 3}, {"%e", 1, 36}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 0}, {"%a", 4, 6}, {"%b", 4, 7}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 0}, {"%a", 2, 8}, {"%b", 2, 9}, {"%c", 4, 3}, {"%e", 1, 38}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 0}, {"%a", 2, 8}, {"%b", 2, 9}, {"%c", 4, 3}, {"%e", 1, 38}}},
    {"mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 0}, {"%a", 4, 8}, {"%b", 4, 9}, {"%c", 4, 3}, {"%e", 1, 38}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 0}, {"%a", 4, 8}, {"%b", 4, 9}, {"%c", 4, 3}, {"%e", 1, 38}}},
    {"mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 19}, {"%b", 2, 20}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 19}, {"%b", 2, 20}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 19}, {"%b", 2, 22}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 19}, {"%b", 2, 22}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 23}, {"%b", 2, 20}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 23}, {"%b", 2, 20}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 23}, {"%b", 2, 22}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.u8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 23}, {"%b", 2, 22}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 19}, {"%b", 2, 20}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 19}, {"%b", 2, 20}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 19}, {"%b", 2, 22}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 19}, {"%b", 2, 22}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 23}, {"%b", 2, 20}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 23}, {"%b", 2, 20}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 23}, {"%b", 2, 22}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.u8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 23}, {"%b", 2, 22}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 19}, {"%b", 4, 20}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k64.row.col.satfinite.s32.s8.s8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 19}, {"%b", 4, 20}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.u8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 19}, {"%b", 4, 22}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k64.row.col.satfinite.s32.s8.u8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 19}, {"%b", 4, 22}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k64.row.col.s32.u8.s8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 23}, {"%b", 4, 20}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k64.row.col.satfinite.s32.u8.s8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 23}, {"%b", 4, 20}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k64.row.col.s32.u8.u8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 23}, {"%b", 4, 22}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k64.row.col.satfinite.s32.u8.u8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 23}, {"%b", 4, 22}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 19}, {"%b", 4, 20}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.satfinite.s32.s8.s8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 19}, {"%b", 4, 20}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.u8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 19}, {"%b", 4, 22}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.satfinite.s32.s8.u8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 19}, {"%b", 4, 22}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.u8.s8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 23}, {"%b", 4, 20}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.satfinite.s32.u8.s8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 23}, {"%b", 4, 20}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.u8.u8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 23}, {"%b", 4, 22}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.satfinite.s32.u8.u8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 23}, {"%b", 4, 22}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 24}, {"%b", 2, 25}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.s4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 24}, {"%b", 2, 25}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 24}, {"%b", 2, 26}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.u4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 24}, {"%b", 2, 26}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k64.row.col.s32.u4.s4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 27}, {"%b", 2, 25}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k64.row.col.satfinite.s32.u4.s4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 27}, {"%b", 2, 25}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k64.row.col.s32.u4.u4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 27}, {"%b", 2, 26}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k64.row.col.satfinite.s32.u4.u4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 27}, {"%b", 2, 26}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 24}, {"%b", 2, 25}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.s4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 24}, {"%b", 2, 25}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 24}, {"%b", 2, 26}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.u4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 24}, {"%b", 2, 26}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.u4.s4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 27}, {"%b", 2, 25}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.satfinite.s32.u4.s4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 27}, {"%b", 2, 25}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.u4.u4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 27}, {"%b", 2, 26}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.satfinite.s32.u4.u4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 2, 27}, {"%b", 2, 26}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp.sync.aligned.m16n8k128.row.col.s32.s4.s4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 24}, {"%b", 4, 25}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k128.row.col.satfinite.s32.s4.s4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 24}, {"%b", 4, 25}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k128.row.col.s32.s4.u4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 24}, {"%b", 4, 26}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k128.row.col.satfinite.s32.s4.u4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 24}, {"%b", 4, 26}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k128.row.col.s32.u4.s4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 27}, {"%b", 4, 25}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k128.row.col.satfinite.s32.u4.s4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 27}, {"%b", 4, 25}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k128.row.col.s32.u4.u4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 27}, {"%b", 4, 26}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k128.row.col.satfinite.s32.u4.u4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     71, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 27}, {"%b", 4, 26}, {"%c", 4, 21}, {"%e", 1, 36}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.s32.s4.s4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 24}, {"%b", 4, 25}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.satfinite.s32.s4.s4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 24}, {"%b", 4, 25}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.s32.s4.u4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 24}, {"%b", 4, 26}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.satfinite.s32.s4.u4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 24}, {"%b", 4, 26}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.s32.u4.s4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 27}, {"%b", 4, 25}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.satfinite.s32.u4.s4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 27}, {"%b", 4, 25}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.s32.u4.u4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 27}, {"%b", 4, 26}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.satfinite.s32.u4.u4.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1ffc, {{"%d", 4, 18}, {"%a", 4, 27}, {"%b", 4, 26}, {"%c", 4, 21}, {"%e", 1, 37}}},
    {"mma.sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     84, 0x1fc0, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 4, 15}, {"%c", 4, 3}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     84, 0x1fc0, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 4, 16}, {"%c", 4, 3}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k64.row.col.f32.e5m2.e4m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     84, 0x1fc0, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 4, 15}, {"%c", 4, 3}, {"%e", 1, 36}}},
    {"mma.sp.sync.aligned.m16n8k64.row.col.f32.e5m2.e5m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     84, 0x1fc0, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 4, 16}, {"%c", 4, 3}, {"%e", 1, 36}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1fc0, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 4, 15}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1fc0, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 4, 16}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e5m2.e4m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1fc0, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 4, 15}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e5m2.e5m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     85, 0x1fc0, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 4, 16}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f16.e4m3.e4m3.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 14}, {"%b", 4, 15}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f16.e4m3.e5m2.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 14}, {"%b", 4, 16}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f16.e5m2.e4m3.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 17}, {"%b", 4, 15}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f16.e5m2.e5m2.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 17}, {"%b", 4, 16}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     86, 0x1f00, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 4, 15}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e4m3.e5m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     86, 0x1f00, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 4, 16}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e5m2.e4m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     86, 0x1f00, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 4, 15}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e5m2.e5m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     86, 0x1f00, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 4, 16}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e4m3.e4m3.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 14}, {"%b", 4, 15}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e4m3.e5m2.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 14}, {"%b", 4, 16}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e4m3.e3m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 4, 30}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e4m3.e3m2.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 14}, {"%b", 4, 30}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e4m3.e2m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 4, 31}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e4m3.e2m3.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 14}, {"%b", 4, 31}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 4, 32}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e4m3.e2m1.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 14}, {"%b", 4, 32}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e5m2.e4m3.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 17}, {"%b", 4, 15}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e5m2.e5m2.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 17}, {"%b", 4, 16}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e5m2.e3m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 4, 30}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e5m2.e3m2.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 17}, {"%b", 4, 30}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e5m2.e2m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 4, 31}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e5m2.e2m3.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 17}, {"%b", 4, 31}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e5m2.e2m1.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 4, 32}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e5m2.e2m1.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 17}, {"%b", 4, 32}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e3m2.e4m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 4, 15}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e3m2.e4m3.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 33}, {"%b", 4, 15}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e3m2.e5m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 4, 16}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e3m2.e5m2.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 33}, {"%b", 4, 16}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e3m2.e3m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 4, 30}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e3m2.e3m2.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 33}, {"%b", 4, 30}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e3m2.e2m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 4, 31}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e3m2.e2m3.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 33}, {"%b", 4, 31}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e3m2.e2m1.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 4, 32}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e3m2.e2m1.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 33}, {"%b", 4, 32}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e2m3.e4m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 4, 15}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e2m3.e4m3.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 34}, {"%b", 4, 15}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e2m3.e5m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 4, 16}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e2m3.e5m2.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 34}, {"%b", 4, 16}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e2m3.e3m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 4, 30}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e2m3.e3m2.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 34}, {"%b", 4, 30}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e2m3.e2m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 4, 31}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e2m3.e2m3.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 34}, {"%b", 4, 31}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e2m3.e2m1.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 4, 32}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e2m3.e2m1.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 34}, {"%b", 4, 32}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e2m1.e4m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 4, 15}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e2m1.e4m3.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 35}, {"%b", 4, 15}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e2m1.e5m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 4, 16}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e2m1.e5m2.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 35}, {"%b", 4, 16}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 4, 30}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e2m1.e3m2.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 35}, {"%b", 4, 30}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e2m1.e2m3.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 4, 31}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e2m1.e2m3.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 35}, {"%b", 4, 31}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0;",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 4, 32}, {"%c", 4, 3}, {"%e", 1, 37}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e2m1.e2m1.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1}, %e0, 0;",
     87, 0x1800, {{"%d", 2, 5}, {"%a", 4, 35}, {"%b", 4, 32}, {"%c", 2, 4}, {"%e", 1, 37}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 2, 15}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e5m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 2, 16}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e3m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 2, 30}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e2m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 2, 31}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 2, 32}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e5m2.e4m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 2, 15}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e5m2.e5m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 2, 16}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e5m2.e3m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 2, 30}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e5m2.e2m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 2, 31}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e5m2.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 2, 32}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e3m2.e4m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 2, 15}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e3m2.e5m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 2, 16}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e3m2.e3m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 2, 30}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e3m2.e2m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 2, 31}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e3m2.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 2, 32}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e2m3.e4m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 2, 15}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e2m3.e5m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 2, 16}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e2m3.e3m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 2, 30}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e2m3.e2m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 2, 31}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e2m3.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 2, 32}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e2m1.e4m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 2, 15}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e2m1.e5m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 2, 16}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e2m1.e3m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 2, 30}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e2m1.e2m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 2, 31}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e2m1.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 2, 32}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 2, 15}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e5m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 2, 16}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e3m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 2, 30}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e2m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 2, 31}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 2, 32}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e5m2.e4m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 2, 15}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e5m2.e5m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 2, 16}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e5m2.e3m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 2, 30}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e5m2.e2m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 2, 31}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e5m2.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 2, 32}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e3m2.e4m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 2, 15}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e3m2.e5m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 2, 16}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e3m2.e3m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 2, 30}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e3m2.e2m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 2, 31}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e3m2.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 2, 32}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m3.e4m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 2, 15}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m3.e5m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 2, 16}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m3.e3m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 2, 30}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m3.e2m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 2, 31}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m3.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 2, 32}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m1.e4m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 2, 15}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m1.e5m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 2, 16}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m1.e3m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 2, 30}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m1.e2m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 2, 31}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m1.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 2, 32}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 4, 15}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e5m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 4, 16}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e3m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 4, 30}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e2m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 4, 31}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 4, 32}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e5m2.e4m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 4, 15}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e5m2.e5m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 4, 16}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e5m2.e3m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 4, 30}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e5m2.e2m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 4, 31}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e5m2.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 4, 32}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e3m2.e4m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 4, 15}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e3m2.e5m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 4, 16}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e3m2.e3m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 4, 30}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e3m2.e2m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 4, 31}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e3m2.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 4, 32}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e2m3.e4m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 4, 15}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e2m3.e5m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 4, 16}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e2m3.e3m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 4, 30}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e2m3.e2m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 4, 31}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e2m3.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 4, 32}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e2m1.e4m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 4, 15}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e2m1.e5m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 4, 16}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e2m1.e3m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 4, 30}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e2m1.e2m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 4, 31}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e2m1.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 4, 32}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 4, 15}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e5m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 4, 16}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e3m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 4, 30}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e2m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 4, 31}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 14}, {"%b", 4, 32}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e5m2.e4m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 4, 15}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e5m2.e5m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 4, 16}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e5m2.e3m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 4, 30}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e5m2.e2m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 4, 31}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e5m2.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 17}, {"%b", 4, 32}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e3m2.e4m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 4, 15}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e3m2.e5m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 4, 16}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e3m2.e3m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 4, 30}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e3m2.e2m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 4, 31}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e3m2.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 33}, {"%b", 4, 32}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m3.e4m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 4, 15}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m3.e5m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 4, 16}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m3.e3m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 4, 30}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m3.e2m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 4, 31}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m3.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 34}, {"%b", 4, 32}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m1.e4m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 4, 15}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m1.e5m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 4, 16}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m1.e3m2.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 4, 30}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m1.e2m3.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 4, 31}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m1.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 35}, {"%b", 4, 32}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 40}, {"%b", 2, 41}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 40}, {"%b", 2, 41}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 40}, {"%b", 4, 41}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 40}, {"%b", 4, 41}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 40}, {"%b", 2, 41}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 40}, {"%b", 4, 41}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 40}, {"%b", 2, 41}, {"%c", 4, 3}, {"%scale_a", 1, 42}, {"%scale_b", 1, 42}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     87, 0x1800, {{"%d", 4, 0}, {"%a", 4, 40}, {"%b", 4, 41}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 42}, {"%scale_b", 1, 42}}},
    {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3}, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     91, 0x1800, {{"%d", 4, 0}, {"%a", 4, 40}, {"%b", 2, 41}, {"%c", 4, 3}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e0, 0, %scale_a0, {0, 0}, %scale_b0, {0, 0};",
     91, 0x1800, {{"%d", 4, 0}, {"%a", 4, 40}, {"%b", 4, 41}, {"%c", 4, 3}, {"%e", 1, 37}, {"%scale_a", 1, 39}, {"%scale_b", 1, 39}}},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, {%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};",
     60, 0x1fff, {{"%d", 8, 0}, {"%a", 8, 1}, {"%b", 8, 2}, {"%c", 8, 3}}},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, {%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7}, {%c0, %c1, %c2, %c3};",
     60, 0x1fff, {{"%d", 8, 0}, {"%a", 8, 1}, {"%b", 8, 2}, {"%c", 4, 4}}},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, {%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};",
     60, 0x1fff, {{"%d", 4, 5}, {"%a", 8, 1}, {"%b", 8, 2}, {"%c", 8, 3}}},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, {%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7}, {%c0, %c1, %c2, %c3};",
     60, 0x1fff, {{"%d", 4, 5}, {"%a", 8, 1}, {"%b", 8, 2}, {"%c", 4, 4}}},
    {"wmma.mma.sync.aligned.row.col.m8n32k16.f32.f32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, {%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};",
     61, 0x1fff, {{"%d", 8, 0}, {"%a", 8, 1}, {"%b", 8, 2}, {"%c", 8, 3}}},
    {"wmma.mma.sync.aligned.row.col.m8n32k16.f32.f16 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, {%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7}, {%c0, %c1, %c2, %c3};",
     61, 0x1fff, {{"%d", 8, 0}, {"%a", 8, 1}, {"%b", 8, 2}, {"%c", 4, 4}}},
    {"wmma.mma.sync.aligned.row.col.m8n32k16.f16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, {%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};",
     61, 0x1fff, {{"%d", 4, 5}, {"%a", 8, 1}, {"%b", 8, 2}, {"%c", 8, 3}}},
    {"wmma.mma.sync.aligned.row.col.m8n32k16.f16.f16 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, {%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7}, {%c0, %c1, %c2, %c3};",
     61, 0x1fff, {{"%d", 4, 5}, {"%a", 8, 1}, {"%b", 8, 2}, {"%c", 4, 4}}},
    {"wmma.mma.sync.aligned.row.col.m32n8k16.f32.f32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, {%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};",
     61, 0x1fff, {{"%d", 8, 0}, {"%a", 8, 1}, {"%b", 8, 2}, {"%c", 8, 3}}},
    {"wmma.mma.sync.aligned.row.col.m32n8k16.f32.f16 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, {%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7}, {%c0, %c1, %c2, %c3};",
     61, 0x1fff, {{"%d", 8, 0}, {"%a", 8, 1}, {"%b", 8, 2}, {"%c", 4, 4}}},
    {"wmma.mma.sync.aligned.row.col.m32n8k16.f16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, {%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};",
     61, 0x1fff, {{"%d", 4, 5}, {"%a", 8, 1}, {"%b", 8, 2}, {"%c", 8, 3}}},
    {"wmma.mma.sync.aligned.row.col.m32n8k16.f16.f16 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, {%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7}, {%c0, %c1, %c2, %c3};",
     61, 0x1fff, {{"%d", 4, 5}, {"%a", 8, 1}, {"%b", 8, 2}, {"%c", 4, 4}}},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};",
     70, 0x1ffc, {{"%d", 8, 0}, {"%a", 4, 6}, {"%b", 4, 7}, {"%c", 8, 3}}},
    {"wmma.mma.sync.aligned.row.col.m8n32k16.f32.bf16.bf16.f32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1}, {%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};",
     70, 0x1ffc, {{"%d", 8, 0}, {"%a", 2, 6}, {"%b", 8, 7}, {"%c", 8, 3}}},
    {"wmma.mma.sync.aligned.row.col.m32n8k16.f32.bf16.bf16.f32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, {%b0, %b1}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};",
     70, 0x1ffc, {{"%d", 8, 0}, {"%a", 8, 6}, {"%b", 2, 7}, {"%c", 8, 3}}},
    {"wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};",
     70, 0x1ffc, {{"%d", 8, 0}, {"%a", 4, 8}, {"%b", 4, 9}, {"%c", 8, 3}}},
    {"wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     70, 0x1ffc, {{"%d", 2, 10}, {"%a", 1, 11}, {"%b", 1, 12}, {"%c", 2, 13}}},
    {"wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     70, 0x1ffc, {{"%d", 2, 10}, {"%a", 1, 11}, {"%b", 1, 12}, {"%c", 2, 13}}},
    {"wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rz {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     70, 0x1ffc, {{"%d", 2, 10}, {"%a", 1, 11}, {"%b", 1, 12}, {"%c", 2, 13}}},
    {"wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rm {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     70, 0x1ffc, {{"%d", 2, 10}, {"%a", 1, 11}, {"%b", 1, 12}, {"%c", 2, 13}}},
    {"wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rp {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     70, 0x1ffc, {{"%d", 2, 10}, {"%a", 1, 11}, {"%b", 1, 12}, {"%c", 2, 13}}},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};",
     63, 0x1ffe, {{"%d", 8, 18}, {"%a", 2, 19}, {"%b", 2, 20}, {"%c", 8, 21}}},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32.satfinite {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};",
     63, 0x1ffe, {{"%d", 8, 18}, {"%a", 2, 19}, {"%b", 2, 20}, {"%c", 8, 21}}},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.s32.u8.u8.s32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};",
     63, 0x1ffe, {{"%d", 8, 18}, {"%a", 2, 23}, {"%b", 2, 22}, {"%c", 8, 21}}},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.s32.u8.u8.s32.satfinite {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};",
     63, 0x1ffe, {{"%d", 8, 18}, {"%a", 2, 23}, {"%b", 2, 22}, {"%c", 8, 21}}},
    {"wmma.mma.sync.aligned.row.col.m8n32k16.s32.s8.s8.s32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};",
     63, 0x1ffe, {{"%d", 8, 18}, {"%a", 1, 19}, {"%b", 4, 20}, {"%c", 8, 21}}},
    {"wmma.mma.sync.aligned.row.col.m8n32k16.s32.s8.s8.s32.satfinite {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};",
     63, 0x1ffe, {{"%d", 8, 18}, {"%a", 1, 19}, {"%b", 4, 20}, {"%c", 8, 21}}},
    {"wmma.mma.sync.aligned.row.col.m8n32k16.s32.u8.u8.s32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};",
     63, 0x1ffe, {{"%d", 8, 18}, {"%a", 1, 23}, {"%b", 4, 22}, {"%c", 8, 21}}},
    {"wmma.mma.sync.aligned.row.col.m8n32k16.s32.u8.u8.s32.satfinite {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};",
     63, 0x1ffe, {{"%d", 8, 18}, {"%a", 1, 23}, {"%b", 4, 22}, {"%c", 8, 21}}},
    {"wmma.mma.sync.aligned.row.col.m32n8k16.s32.s8.s8.s32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1, %a2, %a3}, {%b0}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};",
     63, 0x1ffe, {{"%d", 8, 18}, {"%a", 4, 19}, {"%b", 1, 20}, {"%c", 8, 21}}},
    {"wmma.mma.sync.aligned.row.col.m32n8k16.s32.s8.s8.s32.satfinite {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1, %a2, %a3}, {%b0}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};",
     63, 0x1ffe, {{"%d", 8, 18}, {"%a", 4, 19}, {"%b", 1, 20}, {"%c", 8, 21}}},
    {"wmma.mma.sync.aligned.row.col.m32n8k16.s32.u8.u8.s32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1, %a2, %a3}, {%b0}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};",
     63, 0x1ffe, {{"%d", 8, 18}, {"%a", 4, 23}, {"%b", 1, 22}, {"%c", 8, 21}}},
    {"wmma.mma.sync.aligned.row.col.m32n8k16.s32.u8.u8.s32.satfinite {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1, %a2, %a3}, {%b0}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};",
     63, 0x1ffe, {{"%d", 8, 18}, {"%a", 4, 23}, {"%b", 1, 22}, {"%c", 8, 21}}},
    {"wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     63, 0x1ffe, {{"%d", 2, 18}, {"%a", 1, 24}, {"%b", 1, 25}, {"%c", 2, 21}}},
    {"wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32.satfinite {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     63, 0x1ffe, {{"%d", 2, 18}, {"%a", 1, 24}, {"%b", 1, 25}, {"%c", 2, 21}}},
    {"wmma.mma.sync.aligned.row.col.m8n8k32.s32.u4.u4.s32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     63, 0x1ffe, {{"%d", 2, 18}, {"%a", 1, 27}, {"%b", 1, 26}, {"%c", 2, 21}}},
    {"wmma.mma.sync.aligned.row.col.m8n8k32.s32.u4.u4.s32.satfinite {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     63, 0x1ffe, {{"%d", 2, 18}, {"%a", 1, 27}, {"%b", 1, 26}, {"%c", 2, 21}}},
    {"wmma.mma.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32.xor.popc {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     63, 0x1ffe, {{"%d", 2, 18}, {"%a", 1, 28}, {"%b", 1, 29}, {"%c", 2, 21}}},
    {"wmma.mma.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32.and.popc {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};",
     71, 0x1ffc, {{"%d", 2, 18}, {"%a", 1, 28}, {"%b", 1, 29}, {"%c", 2, 21}}},
};

// ---- What asks -----------------------------------------------------------------------------------------------------------------------

namespace {

template <typename F>
F driver_function(const char* name) {
  void* found = nullptr;
#if CUDART_VERSION >= 12050
  cudaDriverEntryPointQueryResult result;
  cudaGetDriverEntryPointByVersion(name, &found, 11000, cudaEnableDefault, &result);
#else
  cudaGetDriverEntryPoint(name, &found, cudaEnableDefault);
#endif
  return reinterpret_cast<F>(found);
}

struct Driver {
  decltype(&cuModuleLoadData) load = driver_function<decltype(&cuModuleLoadData)>("cuModuleLoadData");
  decltype(&cuModuleUnload) unload = driver_function<decltype(&cuModuleUnload)>("cuModuleUnload");
  decltype(&cuModuleGetFunction) function = driver_function<decltype(&cuModuleGetFunction)>("cuModuleGetFunction");
  decltype(&cuLaunchKernel) launch = driver_function<decltype(&cuLaunchKernel)>("cuLaunchKernel");
  bool complete() const { return load && unload && function && launch; }
};

struct NamedRegister {
  std::string name;
  Elements of;
};

std::vector<NamedRegister> registers_of(const Row& q) {
  std::vector<NamedRegister> all;
  for (const Group* group = q.groups; group->count != 0; ++group)
    for (int i = 0; i < group->count; ++i) all.push_back({group->stem + std::to_string(i), elements[group->elements]});
  return all;
}

std::string offset(int number) {
  return std::to_string(number * int(lanes) * 8);
}

// One kernel: each lane loads its registers, 8 bytes apart for 32 lanes, executes the statement and stores the result.
std::string kernel(int number) {
  const std::vector<NamedRegister> all = registers_of(rows[number]);
  std::string declared, loaded, stored;
  int results = 0, place = 0;
  for (const NamedRegister& r : all) {
    const std::string type = r.of.register_bits == 64 ? ".b64 " : ".b32 ";
    declared += ".reg " + type + r.name + ";\n";
    if (r.of.role == 'd')
      stored += "st.global" + type + "[%to+" + offset(results++) + "], " + r.name + ";\n";
    else
      loaded += "ld.global" + type + r.name + ", [%from+" + offset(place) + "];\n";
    ++place;
  }
  const std::string in = offset(place), out = offset(results);
  return ".visible .entry q" + std::to_string(number) + "(.param .u64 from, .param .u64 to) {\n" + declared +
         ".reg .b64 %from, %to; .reg .b32 %warp, %lane;\nld.param.u64 %from, [from]; ld.param.u64 %to, [to];\n"
         "mov.u32 %warp, %ctaid.x; mov.u32 %lane, %tid.x;\nmad.wide.u32 %from, %warp, " + in + ", %from; mad.wide.u32 %from, %lane, 8, %from;\n"
         "mad.wide.u32 %to, %warp, " + out + ", %to; mad.wide.u32 %to, %lane, 8, %to;\n" + loaded + rows[number].statement + "\n" + stored + "ret;\n}\n";
}

std::string head(int version, const char* target) {
  return ".version " + std::to_string(version / 10) + "." + std::to_string(version % 10) + "\n.target " + target + "\n.address_size 64\n";
}

std::vector<unsigned long long> operands(int number, unsigned of_class) {
  const std::vector<NamedRegister> all = registers_of(rows[number]);
  std::vector<unsigned long long> words;
  for (unsigned warp = 0; warp < warps; ++warp)
    for (unsigned i = 0; i < all.size(); ++i)
      for (unsigned lane = 0; lane < lanes; ++lane)
        words.push_back(all[i].of.role == 'd' ? 0 : register_bits(all[i].of, unsigned(number), of_class, warp, i, lane));
  return words;
}

// The digests of all classes as text, or nothing after an error.
std::string answer(const Driver& driver, CUmodule module, int number) {
  CUfunction function;
  if (driver.function(&function, module, ("q" + std::to_string(number)).c_str()) != CUDA_SUCCESS) return "";
  int results = 0;
  bool wide = false;
  for (const NamedRegister& r : registers_of(rows[number]))
    if (r.of.role == 'd') ++results, wide = r.of.register_bits == 64;
  std::string text;
  for (unsigned of_class = 0; of_class < classes; ++of_class) {
    const std::vector<unsigned long long> in = operands(number, of_class);
    std::vector<unsigned long long> out(std::size_t(warps) * results * lanes);
    void *from = nullptr, *to = nullptr;
    bool good = cudaMalloc(&from, in.size() * 8) == cudaSuccess && cudaMalloc(&to, out.size() * 8) == cudaSuccess;
    good = good && cudaMemcpy(from, in.data(), in.size() * 8, cudaMemcpyHostToDevice) == cudaSuccess;
    good = good && cudaMemset(to, 0, out.size() * 8) == cudaSuccess;
    void* arguments[] = {&from, &to};
    good = good && driver.launch(function, warps, 1, 1, lanes, 1, 1, 0, nullptr, arguments, nullptr) == CUDA_SUCCESS;
    good = good && cudaMemcpy(out.data(), to, out.size() * 8, cudaMemcpyDeviceToHost) == cudaSuccess;
    cudaFree(from);
    cudaFree(to);
    if (!good) return "";
    Digest digest;
    for (const unsigned long long word : out) digest.add(wide ? word : word & 0xffffffffu);
    char hexadecimal[16];
    std::snprintf(hexadecimal, sizeof hexadecimal, "%s%08x", of_class == 0 ? "" : ".", digest.value());
    text += hexadecimal;
  }
  return text;
}

const Card* card_of(int major, int minor) {
  for (const Card& card : cards)
    if (card.capability == 10 * major + minor) return &card;
  return nullptr;
}

}  // namespace

int main() {
  cudaDeviceProp properties;
  int version = 0;
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess || cudaFree(nullptr) != cudaSuccess || cudaDriverGetVersion(&version) != cudaSuccess) {
    std::fprintf(stderr, "ask: there is no GPU, or no driver for this toolkit: %s\n", cudaGetErrorString(cudaGetLastError()));
    return 77;
  }
  const Card* const card = card_of(properties.major, properties.minor);
  const Driver driver;
  if (card == nullptr || !driver.complete()) {
    std::fprintf(stderr, "ask: %s has compute capability %d.%d, which these questions do not know\n", properties.name, properties.major,
                 properties.minor);
    return 77;
  }
  std::printf("```\nwarpmat answers 1, questions %08x\ncard %s\ncapability %d.%d\ndriver %d\n", questions_digest, properties.name,
              properties.major, properties.minor, version);
  int asked = 0, refused = 0;
  // Forms that need the same version of PTX are one module. A driver that refuses it is asked for each of them, to leave out as few as possible.
  for (int first = 0; first < row_count;) {
    const int needed = rows[first].version > card->version ? rows[first].version : card->version;
    std::vector<int> members;
    std::string text = head(needed, card->target);
    int next = first;
    for (; next < row_count && rows[next].version == rows[first].version; ++next)
      if (rows[next].cards >> (card - cards) & 1) members.push_back(next), text += kernel(next);
    first = next;
    CUmodule module;
    const bool together = members.empty() || driver.load(&module, text.c_str()) == CUDA_SUCCESS;
    for (const int number : members) {
      CUmodule own = module;
      const bool loaded = together || driver.load(&own, (head(needed, card->target) + kernel(number)).c_str()) == CUDA_SUCCESS;
      const std::string digests = loaded ? answer(driver, own, number) : "";
      ++(digests.empty() ? refused : asked);
      std::printf("%d:%s\n", number, digests.empty() ? "-" : digests.c_str());
      if (loaded && !together) driver.unload(own);
    }
    if (together && !members.empty()) driver.unload(module);
  }
  std::printf("end: %d answered, %d not\n```\n", asked, refused);
  std::fprintf(stderr, "ask: paste the text between the lines ``` into an issue of warpmat; it has nothing else of this machine\n");
  return 0;
}

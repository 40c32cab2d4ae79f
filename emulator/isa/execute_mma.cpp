#include <warpmat/isa/execute.h>

#include <algorithm>
#include <array>
#include <limits>

namespace warpmat {
namespace {

constexpr std::size_t max_m = 16;
constexpr std::size_t max_n = 8;
constexpr std::size_t max_k = 64;  // of one 8-bit operand row; no form with decoded elements is longer

/// Calls `compute(i, j, bits of C[i][j])` for every element and writes what it returns to D. D is written after all of C is read.
template <typename Compute>
void for_each_result(const Form& form, const Arguments& arguments, Compute compute) {
  const Fragment& c = form.operand(OperandName::c).fragment;
  const Fragment& d = form.operand(OperandName::d).fragment;
  std::array<std::uint64_t, max_m * max_n> results;
  std::size_t next = 0;
  for (int i = 0; i < form.shape.m; ++i)
    for (int j = 0; j < form.shape.n; ++j) results[next++] = compute(i, j, read_element(c, arguments.source(OperandName::c), {i, j}));
  next = 0;
  for (int i = 0; i < form.shape.m; ++i)
    for (int j = 0; j < form.shape.n; ++j) write_element(d, arguments.destination, {i, j}, results[next++]);
}

/// The rows of A or the columns of B, each with its K elements side by side.
template <typename T, std::size_t lines>
struct Lines {
  std::array<T, lines * max_k> elements;
  std::size_t k;

  std::span<const T> line(int i) const { return std::span(elements).subspan(static_cast<std::size_t>(i) * k, k); }
};

/// Reads operand `name`, rows of A or columns of B, and decodes each element with `decode_bits`.
template <typename T, std::size_t lines, typename Decode>
void read_lines(const Form& form, const Arguments& arguments, OperandName name, Lines<T, lines>& out, Decode decode_bits) {
  const Operand& operand = form.operand(name);
  const bool is_a = name == OperandName::a;
  const int count = is_a ? form.shape.m : form.shape.n;
  out.k = static_cast<std::size_t>(form.shape.k);
  std::size_t next = 0;
  for (int line = 0; line < count; ++line)
    for (int k = 0; k < form.shape.k; ++k) {
      const Element element = is_a ? Element{line, k} : Element{k, line};
      out.elements[next++] = decode_bits(*operand.format, read_element(operand.fragment, arguments.source(name), element));
    }
}

std::int64_t decode_whole(Format format, std::uint64_t bits) {
  const Value value = decode(format, bits);
  const auto magnitude = static_cast<std::int64_t>(value.significand);
  return value.negative ? -magnitude : magnitude;
}

std::uint32_t clamp_to_s32(std::int64_t sum) {
  using Limits = std::numeric_limits<std::int32_t>;
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(sum, Limits::min(), Limits::max()));
}

}  // namespace

void execute_dot(const Form& form, const Lowering& lowering, const Arguments& arguments) {
  Lines<Value, max_m> a;
  Lines<Value, max_n> b;
  read_lines(form, arguments, OperandName::a, a, decode);
  read_lines(form, arguments, OperandName::b, b, decode);
  const Format accumulator = *form.operand(OperandName::d).format;
  const int step = step_elements(*lowering.model, *form.operand(OperandName::a).format);
  for_each_result(form, arguments, [&](int i, int j, std::uint64_t c) {
    return dot(*lowering.model, step, accumulator, a.line(i), b.line(j), c);
  });
}

void execute_integer_dot(const Form& form, const Lowering&, const Arguments& arguments) {
  Lines<std::int64_t, max_m> a;
  Lines<std::int64_t, max_n> b;
  read_lines(form, arguments, OperandName::a, a, decode_whole);
  read_lines(form, arguments, OperandName::b, b, decode_whole);
  for_each_result(form, arguments, [&](int i, int j, std::uint64_t c) -> std::uint64_t {
    std::int64_t sum = decode_whole(Format::s32, c);
    for (std::size_t k = 0; k < a.k; ++k) sum += a.line(i)[k] * b.line(j)[k];
    return form.satfinite ? clamp_to_s32(sum) : static_cast<std::uint32_t>(sum);
  });
}

}  // namespace warpmat

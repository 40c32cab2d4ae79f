#include "tools/explanation_reader.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "oracle/oracle.h"

namespace explanation_reader {
namespace {

using nlohmann::json;
using oracle::Dyadic;
using oracle::FloatFormat;

std::uint64_t bits_of(const json& text) {
  return std::stoull(text.get<std::string>(), nullptr, 16);
}

const std::map<std::string, FloatFormat> float_formats{
    {"f64", oracle::f64},   {"f32", oracle::f32},   {"tf32", oracle::tf32}, {"bf16", oracle::bf16}, {"f16", oracle::f16},
    {"e5m2", oracle::e5m2}, {"e4m3", oracle::e4m3}, {"e3m2", oracle::e3m2}, {"e2m3", oracle::e2m3}, {"e2m1", oracle::e2m1}};

FloatFormat format_of(const json& format) {
  return float_formats.at(format.get<std::string>());
}

/// The f16 of an 8-bit number: every one of them is one.
std::uint64_t as_f16(FloatFormat format, std::uint64_t bits) {
  constexpr std::uint64_t nan = 0x7fff, infinity = 0x7c00, sign = 0x8000;
  if (oracle::is_nan(format, bits)) return nan;
  if (oracle::is_inf(format, bits)) return infinity | (oracle::is_negative(format, bits) ? sign : 0);
  return oracle::nearest(oracle::f16, oracle::value(format, bits));
}

/// All factors of a unit's step, in order, in the formats that the unit multiplies.
struct Factors {
  FloatFormat a_format, b_format;
  std::vector<std::uint64_t> a, b, a_scales, b_scales;
  std::string scale_format;
};

Factors factors_of(const json& explanation, const json& step) {
  Factors all{};
  const bool converted = explanation.at("multiplied_as").is_string();
  for (const json& term : step.at("terms")) {
    for (const json& product : term.at("products")) {
      all.a_format = format_of(product.at("a").at("format"));
      all.b_format = format_of(product.at("b").at("format"));
      const std::uint64_t a = bits_of(product.at("a").at("bits")), b = bits_of(product.at("b").at("bits"));
      all.a.push_back(converted ? as_f16(all.a_format, a) : a);
      all.b.push_back(converted ? as_f16(all.b_format, b) : b);
    }
    for (const json& scale : term.at("scales")) {
      (scale.at("operand") == "scale-a" ? all.a_scales : all.b_scales).push_back(bits_of(scale.at("bits")));
      all.scale_format = scale.at("format");
    }
  }
  if (converted) all.a_format = all.b_format = oracle::f16;
  return all;
}

std::uint64_t unit_result(const json& explanation, const json& step) {
  const json& model = explanation.at("model");
  const Factors f = factors_of(explanation, step);
  const std::uint64_t c = bits_of(step.at("addend"));
  oracle::Unit unit{static_cast<int>(f.a.size()), model.at("fraction_bits"), model.at("result_fraction_bits")};
  if (!model.at("floor").is_null()) unit.lowest_f32 = unit.lowest_f16 = model.at("floor").get<int>();
  if (f.a_scales.empty()) return oracle::float_dot(unit, f.a_format, f.b_format, format_of(step.at("format")), f.a, f.b, c);
  if (step.at("terms").front().at("products").size() == 1)
    return oracle::scaled_dot(unit, f.a_format, f.b_format, f.a, f.b, f.a_scales.front(), f.b_scales.front(), c);
  const auto scale = f.scale_format == "ue8m0" ? oracle::ScaleFormat::ue8m0 : oracle::ScaleFormat::ue4m3;
  return oracle::grouped_dot(scale, f.a, f.b, f.a_scales, f.b_scales, c);
}

Dyadic number_of(const json& value) {
  if (value.at("kind") != "finite") return {};
  const Dyadic magnitude(value.at("significand").get<std::int64_t>(),
                         value.at("exponent").get<int>() - value.at("fraction_bits").get<int>());
  return value.at("negative") ? -magnitude : magnitude;
}

Dyadic scale_of(const json& scale) {
  const std::uint64_t bits = bits_of(scale.at("bits"));
  if (scale.at("format") == "ue8m0") return Dyadic(1, static_cast<int>(bits) - 127);
  return oracle::value(oracle::e4m3, bits & 0x7f);
}

/// The exact number of a term, from the bits of its factors; of C from the addend.
Dyadic term_number(const json& term, const json& step) {
  if (term.at("products").empty()) return oracle::value(format_of(step.at("format")), bits_of(step.at("addend")));
  Dyadic sum;
  for (const json& product : term.at("products"))
    sum = sum + oracle::value(format_of(product.at("a").at("format")), bits_of(product.at("a").at("bits"))) *
                    oracle::value(format_of(product.at("b").at("format")), bits_of(product.at("b").at("bits")));
  for (const json& scale : term.at("scales")) sum = sum * scale_of(scale);
  return sum;
}

/// The picture of an aligned step: each term's number, what is kept of it, and the sum.
std::string wrong_alignment(const json& step) {
  if (step.at("special") || step.at("largest_exponent").is_null()) return "";
  const int unit = step.at("unit_exponent");
  std::int64_t sum = 0;
  for (const json& term : step.at("terms")) {
    const Dyadic number = term_number(term, step);
    const auto kept = term.at("kept").get<std::int64_t>();
    if (number != number_of(term.at("value"))) return "a term's value is not that of its factors: " + term.dump();
    if (number.truncated(unit) != Dyadic(kept, unit)) return "what is kept of a term is not the term cut at the unit: " + term.dump();
    sum += kept;
  }
  return sum == step.at("sum").get<std::int64_t>() ? "" : "the sum is not that of what is kept";
}

std::uint64_t rounded(FloatFormat format, const std::string& rounding, const Dyadic& number) {
  if (rounding == "nearest_even") return oracle::nearest(format, number);
  if (rounding == "toward_zero") return number.is_negative() ? oracle::up(format, number) : oracle::down(format, number);  // as IEEE 754
  return rounding == "down" ? oracle::down(format, number) : oracle::up(format, number);
}

bool special(FloatFormat format, std::uint64_t bits) {
  return oracle::is_nan(format, bits) || oracle::is_inf(format, bits);
}

/// x * y + z of finite numbers; nothing where one is not, or the sign of a zero would have to be known.
std::optional<std::uint64_t> fused(FloatFormat factors, FloatFormat format, const std::string& rounding, std::uint64_t x, std::uint64_t y,
                                   std::uint64_t z) {
  if (special(factors, x) || special(factors, y) || special(format, z)) return std::nullopt;
  const Dyadic exact = oracle::value(factors, x) * oracle::value(factors, y) + oracle::value(format, z);
  if (exact.is_zero()) return std::nullopt;
  return rounded(format, rounding, exact);
}

std::string wrong_fused(const json& step) {
  const json& product = step.at("terms").front().at("products").front();
  const FloatFormat format = format_of(step.at("format"));
  const auto expected = fused(format_of(product.at("a").at("format")), format, step.at("rounding"), bits_of(product.at("a").at("bits")),
                              bits_of(product.at("b").at("bits")), bits_of(step.at("addend")));
  return !expected || *expected == bits_of(step.at("result")) ? "" : "a multiply-add has another result: " + step.dump();
}

std::string wrong_addition(const json& step) {
  const FloatFormat format = format_of(step.at("format"));
  const std::uint64_t one = oracle::nearest(format, Dyadic(1));
  const auto expected = fused(format, format, step.at("rounding"), bits_of(step.at("other")), one, bits_of(step.at("addend")));
  return !expected || *expected == bits_of(step.at("result")) ? "" : "an addition has another result: " + step.dump();
}

std::string wrong_conversion(const json& step) {
  const FloatFormat from = format_of(step.at("from")), to = format_of(step.at("format"));
  const std::uint64_t bits = bits_of(step.at("addend")), result = bits_of(step.at("result"));
  if (oracle::is_nan(from, bits)) return oracle::is_nan(to, result) ? "" : "a NaN becomes a number";
  if (oracle::is_inf(from, bits)) return oracle::is_inf(to, result) ? "" : "an infinity becomes a number";
  if (oracle::value(from, bits).is_zero()) return oracle::value(to, result).is_zero() ? "" : "a zero becomes a number";
  return oracle::nearest(to, oracle::value(from, bits)) == result ? "" : "a conversion has another result: " + step.dump();
}

struct IntegerFormat {
  int bits;
  bool is_signed;
};

std::string wrong_integers(const json& explanation, const json& step) {
  const std::map<std::string, IntegerFormat> formats{
      {"s8", {8, true}}, {"u8", {8, false}}, {"s4", {4, true}}, {"u4", {4, false}}, {"b1", {1, false}}};
  std::vector<std::uint64_t> a, b;
  std::string a_format, b_format;
  for (const json& term : step.at("terms"))
    for (const json& product : term.at("products")) {
      a_format = product.at("a").at("format"), b_format = product.at("b").at("format");
      a.push_back(bits_of(product.at("a").at("bits")));
      b.push_back(bits_of(product.at("b").at("bits")));
    }
  const std::string opcode = explanation.at("opcode");
  const auto c = static_cast<std::uint32_t>(bits_of(step.at("addend")));
  const IntegerFormat x = formats.at(a_format), y = formats.at(b_format);
  const bool satfinite = opcode.find(".satfinite") != std::string::npos;
  const std::uint32_t expected = opcode.find(".xor.") != std::string::npos
                                     ? oracle::xor_popc_dot(a, b, c)
                                     : oracle::integer_dot(x.bits, x.is_signed, y.is_signed, satfinite, a, b, c);
  return expected == bits_of(step.at("result")) ? "" : "the sum of integers is another";
}

std::string wrong_unit_sum(const json& explanation, const json& step) {
  const std::string alignment = wrong_alignment(step);
  if (!alignment.empty()) return alignment;
  return unit_result(explanation, step) == bits_of(step.at("result")) ? "" : "a unit's step has another result: " + step.dump();
}

std::string wrong_step(const json& explanation, const json& step) {
  const std::string kind = step.at("kind");
  if (kind == "unit_sum") return wrong_unit_sum(explanation, step);
  if (kind == "fused") return wrong_fused(step);
  if (kind == "addition") return wrong_addition(step);
  if (kind == "conversion") return wrong_conversion(step);
  if (kind == "integer_sum") return wrong_integers(explanation, step);
  return kind == "nan_of_scale" ? "" : "a step of unknown kind";
}

/// Steps of one unit behind another: each adds to what the one before left.
std::string wrong_chain(const json& steps) {
  const json* before = nullptr;
  for (const json& step : steps) {
    if (before != nullptr && step.at("kind") == "unit_sum" && step.at("addend") != before->at("result"))
      return "a unit's step does not go on from the one before";
    before = &step;
  }
  return "";
}

}  // namespace

std::string contradiction(const json& explanation) {
  const json& steps = explanation.at("steps");
  if (steps.empty()) return "no steps";
  for (const json& step : steps)
    if (const std::string wrong = wrong_step(explanation, step); !wrong.empty()) return wrong;
  if (const std::string wrong = wrong_chain(steps); !wrong.empty()) return wrong;
  return steps.back().at("result") == explanation.at("result") ? "" : "the last step's result is not the result";
}

}  // namespace explanation_reader

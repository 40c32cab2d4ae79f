#include "tools/report/expectation.h"

#include <fmt/core.h>
#include <warpmat/formats.h>
#include <warpmat/matrices.h>
#include <warpmat/matrices/sample.h>
#include <warpmat/program.h>
#include <warpmat/words/words.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace warpmat {
namespace {

numbers::Matrix matrix_of(const WarpPlace& place, const std::vector<std::uint64_t>& elements) {
  const auto shape = place.shape();
  numbers::Matrix matrix(static_cast<int>(shape[0]), static_cast<int>(shape[1]));
  for (std::size_t i = 0; i < elements.size(); ++i)
    matrix(static_cast<int>(i / shape[1]), static_cast<int>(i % shape[1])) = to_double(*place.type().format, elements[i]);
  return matrix;
}

}  // namespace

double ulps_between(const ElementType& type, std::uint64_t a, std::uint64_t b) {
  if (a == b) return 0;
  if (!type.format) return static_cast<double>(a > b ? a - b : b - a);
  return units_between(*type.format, a, b);
}

Expectation::Expectation(WarpPlace place, const std::string& what) : place_(std::move(place)) {
  std::string file = what;
  const std::size_t colon = what.rfind(".npy:");
  if (colon != std::string::npos) {
    file = what.substr(0, colon + 4);
    std::string_view text = std::string_view(what).substr(colon + 5);
    in_ulps_ = text.ends_with("ulp");
    if (in_ulps_) text.remove_suffix(3);
    tolerance_ = number_of<double>(text).value_or(-1);
    if (!(tolerance_ >= 0))
      throw std::runtime_error(
          fmt::format("--expect {}: a tolerance is a number, such as 0.01, or units in the last place, such as 2ulp", what));
  }
  if (tolerance_ != 0 && !place_.type().format)
    throw std::runtime_error(fmt::format("--expect {}: {} are bits, which are equal or not: no tolerance", what, place_.text()));
  wanted_ = place_.elements_of(read_npy(file), file);
}

bool Expectation::close(std::uint64_t held, std::uint64_t wanted) const {
  if (held == wanted) return true;
  if (!place_.type().format) return false;
  const double a = to_double(*place_.type().format, held), b = to_double(*place_.type().format, wanted);
  if (std::isnan(a) && std::isnan(b)) return true;
  if (tolerance_ == 0) return false;
  return in_ulps_ ? ulps_between(place_.type(), held, wanted) <= tolerance_ : std::abs(a - b) <= tolerance_;
}

std::string Expectation::compare(const Warp& warp) const {
  const std::vector<std::uint64_t> held = place_.read(warp);
  std::vector<std::uint64_t> wanted = wanted_;  // what is close enough counts as held
  bool wrong = false;
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (close(held[i], wanted[i])) wanted[i] = held[i];
    wrong = wrong || held[i] != wanted[i];
  }
  return wrong ? fmt::format("{} is not as expected:\n{}", place_.text(), lines(warp, held, wanted)) : "";
}

std::string Expectation::explain_options(const Program& program, const Warp& warp) const {
  const std::vector<std::uint64_t> held = place_.read(warp);
  for (std::size_t i = 0; i < held.size(); ++i)
    if (!close(held[i], wanted_[i])) return warpmat::explain_options(program, place_, i);
  return "";
}

std::string explain_options(const Program& program, const WarpPlace& place, std::size_t index) {
  if (place.kind() != WarpPlace::Kind::operand || !place.operand().written || place.operand().fragment.matrices() > 1) return "";
  const std::size_t columns = place.shape().back();
  return fmt::format("--statement {} --row {} --column {}", statement_name(program, place.statement()), index / columns, index % columns);
}

std::string Expectation::lines(const Warp& warp, const std::vector<std::uint64_t>& held, const std::vector<std::uint64_t>& wanted) const {
  const bool matrix = place_.type().format && place_.shape().size() == 2;
  if (matrix && place_.kind() == WarpPlace::Kind::operand && !selected_matrix(warp, place_.statement(), place_.operand().name))
    return numbers::compare_operand(warp, place_.statement(), place_.operand().name, matrix_of(place_, wanted), place_.type().format);
  if (matrix && place_.kind() == WarpPlace::Kind::variable)
    return numbers::compare_variable(warp, place_.variable().name, matrix_of(place_, wanted), *place_.type().format, place_.layout());
  std::vector<std::size_t> wrong;
  for (std::size_t i = 0; i < held.size(); ++i)
    if (held[i] != wanted[i]) wrong.push_back(i);
  std::string text;
  for (const std::size_t index : sample(wrong.size()))
    text += fmt::format("{} holds {}, expected {}\n", place_.describe_element(wrong[index]), place_.show_element(held[wrong[index]]),
                        place_.show_element(wanted[wrong[index]]));
  if (wrong.size() > sample(wrong.size()).size()) text += fmt::format("{} of {} elements are wrong\n", wrong.size(), held.size());
  return text;
}

}  // namespace warpmat

#include "tools/report/floor.h"

#include <algorithm>
#include <iterator>

namespace warpmat {
namespace {

constexpr auto h200 = "H200";
constexpr auto matlab = "MATLAB-tensor-core 0.5";

/// The evidence for the floors of 16- and 19-bit formats on a hardware.
struct Row {
  Hardware hardware;
  Evidence evidence;
  std::string_view source;
};

using enum Hardware;
using enum Evidence;

constexpr const char* unmeasured = "not measured";

constexpr Row floors[] = {
    {sm_70, published, matlab},     {sm_75, assumed, "as sm_80"},   {sm_80, published, matlab},     {sm_86, published, matlab},
    {sm_87, assumed, "as sm_86"},   {sm_88, assumed, "as sm_86"},   {sm_89, published, matlab},     {sm_90, measured, h200},
    {sm_100, published, matlab},    {sm_103, assumed, "as sm_100"}, {sm_110, assumed, "as sm_100"}, {sm_120, assumed, "as sm_100"},
    {sm_121, assumed, "as sm_100"},
};

/// The exponent of the lowest bit of any product.
int lowest_product_bit(const Form& form) {
  int lowest = 0;
  for (const OperandName name : {OperandName::a, OperandName::b})
    lowest += min_exponent(row(form.format(name))) - row(form.format(name)).fraction_bits;
  if (form.scale_vector != 0) lowest += 2 * min_exponent(row(form.format(OperandName::scale_a)));
  return lowest;
}

}  // namespace

std::optional<Floor> find_floor(const Form& form, Hardware hardware) {
  const Lowering* lowering = find_lowering(form, hardware);
  if (lowering == nullptr || lowering->model == nullptr) return std::nullopt;
  const int floor = lowering->model->floor(form.format(OperandName::d));
  if (floor != no_floor && lowest_product_bit(form) >= floor - lowering->model->fraction_bits) return std::nullopt;
  const bool narrow = row(form.format(OperandName::a)).bits <= 8;
  if (floor == no_floor && narrow) return Floor{floor, assumed, unmeasured};
  if (lowering->evidence == assumed) return Floor{floor, assumed, lowering->source};
  if (narrow) return Floor{floor, assumed, "as of 16-bit formats"};
  const Row* const found = std::ranges::find(floors, hardware, &Row::hardware);
  if (found == std::end(floors)) return Floor{floor, assumed, unmeasured};
  return Floor{floor, found->evidence, found->source};
}

}  // namespace warpmat

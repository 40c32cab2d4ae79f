#include "gpu/cases/operand_classes.h"

#include <warpmat/formats.h>

#include "test.h"

namespace warpmat::operand_classes_test {
namespace {

struct NamedProduct {
  std::string name;
  ProductFormats formats;
};

NamedProduct product(Format a, Format b, Format accumulator) {
  return {std::string(name(a)) + " x " + std::string(name(b)) + " + " + std::string(name(accumulator)),
          {&row(a), &row(b), &row(accumulator)}};
}

/// Every multiplicand with an accumulator that it can have.
std::vector<NamedProduct> products() {
  std::vector<NamedProduct> all;
  for (const Format f : {Format::tf32, Format::bf16, Format::f16, Format::e4m3, Format::e5m2, Format::e3m2, Format::e2m3, Format::e2m1})
    all.push_back(product(f, f, Format::f32));
  all.push_back(product(Format::f16, Format::f16, Format::f16));
  all.push_back(product(Format::e4m3, Format::e5m2, Format::f16));
  all.push_back(product(Format::f64, Format::f64, Format::f64));
  for (const Format f : {Format::s8, Format::u8, Format::s4, Format::u4, Format::b1}) all.push_back(product(f, f, Format::s32));
  all.push_back(product(Format::u8, Format::s8, Format::s32));
  return all;
}

std::vector<NamedProduct> products_of(const OperandClass& operand_class) {
  std::vector<NamedProduct> found;
  for (const NamedProduct& p : products())
    if (operand_class.applies(p.formats)) found.push_back(p);
  return found;
}

TEST_CASE("operand classes have names, and every product has several", "[gpu]") {
  std::set<std::string_view> names;
  for (const OperandClass& c : operand_classes()) {
    CHECK(names.insert(c.name).second);
    CHECK(find_operand_class(c.name) == &c);
    CHECK_FALSE(c.summary.empty());
    CHECK_FALSE(products_of(c).empty());
  }
  CHECK(find_operand_class("none") == nullptr);
  CHECK(operand_classes().front().name == "random");
  for (const NamedProduct& p : products()) {
    CAPTURE(p.name);
    CHECK(std::ranges::count_if(operand_classes(), [&](const OperandClass& c) { return c.applies(p.formats); }) >= 3);
  }
}

TEST_CASE("the generators of random bits are splitmix64's and FNV's", "[gpu]") {
  CHECK(mix(1) == 0x5692161d100b05e5);  // splitmix64's finalizer; its stream from 0 begins with the second value
  CHECK(Random(0).next() == 0xe220a8397b1dcdaf);
  CHECK(hash_name("a") == 0xaf63dc4c8601ec8c);
}

}  // namespace
}  // namespace warpmat::operand_classes_test

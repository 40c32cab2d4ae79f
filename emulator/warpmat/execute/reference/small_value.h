#pragma once

#include <cassert>
#include <cstdint>

#include <warpmat/formats.h>

namespace warpmat {

/// A Value of a format of at most 32 bits in 8 bytes: a third of a Value's size, for large arrays on the stack.
class SmallValue {
 public:
  SmallValue() = default;
  explicit SmallValue(const Value& value)
      : significand_(static_cast<std::uint32_t>(value.significand)),
        exponent_(static_cast<std::int16_t>(value.exponent)),
        fraction_bits_(static_cast<std::int8_t>(value.fraction_bits)),
        kind_(value.kind),
        negative_(value.negative) {
    assert(static_cast<Value>(*this) == value);
  }
  explicit operator Value() const { return {kind_, negative_, exponent_, fraction_bits_, significand_}; }

 private:
  std::uint32_t significand_;
  std::int16_t exponent_;
  std::int8_t fraction_bits_;
  Value::Kind kind_ : 2;
  bool negative_ : 1;
};
static_assert(sizeof(SmallValue) == 8);

}  // namespace warpmat

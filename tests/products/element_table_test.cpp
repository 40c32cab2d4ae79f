#include <warpmat/products/element_table.h>

#include <warpmat/forms.h>
#include <warpmat/instruction.h>
#include <warpmat/numeric/low_mask.h>

#include "execute/registers.h"
#include "test.h"

namespace warpmat::element_table_test {

TEST_CASE("a table moves the elements of every form's fragments to where write_element does, and back", "[tools]") {
  std::mt19937_64 random(59);
  for (const Form& form : forms())
    for (const Operand& operand : form.operands) {
      if (operand.kind != OperandKind::fragment) continue;
      const Fragment& fragment = operand.fragment;
      for (int only = -1; only < (fragment.matrices() > 1 ? fragment.matrices() : 0); ++only) {
        CAPTURE(form.opcode, name(operand.name), only);
        const ElementTable table(fragment, only);
        const auto bytes = static_cast<std::size_t>(std::max(8, fragment.payload_bits())) / 8;
        const auto rows = static_cast<std::size_t>(table.matrices() * table.rows()), columns = static_cast<std::size_t>(table.columns());
        std::vector<std::uint8_t> codes(rows * columns * bytes), apart(2 * codes.size()), back(codes.size());
        Registers expected(operand.words());
        for (std::size_t i = 0; i < rows * columns; ++i) {
          const std::uint64_t code = low_mask(fragment.payload_bits()) & random();
          std::memcpy(codes.data() + i * bytes, &code, bytes);
          std::memcpy(apart.data() + 2 * i * bytes, &code, bytes);
          const int row = static_cast<int>(i / columns);
          write_element(fragment, expected.list(),
                        {row % table.rows(), static_cast<int>(i % columns), only < 0 ? row / table.rows() : only}, code);
        }
        Registers one(operand.words()), other(operand.words());
        one.fill(random);
        table.scatter(table.whole<const std::uint8_t>(codes.data(), bytes), one[0].data());
        CHECK(one.values() == expected.values());
        ConstMatrices strided = table.whole<const std::uint8_t>(apart.data(), bytes);  // every second element
        strided.matrix_stride *= 2, strided.row_stride *= 2, strided.column_stride *= 2;
        table.scatter(strided, other[0].data());
        CHECK(other.values() == expected.values());
        table.gather(one[0].data(), table.whole(back.data(), bytes));
        CHECK(back == codes);
      }
    }
}

}  // namespace warpmat::element_table_test

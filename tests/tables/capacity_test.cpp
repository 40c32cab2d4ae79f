#include <warpmat/tables/capacity.h>

#include <warpmat/tables/form_row.h>

#include "test.h"

namespace warpmat::capacity_test {

TEST_CASE("every capacity is what the largest form of the table needs") {
  capacity::Need most;
  for (const Form& form : forms()) {
    const capacity::Need needed = capacity::need(form);
    for (const auto member :
         {&capacity::Need::m, &capacity::Need::n, &capacity::Need::float_k, &capacity::Need::f64_k, &capacity::Need::integer_k,
          &capacity::Need::stored_k, &capacity::Need::results, &capacity::Need::scale_factors, &capacity::Need::operand_words,
          &capacity::Need::form_words, &capacity::Need::move_words, &capacity::Need::wmma_elements, &capacity::Need::matrix_bytes})
      most.*member = std::max(most.*member, needed.*member);
    CHECK(capacity::excess(form) == std::nullopt);
  }
  for (const Form& form : variants_of_forms()) CHECK(capacity::excess(form) == std::nullopt);
  CHECK(most.m == capacity::m);
  CHECK(most.n == capacity::n);
  CHECK(most.float_k == capacity::float_k);
  CHECK(most.f64_k == capacity::f64_k);
  CHECK(most.integer_k == capacity::integer_k);
  CHECK(most.stored_k == capacity::stored_k);
  CHECK(most.results == capacity::results);
  CHECK(most.scale_factors == capacity::scale_factors);
  CHECK(most.operand_words == capacity::operand_words);
  CHECK(most.form_words == capacity::form_words);
  CHECK(most.move_words == capacity::move_words);
  CHECK(most.wmma_elements == capacity::wmma_elements);
  CHECK(most.matrix_bytes == capacity::matrix_bytes);
}

TEST_CASE("a form that exceeds a capacity is named with the bound") {
  FormRow row = FormRow::of(*find_form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"));
  row.shape.n = 16;
  const Form wide = std::move(row).form();
  CHECK(capacity::excess(wide) == wide.opcode + " needs capacity::n = 16; it is 8 (tables/capacity.h)");
  row = FormRow::of(*find_form("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64"));
  row.shape.k = 32;
  const Form deep = std::move(row).form();
  CHECK(capacity::excess(deep) == deep.opcode + " needs capacity::f64_k = 32; it is 16 (tables/capacity.h)");
}

}  // namespace warpmat::capacity_test

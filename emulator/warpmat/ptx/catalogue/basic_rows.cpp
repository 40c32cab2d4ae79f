// Moves and logic on predicates: what other statements are made of.

#include <warpmat/ptx/catalogue/rows.h>

namespace warpmat::catalogue {

void add_basic_rows(std::vector<Row>& rows) {
  const std::vector<Row> basic{
      {"mov(.b16|.u16|.s16)", "d:T = a:T", "mov.b16"},
      {"mov(.b32|.u32|.s32|.f32)", "d:T = a:T", "mov.b32"},
      {"mov(.b64|.u64|.s64|.f64)", "d:T = a:T", "mov.b64"},
      {"mov.b128", "d:b128 = a:b128", "mov.b128"},
      {"mov.pred", "p = a", "mov.pred"},
      {"not.pred", "p = a", "not.pred"},
      {"and.pred", "p = a, b", "and.pred"},
      {"or.pred", "p = a, b", "or.pred"},
      {"xor.pred", "p = a, b", "xor.pred"},
  };
  rows.insert(rows.end(), basic.begin(), basic.end());
}

}  // namespace warpmat::catalogue

#include <warpmat/forms.h>
#include <warpmat/instruction.h>
#include <warpmat/matrices.h>

#include "execute/registers.h"
#include "execute/small_numbers.h"
#include "test.h"

namespace warpmat::scales_test {
namespace {

constexpr OperandName scale_names[] = {OperandName::scale_a, OperandName::scale_b};

OperandName ids_of(OperandName scale) {
  return scale == OperandName::scale_a ? OperandName::ids_a : OperandName::ids_b;
}

std::vector<const Form*> scaled_forms() {
  std::vector<const Form*> out;
  for (const Form& form : forms())
    if (form.scale_vector != 0 && form.sparsity == Sparsity::dense) out.push_back(&form);
  return out;
}

const Form& form_of_vector(int vector) {
  for (const Form* form : scaled_forms())
    if (form->scale_vector == vector) return *form;
  throw std::logic_error("no such form");
}

/// All ids that the ISA's table 37 defines.
std::vector<ScaleIds> defined_ids(int vector, OperandName scale) {
  std::vector<ScaleIds> out;
  for (std::uint32_t byte_id = 0; byte_id < 4; byte_id += static_cast<std::uint32_t>(vector))
    for (std::uint32_t thread_id = 0; thread_id < (scale == OperandName::scale_a ? 2u : 4u); ++thread_id)
      out.push_back({byte_id, thread_id});
  return out;
}

/// Random powers of two about 1.
Eigen::MatrixXd random_scales(int rows, int columns, std::mt19937_64& random) {
  return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return std::exp2(static_cast<double>(random() % 4) - 2); });
}

void set_ids(FormRegisters& x, OperandName name, const ScaleIds& ids) {
  x[name][0].fill(ids.byte_id);
  x[name][1].fill(ids.thread_id);
}

TEST_CASE("every block-scaled mma multiplies by the factors that its ids select") {
  std::mt19937_64 random(120);
  std::size_t executed = 0;
  for (const Form* form : scaled_forms()) {
    const auto [m, n, k] = form->shape;
    const int vector = form->scale_vector;
    for (const ScaleIds& ids_a : defined_ids(vector, OperandName::scale_a))
      for (const ScaleIds& ids_b : defined_ids(vector, OperandName::scale_b)) {
        CAPTURE(form->opcode, ids_a.byte_id, ids_a.thread_id, ids_b.byte_id, ids_b.thread_id);
        FormRegisters x(*form);
        x.fill(random);  // what the ids leave out is random
        set_ids(x, OperandName::ids_a, ids_a);
        set_ids(x, OperandName::ids_b, ids_b);
        const auto set = [&](OperandName name, const Eigen::MatrixXd& matrix) {
          scatter(form->operand(name).fragment, form->format(name), matrix, x[name].list());
        };
        const auto set_scale = [&](OperandName name, const ScaleIds& ids, const Eigen::MatrixXd& scales) {
          const Fragment& fragment = form->operand(name).fragment;
          scatter_one(fragment, scale_matrix(*form, ids_of(name), ids), form->format(name), scales, x[name].list());
          CHECK(gather_one(fragment, scale_matrix(*form, ids_of(name), ids), form->format(name), x[name].list()) == scales);
        };
        const Eigen::MatrixXd a = small_matrix(form->format(OperandName::a), m, k, random);
        const Eigen::MatrixXd b = small_matrix(form->format(OperandName::b), k, n, random);
        const Eigen::MatrixXd c = small_matrix(form->format(OperandName::c), m, n, random);
        const Eigen::MatrixXd scale_a = random_scales(m, vector, random), scale_b = random_scales(vector, n, random);
        set(OperandName::a, a);
        set(OperandName::b, b);
        set(OperandName::c, c);
        set_scale(OperandName::scale_a, ids_a, scale_a);
        set_scale(OperandName::scale_b, ids_b, scale_b);
        execute(Instruction(*form, target_with(*form)), x.batch());
        // D = sum over the chunks of K of (A scale_A) (scale_B B), + C.
        Eigen::MatrixXd expected = c;
        for (int chunk = 0; chunk < vector; ++chunk) {
          const int first = chunk * k / vector, width = k / vector;
          expected +=
              scale_a.col(chunk).asDiagonal() * (a.middleCols(first, width) * b.middleRows(first, width)) * scale_b.row(chunk).asDiagonal();
        }
        const Operand& d = form->operand(OperandName::d);
        REQUIRE(describe(d.fragment, compare(d.fragment, *d.format, x[OperandName::d].list(), expected)) == "");
        ++executed;
      }
  }
  // By vectors of 1, 2 and 4: 25 pairings of types, and with and without .scale_vec 2 and 1 forms of 2X; 2 of 4X.
  CHECK(executed == 2 * 25 * (4 * 2) * (4 * 4) + 3 * (2 * 2) * (2 * 4) + 2 * 2 * 4);
}

TEST_CASE("factors of different ids are in different bytes and lanes") {
  std::mt19937_64 random(121);
  for (const int vector : {1, 2, 4})
    for (const OperandName scale : scale_names) {
      CAPTURE(vector, name(scale));
      const Form& form = form_of_vector(vector);
      const Operand& operand = form.operand(scale);
      Registers registers(1);
      std::vector<Eigen::MatrixXd> written;
      for (const ScaleIds& ids : defined_ids(vector, scale)) {
        written.push_back(random_scales(operand.fragment.rows(), operand.fragment.columns(), random));
        scatter_one(operand.fragment, scale_matrix(form, ids_of(scale), ids), *operand.format, written.back(), registers.list());
      }
      std::size_t next = 0;
      for (const ScaleIds& ids : defined_ids(vector, scale))
        CHECK(gather_one(operand.fragment, scale_matrix(form, ids_of(scale), ids), *operand.format, registers.list()) == written[next++]);
    }
}

TEST_CASE("ids that the ISA does not define are named, and trap") {
  struct Case {
    int vector;
    OperandName ids_name;
    ScaleIds ids;
    const char* message;
  };
  const Case cases[] = {
      {1, OperandName::ids_a, {4, 0}, "byte-id of ids-a is 4; it must be below 4"},
      {1, OperandName::ids_a, {0, 2}, "thread-id of ids-a is 2; it must be below 2"},
      {1, OperandName::ids_b, {0, 4}, "thread-id of ids-b is 4; it must be below 4"},
      {2, OperandName::ids_b, {1, 0}, "byte-id of ids-b is 1; it must be below 4 and a multiple of 2"},
      {4, OperandName::ids_a, {2, 0}, "byte-id of ids-a is 2; it must be below 4 and a multiple of 4"},
      {4, OperandName::ids_b, {0xFFFF, 3}, "byte-id of ids-b is 65535; it must be below 4 and a multiple of 4"},
  };
  std::mt19937_64 random(122);
  for (const Case& c : cases) {
    CAPTURE(c.message);
    const Form& form = form_of_vector(c.vector);
    CHECK_THROWS_WITH(scale_matrix(form, c.ids_name, c.ids), c.message);
    CHECK_THROWS_AS(scale_matrix(form, c.ids_name, c.ids), std::invalid_argument);
    FormRegisters x(form);
    x.fill(random);
    set_ids(x, c.ids_name, c.ids);
    const auto trap = trap_in([&] { execute(Instruction(form, target("sm_120a")), x.batch()); });
    REQUIRE(trap.has_value());
    CHECK(trap->reason == c.message);
    CHECK(trap->site.lane == 0);
  }
  const Form& form = form_of_vector(1);
  FormRegisters x(form);
  x.fill(random);
  set_ids(x, OperandName::ids_a, {2, 1});
  x[OperandName::ids_a][1][9] = 0;
  const auto trap = trap_in([&] { execute(Instruction(form, target("sm_120a")), x.batch()); });
  REQUIRE(trap.has_value());
  CHECK(trap->reason == "ids-a is {2, 0}; it must be {2, 1} as in lane 0");
  CHECK(trap->site.lane == 9);
  const Form& plain = *find_form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
  CHECK_THROWS_WITH(scale_matrix(plain, OperandName::ids_a, {}), plain.opcode + " has no operand ids-a that selects scale factors");
  CHECK_THROWS_WITH(scale_matrix(form, OperandName::a, {}), form.opcode + " has no operand a that selects scale factors");
}

}  // namespace
}  // namespace warpmat::scales_test

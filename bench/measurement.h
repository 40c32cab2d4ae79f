#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu/cases/operand_classes.h"
#include "selection.h"

namespace warpmat {

/// The selection of measurements.
struct MeasurementPlan {
  bool instructions = true, rows = true, product = true;  ///< matrix instructions, rows of scalar statements, a kernel's matrix product
  std::vector<Selected> selected;
  std::vector<std::string_view> sets;  ///< of instruction_sets()
  int threads = 1;                     ///< all cores
  int repetitions = 20;
  std::string json;  ///< the file for everything that Google Benchmark records, or empty
};

/// The measured classes of operands.
std::vector<const OperandClass*> measured_classes();

/// The common-case class of operands of `form`: numbers near 1 if it multiplies formats that have NaN.
const OperandClass& common_case_class(const Form& form);

/// Multiply-adds of one instruction; for a sparse A those of its stored elements. 0 for moves.
double multiply_adds(const Form& form);

inline constexpr int program_statements = 100;

/// Measured times in nanoseconds, each the minimum of all repetitions.
class Times {
 public:
  void add(const std::string& name, int threads, double ns);

  /// One instruction in a batch; with several threads, all of them together.
  double instruction(const Selected& selected, const OperandClass& operand_class, std::string_view set, int threads = 1) const;
  /// One statement of a program of program_statements; with several threads, all of them together.
  double statement(std::string_view set, int threads = 1) const;
  /// The same instruction on one warp, outside a program.
  double single(std::string_view set) const;
  /// One call of the C interface that executes one warp with thread-major registers and operands of the common-case class.
  double call(const Selected& selected, std::string_view set) const;
  /// One multiply-add in Eigen's product.
  double eigen(std::string_view set) const;
  /// One statement of a scalar row in a kernel; `opcode` is one of plan.scalar_opcodes.
  double row(std::string_view opcode, std::string_view set) const;
  /// A whole TiledProduct with that many jobs; its mma statements alone, on one thread.
  double product(int jobs, std::string_view set) const;
  double product_alone(std::string_view set) const;
  /// One WarpgroupProduct, and its products as mma.
  double warpgroup(std::string_view set) const;
  double warpgroup_products(std::string_view set) const;
  /// One TensorCoreProduct.
  double tensor_core(std::string_view set) const;

  std::vector<std::string> row_titles;    ///< of the scalar rows that were measured
  std::size_t memory_beyond_buffers = 0;  ///< peak bytes that a TiledProduct with two jobs used in addition

 private:
  double at(const std::string& name, int threads) const { return ns_.at({name, threads}); }

  std::map<std::pair<std::string, int>, double> ns_;
};

/// Measures on this machine. Repetitions are interleaved in random order, so that a disturbance affects few of each.
Times measure(const MeasurementPlan& plan);

}  // namespace warpmat

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu/cases/operand_classes.h"
#include "selection.h"

namespace warpmat {

/// What is to be measured.
struct MeasurementPlan {
  bool instructions = true, rows = true, product = true;  ///< matrix instructions, rows of scalar statements, a kernel's matrix product
  std::vector<Selected> selected;
  std::vector<std::string_view> sets;  ///< of instruction_sets()
  int threads = 1;                     ///< all cores
  int repetitions = 20;
  std::string json;  ///< a file for everything that Google Benchmark records, or empty
};

/// The classes of operands that are measured.
std::vector<const OperandClass*> measured_classes();

/// The class of the usual operands of `form`: numbers near 1, where it multiplies numbers that can be NaN.
const OperandClass& usual_class(const Form& form);

/// Multiply-adds of one instruction: of a sparse A those of the elements that are stored. 0 of moves.
double multiply_adds(const Form& form);

inline constexpr int program_statements = 100;

/// What was measured: nanoseconds, each the least of all repetitions.
class Times {
 public:
  void add(const std::string& name, int threads, double ns);

  /// Of one instruction in a batch; with several threads, of all of them together.
  double instruction(const Selected& selected, const OperandClass& operand_class, std::string_view set, int threads = 1) const;
  /// Of one statement of a program of program_statements, with several threads of all of them together.
  double statement(std::string_view set, int threads = 1) const;
  /// Of the same instruction on one warp, outside of a program.
  double single(std::string_view set) const;
  /// Of one call of the C interface that executes one warp, of the usual class, whose registers are thread-major.
  double call(const Selected& selected, std::string_view set) const;
  /// Of one multiply-add in Eigen's product.
  double eigen(std::string_view set) const;
  /// Of one statement of a scalar row in a kernel; `opcode` is one of plan.scalar_opcodes.
  double row(std::string_view opcode, std::string_view set) const;
  /// Of a whole MatrixProduct with so many jobs; of its mma statements alone, on one thread.
  double product(int jobs, std::string_view set) const;
  double product_alone(std::string_view set) const;
  /// Of one WarpgroupProduct, and of its products as mma.
  double warpgroup(std::string_view set) const;
  double warpgroup_products(std::string_view set) const;

  std::vector<std::string> row_titles;    ///< of the scalar rows that were measured
  std::size_t memory_beyond_buffers = 0;  ///< bytes that a MatrixProduct with two jobs used at most in addition

 private:
  double at(const std::string& name, int threads) const { return ns_.at({name, threads}); }

  std::map<std::pair<std::string, int>, double> ns_;
};

/// Measures on this machine. Repetitions of everything take turns in random order, so that a disturbance hits few of each.
Times measure(const MeasurementPlan& plan);

}  // namespace warpmat

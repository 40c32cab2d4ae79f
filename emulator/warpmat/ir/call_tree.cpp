#include <warpmat/ir/call_tree.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace warpmat::code {
namespace {

class Reached {
 public:
  explicit Reached(const Program& program) : program_(program), open_(program.functions.size()), depths_(program.functions.size()) {}

  CallTree tree() {
    tree_.local_bytes = depth(0);
    if (in_cycles_) tree_.local_bytes = all_local_bytes();
    tree_.frame_offsets.resize(program_.functions.size());
    for (auto index = reached_.rbegin(); index != reached_.rend(); ++index) {  // callers before their callees
      tree_.frame_offsets[*index] = static_cast<std::uint32_t>(tree_.level_bytes);
      tree_.level_bytes += std::max<std::uint64_t>(program_.functions[*index].frame_bytes, register_alignment);
    }
    return std::move(tree_);
  }

 private:
  /// Calls visit(callee) for each call of a function in function `index`.
  template <typename Visit>
  void for_each_callee(std::size_t index, Visit visit) const {
    const Function& function = program_.functions[index];
    for (std::int32_t i = function.first; i < function.last; ++i) {
      const Operation& operation = program_.operations[static_cast<std::size_t>(i)];
      if (operation.semantics != catalogue::Semantics::call) continue;
      const Call& call = program_.of<Call>(operation);
      if (call.target == Call::Target::function) visit(static_cast<std::size_t>(call.function));
    }
  }

  /// The bytes of local memory that function `index` and its nested calls need, where none recurs through another. Each function is walked
  /// once, and noted behind its callees where there is no recursion.
  std::uint64_t depth(std::size_t index) {
    if (depths_[index]) return *depths_[index];
    std::uint64_t deepest = 0;
    open_[index] = true;
    for_each_callee(index, [&](std::size_t callee) {
      if (open_[callee]) {
        tree_.recursive = true;
        in_cycles_ |= callee != index;
      } else {
        deepest = std::max(deepest, depth(callee));
      }
    });
    open_[index] = false;
    reached_.push_back(index);
    return *(depths_[index] = deepest + program_.functions[index].local_bytes);
  }

  /// Of all functions that are reached: at least as many as those of any calls without those that recur.
  std::uint64_t all_local_bytes() const {
    std::uint64_t sum = 0;
    for (const std::size_t index : reached_) sum += program_.functions[index].local_bytes;
    return sum;
  }

  const Program& program_;
  CallTree tree_;
  bool in_cycles_ = false;  ///< whether a function recurs through others: then its depth depends on where the cycle is entered
  std::vector<bool> open_;
  std::vector<std::optional<std::uint64_t>> depths_;  ///< of the functions that are finished
  std::vector<std::size_t> reached_;
};

}  // namespace

CallTree make_call_tree(const Program& program) {
  return Reached(program).tree();
}

}  // namespace warpmat::code

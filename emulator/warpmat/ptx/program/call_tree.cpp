#include <warpmat/ptx/program/call_tree.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace warpmat::inline v0_1::code {
namespace {

class Reached {
 public:
  explicit Reached(const Program& program) : program_(program), open_(program.functions.size()), seen_(program.functions.size()) {}

  CallTree tree() {
    tree_.local_bytes = depth(0);
    add(0);
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
      const Call& call = program_.calls[operation.detail];
      if (call.target == Call::Target::function) visit(static_cast<std::size_t>(call.function));
    }
  }

  /// The bytes of local memory that function `index` and its nested calls need.
  std::uint64_t depth(std::size_t index) {
    std::uint64_t deepest = 0;
    open_[index] = true;
    for_each_callee(index, [&](std::size_t callee) {
      if (open_[callee])
        tree_.recursive = true;
      else
        deepest = std::max(deepest, depth(callee));
    });
    open_[index] = false;
    return deepest + program_.functions[index].local_bytes;
  }

  /// Adds the functions that function `index` reaches, itself among them, each behind its callees where there is no recursion.
  void add(std::size_t index) {
    seen_[index] = true;
    for_each_callee(index, [&](std::size_t callee) {
      if (!seen_[callee]) add(callee);
    });
    reached_.push_back(index);
  }

  const Program& program_;
  CallTree tree_;
  std::vector<bool> open_, seen_;
  std::vector<std::size_t> reached_;
};

}  // namespace

CallTree make_call_tree(const Program& program) {
  return Reached(program).tree();
}

}  // namespace warpmat::inline v0_1::code

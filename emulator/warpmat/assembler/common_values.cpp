#include <warpmat/assembler/common_values.h>

#include <algorithm>
#include <array>

namespace warpmat::code {

using catalogue::Semantics;

namespace {

constexpr std::array lanes_own{SpecialRegister::tid_x,       SpecialRegister::tid_y,       SpecialRegister::tid_z,
                               SpecialRegister::laneid,      SpecialRegister::lanemask_eq, SpecialRegister::lanemask_le,
                               SpecialRegister::lanemask_lt, SpecialRegister::lanemask_ge, SpecialRegister::lanemask_gt};

class CommonValues {
 public:
  CommonValues(const DraftFunction& function, const Program& program, const Constants& constants, const Definitions& definitions)
      : function_(function), program_(program), constants_(constants), definitions_(definitions) {}

  bool is_common(int reader, Value value, int depth = 0) const {
    constexpr int deepest = 8;
    if (is_constant(value)) return true;
    const int writer = depth < deepest ? definitions_.find(reader, value) : -1;
    return writer >= 0 && writes_common(writer, depth);
  }

 private:
  bool writes_common(int writer, int depth) const {
    const DraftOperation& operation = function_.operations[static_cast<std::size_t>(writer)];
    switch (operation.operation.semantics) {
      case Semantics::special: return std::ranges::find(lanes_own, program_.of<SpecialRegister>(operation.operation)) == lanes_own.end();
      case Semantics::elect:
      case Semantics::active_mask: return true;
      case Semantics::exchange: return exchanges_common(writer, depth);
      case Semantics::load:
        if (program_.access(operation.operation).space == Space::local) return false;
        [[fallthrough]];
      case Semantics::compute:
      case Semantics::select:
        return std::ranges::all_of(operation.sources, [&](Value source) { return is_common(writer, source, depth + 1); });
      default: return false;
    }
  }

  /// What a vote or a reduction says, and the value of one lane that all read.
  bool exchanges_common(int writer, int depth) const {
    const DraftOperation& operation = function_.operations[static_cast<std::size_t>(writer)];
    constexpr std::size_t lane = 1, clamp = 2;
    switch (program_.of<WarpExchange>(operation.operation).operation) {
      case WarpOperation::shuffle_index:
        return is_common(writer, operation.sources[lane], depth + 1) && is_whole_warp(operation.sources[clamp]);
      case WarpOperation::shuffle_up:
      case WarpOperation::shuffle_down:
      case WarpOperation::shuffle_butterfly:
      case WarpOperation::match_any: return false;
      default: return true;
    }
  }

  /// Whether the last operand of a shuffle parts the warp into no segments.
  bool is_whole_warp(Value clamp) const {
    constexpr std::uint64_t segments = 0x1f00;
    return is_constant(clamp) && (constants_[clamp].low & segments) == 0;
  }

  const DraftFunction& function_;
  const Program& program_;
  const Constants& constants_;
  const Definitions& definitions_;
};

}  // namespace

bool may_be_common(const DraftFunction& function, const Program& program, const Constants& constants, const Definitions& definitions,
                   std::pair<int, Value> read) {
  return CommonValues(function, program, constants, definitions).is_common(read.first, read.second);
}

}  // namespace warpmat::code

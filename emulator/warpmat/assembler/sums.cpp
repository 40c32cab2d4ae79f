#include <warpmat/assembler/sums.h>

#include <algorithm>

namespace warpmat::code {

Sums::Sums(const DraftFunction& function, ProgramDraft& draft)
    : function_(function), uses_(function, draft), definitions_(function), readers_(function.registers.size()) {
  for (int i = 0; i < static_cast<int>(function.operations.size()); ++i) {
    const DraftOperation& operation = function.operations[static_cast<std::size_t>(i)];
    arithmetic_.push_back(classify_arithmetic(operation, draft));
    for_each_read(operation, [&](Value value) {
      std::vector<int>& readers = readers_[static_cast<std::size_t>(value)];
      if (readers.empty() || readers.back() != i) readers.push_back(i);
    });
  }
}

Root Sums::operand(int i, std::size_t source, NumberType type, bool anywhere) const {
  const auto writer_of = [&](int reader, std::size_t s) {
    return anywhere ? definitions_.find(reader, at(reader).sources[s]) : uses_.writer(reader, static_cast<int>(s));
  };
  Root root{writer_of(i, source), at(i).sources[source]};
  bool flushed = false;
  while (root.operation >= 0) {
    const int writer = root.operation;
    const bool sign = is(writer, Kind::neg) && kind(writer)->is_sign() && type.number == kind(writer)->type.number;
    if (sign && kind(writer)->type.flushes && (flushed || !type.flushes)) return root;
    const bool square = is(writer, Kind::abs) && is_square(operand(writer, 0, kind(writer)->type, anywhere).operation);
    if (!sign && !square && !is(writer, Kind::mov)) return root;
    flushed |= sign && kind(writer)->type.flushes;
    const Root behind = square ? operand(writer, 0, kind(writer)->type, anywhere) : Root{writer_of(writer, 0), at(writer).sources[0]};
    root = {behind.operation, behind.value, square ? false : root.negated != sign};
  }
  return root;
}

std::vector<Sums::Use> Sums::users(int i) const {
  std::vector<Use> all;
  for (const Use& use : uses_.uses(i)) {
    if (use.operand < 0 || !is(use.operation, Kind::mov)) {
      all.push_back(use);
      continue;
    }
    const std::vector<Use> behind = users(use.operation);
    all.insert(all.end(), behind.begin(), behind.end());
  }
  return all;
}

std::size_t Sums::count(int i) const {
  std::size_t all = 0;
  for (const Use& use : users(i))
    all += use.operand >= 0 && is(use.operation, Kind::neg) && !kind(use.operation)->type.flushes ? count(use.operation) : 1;
  return all;
}

bool Sums::is_double(int i) const {
  if (!kind(i)->may_be_doubled()) return false;
  const Root left = operand(i, 0, kind(i)->type), right = operand(i, 1, kind(i)->type);
  if (left.negated || right.negated != (kind(i)->kind == Kind::sub)) return false;
  if (!is(left.operation, Kind::mul) || !is(right.operation, Kind::mul) || kind(left.operation)->type != kind(right.operation)->type)
    return left == right;
  const auto factors = [&](int mul) { return std::minmax({operand(mul, 0).key(), operand(mul, 1).key()}); };
  const auto a = factors(left.operation), b = factors(right.operation);
  return a.first == b.first && a.second == b.second;
}

bool Sums::is_equal(int i, int other) const {
  if (at(i).match != at(other).match) return false;
  const auto same = [&](std::size_t source, std::size_t of_other) {
    const Value value = at(i).sources[source];
    return value == at(other).sources[of_other] &&
           (is_constant(value) || definitions_.find_all(i, value) == definitions_.find_all(other, value));
  };
  return (same(0, 0) && same(1, 1)) || ((kind(i)->kind == Kind::add || kind(i)->kind == Kind::mul) && same(0, 1) && same(1, 0));
}

}  // namespace warpmat::code

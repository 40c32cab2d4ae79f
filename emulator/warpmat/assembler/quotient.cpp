#include <warpmat/assembler/quotient.h>

#include <bit>
#include <cstdint>
#include <string>

namespace warpmat::code {
namespace {

class QuotientWriter {
 public:
  QuotientWriter(DraftFunction& function, ProgramDraft& draft, std::array<Value, 2>& parts, const DraftOperation& like,
                 std::vector<DraftOperation>& out)
      : function_(function), draft_(draft), parts_(parts), like_(like), out_(out) {}

  void run(const Arithmetic& quotient) {
    const bool flushes = quotient.type.flushes;
    if (quotient.kind == Arithmetic::Kind::div_full) scale("gt", two_to_126, 0.25F, flushes ? ".ftz" : "");
    if (!flushes) scale("lt", smallest_normal, 0x1p24F, "");
    const Value reciprocal = new_register(RegisterClass::word);
    out_.push_back(draft_.make("rcp.approx.ftz.f32", {reciprocal}, {parts_[1]}, like_));
    parts_[1] = reciprocal;
  }

 private:
  Value new_register(RegisterClass register_class) { return code::new_register(function_, {register_class, 32}); }
  Value constant(std::uint32_t bits) { return draft_.constants.add(RegisterClass::word, bits); }

  /// Multiplies both parts by `scale` if |divisor| compares with `limit`, the bits of an f32; else by 1.
  void scale(const std::string& comparison, std::uint32_t limit, float scale, const std::string& ftz) {
    const Value magnitude = new_register(RegisterClass::word), factor = new_register(RegisterClass::word);
    const Value scales = new_register(RegisterClass::predicate);
    const Value one = constant(std::bit_cast<std::uint32_t>(1.0F)), other = constant(std::bit_cast<std::uint32_t>(scale));
    out_.push_back(draft_.make("abs.f32", {magnitude}, {parts_[1]}, like_));
    out_.push_back(draft_.make("setp." + comparison + ".f32", {scales}, {magnitude, constant(limit)}, like_));
    out_.push_back(draft_.make("selp.b32", {factor}, {other, one, scales}, like_));
    for (Value& part : parts_) {
      const Value scaled = new_register(RegisterClass::word);
      out_.push_back(draft_.make("mul.rn" + ftz + ".f32", {scaled}, {part, factor}, like_));
      part = scaled;
    }
  }

  DraftFunction& function_;
  ProgramDraft& draft_;
  std::array<Value, 2>& parts_;
  const DraftOperation& like_;
  std::vector<DraftOperation>& out_;
};

}  // namespace

void add_quotient_steps(DraftFunction& function, ProgramDraft& draft, const Arithmetic& quotient, std::array<Value, 2>& parts,
                        const DraftOperation& like, std::vector<DraftOperation>& out) {
  QuotientWriter(function, draft, parts, like, out).run(quotient);
}

}  // namespace warpmat::code

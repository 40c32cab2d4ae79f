#include <cstdint>

#include "catch.h"
#include "ptx/program/nan_kernel.h"

namespace warpmat::selected_signs_test {

using namespace nan_kernel;

TEST_CASE("a selected neg or abs keeps a NaN's payload, as ptxas's FSEL does", "[signs]") {
  struct Case {
    const char* body;
    std::uint32_t result;
  };
  for (const Case& c : {
           Case{"neg.f32 %f3, %f1; mov.b32 %d, %f3;", canonical},
           Case{"neg.f32 %f3, %f1; selp.f32 %f3, %f3, %f2, %p1; mov.b32 %d, %f3;", turned},
           Case{"neg.f32 %f3, %f1; selp.f32 %f3, %f2, %f3, %p2; mov.b32 %d, %f3;", turned},
           Case{"abs.f32 %f3, %f1; selp.f32 %f3, %f3, %f2, %p1; mov.b32 %d, %f3;", turned},
           Case{"abs.f32 %f3, %f1; neg.f32 %f3, %f3; selp.f32 %f3, %f3, %f2, %p1; mov.b32 %d, %f3;", payload},
           Case{"neg.f32 %f3, %f1; abs.f32 %f3, %f3; selp.f32 %f3, %f3, %f2, %p1; mov.b32 %d, %f3;", turned},
           Case{"mul.f32 %f3, %f1, 0fBF800000; selp.f32 %f3, %f3, %f2, %p1; mov.b32 %d, %f3;", turned},
           Case{"neg.f32 %f3, %f1; slct.f32.s32 %f3, %f3, %f2, %r1; mov.b32 %d, %f3;", turned},
           Case{"neg.f32 %f3, %f1; slct.f32.f32 %f3, %f3, %f2, %f2; mov.b32 %d, %f3;", turned},
           // Behind moves, from another block, and where x is overwritten in between.
           Case{"neg.f32 %f3, %f1; mov.b32 %r3, %f3; mov.b32 %f4, %r3; selp.f32 %f3, %f4, %f2, %p1; mov.b32 %d, %f3;", turned},
           Case{"neg.f32 %f3, %f1; @%p2 bra L; add.f32 %f2, %f2, %f2; L: selp.f32 %f3, %f3, %f2, %p1; mov.b32 %d, %f3;", turned},
           Case{"neg.f32 %f1, %f1; selp.f32 %f3, %f1, %f2, %p1; mov.b32 %f1, 0; mov.b32 %d, %f3;", turned},
           // The sum itself remains for other readers.
           Case{"neg.f32 %f3, %f1; selp.f32 %f4, %f3, %f2, %p1; mov.b32 %d, %f3;", canonical},
           // A branch is no selection, nor of two values that may come there.
           Case{"neg.f32 %f3, %f1; @%p1 bra L; mov.f32 %f3, %f2; L: mov.b32 %d, %f3;", canonical},
           Case{"neg.f32 %f3, %f1; @%p1 bra L; neg.f32 %f3, %f2; L: selp.f32 %f3, %f3, %f2, %p1; mov.b32 %d, %f3;", canonical},
           // Of one register twice.
           Case{"neg.f32 %f3, %f1; selp.f32 %f3, %f3, %f3, %p1; mov.b32 %d, %f3;", canonical},
           // Bits, .ftz and numbers added to zero are none.
           Case{"neg.f32 %f3, %f1; selp.b32 %f3, %f3, %f2, %p1; mov.b32 %d, %f3;", canonical},
           Case{"neg.ftz.f32 %f3, %f1; selp.f32 %f3, %f3, %f2, %p1; mov.b32 %d, %f3;", canonical},
           Case{"sub.f32 %f3, 0f80000000, %f1; selp.f32 %f3, %f3, %f2, %p1; mov.b32 %d, %f3;", canonical},
       }) {
    CAPTURE(c.body);
    CHECK(word_of(c.body) == c.result);
  }
}

TEST_CASE("a guarded neg or abs of f32 selects, and so does what overwrites one", "[signs]") {
  struct Case {
    const char* body;
    std::uint32_t result;
  };
  for (const Case& c : {
           Case{"mov.b32 %f3, %f2; @%p1 neg.f32 %f3, %f1; mov.b32 %d, %f3;", turned},
           Case{"add.f32 %f3, %f2, %f2; @!%p2 abs.f32 %f3, %f1; mov.b32 %d, %f3;", turned},
           Case{"mov.b32 %f3, %f2; @%p2 neg.f32 %f3, %f1; mov.b32 %d, %f3;", 0x42000000},
           Case{"@%p1 neg.f32 %f1, %f1; mov.b32 %d, %f1;", turned},
           Case{"abs.f32 %f3, %f1; @%p1 neg.f32 %f3, %f3; mov.b32 %d, %f3;", payload},
           Case{"mov.b32 %f3, %f2; @%p1 neg.ftz.f32 %f3, %f1; mov.b32 %d, %f3;", canonical},
           // The value that stays.
           Case{"neg.f32 %f3, %f1; @%p2 add.f32 %f3, %f2, %f2; mov.b32 %d, %f3;", turned},
           Case{"abs.f32 %f3, %f1; @!%p1 mul.ftz.f32 %f3, %f2, %f2; mov.b32 %d, %f3;", turned},
           Case{"neg.f32 %f3, %f1; @%p1 add.f32 %f3, %f2, %f2; mov.b32 %d, %f3;", 0x42800000},
           Case{"abs.f32 %f3, %f1; @%p2 selp.f32 %f3, %f2, %f1, %p1; mov.b32 %d, %f3;", turned},
           Case{"neg.f32 %f3, %f1; @%p2 neg.f32 %f3, %f2; mov.b32 %d, %f3;", turned},
           Case{"neg.f32 %f3, %f1; @%p2 neg.f32 %f3, %f3; mov.b32 %d, %f3;", turned},
           Case{"neg.f32 %f3, %f1; @%p1 neg.f32 %f3, %f3; mov.b32 %d, %f3;", payload},
           Case{"neg.f32 %f3, %f1; @%p2 mov.f32 %f3, %f2; mov.b32 %d, %f3;", turned},
           Case{"neg.f32 %f3, %f1; @%p2 div.rn.f32 %f3, %f2, %f2; mov.b32 %d, %f3;", turned},
           Case{"neg.f32 %f3, %f1; @%p2 cvt.rn.f32.s32 %f3, %n; mov.b32 %d, %f3;", turned},
           Case{"neg.f32 %f3, %f1; @%p2 rcp.approx.ftz.f32 %f3, %f2; mov.b32 %d, %f3;", turned},
           // Integers, memory, and what is several instructions.
           Case{"neg.f32 %f3, %f1; @%p2 mov.b32 %f3, %f2; mov.b32 %d, %f3;", canonical},
           Case{"neg.f32 %f3, %f1; mov.b32 %r3, %f3; @%p2 add.u32 %r3, %r3, 1; mov.b32 %d, %r3;", canonical},
           Case{"neg.f32 %f3, %f1; @%p2 set.gt.f32.f32 %f3, %f2, %f2; mov.b32 %d, %f3;", canonical},
           Case{"neg.f32 %f3, %f1; @%p2 rcp.approx.f32 %f3, %f2; mov.b32 %d, %f3;", canonical},
           Case{"neg.f32 %f3, %f1; @%p2 div.full.f32 %f3, %f2, %f2; mov.b32 %d, %f3;", canonical},
           Case{"neg.ftz.f32 %f3, %f1; @%p2 add.f32 %f3, %f2, %f2; mov.b32 %d, %f3;", canonical},
       }) {
    CAPTURE(c.body);
    CHECK(word_of(c.body) == c.result);
  }
}

}  // namespace warpmat::selected_signs_test

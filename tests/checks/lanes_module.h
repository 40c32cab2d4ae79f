#pragma once

#include <string>

#include "machine/kernel.h"

namespace warpmat {

/// A kernel 'k' of one warp with matrices A, B and C: a lane's thread is %t, of which %g is a quarter and %q the rest; %a, %b, %c are the
/// addresses of A, B, C; %c0 to %c3 are 0. `shared`: declarations.
inline Module module_of_lanes(const std::string& body, const std::string& shared = "", const std::string& parameters = "",
                              const std::string& target = "sm_80") {
  return module_of(".param .u64 A, .param .u64 B, .param .u64 C" + parameters, shared + R"(
    .reg .b64 %a, %b, %c, %x; .reg .b32 %t, %g, %q, %l<8>, %a<4>, %b<2>; .reg .f32 %c<4>;
    ld.param.u64 %a, [A];
    ld.param.u64 %b, [B];
    ld.param.u64 %c, [C];
    mov.u32 %t, %tid.x;
    shr.u32 %g, %t, 2;
    and.b32 %q, %t, 3;
    mov.f32 %c0, 0f00000000; mov.f32 %c1, 0f00000000; mov.f32 %c2, 0f00000000; mov.f32 %c3, 0f00000000;
)" + body,
                   target);
}

/// Makes %c the address of a lane's first two elements of C, 16 x 8 of f32 by rows: row %g, columns 2 %q and the next.
inline const std::string place_in_c = R"(
    shl.b32 %l0, %g, 5;
    shl.b32 %l1, %q, 3;
    add.u32 %l0, %l0, %l1;
    cvt.u64.u32 %x, %l0;
    add.s64 %c, %c, %x;
)";

/// Stores an accumulator of m16n8 from there on, and ends.
inline const std::string store_c = R"(
    st.global.v2.f32 [%c], {%c0, %c1};
    st.global.v2.f32 [%c+256], {%c2, %c3};
    ret;
)";

}  // namespace warpmat

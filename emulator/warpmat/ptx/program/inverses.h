#pragma once

#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::code {

/// Removes functions that undo each other, as ptxas does, also behind moves and in another block, the inner one without a guard:
///   neg of neg                               a move. Of f32, f64, f16, f16x2 and bf16; of .bf16x2 and with .ftz both remain
///   rcp of rcp, div by rcp                   a move, a product
///   rcp of ex2, div by ex2                   ex2 of the negative, where nothing else needs the power; a product with it
///   cvt.ftz.f64.f32 of mul.f32               cvt of mul.ftz.f32, which flushes its factors too, where nothing else needs the product
/// All of rcp, div and ex2 are .approx.ftz.f32: others stay. Results differ: a NaN keeps its payload, and what was rounded twice is exact.
/// Both stay where the inner one is in a loop, the outer one behind it, and behind the loop or in its next round another value may stand in
/// the inner one's register too.
/// Source: machine code of ptxas 13.0.
void remove_inverses(DraftFunction& function, ProgramDraft& draft);

/// Notes each neg of what another neg of the same type may have written, in another block or in a loop's round before: ptxas makes moves of
/// some of these, and not always of those that remove_inverses() does.
void note_neg_pairs(const DraftFunction& function, ProgramDraft& draft);

}  // namespace warpmat::code

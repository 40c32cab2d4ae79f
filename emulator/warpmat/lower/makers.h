#pragma once

#include <optional>
#include <string>

#include <warpmat/lower/context.h>

namespace warpmat::code {

// What statements become, by family: *_statements.cpp.

namespace lower {

/// Makes the operations of a statement of the row.
using Maker = void(Context& in, const catalogue::Match& match);
#define WARPMAT_OPERATION(name, payload, maker, facts) Maker maker;
#define WARPMAT_STATEMENT(name, maker) Maker maker;
#include <warpmat/ptx/catalogue/operations.inc>

/// By Semantics.
inline constexpr Maker* makers[]{
#define WARPMAT_OPERATION(name, payload, maker, facts) maker,
#define WARPMAT_STATEMENT(name, maker) maker,
#include <warpmat/ptx/catalogue/operations.inc>
};

}  // namespace lower

/// Statements of forms of other tables.
void matrix(Context& in);
void wgmma(Context& in);

/// Where the function ends: a `ret` before it is an operation of its own.
void add_end(Context& in);
/// At the start of a function that has alloca.
void open_stack(Context& in);
/// At the end of a function: waits where accumulators are read too early, and places that they keep.
void wait_for_accumulators(Context& in);

/// The space that the qualifiers name; generic if none does.
Space space_of(const catalogue::Match& match);
/// The operation of atom, red or a reducing copy; nothing of a copy.
std::optional<AtomicOperation> atomic_operation(const catalogue::Match& match);
/// What atom, red, multimem or a reducing copy computes of elements of that type.
Reduction reduction(Context& in, const catalogue::Match& match, const DataType& type);

/// The address in brackets as 64 bits, in `space`. A variable's address becomes generic if `space` is.
Value address(Context& in, const syntax::Operand& operand, Space space);
/// Reads the operands of a bulk copy for their errors alone.
void check_bulk_copy(Context& in, const catalogue::Match& match);

}  // namespace warpmat::code

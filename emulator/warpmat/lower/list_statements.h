#pragma once

#include <vector>

#include <warpmat/lower/context.h>
#include <warpmat/lower/list_draft.h>

namespace warpmat::code {

// What statements of lists have beside those of a function's body.

void list_element(Context& in, const syntax::Element& element);
void refuse_labels_of_names(const Context& in, std::vector<Diagnostic>& errors);
/// Finds the statement's instruction. A register of a list without declarations comes into being where it is first named, as wide as there.
void begin_list_statement(Context& in, const syntax::Statement& statement);

}  // namespace warpmat::code

#pragma once

#include <warpmat/machine_code/addresses.h>

namespace warpmat::machine_code {

/// Whether rows and gathers can hold its elements.
bool has_usual_elements(const Access& access, int operands);
/// A load or store of such elements in global or shared memory; masked or not.
void write_elements_load(Writer& w, bool in_shared);
void write_elements_store(Writer& w, bool in_shared);

}  // namespace warpmat::machine_code

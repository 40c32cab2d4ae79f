#pragma once

#include <vector>

#include <warpmat/tables/form_row.h>

namespace warpmat {

/// Appends the forms of ldmatrix, stmatrix, movmatrix and mma: a part of the table of forms (form.cpp).
void add_mma_forms(std::vector<FormRow>& out);

}  // namespace warpmat

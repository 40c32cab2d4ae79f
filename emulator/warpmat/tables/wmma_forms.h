#pragma once

#include <vector>

#include <warpmat/tables/form_row.h>

namespace warpmat {

/// Appends the forms of wmma.load, wmma.store and wmma.mma: a part of the table of forms (form.cpp).
void add_wmma_forms(std::vector<FormRow>& out);

/// Appends those that sm_70 has, with its fragments instead of later hardware's.
void add_volta_wmma_forms(std::vector<FormRow>& out);

}  // namespace warpmat

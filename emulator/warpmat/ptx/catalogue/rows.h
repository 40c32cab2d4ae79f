#pragma once

#include <vector>

#include <warpmat/ptx/catalogue/row.h>

namespace warpmat::catalogue {

// Each adds the rows of its subject, with functions for the instruction set that Highway has chosen.

void add_basic_rows(std::vector<Row>& rows);    ///< moves, predicates and what the machine itself needs: basic_rows.cpp
void add_machine_rows(std::vector<Row>& rows);  ///< everything that is not arithmetic: machine_rows.cpp

}  // namespace warpmat::catalogue

#pragma once

#include <vector>

#include <warpmat/ptx/catalogue/row.h>

namespace warpmat::catalogue {

// Each function adds the rows of its subject, with functions for the instruction set that Highway has selected.

void add_basic_rows(std::vector<Row>& rows);          ///< moves, predicates and the machine's own operations: basic_rows.cpp
void add_integer_rows(std::vector<Row>& rows);        ///< PTX ISA 9.1 sections 9.7.1, 9.7.2 and 9.7.8, and prmt
void add_float_rows(std::vector<Row>& rows);          ///< 9.7.3 to 9.7.5
void add_approximate_rows(std::vector<Row>& rows);    ///< .approx and .full of 9.7.3 and 9.7.4
void add_compare_rows(std::vector<Row>& rows);        ///< 9.7.6 and 9.7.7
void add_convert_rows(std::vector<Row>& rows);        ///< 9.7.9.21 and 9.7.9.22
void add_video_rows(std::vector<Row>& rows);          ///< 9.7.18
void add_async_rows(std::vector<Row>& rows);          ///< mbarrier, bulk copies, clusters: async_rows.cpp
void add_tensor_memory_rows(std::vector<Row>& rows);  ///< tcgen05: tensor_memory_rows.cpp
void add_texture_rows(std::vector<Row>& rows);        ///< 9.7.11 and 9.7.12: texture_rows.cpp
void add_machine_rows(std::vector<Row>& rows);        ///< everything except arithmetic: machine_rows.cpp

}  // namespace warpmat::catalogue

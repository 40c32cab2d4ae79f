#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include <warpmat/formats.h>
#include <warpmat/matrices.h>

namespace warpmat::c {

/// The format of C's number; nothing for -1. Throws std::invalid_argument for other numbers without one.
std::optional<Format> format_of(int number);
/// The same for a format that is needed.
Format needed_format(int number);

/// Throws std::invalid_argument, naming `what`, unless the caller's `count` values are rows times columns.
void check_count(const void* values, std::size_t count, int rows, int columns, std::string_view what);

/// A matrix of the caller's `count` doubles, in the order of the rows. Throws std::invalid_argument, naming `what`, unless there are rows
/// times columns of them.
numbers::Matrix matrix_of(const double* values, std::size_t count, int rows, int columns, std::string_view what);
/// Copies a matrix to the caller's `count` doubles. Throws likewise.
void copy_matrix(const numbers::Matrix& matrix, double* values, std::size_t count, std::string_view what);

/// Copies as much of `text` as `capacity` bytes hold, with a null; its length to `length` unless that is null.
void copy_text(std::string_view text, char* to, std::size_t capacity, std::size_t* length);

}  // namespace warpmat::c

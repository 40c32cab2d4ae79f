#pragma once

#include <string>
#include <vector>

namespace warpmat {

/// Rows of text in aligned columns.
class Table {
 public:
  enum class Align { left, right };

  explicit Table(std::vector<std::string> header, Align align = Align::left) : rows_{std::move(header)}, align_(align) {}

  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  /// The rows, header first, two spaces between columns, no spaces at a line's end.
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  Align align_;
};

}  // namespace warpmat

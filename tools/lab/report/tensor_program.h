#pragma once

#include <string>
#include <vector>

#include "tools/lab/report/tensor_question.h"

namespace warpmat {

/// A CUDA program, in one file, that asks the questions of a card and says whether it does as the tables or as the alternatives. It needs
/// nothing but nvcc and a driver: `nvcc FILE.cu -lcuda`. Its text names `file` and the command that made it.
std::string tensor_program(const std::vector<TensorQuestion>& questions, const std::string& file, const std::string& command);

}  // namespace warpmat

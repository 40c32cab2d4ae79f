#include "tools/lab/report/tensor_question.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <random>
#include <stdexcept>
#include <thread>

#include <fmt/core.h>
#include <fmt/format.h>

#include <warpmat/launch.h>
#include <warpmat/machine/threads.h>

#include "gpu/lab/mutants/distinguish.h"
#include "gpu/lab/mutants/mutants.h"
#include "tools/report/tensor_image.h"

namespace warpmat {
namespace {

constexpr const char* target_of_questions = "sm_100a";

/// Codes of metadata for rows that do not count, which are defined for every type: the first two of four, the first of two.
constexpr std::uint64_t first_elements = 0x4;

std::string statement_of(const TensorProductRow& row) {
  const TensorProduct& p = row.product;
  return fmt::format(
      "{} [%base], %a, %b,{} %product,{} %yes;", row.opcode, p.sparse() ? fmt::format(" [%base+{}],", TensorImage::e_column) : "",
      p.scale_vector != 0 ? fmt::format(" [%base+{}], [%base+{}],", TensorImage::scale_a_column, TensorImage::scale_b_column) : "");
}

/// Words that are not those of `without`.
std::vector<ListedWord> listed(const std::vector<std::uint32_t>& words, const std::vector<std::uint32_t>& without) {
  std::vector<ListedWord> list;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] != without[i]) list.push_back({static_cast<std::uint32_t>(i), words[i]});
  return list;
}

std::vector<std::uint32_t> image(std::size_t words, bool numbered, const std::vector<ListedWord>& list) {
  std::vector<std::uint32_t> all(words);
  for (std::size_t i = 0; numbered && i < words; ++i) all[i] = own_number(static_cast<std::uint32_t>(i));
  for (const ListedWord& word : list) all[word.index] = word.word;
  return all;
}

/// The matrices of a product whose elements are all zero, scale factors 1 and metadata defined.
TensorMatrices plain_matrices(const TensorProduct& product) {
  const auto matrix = [&](OperandName operand, std::uint64_t bits) {
    const MatrixExtent extent = tensor_extent(product, operand);
    return std::vector<std::uint64_t>(static_cast<std::size_t>(extent.rows) * static_cast<std::size_t>(extent.columns), bits);
  };
  const std::uint64_t one = product.scale_vector != 0 ? from_double(product.tile->format(OperandName::scale_a), 1) : 0;
  return {matrix(OperandName::a, 0),         matrix(OperandName::b, 0),
          matrix(OperandName::d, 0),         matrix(OperandName::e, first_elements),
          matrix(OperandName::scale_a, one), matrix(OperandName::scale_b, one)};
}

/// The question of a product of `matrices`; the answers are missing.
TensorQuestion asked(const TensorProductRow& row, const TensorMatrices& matrices) {
  const TensorProduct& product = row.product;
  TensorQuestion question{.subject = row.name(), .alternative = "", .entry = {statement_of(row), false, product.group}};
  question.product = row.descriptor;
  question.a = TensorImage::descriptor_bits(TensorImage::descriptor(product, OperandName::a, 0));
  question.b = TensorImage::descriptor_bits(TensorImage::descriptor(product, OperandName::b, TensorQuestion::b_start));
  for (int block = 0; block < product.group; ++block) {
    const TensorImage image = tensor_image(product, matrices, block);
    const auto add_bytes = [&](const std::vector<std::uint8_t>& bytes, std::uint32_t start) {
      for (std::uint32_t i = 0; i < bytes.size(); i += 4) {
        std::uint32_t word = 0;
        for (std::uint32_t byte = 0; byte < 4; ++byte) word |= static_cast<std::uint32_t>(bytes[i + byte]) << 8 * byte;
        if (word != 0) question.tile.push_back({static_cast<std::uint32_t>(block) * TensorQuestion::tile_words + (start + i) / 4, word});
      }
    };
    add_bytes(image.a, 0);
    add_bytes(image.b, TensorQuestion::b_start);
    for (int lane = 0; lane < tensor_lanes; ++lane)
      for (int column = 0; column < tensor_columns; ++column)
        if (const std::uint32_t word = image.memory.word(lane, column); word != 0)
          question.before.push_back({static_cast<std::uint32_t>((block * tensor_lanes + lane) * tensor_columns + column), word});
  }
  return question;
}

void answer(TensorQuestion& question) {
  question.after = listed(tensor_memory_after(question), question.memory_image());
}

/// The matrices of a distinction: those of its tile in the first rows and columns.
TensorMatrices matrices_of(const TensorProduct& product, const Distinction& distinction) {
  const Form& tile = *product.tile;
  TensorMatrices matrices = plain_matrices(product);
  const auto fill = [&](OperandName of_tile, OperandName of_product, std::vector<std::uint64_t>& matrix) {
    const Fragment& fragment = tile.operand(of_tile).fragment;
    const auto columns = static_cast<std::size_t>(tensor_extent(product, of_product).columns);
    for (int i = 0; i < fragment.rows(); ++i)
      for (int j = 0; j < fragment.columns(); ++j)
        matrix[static_cast<std::size_t>(i) * columns + static_cast<std::size_t>(j)] =
            element_bits(distinction, distinction.initial, of_tile, {i, j, 0});
  };
  fill(OperandName::a, OperandName::a, matrices.a);
  fill(OperandName::b, OperandName::b, matrices.b);
  fill(OperandName::c, OperandName::d, matrices.d);
  if (product.sparse()) fill(OperandName::e, OperandName::e, matrices.e);
  if (product.scale_vector == 0) return matrices;
  fill(OperandName::scale_a, OperandName::scale_a, matrices.scale_a);
  fill(OperandName::scale_b, OperandName::scale_b, matrices.scale_b);
  return matrices;
}

/// Small numbers, whose products any format and any order of a sum has exactly, and metadata of random elements.
TensorMatrices random_matrices(const TensorProduct& product, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  TensorMatrices matrices = plain_matrices(product);
  const auto fill = [&](OperandName operand, std::vector<std::uint64_t>& matrix, std::initializer_list<double> numbers) {
    const Format format = product.tile->format(operand);
    for (std::uint64_t& bits : matrix) {
      const double number = *(numbers.begin() + random() % numbers.size());
      bits = from_double(format, row(format).is_signed || number > 0 ? number : -number);
    }
  };
  fill(OperandName::a, matrices.a, {0, 1, -1, 2, -3});
  fill(OperandName::b, matrices.b, {0, 1, -1, -2, 3});
  fill(OperandName::d, matrices.d, {0, 5, -7, 100});
  constexpr std::array<std::uint64_t, 6> pairs{0x4, 0x8, 0xc, 0x9, 0xd, 0xe};  // the lower element in bits 0 and 1
  constexpr std::array<std::uint64_t, 2> halves{0x4, 0xe};                     // of two 32-bit elements
  const bool of_two = row(product.tile->format(OperandName::a)).bits == 32;
  for (std::uint64_t& code : matrices.e) code = of_two ? halves[random() % halves.size()] : pairs[random() % pairs.size()];
  if (product.scale_vector == 0) return matrices;
  fill(OperandName::scale_a, matrices.scale_a, {1, 2, 0.5});
  fill(OperandName::scale_b, matrices.scale_b, {1, 2, 4});
  return matrices;
}

/// Whether the table's rule is worth a question: constants one higher and lower, and every other rule.
bool is_near(const Mutant& mutant) {
  return !mutant.change.ends_with("+2") && !mutant.change.ends_with("-2");
}

}  // namespace

std::vector<std::uint32_t> TensorQuestion::tile_image() const {
  return image(static_cast<std::size_t>(entry.group) * tile_words, numbered, tile);
}

std::vector<std::uint32_t> TensorQuestion::memory_image() const {
  return image(static_cast<std::size_t>(entry.group) * memory_words, numbered, before);
}

std::vector<std::uint32_t> tensor_memory_after(const TensorQuestion& question) {
  const Module module(fmt::format(".version 9.0\n.target {}\n.address_size 64\n{}", target_of_questions, question.entry.text("ask")));
  const Kernel kernel(module, "ask", {.target = target_of_questions});
  DeviceMemory memory;
  const std::vector<std::uint32_t> tile = question.tile_image(), before = question.memory_image();
  const std::uint64_t tiles = memory.allocate(tile, "tiles"), cells = memory.allocate(before, "before"),
                      after = memory.allocate(4 * before.size(), "after");
  launch(kernel, {.grid = {static_cast<std::uint32_t>(question.entry.group)}, .block = {128}}, memory,
         {tiles, cells, after, question.a, question.b, question.product}, {.checks = {.copies = false}});
  return memory.read<std::uint32_t>(after, before.size());
}

std::optional<DistinguishedProduct> distinguish(const TensorProductRow& row, const ModelVariant& alternative,
                                                const std::string& alternative_name, std::size_t cases, std::uint64_t seed) {
  const TensorProduct& product = row.product;
  const Form& tile = *product.tile;
  const Question models{&target(target_of_tensor_tiles), parse_variant("table"), alternative, cases, seed, product.lowering};
  auto distinction = distinguish(tile, models);
  if (!distinction) return std::nullopt;
  TensorQuestion question = asked(row, matrices_of(product, *distinction));
  question.alternative = alternative_name;
  answer(question);
  std::vector<std::uint32_t> words = question.memory_image();
  for (const ListedWord& word : question.after) words[word.index] = word.word;
  for (int i = 0; i < tile.shape.m; ++i)
    for (int j = 0; j < tile.shape.n; ++j) {
      const TensorCell cell = d_cell(product, i, j);
      const auto index = static_cast<std::uint32_t>(cell.lane * tensor_columns + TensorImage::d_column + cell.column);
      const auto by_table = static_cast<std::uint32_t>(element_bits(*distinction, distinction->by_first, OperandName::d, {i, j, 0}));
      const auto other = static_cast<std::uint32_t>(element_bits(*distinction, distinction->by_second, OperandName::d, {i, j, 0}));
      if (words[index] != by_table)
        throw std::logic_error(
            fmt::format("{}: row {}, column {}: the kernel gives {:#x}, the table {:#x}", row.name(), i, j, words[index], by_table));
      if (other != by_table) question.otherwise.push_back({index, other});
    }
  return DistinguishedProduct{std::move(*distinction), std::move(question)};
}

std::vector<TensorQuestion> questions_of(const TensorProductRow& row, std::size_t cases, std::uint64_t seed) {
  std::vector<TensorQuestion> questions;
  for (const Mutant& mutant : mutants_of(*row.product.tile, *row.product.lowering))
    if (is_near(mutant))
      if (auto found = distinguish(row, mutant.variant, mutant.change, cases, seed)) questions.push_back(std::move(found->question));
  questions.push_back(asked(row, random_matrices(row.product, seed)));
  answer(questions.back());
  return questions;
}

std::vector<TensorQuestion> questions_of_places() {
  std::vector<TensorQuestion> questions;
  const auto add = [&](const std::string& statement, const std::string& subject, bool collective = false) {
    TensorQuestion question{.subject = subject, .alternative = "", .entry = {statement, collective, 1}};
    question.numbered = true;
    constexpr std::uint64_t of_lines = std::uint64_t{1} << 46 | std::uint64_t{8} << 32 | std::uint64_t{256} << 16;  // 128 and 4096 bytes
    question.a = of_lines;
    answer(question);
    questions.push_back(std::move(question));
  };
  add("tcgen05.shift.cta_group::1.down [%base+8];", "tcgen05.shift");
  for (const CopyShape& shape : copy_shapes())
    for (const char* packing : {"", ".b8x16.b6x16_p32", ".b8x16.b4x16_p64"}) {
      const std::string opcode = fmt::format("tcgen05.cp.cta_group::1.{}{}", shape.name, packing);
      add(opcode + " [%base+8], %a;", opcode);
    }
  for (const TransferShape& shape : transfer_shapes()) {
    const std::string second = shape.has_second ? ", 16" : "";
    const std::string opcode = fmt::format("tcgen05.st.sync.aligned.{}.x{}.b32", shape.name, 4 / shape.registers);
    add(fmt::format("mad.lo.u32 %word0, %thread, 16, 0; add.u32 %word1, %word0, 1; add.u32 %word2, %word0, 2; add.u32 %word3, %word0, 3;\n"
                    "  {} [%row+8]{}, {{%word0, %word1, %word2, %word3}};\n  tcgen05.wait::st.sync.aligned;",
                    opcode, second),
        opcode, true);
  }
  return questions;
}

std::vector<TensorQuestion> tensor_questions(const std::function<bool(const std::string&)>& is_wanted, std::size_t cases,
                                             std::uint64_t seed) {
  std::vector<const TensorProductRow*> rows;
  for (const TensorProductRow& row : tensor_product_rows())
    if (is_wanted(row.name())) rows.push_back(&row);
  std::vector<std::vector<TensorQuestion>> by_row(rows.size());
  std::vector<std::exception_ptr> failures(rows.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < rows.size(); i = next++) try {
        by_row[i] = questions_of(*rows[i], cases, seed);
      } catch (...) {
        failures[i] = std::current_exception();
      }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < machine::usable_cores(); ++i) threads.emplace_back(work);
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  std::vector<TensorQuestion> all;
  for (std::vector<TensorQuestion>& questions : by_row) std::ranges::move(questions, std::back_inserter(all));
  for (TensorQuestion& question : questions_of_places())
    if (is_wanted(question.subject)) all.push_back(std::move(question));
  return all;
}

}  // namespace warpmat

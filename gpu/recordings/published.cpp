#include "gpu/recordings/published.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <warpmat/instruction.h>
#include <warpmat/words/words.h>

#include "gpu/recordings/gzip.h"

namespace warpmat {
namespace {

namespace fs = std::filesystem;
using Fields = std::vector<std::string_view>;

std::uint64_t hex(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc{} || end != digits.data() + digits.size())
    throw std::runtime_error(fmt::format("'{}' is no hexadecimal number", digits));
  return value;
}

/// Elements of a multiplicand. tf32 codes, the upper 19 bits of an f32, are written with five digits.
std::vector<std::uint64_t> elements(Format format, std::string_view list) {
  constexpr int left_out_digits = 3;
  std::vector<std::uint64_t> codes;
  for (const std::string_view code : split(list, ' '))
    codes.push_back(format == Format::tf32 ? hex(code) << 4 * left_out_digits : hex(code));
  return codes;
}

/// The column of a table with a GPU's results for C and one result format.
struct Column {
  std::string gpu;
  std::size_t k;  ///< of the GPU's form: only the first k elements are used
  std::size_t c, result;
  Format format;
};

/// The header has for each GPU "V100/4:c", "V100/4:f32" and "V100/4:f16"; the number is K.
std::vector<Column> columns(const Fields& header) {
  constexpr std::size_t operands = 2, a_gpu = 3;
  if (header.size() < operands + a_gpu || (header.size() - operands) % a_gpu != 0) throw std::runtime_error("the header names no GPU");
  std::vector<Column> all;
  for (std::size_t i = operands; i < header.size(); i += a_gpu) {
    const std::string_view gpu = header[i].substr(0, header[i].find(':'));
    const std::size_t slash = std::min(gpu.find('/'), gpu.size() - 1);
    std::size_t k = 0;
    std::from_chars(gpu.data() + slash + 1, gpu.data() + gpu.size(), k);
    for (const auto& [place, format] : {std::pair{i + 1, Format::f32}, {i + 2, Format::f16}}) {
      if (header[place] != fmt::format("{}:{}", gpu, row(format).name))
        throw std::runtime_error(fmt::format("no column {}:{}", gpu, row(format).name));
      all.push_back({std::string(gpu.substr(0, slash)), k, i, place, format});
    }
  }
  return all;
}

PublishedProducts::Product product(Format multiplicands, const Fields& fields, const Column& column) {
  PublishedProducts::Product p{elements(multiplicands, fields[0]), elements(multiplicands, fields[1])};
  if (p.a.size() < column.k || p.b.size() != p.a.size()) throw std::runtime_error("too few elements");
  p.a.resize(column.k);
  p.b.resize(column.k);
  const std::uint64_t c = hex(fields[column.c]);
  p.c = column.format == Format::f32 ? c : from_double(column.format, to_double(Format::f32, c));
  p.result = hex(fields[column.result]);
  return p;
}

/// The contents of one table. Its file name is the format of its multiplicands.
std::vector<PublishedProducts> read_table(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot be read");
  const std::string text = uncompress(std::string(std::istreambuf_iterator<char>(file), {}));
  Fields lines = split(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  const std::string name = path.filename().string();
  const FormatRow* multiplicands = find_format(name.substr(0, name.find('.')));
  if (multiplicands == nullptr || lines.size() < 2) throw std::runtime_error("the name is no format, or there is nothing in it");
  const std::vector<Column> all = columns(split(lines.front(), '\t'));
  std::vector<PublishedProducts> found;
  for (const Column& column : all) {
    PublishedProducts published{column.gpu, &published_target(column.gpu), nullptr, {}};
    for (const std::string_view line : std::span(lines).subspan(1)) {
      const Fields fields = split(line, '\t');
      if (fields.size() != split(lines.front(), '\t').size()) throw std::runtime_error(fmt::format("a line has {} fields", fields.size()));
      if (fields[column.result] != "-") published.products.push_back(product(multiplicands->format, fields, column));
    }
    if (published.products.empty()) continue;
    published.form = &published_form(multiplicands->format, column.k, column.format);
    found.push_back(std::move(published));
  }
  return found;
}

/// Products are on the diagonals of the matrices.
constexpr std::size_t diagonal = 8;

std::size_t products_a_warp(const Form& form) {
  return diagonal * static_cast<std::size_t>(form.operand(OperandName::c).fragment.matrices());
}

Element place_of(const Form& form, std::size_t product) {
  const std::size_t place = product % products_a_warp(form);
  const int index = static_cast<int>(place % diagonal);
  return {index, index, static_cast<int>(place / diagonal)};
}

/// The registers of an operand of the program's statement, in one warp of `states`.
template <typename States>
auto registers_of(const Program& program, States& states, std::size_t warp, OperandName name) {
  const Statement& statement = *program.matrix_statements().front();
  const std::vector<Operand>& operands = statement.matrix()->form().operands;
  const auto index = static_cast<std::size_t>(std::ranges::find(operands, name, &Operand::name) - operands.begin());
  std::vector<decltype(states.registers_of(warp).front().data())> registers;
  for (const Item& item : statement.operands()[index].items)
    registers.push_back(states.registers_of(warp)[static_cast<std::size_t>(item.slot)].data());
  return registers;
}

}  // namespace

std::vector<PublishedProducts> read_published(const fs::path& directory) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(directory))
    if (entry.path().string().ends_with(".tsv.gz")) files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<PublishedProducts> all;
  for (const fs::path& path : files) {
    try {
      std::ranges::move(read_table(path), std::back_inserter(all));
    } catch (const std::exception& e) {
      throw std::runtime_error(fmt::format("{}: {}", path.string(), e.what()));
    }
  }
  return all;
}

const Target& published_target(std::string_view gpu) {
  constexpr std::pair<std::string_view, std::string_view> known[] = {
      {"V100", "sm_70"},  {"A100", "sm_80"},       {"A2", "sm_86"},           {"A10", "sm_86"},  {"RTX 3080", "sm_86"},
      {"Ada", "sm_89"},   {"L40S", "sm_89"},       {"RTX 4090", "sm_89"},     {"H100", "sm_90"}, {"H200", "sm_90"},
      {"B200", "sm_100"}, {"RTX 5090", "sm_120a"}, {"RTX 5070 Ti", "sm_120a"}};
  const auto* found = std::ranges::find(known, gpu, [](const auto& row) { return row.first; });
  if (found == std::end(known)) throw std::runtime_error(fmt::format("'{}' is no GPU that is known here", gpu));
  return target(found->second);
}

const Form& published_form(Format multiplicands, std::size_t k, Format result) {
  const std::string_view in = row(multiplicands).name, out = row(result).name;
  const bool quarter_warps = multiplicands == Format::f16 && k == 4;
  const bool below_8_bits = row(multiplicands).bits < 8;
  const std::string opcode = fmt::format("mma.sync.aligned.{}k{}.row.col.{}{}.{}.{}.{}", quarter_warps ? "m8n8" : "m16n8", k,
                                         below_8_bits ? "kind::f8f6f4." : "", out, in, in, out);
  const Form* form = find_form(opcode);
  if (form == nullptr) throw std::runtime_error(fmt::format("there is no {}", opcode));
  return *form;
}

WarpStates states_of(const Program& program, const PublishedProducts& published) {
  const Form& form = *published.form;
  const std::size_t a_warp = products_a_warp(form);
  WarpStates states(program, (published.products.size() + a_warp - 1) / a_warp);
  for (std::size_t i = 0; i < published.products.size(); ++i) {
    const PublishedProducts::Product& p = published.products[i];
    const auto [row, column, matrix] = place_of(form, i);
    const auto registers = [&](OperandName name) { return registers_of(program, states, i / a_warp, name); };
    const auto a = registers(OperandName::a), b = registers(OperandName::b), c = registers(OperandName::c);
    for (int k = 0; k < form.shape.k; ++k) {
      write_element(form.operand(OperandName::a).fragment, a, {row, k, matrix}, p.a[static_cast<std::size_t>(k)]);
      write_element(form.operand(OperandName::b).fragment, b, {k, column, matrix}, p.b[static_cast<std::size_t>(k)]);
    }
    write_element(form.operand(OperandName::c).fragment, c, place_of(form, i), p.c);
  }
  return states;
}

std::uint64_t result_bits(const Program& program, const PublishedProducts& published, const WarpStates& states, std::size_t product) {
  const Form& form = *published.form;
  const auto d = registers_of(program, states, product / products_a_warp(form), OperandName::d);
  return read_element(form.operand(OperandName::d).fragment, d, place_of(form, product));
}

}  // namespace warpmat

#include <warpmat/provenance.h>

#include <algorithm>
#include <array>
#include <initializer_list>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <warpmat/provenance/gemm.h>
#include <warpmat/words/words.h>

// Products and elements as the command line has them.

namespace warpmat {
namespace {

constexpr std::string_view right_product =
    "write C=A*B^T:128x128x64, with ^T for a matrix whose columns are contiguous, then M, N and K, then ,lda=72 where rows lie further "
    "apart, ,bits=16x16x32 where buffers are larger than the matrices, ,types=e4m3xe4m3xf32 to look at formats, too, ,sfa=SA,sfb=SB for "
    "block scale factors, ,e=E for the metadata of a sparse A";
constexpr std::string_view right_convolution =
    "write Y=conv(X,F):NxHxWxC*KxRxS, then ,stride=2 ,pad=1 ,dilation=2 where they are not 1, 0 and 1; 2x1 is by height and width";

// What a text may say behind the sizes, by its key.
constexpr std::pair<std::string_view, ProductMatrix MatrixProduct::*> pitches[] = {
    {"lda", &MatrixProduct::a}, {"ldb", &MatrixProduct::b}, {"ldc", &MatrixProduct::c}};
constexpr std::pair<std::string_view, ProductMatrix MatrixProduct::*> companions[] = {
    {"sfa", &MatrixProduct::scales_a}, {"sfb", &MatrixProduct::scales_b}, {"e", &MatrixProduct::metadata}};
constexpr std::pair<std::string_view, Convolution::Pair Convolution::*> pairs[] = {
    {"stride", &Convolution::stride}, {"pad", &Convolution::padding}, {"dilation", &Convolution::dilation}};

template <typename Number>
Number size_of(const WordReader& words, std::string_view word, Number least = 1) {
  return words.number<Number>(word, least, 1 << 28, "size");
}

void set_format(const WordReader& words, ProductMatrix& matrix, std::string_view type) {
  const FormatRow* const row = find_format(type);
  if (row == nullptr) words.refuse(type, fmt::format("'{}' is no format", type));
  matrix.format = row->format;
  matrix.bits = row->bits;
}

/// NAME[+BYTES][:FORMAT][^T]
ProductMatrix matrix_of(const WordReader& words, std::string_view word) {
  ProductMatrix matrix{.transposed = word.ends_with("^T")};
  WordReader parts(word.substr(0, word.size() - (matrix.transposed ? 2 : 0)));
  const std::string_view place = parts.until(':');
  const std::size_t plus = std::min(place.rfind('+'), place.size());
  const auto offset = number_of<std::uint64_t>(place.substr(std::min(plus + 1, place.size())));
  matrix.name = offset ? place.substr(0, plus) : place;
  matrix.offset = offset.value_or(0);
  if (matrix.name.empty()) words.refuse(word, "a matrix has no name");
  if (!parts.ended()) set_format(words, matrix, parts.rest());
  return matrix;
}

/// Calls set(target, part) for each of the parts of a word that an x separates.
template <typename Target, typename Set>
void set_each(const WordReader& words, std::string_view word, std::initializer_list<Target*> targets, std::string_view right, Set set) {
  const std::vector<std::string_view> parts = split(word, 'x');
  if (parts.size() != targets.size()) words.refuse(word, right);
  for (std::size_t i = 0; i < parts.size(); ++i) set(*targets.begin()[i], parts[i]);
}

template <typename Number>
void set_sizes(const WordReader& words, std::string_view word, std::initializer_list<Number*> sizes, std::string_view right) {
  set_each(words, word, sizes, right, [&](Number& size, std::string_view part) { size = size_of<Number>(words, part); });
}

MatrixProduct parse_convolution(std::string_view text) {
  WordReader words(text, "convolution", right_convolution);
  MatrixProduct product;
  product.c = matrix_of(words, words.before('='));
  words.before('(');
  product.a = matrix_of(words, words.before(','));
  product.b = matrix_of(words, words.before(')'));
  for (const ProductMatrix* const tensor : {&product.c, &product.a, &product.b})
    if (tensor->transposed) words.refuse(text, fmt::format("'{}^T' is no matrix: tensors lie as NHWC, KRSC and NPQK", tensor->name));
  if (const std::string_view none = words.before(':'); !none.empty()) words.refuse(none, "the two names do not end with )");
  Convolution& conv = product.convolution.emplace();
  constexpr std::string_view sizes = "a convolution has four sizes and three, NxHxWxC*KxRxS";
  WordReader shape(words.until(','));
  const std::string_view image = shape.until('*');
  set_sizes(words, image, {&conv.images, &conv.image[0], &conv.image[1], &conv.channels}, sizes);
  set_sizes(words, shape.rest(), {&conv.filters, &conv.filter[0], &conv.filter[1]}, sizes);
  while (!words.ended()) {
    WordReader number(words.until(','));
    const std::string_view which = number.until('='), value = number.rest();
    const auto* const pair = std::ranges::find(pairs, which, [](const auto& each) { return each.first; });
    if (pair == std::end(pairs)) words.refuse(which, fmt::format("'{}' is none of stride, pad and dilation", which));
    const std::vector<std::string_view> parts = split(value, 'x');
    if (parts.size() > 2) words.refuse(value, "it is by height and width");
    for (std::size_t i = 0; i < 2; ++i) (conv.*pair->second)[i] = size_of(words, parts[i % parts.size()], which == "pad" ? 0 : 1);
  }
  const auto [height, width] = conv.result();
  if (height == 0 || width == 0) words.refuse(image, "the filter is larger than the image");
  return product;
}

/// What follows the sizes of a product: ",lda=72".
void parse_detail(const WordReader& words, std::string_view which, std::string_view value, MatrixProduct& product) {
  constexpr std::string_view bits_right = "bits are those of A, B and C, as in 16x16x32",
                             types_right = "types are those of A, B and C, as in e4m3xe4m3xf32";
  const auto all = {&product.a, &product.b, &product.c};
  if (which == "bits")
    return set_each(words, value, all, bits_right, [&](ProductMatrix& matrix, std::string_view width) {
      matrix.bits = size_of<int>(words, width);
      if (std::ranges::find(provenance::element_widths, matrix.bits) == provenance::element_widths.end())
        words.refuse(width, fmt::format("no element has {} bits", matrix.bits));
    });
  if (which == "types")
    return set_each(words, value, all, types_right, [&](ProductMatrix& matrix, std::string_view type) { set_format(words, matrix, type); });
  for (const auto& [key, matrix] : pitches)
    if (which == key) return void((product.*matrix).pitch = size_of<std::int64_t>(words, value));
  for (const auto& [key, matrix] : companions)
    if (which == key) return void(product.*matrix = matrix_of(words, value));
  words.refuse(which, fmt::format("'{}' is none of lda, ldb, ldc, bits, types, sfa, sfb and e", which));
}

MatrixProduct parse_product(std::string_view text) {
  if (text.find("=conv(") != std::string_view::npos) return parse_convolution(text);
  const std::size_t colon = std::min(text.rfind(':'), text.size());
  const WordReader words(text, "matrix product", right_product);
  WordReader names(text.substr(0, colon)), details(text.substr(std::min(colon + 1, text.size())));
  if (names.text().find('=') == std::string_view::npos || names.text().find('*') == std::string_view::npos)
    words.refuse(names.text(), "it has no = or no *");
  MatrixProduct product;
  product.c = matrix_of(words, names.until('='));
  product.a = matrix_of(words, names.until('*'));
  product.b = matrix_of(words, names.rest());
  set_sizes(words, details.until(','), {&product.m, &product.n, &product.k}, "sizes are M, N and K");
  while (!details.ended()) {
    WordReader detail(details.until(','));
    const std::string_view which = detail.until('=');
    parse_detail(words, which, detail.rest(), product);
  }
  return product;
}

std::string text_of(const ProductMatrix& matrix) {
  return fmt::format("{}{}{}{}{}", matrix.name, matrix.offset != 0 ? fmt::format("+{}", matrix.offset) : "", matrix.format ? ":" : "",
                     matrix.format ? row(*matrix.format).name : "", matrix.transposed ? "^T" : "");
}

std::string text_of(const Convolution& conv) {
  std::string text = fmt::format("{}x{}x{}x{}*{}x{}x{}", conv.images, conv.image[0], conv.image[1], conv.channels, conv.filters,
                                 conv.filter[0], conv.filter[1]);
  const Convolution usual;
  for (const auto& [key, pair] : pairs)
    if (conv.*pair != usual.*pair) text += fmt::format(",{}={}", key, fmt::join(conv.*pair, "x"));
  return text;
}

std::string text_of(const MatrixProduct& product) {
  const auto& [c, a, b] = std::tie(product.c, product.a, product.b);
  if (product.convolution) return fmt::format("{}=conv({},{}):{}", text_of(c), text_of(a), text_of(b), text_of(*product.convolution));
  std::string text = fmt::format("{}={}*{}:{}x{}x{}", text_of(c), text_of(a), text_of(b), product.m, product.n, product.k);
  for (const auto& [key, matrix] : pitches)
    if ((product.*matrix).pitch != 0) text += fmt::format(",{}={}", key, (product.*matrix).pitch);
  if (a.bits != 0 && !a.format) text += fmt::format(",bits={}x{}x{}", a.bits, b.bits, c.bits);
  for (const auto& [key, matrix] : companions)
    if (!(product.*matrix).name.empty()) text += fmt::format(",{}={}", key, text_of(product.*matrix));
  return text;
}

}  // namespace

std::vector<MatrixProduct> parse_products(std::string_view text) {
  std::vector<MatrixProduct> products;
  for (WordReader words(text); !text.empty() && !words.ended();) products.push_back(parse_product(words.until(';')));
  return products;
}

std::string product_text(const std::vector<MatrixProduct>& products) {
  std::string text;
  for (const MatrixProduct& product : products) text += (text.empty() ? "" : ";") + text_of(product);
  return text;
}

std::optional<ProductElement> parse_element(std::string_view text) {
  if (text.empty()) return std::nullopt;
  WordReader words(text, "element", "write C[5,3]");
  ProductElement element{.matrix = std::string(words.before('[')), .indices = {}};
  for (const std::string_view index : split(words.before(']'), ','))
    element.indices.push_back(words.number<std::int64_t>(index, 0, INT64_MAX, "index"));
  if (const std::string_view left = words.rest(); !left.empty()) words.refuse(left, "it does not end with ]");
  return element;
}

}  // namespace warpmat

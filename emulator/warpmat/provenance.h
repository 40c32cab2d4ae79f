#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/formats.h>
#include <warpmat/launch.h>
#include <warpmat/observer.h>
#include <warpmat/version.h>

namespace warpmat {

// Where the values of a launch come from. Observers follow each byte from global memory through registers, shared memory and products to
// the stores (observer.h); numbers do not matter. ProductCheck holds a launch against the matrix products that it should compute, or tells
// where one element comes from; Guesser finds out what a kernel computes:
//
//     const ProductRequest request{.products = parse_products("C=A*B^T:128x128x64"), .element = parse_element("C[5,3]")};
//     for (const Why& way : launch_products(kernel, config, memory, arguments, request).ways) std::cout << way.text;
//
// Both follow mma, wmma and wgmma; products of tcgen05.mma are not followed. A launch takes 3 to 8 times as long. The memory outlives them.
// See docs/use/launch.md.

// ---- Products ----

/// A matrix in global memory.
struct ProductMatrix {
  /// Of the buffer, or of the kernel's parameter with its address; "0" or "ptr0" is the first parameter that is the address of a buffer.
  /// No name: there is no such matrix.
  std::string name = {};
  std::uint64_t offset = 0;           ///< bytes of the buffer, or from the parameter's address, before the matrix
  bool transposed = false;            ///< its columns are contiguous
  std::int64_t pitch = 0;             ///< elements from a stored row to the next; 0: as many as it has
  int bits = 0;                       ///< of an element; 0: such that the matrix fills its buffer
  std::optional<Format> format = {};  ///< of an element; without it the operands' formats are not looked at
  friend bool operator==(const ProductMatrix&, const ProductMatrix&) = default;
};

/// A convolution as a product of matrices that its kernel forms as it goes: A has a row for each output (n, p, q) and a column for each
/// tap, an (r, s, c) of the filters; its elements are those of an image, or zeros where the window reaches beyond it. The image lies as
/// N x H x W x C, the filters as K x R x S x C, the results as N x P x Q x K. Filters are not turned round.
struct WARPMAT_API Convolution {
  using Pair = std::array<int, 2>;  ///< along the height, along the width

  int images = 0, channels = 0, filters = 0;
  Pair image{}, filter{};  ///< sizes
  Pair stride{1, 1}, padding{0, 0}, dilation{1, 1};

  /// The size of the results.
  Pair result() const;
  int taps() const { return filter[0] * filter[1] * channels; }
  int channel(int tap) const { return tap % channels; }

  /// The pixel (n H + h) W + w which the output multiplies by the tap; nothing in the padding.
  std::optional<int> pixel(int output, int tap) const;
  /// The output which multiplies the pixel by the tap; nothing where none does.
  std::optional<int> output(int pixel, int tap) const;
  friend bool operator==(const Convolution&, const Convolution&) = default;
};

/// C = A * B.
struct MatrixProduct {
  ProductMatrix c, a, b;  ///< of a convolution: results, image, filters
  std::int64_t m = 0, n = 0, k = 0;
  ProductMatrix scales_a = {}, scales_b = {};   ///< block scale factors, a row for each row of A or column of B
  ProductMatrix metadata = {};                  ///< of a sparse A
  std::optional<Convolution> convolution = {};  ///< m, n and k follow from it
  friend bool operator==(const MatrixProduct&, const MatrixProduct&) = default;
};

/// An element of a product's result: its indices, the outermost first. The name is that of the matrix, or its parameter's number.
struct ProductElement {
  std::string matrix;
  std::vector<std::int64_t> indices;
};

/// Products as the command line has them, separated by semicolons: "C=A+4096*B:f16^T:128x128x64" (NAME[+BYTES][:FORMAT][^T], M, N and K),
/// then ",lda=72", ",ldb=",
/// ",ldc=", ",bits=16x16x32", ",types=e4m3xe4m3xf32", ",sfa=SA", ",sfb=SB", ",e=E"; or "Y=conv(X,F):2x16x16x32*64x3x3" with ",stride=2",
/// ",pad=1x0", ",dilation=1". None if `text` is empty. Throws std::invalid_argument that says what is right.
[[nodiscard]] WARPMAT_API std::vector<MatrixProduct> parse_products(std::string_view text);
/// The text that parse_products() reads as these.
[[nodiscard]] WARPMAT_API std::string product_text(const std::vector<MatrixProduct>& products);
/// "C[5,3]", or "Y[0,5,7,3]" of a convolution; nothing if `text` is empty. Throws std::invalid_argument.
[[nodiscard]] WARPMAT_API std::optional<ProductElement> parse_element(std::string_view text);

// ---- A launch against products ----

struct ProductRequest {
  /// What the kernel computes. Each matrix instruction is held against them: both factors have the same k, an accumulator is that of one
  /// element of C, adds each k once, and is stored there. Factors that are not elements of A and B are not looked at. A result that is a
  /// factor of a later product need not be a buffer. None: nothing is followed.
  std::vector<MatrixProduct> products = {};
  /// An element of a result: ProductCheck::finish() tells where it comes from. Nothing is then an error.
  std::optional<ProductElement> element = {};
  /// The blocks at whose products to look; the others of their clusters are looked at, too. None: all. A few cost little.
  std::vector<Dim3> blocks = {};
};

/// The way of an element of a product's result, backwards.
struct Why {
  /// Consecutive elements of a factor of a product, and the statements that moved them.
  struct Source {
    std::string matrix;                        ///< the buffer's name; empty: they are no elements of a factor
    std::array<int, 2> first = {}, last = {};  ///< row and column as they lie in memory: of B^T a row for each column of B
    std::string way;                           ///< "line 40 (ldmatrix) read it at 0x400, line 12 (st.shared) wrote it there"
  };
  /// A product that formed it: one element of the result of a matrix instruction.
  struct Step {
    std::string opcode;
    int row = 0, column = 0;             ///< of the instruction's result
    std::vector<int> depths;             ///< the k that the elements of this row of a have; -1: none, or an element that was not kept
    std::string where;                   ///< "line 341 (mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32; gemm.cu:41)"
    std::vector<std::uint32_t> a, b, c;  ///< registers of the operands, 32 lanes each, as `warpmat explain` takes them; empty of wgmma
    std::vector<Source> sources;         ///< of the row of a, then of the column of b
  };
  std::string text;         ///< who stored it, and for each product which elements met, by which statements and shared addresses
  std::vector<Step> steps;  ///< in their order
};

/// What a launch tells that is held against products.
struct ProductLaunch : LaunchResult {
  std::vector<Why> ways{};  ///< of the element, by the blocks that store it, in order
};

/// launch() held against products. Throws std::invalid_argument, too, where a product, the element or a block does not fit, and Trap of
/// kind `mispaired`, which names both sides, for the first wrong product or store, for elements that no block stores, and for wrong scale
/// factors or metadata. LaunchOptions::suppresses is asked of the first.
WARPMAT_API ProductLaunch launch_products(const Kernel& kernel, const LaunchConfig& config, DeviceMemory& memory,
                                          const std::vector<Argument>& arguments, const ProductRequest& request,
                                          const LaunchOptions& options = {});

/// The parts of launch_products(), for a launch that is run otherwise.
class WARPMAT_API ProductCheck {
 public:
  /// Finds the matrices in `memory`, in which it places the variables of the kernel's module.
  ProductCheck(const Kernel& kernel, const LaunchConfig& config, DeviceMemory& memory, const std::vector<Argument>& arguments,
               const ProductRequest& request);

  /// Has the launch with these options observed.
  void observe(LaunchOptions& options) const;
  /// After the launch, whose warnings get those of the products.
  ProductLaunch finish(LaunchResult result) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// ---- What a kernel computes ----

/// What a kernel seems to compute.
struct Guess {
  std::vector<MatrixProduct> products;  ///< none: none was recognised
  std::string text;                     ///< "looks like C = A*B^T, 128x192x256, except 64 of 24576 elements"; or why there are none
  /// Of a kernel without matrix instructions: elements that it computes otherwise than their neighbours.
  std::vector<Trap> findings{};
};

/// Finds what a kernel computes by a launch of it: which elements of which buffers its matrix instructions multiply, and where statements
/// store the sums; of a kernel without such instructions, which elements each stored element depends on.
///
///     Guesser guesser(kernel, config, memory, arguments);
///     LaunchOptions options;
///     guesser.observe(options);
///     launch(kernel, config, memory, arguments, options);
///     const Guess guess = guesser.result();
///
/// It follows at most some 256 clusters, and keeps some 2^18 elements of the results.
class WARPMAT_API Guesser {
 public:
  Guesser(const Kernel& kernel, const LaunchConfig& config, const DeviceMemory& memory, const std::vector<Argument>& arguments);

  void observe(LaunchOptions& options) const;
  /// After the launch, also after one that a trap ended. `errs`: the results are known to be wrong, so that rows with more elements than
  /// were multiplied are no padding, and what is merely unusual is a finding.
  [[nodiscard]] Guess result(bool errs = false) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace warpmat

// cuRAND's host interface: the numbers and their order that an H200 gave.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <variant>
#include <vector>

#include <warpmat/cuda/libraries/library.h>
#include <warpmat/cuda/libraries/random_numbers.h>
#include <warpmat/cuda/libraries/random_poisson.h>
#include <warpmat/cuda/libraries/random_sequences.h>

namespace warpmat::cuda {

/// curandStatus_t.
enum RandomStatus : int {
  random_success = 0,
  random_not_initialized = 101,
  random_type_error = 103,
  random_out_of_range = 104,
  random_length_not_multiple = 105,
  random_launch_failure = 201,
  random_internal_error = 999,
};

namespace {

const Library random_library{.failed = random_launch_failure,
                             .measured_on = 90,
                             .source = "an H200 gave the same numbers (lab/notebook/2026-11-29-cuda-libraries.md)"};
const Library dynamic_library{.failed = random_launch_failure, .measured_on = 0, .source = "CUDA leaves the dynamic ordering to the card"};
const Library host_normal_library{.failed = random_launch_failure,
                                  .measured_on = 0,
                                  .source = "cuRAND's host generators make normal numbers by the host's functions, not by the GPU's"};

const Library table_library{.failed = random_launch_failure,
                            .measured_on = 0,
                            .source = "an H200's histograms have the same columns, and some of their bounds another last bit"};

enum class Kind : std::uint8_t { xorwow, mrg, philox, mtgp, mersenne, sobol32, sobol64 };

constexpr int best = 100, by_default = 101, seeded = 102, legacy = 103, dynamic = 104, quasi = 201;  ///< curandOrdering
constexpr std::uint64_t step_of_seeds = 3133713;  ///< from thread to thread in the seeded ordering

/// A generator, and the threads that the default and the legacy ordering have, as an H200's results show.
struct KindRow {
  int type;  ///< curandRngType_t
  Kind kind;
  std::uint64_t threads, legacy_threads;
  std::uint64_t results;  ///< of a group at least: four of Philox
  bool scrambled = false;
};
constexpr KindRow kinds[] = {
    {100, Kind::xorwow, 4096, 4096, 1},  // CURAND_RNG_PSEUDO_DEFAULT
    {101, Kind::xorwow, 4096, 4096, 1},  {121, Kind::mrg, 81920, 4096, 1},    {161, Kind::philox, 65536, 65536, 4},
    {141, Kind::mtgp, 192, 64, 1},       {142, Kind::mersenne, 0, 0, 1},      {200, Kind::sobol32, 0, 0, 1},  // CURAND_RNG_QUASI_DEFAULT
    {201, Kind::sobol32, 0, 0, 1},       {202, Kind::sobol32, 0, 0, 1, true}, {203, Kind::sobol64, 0, 0, 1},
    {204, Kind::sobol64, 0, 0, 1, true},
};
bool is_sobol(const KindRow& row) {
  return row.kind == Kind::sobol32 || row.kind == Kind::sobol64;
}
/// Whether a result takes the next number, whatever it is; the others have threads, whose groups take several.
bool is_plain(const KindRow& row) {
  return row.kind == Kind::mtgp || row.kind == Kind::mersenne || is_sobol(row);
}

/// The 32-bit numbers of a generator: groups of them, each from the next thread.
class Sequence {
 public:
  /// `offset`: results that are skipped.
  Sequence(const KindRow& row, std::uint64_t seed, std::uint64_t threads, std::uint64_t offset, std::uint64_t seed_step)
      : kind_(row.kind), group_(offset / row.results), within_(offset % row.results) {
    switch (kind_) {
      case Kind::xorwow: threads_.emplace<Threads<Xorwow>>(seed, threads, group_, seed_step); break;
      case Kind::mrg: threads_.emplace<Threads<Mrg32k3a>>(seed, threads, group_); break;
      default: threads_.emplace<Threads<Philox>>(seed, threads, group_); break;
    }
  }
  Kind kind() const { return kind_; }

  /// Calls make(numbers) for each group of `numbers`, and use(i) for each of `count` results of such groups, `results` of a group: i is the
  /// number in its group. A thread has its state back if a call ends within its group: the next call begins with the same one.
  template <typename Make, typename Use>
  void for_each(std::uint64_t numbers, std::uint64_t results, std::uint64_t count, Make make, Use use) {
    std::vector<std::uint32_t> group(numbers);
    const auto take = [&](auto& threads) { threads.take(group_, group); };
    for (bool is_made = false; count > 0; --count) {
      if (!is_made) std::visit(take, threads_), make(group);
      use(within_);
      is_made = ++within_ < results;
      if (!is_made) ++group_, within_ = 0;
    }
    if (within_ != 0) std::visit([this](auto& threads) { threads.give_back(group_); }, threads_);
  }

  /// One of a pair of normal numbers, of the next thread: the second one if the thread has kept it, else the first one of a new pair.
  template <typename Make>
  float next_normal(Make make) {
    const std::uint64_t group = group_++, thread = std::visit([&](const auto&threads) { return threads.thread_of(group); }, threads_);
    if (const auto kept = kept_.extract(thread)) return kept.mapped();
    std::vector<std::uint32_t> numbers(2);
    std::visit([&](auto& threads) { threads.take(group, numbers); }, threads_);
    const std::array<float, 2> pair = make(numbers.data());
    kept_.emplace(thread, pair[1]);
    return pair[0];
  }

 private:
  Kind kind_;
  std::uint64_t group_, within_;
  std::unordered_map<std::uint64_t, float> kept_;  ///< by threads
  std::variant<Threads<Xorwow>, Threads<Mrg32k3a>, Threads<Philox>> threads_{std::in_place_type<Threads<Philox>>, 0, 1, 0};
};

// ---- Distributions of one thread's numbers ----

constexpr double mrg_to_unit = 2.3283065498378288e-10, mrg_to_bits = 1.000000048662;  ///< as NVIDIA's headers have them
constexpr float two_pi = 6.2831855f;

std::uint32_t bits_of(Kind kind, std::uint32_t x) {
  return kind == Kind::mrg ? static_cast<std::uint32_t>(x * mrg_to_bits) : x;
}
float uniform_of(Kind kind, std::uint32_t x) {
  return kind == Kind::mrg ? static_cast<float>(x * mrg_to_unit) : std::fma(static_cast<float>(x), 0x1p-32f, 0x1p-33f);
}
double uniform_of(std::uint32_t x, std::uint32_t y) {
  const std::uint64_t bits = x ^ std::uint64_t{y} << 21;
  return std::fma(static_cast<double>(bits), 0x1p-53, 0x1p-54);
}

// ---- Poisson's distribution ----

constexpr double most_events = 400000;  ///< the largest mean

/// How a generator's numbers become Poisson's: below the first mean by a histogram, up to the second one by the distribution function,
/// above it by a normal number.
struct PoissonLimits {
  double histogram, inverse;
};
PoissonLimits poisson_limits(Kind kind) {
  switch (kind) {
    case Kind::mtgp: return {32, 8000};
    case Kind::sobol32: return {10, 8000};
    case Kind::sobol64: return {0, std::nextafter(poisson_histograms_end, 0.0)};
    default: return {poisson_histograms_end, 0};
  }
}

class Poisson {
 public:
  Poisson(Kind kind, double mean) : mean_(mean) {
    const PoissonLimits limits = poisson_limits(kind);
    if (mean < limits.histogram)
      table_ = poisson_histogram(mean);
    else if (mean <= limits.inverse)
      table_ = PoissonInverse(mean);
  }
  bool is_normal() const { return std::holds_alternative<std::monostate>(table_); }
  double mean() const { return mean_; }
  /// Of a uniform number, where is_normal() is false.
  std::uint32_t result(double u) const {
    if (const auto* const histogram = std::get_if<SquareHistogram>(&table_)) return histogram->result(u);
    return std::get<PoissonInverse>(table_).result(u);
  }

 private:
  double mean_;
  std::variant<std::monostate, SquareHistogram, PoissonInverse> table_;
};

/// Of numbers of 64 bits normal ones take the upper half.
std::uint32_t plain_poisson(Kind kind, const Poisson& of, std::uint64_t x) {
  const bool is_wide = kind == Kind::sobol64;
  if (!of.is_normal())
    return of.result(is_wide ? static_cast<double>(x >> 11) * 0x1p-53 + 0x1p-54 : static_cast<double>(x) * 0x1p-32 + 0x1p-32);
  const float normal = normal_of(static_cast<std::uint32_t>(is_wide ? x >> 32 : x));
  return kind == Kind::mersenne ? poisson_of_normal(static_cast<float>(of.mean()), normal) : poisson_of_normal(of.mean(), normal);
}

/// How `results` are made of `numbers` of one thread.
template <typename T>
struct Distribution {
  std::uint64_t numbers, results;
  std::function<std::array<T, 2>(const std::uint32_t* numbers)> make;
};

constexpr unsigned most_dimensions = 20000;  ///< of cuRAND

Distribution<std::uint32_t> raw_numbers(Kind kind) {
  return {1, 1, [=](const std::uint32_t* x) { return std::array<std::uint32_t, 2>{bits_of(kind, x[0]), 0}; }};
}
Distribution<float> uniform_floats(Kind kind) {
  return {1, 1, [=](const std::uint32_t* x) { return std::array<float, 2>{uniform_of(kind, x[0]), 0}; }};
}
Distribution<double> uniform_doubles(Kind kind) {
  if (kind == Kind::mrg) return {1, 1, [](const std::uint32_t* x) { return std::array<double, 2>{x[0] * mrg_to_unit, 0}; }};
  return {2, 1, [](const std::uint32_t* x) { return std::array<double, 2>{uniform_of(x[0], x[1]), 0}; }};
}

template <typename T>
std::array<T, 2> finished(const NormalPair<T>& pair, T mean, T deviation, bool logarithmic) {
  std::array<T, 2> both{std::fma(pair.first, deviation, mean), std::fma(pair.second, deviation, mean)};
  if (logarithmic) both = {exp_of_gpu(both[0]), exp_of_gpu(both[1])};
  return both;
}

Distribution<float> normal_floats(Kind kind, float mean, float deviation, bool logarithmic) {
  return {2, 2, [=](const std::uint32_t* x) {
            const float angle = kind == Kind::mrg ? uniform_of(kind, x[1]) * two_pi
                                                  : std::fma(static_cast<float>(x[1]), 0x1p-32f * two_pi, 0x1p-33f * two_pi);
            return finished(box_muller(uniform_of(kind, x[0]), angle), mean, deviation, logarithmic);
          }};
}
Distribution<double> normal_doubles(Kind kind, double mean, double deviation, bool logarithmic) {
  if (kind == Kind::mrg)
    return {2, 2, [=](const std::uint32_t* x) {
              return finished(box_muller(x[0] * mrg_to_unit, x[1] * mrg_to_unit * 2.0), mean, deviation, logarithmic);
            }};
  return {4, 2, [=](const std::uint32_t* x) {
            const std::uint64_t turns = x[2] ^ std::uint64_t{x[3]} << 21;
            const double angle = std::fma(static_cast<double>(turns), 0x1p-52, 0x1p-53);
            return finished(box_muller(uniform_of(x[0], x[1]), angle), mean, deviation, logarithmic);
          }};
}

Distribution<std::uint32_t> poisson_numbers(Kind kind, const std::shared_ptr<const Poisson>& of) {
  if (!of->is_normal())
    return {1, 1, [=](const std::uint32_t* x) {
              return std::array<std::uint32_t, 2>{of->result(static_cast<double>(bits_of(kind, x[0])) * 0x1p-32 + 0x1p-32), 0};
            }};
  return {2, 2, [of, normal = normal_floats(kind, 0, 1, false)](const std::uint32_t* x) {
            const std::array<float, 2> both = normal.make(x);
            return std::array<std::uint32_t, 2>{poisson_of_normal(of->mean(), both[0]), poisson_of_normal(of->mean(), both[1])};
          }};
}

/// The next results where a thread gives one normal number in its turn, and keeps the second one of the pair for its next turn, which
/// may come in a later call.
void fill_by_turns(Sequence& sequence, double mean, std::uint32_t* to, std::uint64_t count) {
  const Distribution<float> pair = normal_floats(sequence.kind(), 0, 1, false);
  for (std::uint64_t i = 0; i < count; ++i)
    to[i] = poisson_of_normal(mean, sequence.next_normal([&](const std::uint32_t* x) { return pair.make(x); }));
}

/// The next `count` results. A group has `least` results at least: the distribution several times.
template <typename T>
void fill(Sequence& sequence, const Distribution<T>& of, std::uint64_t least, T* to, std::uint64_t count) {
  const std::uint64_t times = std::max<std::uint64_t>(1, least / of.results);
  std::array<T, 4> made{};
  const auto make = [&](const std::vector<std::uint32_t>& numbers) {
    for (std::uint64_t i = 0; i < times; ++i) {
      const std::array<T, 2> both = of.make(numbers.data() + i * of.numbers);
      std::copy_n(both.begin(), of.results, made.begin() + static_cast<std::ptrdiff_t>(i * of.results));
    }
  };
  sequence.for_each(of.numbers * times, of.results * times, count, make, [&](std::uint64_t i) { *to++ = made[i]; });
}

// ---- Distributions of one number ----

float plain_uniform_float(Kind kind, std::uint64_t x) {
  if (kind == Kind::mersenne) return static_cast<float>(static_cast<double>(x) * 0x1p-32 + 0x1p-33);
  return std::fma(static_cast<float>(static_cast<std::uint32_t>(kind == Kind::sobol64 ? x >> 32 : x)), 0x1p-32f, 0x1p-33f);
}
double plain_uniform_double(Kind kind, std::uint64_t x) {
  if (kind == Kind::sobol64) return static_cast<double>(x >> 11) * 0x1p-53 + 0x1p-54;
  return static_cast<double>(x) * 0x1p-32 + (kind == Kind::mersenne ? 0x1p-33 : 0x1p-32);
}

/// What a result of one number is: mean and deviation are those of normal ones.
enum class Shape : std::uint8_t { raw, uniform, normal, log_normal, poisson };
template <typename T>
struct PlainDistribution {
  Shape shape = Shape::raw;
  T mean = 0, deviation = 0;
  std::shared_ptr<const Poisson> poisson = {};

  bool is_normal() const { return shape == Shape::normal || shape == Shape::log_normal || (poisson != nullptr && poisson->is_normal()); }
};

template <typename T>
T plain_result(Kind kind, const PlainDistribution<T>& of, std::uint64_t x) {
  if constexpr (std::is_integral_v<T>) {
    return of.shape == Shape::poisson ? plain_poisson(kind, *of.poisson, x) : static_cast<T>(x);
  } else {
    constexpr bool single = std::is_same_v<T, float>;
    if (of.shape == Shape::uniform) {
      if constexpr (single)
        return plain_uniform_float(kind, x);
      else
        return plain_uniform_double(kind, x);
    }
    const auto word = static_cast<std::uint32_t>(kind == Kind::sobol64 ? x >> 32 : x);
    T normal;
    if constexpr (single)
      normal = normal_of(word);
    else
      normal = kind == Kind::sobol64 ? normal_double_of(x) : normal_double_of(word);
    const T moved = std::fma(normal, of.deviation, of.mean);
    return of.shape == Shape::log_normal ? exp_of_gpu(moved) : moved;
  }
}

}  // namespace

/// curandGenerator_t.
struct Random {
  const KindRow* row;
  bool on_host;
  Stream* stream = nullptr;
  std::uint64_t seed = 0, offset = 0;
  int ordering = by_default;
  std::size_t dimensions = 1;
  std::shared_ptr<Sequence> sequence = {};  ///< work in streams may need it longer than the generator lives
  std::shared_ptr<NumberSequence> plain = {};

  std::uint64_t threads() const { return ordering == legacy ? row->legacy_threads : row->threads; }
  std::shared_ptr<Sequence> make_sequence() const {
    return std::make_shared<Sequence>(*row, seed, threads(), offset, ordering == seeded ? step_of_seeds : 0);
  }
  void restart() {
    sequence.reset();
    plain.reset();
  }
};

namespace {

struct Generators {
  Handles<Random> all;
  void leave(Context&, Owner owner) { all.drop(owner); }
};
Handles<Random>& generators() {
  return context().part<Generators>().all;
}

Random& generator_of(Random* handle) {
  Random* const found = generators().find(handle);
  if (found == nullptr) throw Refusal(random_not_initialized);
  return *found;
}

/// Changes a generator. It needs no GPU.
template <typename Body>
int change(const char* call, Random* handle, Body&& body) {
  const std::lock_guard lock(mutex());
  try {
    body(generator_of(handle));
    return random_success;
  } catch (const Refusal& refusal) {
    if (*refusal.what() != '\0') say_once(std::string(call) + ": " + refusal.what());
    return refusal.status;
  }
}

int create_generator(const char* call, Random** handle, int type, bool on_host) {
  const auto* const row = std::ranges::find(kinds, type, &KindRow::type);
  if (row == std::end(kinds)) return random_type_error;
  return library_call(random_library, call, true, [&](Context&) {
    if (handle == nullptr) throw Refusal(random_internal_error);
    *handle = generators().make(Random{.row = row, .on_host = on_host, .ordering = is_sobol(*row) ? quasi : by_default});
  });
}

std::shared_ptr<NumberSequence> plain_sequence(const Random& random) {
  switch (random.row->kind) {
    case Kind::mersenne: return make_mersenne_twister(random.seed);
    case Kind::mtgp: return make_mtgp32(random.seed, random.threads());
    case Kind::sobol64: return make_sobol(64, random.row->scrambled, random.dimensions, random.offset);
    default: return make_sobol(32, random.row->scrambled, random.dimensions, random.offset);
  }
}

/// What is known of the numbers that a call makes.
const Library& library_of(const Random& random, bool normal) {
  if (random.ordering == dynamic) return dynamic_library;
  return random.on_host && normal ? host_normal_library : random_library;
}

/// Makes numbers with fill_in(to): at once in the host's memory, in the order of the generator's stream in the GPU's.
template <typename T, typename FillIn>
void make_numbers(Context& context, const char* call, const Random& random, bool normal, T* to, std::size_t count, FillIn fill_in) {
  const Library& library = library_of(random, normal);
  if (random.on_host) return run_work(context, library, call, random.stream, [=](const LibraryMemory&) { fill_in(to); });
  submit_work(context, library, call, random.stream, [=](const LibraryMemory& memory) { fill_in(memory.write(to, count)); });
}

template <typename T>
void generate_plain(Context& context, const char* call, Random& random, T* to, std::size_t count, const PlainDistribution<T>& of) {
  if (count % random.dimensions != 0) throw Refusal(random_length_not_multiple);
  if (random.plain == nullptr) random.plain = plain_sequence(random);
  if (count == 0) return;
  if (to == nullptr) throw Refusal(random_launch_failure, "there is no memory to write to");
  make_numbers(context, call, random, of.is_normal(), to, count, [kind = random.row->kind, of, count, sequence = random.plain](T* at) {
    for (const std::uint64_t number : sequence->take(count)) *at++ = plain_result(kind, of, number);
  });
}

template <typename T>
int generate_results(const char* call, Random* handle, T* to, std::size_t count, const PlainDistribution<T>& plain,
                     const std::function<Distribution<T>(Kind)>& distribution) {
  return library_call(random_library, call, false, [&](Context& context) {
    Random& random = generator_of(handle);
    if (plain.shape == Shape::raw && random.row->kind == Kind::sobol64) throw Refusal(random_type_error);
    if (is_plain(*random.row)) return generate_plain(context, call, random, to, count, plain);
    const Distribution<T> of = distribution(random.row->kind);
    const KindRow& row = *random.row;
    if (plain.shape != Shape::poisson && count % of.results != 0 && row.results < of.results) throw Refusal(random_length_not_multiple);
    if (random.sequence == nullptr) random.sequence = random.make_sequence();
    if (count == 0) return;
    if (to == nullptr) throw Refusal(random_launch_failure, "there is no memory to write to");
    make_numbers(context, call, random, plain.is_normal(), to, count, [=, sequence = random.sequence, least = row.results](T* at) {
      if constexpr (std::is_integral_v<T>)
        if (plain.is_normal() && least == 1) return fill_by_turns(*sequence, plain.poisson->mean(), at, count);
      fill(*sequence, of, least, at, count);
    });
  });
}

void require_poisson_mean(double mean) {
  if (!(mean > 0 && mean <= most_events)) throw Refusal(random_out_of_range, "the mean is not above 0 and up to 400,000");
}

struct Discrete;                    ///< in the GPU's memory
using Directions32 = unsigned[32];  ///< of a dimension
using Directions64 = unsigned long long[64];

/// curandDirectionVectorSet_t: of 32 bits, and of 64.
constexpr int plain_set32 = 101, scrambled_set32 = 102, plain_set64 = 103, scrambled_set64 = 104;

/// The vectors of all dimensions that cuRAND has, for the program to read; those that are not known here are zero, and a line says so.
template <typename Word>
int get_directions(const char* call, Word (**vectors)[sizeof(Word) * 8], int set, int plain_set, int scrambled_set) {
  constexpr std::size_t bits = sizeof(Word) * 8;
  if (set != plain_set && set != scrambled_set) return random_out_of_range;
  if (vectors == nullptr) return random_internal_error;
  const bool scrambled = set == scrambled_set;
  const std::lock_guard lock(mutex());
  static std::vector<Word> tables[2];
  std::vector<Word>& table = tables[scrambled];
  if (table.empty()) {
    table.resize(bits * most_dimensions);
    for (std::size_t i = 0; i < bits * known_dimensions(scrambled); ++i)
      table[i] = static_cast<Word>(sobol_directions(scrambled)[i / bits * 64 + i % bits] >> (64 - bits));
  }
  say_once(std::string(call) + (scrambled ? ": 20" : ": 1,111") + " of 20,000 dimensions are supported; the others' vectors are zero");
  *vectors = reinterpret_cast<Word(*)[bits]>(table.data());
  return random_success;
}

template <typename Word>
int get_constants(const char* call, Word** constants) {
  if (constants == nullptr) return random_internal_error;
  const std::lock_guard lock(mutex());
  static std::vector<Word> table;
  if (table.empty()) {
    for (const std::uint64_t constant : scramble_constants()) table.push_back(static_cast<Word>(constant >> (64 - sizeof(Word) * 8)));
    table.resize(most_dimensions);
  }
  say_once(std::string(call) + ": 20 of 20,000 dimensions are supported; the others' constants are zero");
  *constants = table.data();
  return random_success;
}

namespace rand {

int createGenerator(const char* call, Random** handle, int type) {
  return create_generator(call, handle, type, false);
}
int createGeneratorHost(const char* call, Random** handle, int type) {
  return create_generator(call, handle, type, true);
}
int destroyGenerator(const char*, Random* handle) {
  const std::lock_guard lock(mutex());
  return generators().take(handle) == nullptr ? random_not_initialized : random_success;
}
int getVersion(const char*, int* version) {
  if (version == nullptr) return random_internal_error;
  *version = 10400;  // of CUDA 13.0
  return random_success;
}
int getProperty(const char*, int property, int* value) {
  constexpr int numbers[] = {10, 4, 0};
  if (property < 0 || property > 2 || value == nullptr) return random_out_of_range;
  *value = numbers[property];
  return random_success;
}
int setStream(const char* call, Random* handle, Stream* stream) {
  return change(call, handle, [&](Random& random) { random.stream = stream; });
}
int setPseudoRandomGeneratorSeed(const char* call, Random* handle, std::uint64_t seed) {
  return change(call, handle, [&](Random& random) {
    if (is_sobol(*random.row)) throw Refusal(random_type_error);
    random.seed = seed;
    random.restart();
  });
}
int setGeneratorOffset(const char* call, Random* handle, std::uint64_t offset) {
  return change(call, handle, [&](Random& random) {
    if (is_plain(*random.row) && !is_sobol(*random.row)) throw Refusal(random_type_error);
    random.offset = offset;
    random.restart();
  });
}
int setGeneratorOrdering(const char* call, Random* handle, int ordering) {
  return change(call, handle, [&](Random& random) {
    // the dynamic ordering, which CUDA leaves to the card, is the default one here
    const Kind kind = random.row->kind;
    const bool known = is_sobol(*random.row)
                           ? ordering == quasi
                           : ordering == best || ordering == by_default || ordering == legacy ||
                                 (ordering == dynamic && kind != Kind::mersenne) || (ordering == seeded && kind == Kind::xorwow);
    if (!known) throw Refusal(random_out_of_range);
    random.ordering = ordering;
    random.restart();
  });
}
int setQuasiRandomGeneratorDimensions(const char* call, Random* handle, unsigned dimensions) {
  return change(call, handle, [&](Random& random) {
    if (!is_sobol(*random.row)) throw Refusal(random_type_error);
    if (dimensions == 0 || dimensions > most_dimensions) throw Refusal(random_out_of_range);
    if (dimensions > known_dimensions(random.row->scrambled))
      throw Refusal(random_out_of_range, random.row->scrambled ? "of the scrambled Sobol sequence 20 dimensions are supported"
                                                               : "of Sobol's sequence 1,111 dimensions are supported");
    random.dimensions = dimensions;
    random.restart();
  });
}
int createPoissonDistribution(const char* call, double mean, Discrete** distribution) {
  return library_call(table_library, call, true, [&](Context& context) {
    if (distribution == nullptr) throw Refusal(random_internal_error);
    require_poisson_mean(mean);
    const std::size_t size = poisson_distribution(mean, 0).size();
    const std::uint64_t address = context.space.allocate(size, Allocation::Kind::device, call);
    run_work(context, table_library, call, nullptr, [&](const LibraryMemory& memory) {
      std::ranges::copy(poisson_distribution(mean, address), memory.write(reinterpret_cast<std::uint8_t*>(address), size));
    });
    *distribution = reinterpret_cast<Discrete*>(address);
  });
}
int destroyDistribution(const char* call, Discrete* distribution) {
  return library_call(table_library, call, true, [&](Context& context) {
    try {
      context.space.release(reinterpret_cast<std::uint64_t>(distribution), {Allocation::Kind::device}, cudaErrorInvalidValue);
    } catch (const ApiError&) {
      throw Refusal(random_not_initialized);
    }
  });
}
int getDirectionVectors32(const char* call, Directions32** vectors, int set) {
  return get_directions(call, vectors, set, plain_set32, scrambled_set32);
}
int getDirectionVectors64(const char* call, Directions64** vectors, int set) {
  return get_directions(call, vectors, set, plain_set64, scrambled_set64);
}
int getScrambleConstants32(const char* call, unsigned** constants) {
  return get_constants(call, constants);
}
int getScrambleConstants64(const char* call, unsigned long long** constants) {
  return get_constants(call, constants);
}
int generateSeeds(const char* call, Random* handle) {
  return change(call, handle, [](Random&) {});  // states are made when they are needed
}

int generate(const char* call, Random* handle, std::uint32_t* to, std::size_t count) {
  return generate_results<std::uint32_t>(call, handle, to, count, {}, [](Kind kind) { return raw_numbers(kind); });
}
int generateLongLong(const char* call, Random* handle, unsigned long long* to, std::size_t count) {
  return library_call(random_library, call, false, [&](Context& context) {
    Random& random = generator_of(handle);
    if (random.row->kind != Kind::sobol64) throw Refusal(random_type_error);
    generate_plain<unsigned long long>(context, call, random, to, count, {});
  });
}
int generateUniform(const char* call, Random* handle, float* to, std::size_t count) {
  return generate_results<float>(call, handle, to, count, {Shape::uniform}, uniform_floats);
}
int generateUniformDouble(const char* call, Random* handle, double* to, std::size_t count) {
  return generate_results<double>(call, handle, to, count, {Shape::uniform}, uniform_doubles);
}
int generateNormal(const char* call, Random* handle, float* to, std::size_t count, float mean, float deviation) {
  return generate_results<float>(call, handle, to, count, {Shape::normal, mean, deviation},
                                 [=](Kind kind) { return normal_floats(kind, mean, deviation, false); });
}
int generateNormalDouble(const char* call, Random* handle, double* to, std::size_t count, double mean, double deviation) {
  return generate_results<double>(call, handle, to, count, {Shape::normal, mean, deviation},
                                  [=](Kind kind) { return normal_doubles(kind, mean, deviation, false); });
}
int generateLogNormal(const char* call, Random* handle, float* to, std::size_t count, float mean, float deviation) {
  return generate_results<float>(call, handle, to, count, {Shape::log_normal, mean, deviation},
                                 [=](Kind kind) { return normal_floats(kind, mean, deviation, true); });
}
int generatePoisson(const char* call, Random* handle, std::uint32_t* to, std::size_t count, double mean) {
  std::shared_ptr<const Poisson> of;
  const int status = change(call, handle, [&](Random& random) {
    if (count % random.dimensions != 0) throw Refusal(random_length_not_multiple);
    if (count == 0) return;
    require_poisson_mean(mean);
    of = std::make_shared<const Poisson>(random.row->kind, mean);
  });
  if (status != random_success || of == nullptr) return status;
  return generate_results<std::uint32_t>(call, handle, to, count, {.shape = Shape::poisson, .poisson = of},
                                         [&](Kind kind) { return poisson_numbers(kind, of); });
}
int generateLogNormalDouble(const char* call, Random* handle, double* to, std::size_t count, double mean, double deviation) {
  return generate_results<double>(call, handle, to, count, {Shape::log_normal, mean, deviation},
                                  [=](Kind kind) { return normal_doubles(kind, mean, deviation, true); });
}

}  // namespace rand

}  // namespace

#define WARPMAT_LIBRARY_ROUTINES rand
#define WARPMAT_LIBRARY_REFUSAL random_internal_error
#define WARPMAT_LIBRARY_TABLE <warpmat/cuda/libraries/random_functions.inc>
#include <warpmat/cuda/libraries/implement.inc>

}  // namespace warpmat::cuda

#include <array>

#include <fmt/core.h>

#include <warpmat/lower/makers.h>
#include <warpmat/lower/operands.h>

namespace warpmat::code {

using catalogue::Match;
using catalogue::Name;
using catalogue::Qualifier;
using catalogue::Semantics;
using Kind = syntax::Operand::Kind;

namespace {

/// A shape of textures and surfaces: how many coordinates it has, and how many registers the text lists for them and a layer.
struct Shape {
  Qualifier qualifier;
  std::uint8_t coordinates, listed;
  bool layered, cube;
};
constexpr std::array shapes{Shape{".1d", 1, 1, false, false}, Shape{".2d", 2, 2, false, false}, Shape{".3d", 3, 4, false, false},
                            Shape{".a1d", 1, 2, true, false}, Shape{".a2d", 2, 4, true, false}, Shape{".cube", 3, 4, false, true},
                            Shape{".acube", 3, 4, true, true}};

struct QueryName {
  Qualifier qualifier;
  TextureAccess::Query query;
};
constexpr std::array queries{QueryName{".width", TextureAccess::Query::width},
                             QueryName{".height", TextureAccess::Query::height},
                             QueryName{".depth", TextureAccess::Query::depth},
                             QueryName{".array_size", TextureAccess::Query::layers},
                             QueryName{".num_mipmap_levels", TextureAccess::Query::levels},
                             QueryName{".normalized_coords", TextureAccess::Query::normalised}};

constexpr std::array<Qualifier, 4> components{".r", ".g", ".b", ".a"};

const Shape* shape_of(const Match& match) {
  for (const Shape& shape : shapes)
    if (match.has(shape.qualifier)) return &shape;
  return nullptr;
}

/// The registers in braces, or one without them, each of `bits` or wider; `_` is allowed.
std::vector<Value> texture_results(Context& in, const syntax::Operand& operand, int bits, std::size_t count) {
  const std::span<const syntax::Operand> items = items_of(operand);
  if (items.size() != count) in.fail(operand, fmt::format("{} has {} registers here, {} are given", in.opcode(), count, items.size()));
  std::vector<Value> values;
  for (const syntax::Operand& item : items) {
    const Value value = item.discards() ? in.temporary(register_class_of(bits)) : named_register(in, item);
    if (!item.discards() && (in.bits_of(value) < bits || in.class_of(value) == RegisterClass::quad || in.bits_of(value) == 1))
      in.fail(item, fmt::format("{} gives {} bits, '{}' has {}", in.opcode(), bits, item.text, in.bits_of(value)));
    values.push_back(value);
  }
  return values;
}

/// [handle, {layer, coordinates}], or with one coordinate [handle, x]. What the text lists beyond them is not read.
std::size_t texture_operands(Context& in, const Match& match, std::size_t next, TextureAccess& access, DraftOperation& operation) {
  const syntax::Operand& place = in.operand(next);
  if (place.kind != Kind::address || place.items.empty() || place.items.size() > 2 || place.offset != 0)
    in.fail(place, fmt::format("{} takes [handle, {{coordinates}}]", in.opcode()));
  operation.sources.push_back(source(in, place.items[0], *find_ptx_type("b64")));
  if (access.action == TextureAccess::Action::query) return next + 1;
  const Shape& shape = *shape_of(match);
  access.coordinates = shape.coordinates;
  access.layered = shape.layered;
  access.cube = shape.cube;
  if (place.items.size() != 2) in.fail(place, fmt::format("{} takes [handle, {{coordinates}}]", in.opcode()));
  const syntax::Operand& listed = place.items[1];
  const std::span<const syntax::Operand> items = items_of(listed);
  if (items.size() != shape.listed)
    in.fail(listed, fmt::format("{} lists {} coordinates, {} are given", in.opcode(), shape.listed, items.size()));
  std::size_t item = 0;
  if (shape.layered) operation.sources.push_back(source(in, items[item++], *find_ptx_type("b32")));
  for (int i = 0; i < shape.coordinates; ++i) operation.sources.push_back(source(in, items[item++], *find_ptx_type("b32")));
  return next + 1;
}

}  // namespace

void lower::texture(Context& in, const Match& match) {
  using Action = TextureAccess::Action;
  TextureAccess access;
  access.action = match.is(Name::tex)    ? Action::fetch
                  : match.is(Name::tld4) ? Action::gather
                  : match.is(Name::suld) ? Action::load
                  : match.is(Name::sust) ? Action::store
                                         : Action::query;
  const DataType& type = *match.types.front();
  access.integers = match.types.size() == 2 && catalogue::is_integer_of(*match.types[1], 32) && match.types[1]->is_signed;
  access.level = match.has(".level")  ? TextureAccess::Level::given
                 : match.has(".grad") ? TextureAccess::Level::gradients
                                      : TextureAccess::Level::base;
  for (std::size_t i = 0; i < components.size(); ++i)
    if (match.has(components[i])) access.component = static_cast<std::uint8_t>(i);
  for (const QueryName& each : queries)
    if (match.has(each.qualifier)) access.query = each.query;
  access.outside = match.has(".clamp")  ? TextureAccess::Outside::clamp
                   : match.has(".zero") ? TextureAccess::Outside::zero
                                        : TextureAccess::Outside::trap;
  const bool surface = access.action == Action::load || access.action == Action::store;
  access.bytes = surface ? static_cast<std::uint8_t>(type.bytes()) : 4;
  access.vector = surface ? static_cast<std::uint8_t>(match.vector()) : access.action == Action::query ? 1 : 4;
  DraftOperation operation{.operation = {.semantics = Semantics::texture}};
  std::size_t next = 0;
  const syntax::Operand* resident = nullptr;
  if (access.action != Action::store) {
    const syntax::Operand& written = in.operand(next++);
    const bool pair = written.kind == Kind::pair;
    if (pair) resident = &written.items[1];
    operation.results = texture_results(in, pair ? written.items[0] : written, access.bytes * 8, access.vector);
  }
  next = texture_operands(in, match, next, access, operation);
  const auto& f32 = *find_ptx_type("f32");
  if (access.level == TextureAccess::Level::given) operation.sources.push_back(source(in, in.operand(next++), f32));
  if (access.level == TextureAccess::Level::gradients) {
    const std::size_t listed = access.coordinates == 3 ? 4 : access.coordinates;
    for (int gradient = 0; gradient < 2; ++gradient) {
      const syntax::Operand& given = in.operand(next++);
      const std::span<const syntax::Operand> items = items_of(given);
      if (items.size() != listed) in.fail(given, fmt::format("{} lists {} numbers here", in.opcode(), listed));
      for (std::size_t i = 0; i < access.coordinates; ++i) operation.sources.push_back(source(in, items[i], f32));
    }
  }
  if (access.action == Action::store) {
    const syntax::Operand& given = in.operand(next++);
    const std::span<const syntax::Operand> items = items_of(given);
    if (items.size() != access.vector)
      in.fail(given, fmt::format("{} stores {} registers, {} are given", in.opcode(), access.vector, items.size()));
    for (const syntax::Operand& item : items) operation.sources.push_back(source(in, item, type, true));
  }
  if (next < in.operands().size())
    in.fail(in.operand(next), fmt::format("{} takes {} operands; offsets and comparisons of depths are not executed", in.opcode(), next));
  in.add(std::move(operation), access);
  // all texels are resident
  if (resident != nullptr) {
    const Value zero = in.constant(RegisterClass::word, 0);
    in.add(in.row("setp.eq.u32", {result(in, *resident, *find_ptx_type("pred"))}, {zero, zero}));
  }
}

}  // namespace warpmat::code

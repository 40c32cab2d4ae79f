#include <warpmat/ptx/declarations.h>

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include <warpmat/ptx/number.h>

namespace warpmat {
namespace {

constexpr std::int64_t max_shared_bytes = std::int64_t{1} << 30;
constexpr int max_registers = 1 << 16;

bool is_reg(const Token& token) {
  return token.kind == Token::Kind::qualifier && token.text == ".reg";
}

}  // namespace

bool is_directive(const Token& token) {
  constexpr std::array<std::string_view, 5> directives{".version", ".target", ".address_size", ".reg", ".shared"};
  return token.kind == Token::Kind::qualifier && std::ranges::find(directives, token.text) != directives.end();
}

Declarations::Declarations(TokenReader& tokens, Program& program, const Target* target)
    : tokens_(tokens),
      program_(program),
      target_is_given_(target != nullptr),
      declares_registers_(std::ranges::any_of(tokens.tokens(), is_reg)) {
  program_.target = target;
}

void Declarations::parse_directive() {
  const Token& directive = tokens_.take();
  if (directive.text == ".version") return parse_version();
  if (directive.text == ".target") return parse_target();
  if (directive.text == ".address_size") return parse_address_size();
  if (directive.text == ".reg") return parse_registers();
  if (directive.text == ".shared") return parse_variables();
  constexpr std::array<std::string_view, 5> of_modules{".entry", ".func", ".visible", ".extern", ".weak"};
  if (std::ranges::find(of_modules, directive.text) != of_modules.end())
    fail(directive,
         fmt::format("{} is for whole kernels, which 'warpmat launch' and Module take: this is a list of statements", directive.text));
  fail(directive, fmt::format("unknown directive '{}': there are .version, .target, .address_size, .reg and .shared", directive.text));
}

void Declarations::parse_version() {
  const Token& token = tokens_.take();
  const std::size_t dot = token.text.find('.');
  const auto major = parse_integer(token.text.substr(0, dot));
  const auto minor = dot == std::string_view::npos ? std::nullopt : parse_integer(token.text.substr(dot + 1));
  if (!major || !minor || *major > 99 || *minor > 99)
    fail(token, fmt::format("expected a PTX version such as 9.0, found {}", spell(token)));
  const PtxVersion version{static_cast<int>(*major), static_cast<int>(*minor)};
  if (version > newest_ptx)
    fail(token, fmt::format("PTX {} is newer than this library knows; the newest is {}", to_string(version), to_string(newest_ptx)));
  program_.version = version;
}

void Declarations::parse_target() {
  const Token& token = tokens_.take();
  const Target* named = token.kind == Token::Kind::word ? find_target(token.text) : nullptr;
  if (named == nullptr) fail(token, fmt::format("unknown target {}: for example sm_80, sm_90a, sm_120a", spell(token)));
  if (!target_is_given_) program_.target = named;
  if (program_.version < named->since)
    fail(token,
         fmt::format("{} needs PTX {} or later; the version is {}", named->name, to_string(named->since), to_string(program_.version)));
}

void Declarations::parse_address_size() {
  const Token& token = tokens_.take();
  if (token.text != "64" && token.text != "32") fail(token, fmt::format("expected an address size of 64 or 32, found {}", spell(token)));
}

const DataType& Declarations::parse_type(bool of_register) {
  const Token& token = tokens_.take();
  const DataType* type = token.kind == Token::Kind::qualifier ? find_data_type(token.text.substr(1)) : nullptr;
  if (type == nullptr || (of_register && !type->is_register))
    fail(token, fmt::format("expected a type such as .b32 or .f32, found {}", spell(token)));
  return *type;
}

const Token& Declarations::parse_new_name() {
  const Token& name = tokens_.take();
  if (name.kind != Token::Kind::word || name.text == "_" || name.text == "%laneid")
    fail(name, fmt::format("expected a name, found {}", spell(name)));
  return name;
}

std::int64_t Declarations::parse_count(std::int64_t most, std::string_view what) {
  const Token& token = tokens_.take();
  const auto count = token.kind == Token::Kind::number ? parse_integer(token.text) : std::nullopt;
  if (!count || *count == 0 || *count > static_cast<std::uint64_t>(most))
    fail(token, fmt::format("expected {} from 1 to {}, found {}", what, most, spell(token)));
  return static_cast<std::int64_t>(*count);
}

void Declarations::require_new(const Token& token, const std::string& name) const {
  if (find_register(name) != nullptr || program_.find_variable(name) != nullptr) fail(token, fmt::format("'{}' is already declared", name));
}

const NamedRegister* Declarations::find_register(std::string_view name) const {
  const auto found = register_index_.find(name);
  return found == register_index_.end() ? nullptr : &program_.registers[found->second];
}

const NamedRegister& Declarations::define_register(const Token& token, std::string name, const DataType& type) {
  require_new(token, name);
  if (program_.registers.size() >= max_registers) fail(token, fmt::format("more than {} registers", max_registers));
  register_index_.emplace(name, program_.registers.size());
  program_.registers.push_back({std::move(name), &type, program_.named_words});
  program_.named_words += type.bits > 32 ? 2 : 1;
  return program_.registers.back();
}

void Declarations::parse_registers() {
  const DataType& type = parse_type(true);
  do {
    const Token& name = parse_new_name();
    if (!tokens_.take_if('<')) {
      define_register(name, std::string(name.text), type);
      continue;
    }
    const std::int64_t count = parse_count(max_registers, "a number of registers");
    tokens_.expect('>', "the number of registers");
    for (std::int64_t i = 0; i < count; ++i) define_register(name, fmt::format("{}{}", name.text, i), type);
  } while (tokens_.take_if(','));
  tokens_.expect(';', "the declaration");
}

void Declarations::parse_extent(SharedVariable& variable) {
  tokens_.take();
  const std::int64_t most = max_shared_bytes / (variable.type->bits / 8) / variable.count;
  variable.extents.push_back(parse_count(most, "a number of elements"));
  variable.count *= variable.extents.back();
  tokens_.expect(']', "the number of elements");
}

void Declarations::parse_variables() {
  std::int64_t alignment = 0;
  if (tokens_.here().text == ".align") {
    tokens_.take();
    const Token& token = tokens_.here();
    alignment = parse_count(1 << 16, "an alignment in bytes");
    if ((alignment & (alignment - 1)) != 0) fail(token, "an alignment must be a power of two");
  }
  const DataType& type = parse_type(false);
  do {
    const Token& name = parse_new_name();
    require_new(name, std::string(name.text));
    SharedVariable variable{std::string(name.text), &type, 1, {}, std::max<std::int64_t>(alignment, type.bits / 8), 0};
    while (tokens_.here().is('[')) parse_extent(variable);
    variable.address = (program_.shared_bytes + variable.alignment - 1) / variable.alignment * variable.alignment;
    if (variable.address + variable.bytes() > max_shared_bytes)
      fail(name, fmt::format("more than {} bytes of shared memory", max_shared_bytes));
    program_.shared_bytes = variable.address + variable.bytes();
    program_.variables.push_back(std::move(variable));
  } while (tokens_.take_if(','));
  tokens_.expect(';', "the declaration");
}

}  // namespace warpmat

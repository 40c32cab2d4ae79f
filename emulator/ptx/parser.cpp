#include <algorithm>
#include <array>
#include <cassert>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <warpmat/ptx/lexer.h>
#include <warpmat/ptx/number.h>
#include <warpmat/ptx/program.h>

namespace warpmat {
namespace {

/// An error that ends the statement in which it was found.
struct StatementError {
  Location location;
  std::string message;
};

/// What an instruction takes at a register's place.
struct Slot {
  std::string what;           ///< for messages: "operand a of mma"
  Accepts accepted;
  const DataType* type;       ///< its width, and how numbers are read
  bool written = false;
  bool may_be_wider = false;  ///< loads and stores: the register may be wider than the type
  bool symbols = false;       ///< mov: also %laneid and the address of a variable
  bool in_braces = false;     ///< {a, b}: only there ptxas takes _, and %laneid as in mov
  bool may_discard = true;    ///< whether _ may stand for a result
};

constexpr std::int64_t max_shared_bytes = std::int64_t{1} << 30;
constexpr int max_registers = 1 << 16;

constexpr std::size_t max_excerpt_bytes = 200;

/// The line that `rest` begins with and a caret under the column; of a very long line only the part around it.
std::string excerpt(std::string_view rest, int column) {
  auto caret_at = static_cast<std::size_t>(column - 1);
  std::string_view line = rest.substr(0, rest.find('\n'));
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (line.size() > max_excerpt_bytes) {
    const std::size_t begin = std::min(caret_at - std::min(caret_at, max_excerpt_bytes / 2), line.size() - max_excerpt_bytes);
    line = line.substr(begin, max_excerpt_bytes);
    caret_at -= begin;
  }
  std::string caret;
  for (std::size_t i = 0; i < caret_at; ++i) caret += i < line.size() && line[i] == '\t' ? '\t' : ' ';
  return std::string(line) + '\n' + caret + '^';
}

class Parser {
 public:
  Parser(std::string_view source, const Target* target) : source_(source), tokens_(tokenize(source)), fixed_target_(target) {
    program_.target = target;
    line_starts_.push_back(0);
    for (std::size_t i = 0; i < source.size(); ++i)
      if (source[i] == '\n') line_starts_.push_back(i + 1);
    declares_registers_ = std::ranges::any_of(tokens_, [](const Token& t) { return t.kind == Token::Kind::qualifier && t.text == ".reg"; });
  }

  Program program() {
    while (here().kind != Token::Kind::end) {
      try {
        parse_one();
      } catch (const StatementError& error) {
        report(error.location, error.message);
        recover();
      }
    }
    if (program_.target == nullptr && errors_.empty())
      report({1, 1}, "no target: begin the program with .target sm_90a, or name one");
    if (!errors_.empty()) throw SyntaxError(std::move(errors_));
    place_slots();
    return std::move(program_);
  }

 private:
  void report(Location location, const std::string& message) {
    const std::size_t start = line_starts_[static_cast<std::size_t>(location.line - 1)];
    errors_.push_back({location, message, excerpt(source_.substr(start), location.column)});
  }

  // ---- Tokens -----------------------------------------------------------------------------------------------------------------------

  const Token& here() const { return tokens_[position_]; }
  const Token& ahead() const { return tokens_[std::min(position_ + 1, tokens_.size() - 1)]; }

  const Token& take() {
    const Token& token = here();
    if (token.kind != Token::Kind::end) ++position_;
    return token;
  }

  bool take_if(char punctuation) {
    if (!here().is(punctuation)) return false;
    take();
    return true;
  }

  [[noreturn]] void fail(const Token& token, const std::string& message) const { throw StatementError{token.location, message}; }

  static std::string spell(const Token& token) {
    if (token.kind == Token::Kind::end) return "the end of the text";
    if (token.kind != Token::Kind::bad) return fmt::format("'{}'", token.text);
    if (token.text.starts_with("/*")) return "a comment without its */";
    const auto byte = static_cast<unsigned char>(token.text.front());
    return byte >= 0x20 && byte < 0x7f ? fmt::format("'{}'", token.text) : fmt::format("the byte {:#04x}", byte);
  }

  void expect(char punctuation, std::string_view after) {
    if (take_if(punctuation)) return;
    // A missing ; belongs behind what stands before it, not to the next line.
    Location location = here().location;
    if (position_ > 0) {
      const Token& previous = tokens_[position_ - 1];
      location = {previous.location.line, previous.location.column + static_cast<int>(previous.text.size())};
    }
    throw StatementError{location, fmt::format("expected '{}' after {}, found {}", punctuation, after, spell(here()))};
  }

  /// Goes on behind the next semicolon, or before a line that begins with a known instruction or a directive.
  void recover() {
    if (here().kind == Token::Kind::bad) take();
    while (here().kind != Token::Kind::end) {
      if (take_if(';')) return;
      const bool first_on_line = position_ > 0 && tokens_[position_ - 1].location.line < here().location.line;
      const bool starts = (here().kind == Token::Kind::word && ahead().kind == Token::Kind::qualifier) || is_directive(here());
      if (first_on_line && starts && position_ != failed_at_) break;
      take();
    }
    failed_at_ = position_;
  }

  static bool is_directive(const Token& token) {
    constexpr std::array<std::string_view, 5> directives{".version", ".target", ".address_size", ".reg", ".shared"};
    return token.kind == Token::Kind::qualifier && std::ranges::find(directives, token.text) != directives.end();
  }

  // ---- Statements and directives ----------------------------------------------------------------------------------------------------

  void parse_one() {
    failed_at_ = position_;
    if (take_if(';')) return;
    const Token& token = here();
    if (token.kind == Token::Kind::qualifier) return parse_directive();
    if (token.is('@')) fail(token, "predicates are not supported: every lane executes every statement");
    if (token.is('{') || token.is('}')) fail(token, "blocks and kernels are not supported: write the statements alone");
    if (token.kind != Token::Kind::word) fail(token, fmt::format("expected an instruction or a directive, found {}", spell(token)));
    if (ahead().is(':')) fail(token, "labels and branches are not supported: a program runs from first to last");
    parse_statement();
  }

  void parse_directive() {
    const Token& directive = take();
    if (directive.text == ".version") return parse_version();
    if (directive.text == ".target") return parse_target();
    if (directive.text == ".address_size") return parse_address_size();
    if (directive.text == ".reg") return parse_registers();
    if (directive.text == ".shared") return parse_variables();
    fail(directive, fmt::format("unknown directive '{}': there are .version, .target, .address_size, .reg and .shared", directive.text));
  }

  void parse_version() {
    const Token& token = take();
    const std::size_t dot = token.text.find('.');
    const auto major = parse_integer(token.text.substr(0, dot));
    const auto minor = dot == std::string_view::npos ? std::nullopt : parse_integer(token.text.substr(dot + 1));
    if (!major || !minor || *major > 99 || *minor > 99) fail(token, fmt::format("expected a PTX version such as 9.0, found {}", spell(token)));
    const PtxVersion version{static_cast<int>(*major), static_cast<int>(*minor)};
    if (version > newest_ptx)
      fail(token, fmt::format("PTX {} is newer than this library knows; the newest is {}", to_string(version), to_string(newest_ptx)));
    program_.version = version;
  }

  void parse_target() {
    const Token& token = take();
    const Target* named = token.kind == Token::Kind::word ? find_target(token.text) : nullptr;
    if (named == nullptr) fail(token, fmt::format("unknown target {}: for example sm_80, sm_90a, sm_120a", spell(token)));
    if (fixed_target_ == nullptr) program_.target = named;
    if (program_.version < named->since)
      fail(token, fmt::format("{} needs PTX {} or later; the version is {}", named->name, to_string(named->since), to_string(program_.version)));
  }

  void parse_address_size() {
    const Token& token = take();
    if (token.text != "64" && token.text != "32") fail(token, fmt::format("expected an address size of 64 or 32, found {}", spell(token)));
  }

  const DataType& parse_type(bool of_register) {
    const Token& token = take();
    const DataType* type = token.kind == Token::Kind::qualifier ? find_data_type(token.text.substr(1)) : nullptr;
    if (type == nullptr || (of_register && !type->is_register))
      fail(token, fmt::format("expected a type such as .b32 or .f32, found {}", spell(token)));
    return *type;
  }

  const Token& parse_new_name() {
    const Token& name = take();
    if (name.kind != Token::Kind::word || name.text == "_" || name.text == "%laneid")
      fail(name, fmt::format("expected a name, found {}", spell(name)));
    return name;
  }

  std::int64_t parse_count(std::int64_t most, std::string_view what) {
    const Token& token = take();
    const auto count = token.kind == Token::Kind::number ? parse_integer(token.text) : std::nullopt;
    if (!count || *count == 0 || *count > static_cast<std::uint64_t>(most))
      fail(token, fmt::format("expected {} from 1 to {}, found {}", what, most, spell(token)));
    return static_cast<std::int64_t>(*count);
  }

  void require_new(const Token& token, const std::string& name) {
    if (find_register(name) != nullptr || program_.find_variable(name) != nullptr)
      fail(token, fmt::format("'{}' is already declared", name));
  }

  /// Program::find_register without its linear search: one declaration can make 65,536 registers.
  const NamedRegister* find_register(std::string_view name) const {
    const auto found = register_index_.find(name);
    return found == register_index_.end() ? nullptr : &program_.registers[found->second];
  }

  void define_register(const Token& token, std::string name, const DataType& type) {
    require_new(token, name);
    if (program_.registers.size() >= max_registers) fail(token, fmt::format("more than {} registers", max_registers));
    register_index_.emplace(name, program_.registers.size());
    program_.registers.push_back({std::move(name), &type, program_.named_words});
    program_.named_words += type.bits > 32 ? 2 : 1;
  }

  void parse_registers() {
    const DataType& type = parse_type(true);
    do {
      const Token& name = parse_new_name();
      if (!take_if('<')) {
        define_register(name, std::string(name.text), type);
        continue;
      }
      const std::int64_t count = parse_count(max_registers, "a number of registers");
      expect('>', "the number of registers");
      for (std::int64_t i = 0; i < count; ++i) define_register(name, fmt::format("{}{}", name.text, i), type);
    } while (take_if(','));
    expect(';', "the declaration");
  }

  void parse_variables() {
    std::int64_t alignment = 0;
    if (here().text == ".align") {
      take();
      const Token& token = here();
      alignment = parse_count(1 << 16, "an alignment in bytes");
      if ((alignment & (alignment - 1)) != 0) fail(token, "an alignment must be a power of two");
    }
    const DataType& type = parse_type(false);
    do {
      const Token& name = parse_new_name();
      require_new(name, std::string(name.text));
      SharedVariable variable{std::string(name.text), &type, 1, here().is('['), std::max<std::int64_t>(alignment, type.bits / 8), 0};
      if (take_if('[')) {
        variable.count = parse_count(max_shared_bytes / (type.bits / 8), "a number of elements");
        expect(']', "the number of elements");
      }
      variable.address = (program_.shared_bytes + variable.alignment - 1) / variable.alignment * variable.alignment;
      if (variable.address + variable.bytes() > max_shared_bytes) fail(name, fmt::format("more than {} bytes of shared memory", max_shared_bytes));
      program_.shared_bytes = variable.address + variable.bytes();
      program_.variables.push_back(std::move(variable));
    } while (take_if(','));
    expect(';', "the declaration");
  }

  void parse_statement() {
    const Token& mnemonic = take();
    std::string opcode(mnemonic.text);
    while (here().kind == Token::Kind::qualifier) {
      constexpr PtxVersion cta_since{7, 8};
      if (here().text == ".shared::cta" && program_.version < cta_since)
        fail(here(), fmt::format(".shared::cta needs PTX {} or later; the version is {}", to_string(cta_since), to_string(program_.version)));
      opcode += take().text;
    }
    if (program_.target == nullptr) fail(mnemonic, "no target yet: begin the program with .target sm_90a, or name one");

    if (is_matrix_mnemonic(mnemonic.text)) {
      parse_matrix_statement(mnemonic, opcode);
    } else if (is_scalar_mnemonic(mnemonic.text)) {
      parse_scalar_statement(mnemonic, opcode);
    } else {
      fail(mnemonic, fmt::format("unknown instruction '{}': there are ldmatrix, stmatrix, movmatrix, mma, and mov, add, sub, mul.lo, mad.lo, shl, "
                                 "shr, and, or, xor, not, ld.shared, st.shared, cvt.rn, bar.warp.sync", mnemonic.text));
    }
  }

  void parse_matrix_statement(const Token& mnemonic, const std::string& opcode) {
    const Form* form = find_form(opcode);
    if (form == nullptr) fail(mnemonic, explain_unknown_opcode(opcode));
    if (const auto reason = unavailable(*form, *program_.target, program_.version)) fail(mnemonic, *reason);
    const Instruction instruction(*form, *program_.target, program_.version);
    Statement statement{mnemonic.location, instruction, {}};
    for (const Operand& operand : form->operands) {
      if (!statement.operands.empty()) expect(',', "the operand");
      const std::string what = fmt::format("operand {} of {}", name(operand.name), mnemonic.text);
      statement.operands.push_back(parse_matrix_operand(instruction, operand, what));
    }
    finish(std::move(statement));
  }

  void parse_scalar_statement(const Token& mnemonic, const std::string& opcode) {
    const ScalarInstruction* instruction = find_scalar_instruction(opcode);
    if (instruction == nullptr) fail(mnemonic, explain_unknown_scalar(opcode));
    if (const auto rule = unmet(instruction->requirement, *program_.target, program_.version))
      fail(mnemonic, fmt::format("{} {}", instruction->opcode, *rule));

    Statement statement{mnemonic.location, instruction, {}};
    const bool memory = instruction->operation == ScalarOperation::load || instruction->operation == ScalarOperation::store;
    const Slot result{fmt::format("the result of {}", mnemonic.text), instruction->result_accepts, instruction->result, true, memory};
    const Slot source{fmt::format("a source of {}", mnemonic.text), instruction->source_accepts, instruction->source, false, memory,
                      instruction->operation == ScalarOperation::move};
    std::vector<OperandText>& operands = statement.operands;
    switch (instruction->operation) {
      case ScalarOperation::load:
        operands.push_back(parse_group(result, instruction->vector, instruction->vector > 1));
        expect(',', "the result");
        operands.push_back(parse_address("the address"));
        break;
      case ScalarOperation::store:
        operands.push_back(parse_address("the address"));
        expect(',', "the address");
        operands.push_back(parse_group(source, instruction->vector, instruction->vector > 1));
        break;
      case ScalarOperation::barrier: operands.push_back(parse_group(source, 1, false)); break;
      case ScalarOperation::move:
      case ScalarOperation::compute:
        operands.push_back(parse_group(result, 1, false));
        for (int i = 0; i < instruction->sources; ++i) {
          expect(',', "the operand");
          operands.push_back(parse_group(source, 1, false));
        }
        break;
    }
    finish(std::move(statement));
  }

  void finish(Statement statement) {
    expect(';', "the statement");
    program_.statements.push_back(std::move(statement));
  }

  // ---- Operands ---------------------------------------------------------------------------------------------------------------------

  OperandText parse_matrix_operand(const Instruction& instruction, const Operand& operand, const std::string& what) {
    const Form& form = instruction.form();
    switch (operand.kind) {
      case OperandKind::address: return parse_address(what);
      case OperandKind::selector: return parse_selector(operand, what);
      case OperandKind::ids: return parse_group({what, accepted_by(form, operand), find_data_type("b16")}, operand.registers(), true);
      case OperandKind::fragment: break;
    }
    const DataType* type = find_data_type(operand.format == Format::f64 ? "f64" : operand.format == Format::f32 ? "f32" : "b32");
    Slot place{what, accepted_by(form, operand), type, operand.written};
    place.may_discard = may_discard(form, instruction.lowering());
    const Token& first = here();
    OperandText text = parse_group(place, operand.registers(), operand.in_braces);
    const bool only_numbers = std::ranges::all_of(text.items, [](const Item& item) { return item.kind == Item::Kind::number; });
    if (only_numbers && !takes_only_numbers(operand, text)) fail(first, fmt::format("{} needs a register", what));
    return text;
  }

  OperandText parse_selector(const Operand& operand, const std::string& what) {
    const Token& token = here();
    static const DataType& u32 = *find_data_type("u32");
    if (token.kind != Token::Kind::number) fail(token, fmt::format("{} is a number from 0 to {}, found {}", what, operand.choices - 1, spell(token)));
    Item item = parse_number_item(Slot{what, accepts_integers, &u32}, 1);
    if (item.bits >= static_cast<std::uint64_t>(operand.choices)) fail(token, fmt::format("{} is a number from 0 to {}", what, operand.choices - 1));
    return {OperandText::Kind::single, {std::move(item)}, 0};
  }

  /// ptxas takes numbers beside registers, but numbers alone only for accumulators of one element a register: integers, or 0f patterns.
  static bool takes_only_numbers(const Operand& operand, const OperandText& text) {
    if (operand.name != OperandName::c || operand.fragment.elements_per_register() > 1) return false;
    const bool floating = operand.format != Format::s32;
    return std::ranges::all_of(text.items, [&](const Item& item) {
      return is_floating_number(item.text) == floating && item.text.find('.') == std::string::npos;
    });
  }

  OperandText parse_group(const Slot& place, int count, bool in_braces) {
    return in_braces ? parse_vector(place, count) : OperandText{OperandText::Kind::single, {parse_item(place)}, 0};
  }

  OperandText parse_vector(Slot place, int count) {
    const Token& open = here();
    if (!take_if('{')) fail(open, fmt::format("{} is written in braces: {{ and {} register{}", place.what, count, count == 1 ? "" : "s"));
    place.in_braces = true;
    OperandText operand{OperandText::Kind::vector, {}, 0};
    do operand.items.push_back(parse_item(place));
    while (take_if(','));
    expect('}', place.what);
    if (operand.items.size() != static_cast<std::size_t>(count))
      fail(open, fmt::format("{} takes {} register{} of {} bits; {} given", place.what, count, count == 1 ? "" : "s", place.type->bits,
                             operand.items.size() == 1 ? "1 is" : fmt::format("{} are", operand.items.size())));
    check_vector(open, place, operand.items);
    return operand;
  }

  /// The rules of ptxas for what may stand side by side in braces: one width, and one class of types besides the untyped.
  void check_vector(const Token& open, const Slot& place, const std::vector<Item>& items) const {
    int bits = 0;
    auto type_class = DataType::Class::bits;
    for (const Item& item : items) {
      const int width = width_of(item, place);
      if (bits != 0 && width != 0 && width != bits) fail(open, fmt::format("what stands in {} must be of one width", place.what));
      if (width != 0) bits = width;
      const DataType::Class item_class = class_of(item);
      if (item_class == DataType::Class::bits) continue;
      if (type_class != DataType::Class::bits && item_class != type_class)
        fail(open, fmt::format("ptxas takes integers, floating-point numbers and .f16x2 only apart from each other in {}", place.what));
      type_class = item_class;
    }
    if (std::ranges::all_of(items, [](const Item& item) { return item.kind == Item::Kind::sink; }))
      fail(open, fmt::format("{} needs a register: ptxas takes no _ alone", place.what));
  }

  const DataType& named_type(const Item& item) const { return *program_.registers[static_cast<std::size_t>(item.index)].type; }

  /// The bits that an item insists on, or 0: an integer fits every width, a floating-point number has its own.
  int width_of(const Item& item, const Slot& place) const {
    if (item.kind == Item::Kind::named) return named_type(item).bits;
    if (item.kind == Item::Kind::laneid) return 32;
    return item.kind == Item::Kind::number && is_floating_number(item.text) ? place.type->bits : 0;
  }

  DataType::Class class_of(const Item& item) const {
    if (item.kind == Item::Kind::named) return named_type(item).type_class;
    if (item.kind == Item::Kind::number) return is_floating_number(item.text) ? DataType::Class::floating : DataType::Class::integer;
    return DataType::Class::bits;
  }

  Item parse_item(const Slot& place) {
    const Token& token = here();
    const int words = place.type->bits > 32 ? 2 : 1;
    if (token.is('-') || token.kind == Token::Kind::number) return parse_number_item(place, words);
    if (token.kind != Token::Kind::word) fail(token, fmt::format("expected {}, found {}", place.what, spell(token)));
    take();
    if (token.text == "_") {
      if (!place.written) fail(token, fmt::format("{} is read; _ only takes results", place.what));
      if (!place.in_braces) fail(token, fmt::format("{} needs a register: _ only stands in braces", place.what));
      if (!place.may_discard)
        fail(token, fmt::format("{} takes no _ on {}: ptxas cannot discard a result of this form there", place.what, program_.target->name));
      return {Item::Kind::sink, 0, 0, {}, 0, words};
    }
    if (token.text == "%laneid") return laneid_item(token, place);
    if (const SharedVariable* variable = program_.find_variable(token.text)) return variable_item(token, *variable, place, words);
    return register_item(token, place);
  }

  Item parse_number_item(const Slot& place, int words) {
    const Token& first = here();
    const bool negative = take_if('-');
    const Token& number = take();
    if (place.written) fail(first, fmt::format("{} needs a register to be written to", place.what));
    const bool is_number = number.kind == Token::Kind::number;
    const bool fits = is_number && (place.in_braces || place.accepted.floating || !is_floating_number(number.text));
    const auto bits = fits ? parse_number(number.text, negative, *place.type) : std::nullopt;
    const std::string spelled = negative && is_number ? fmt::format("'-{}'", number.text) : spell(number);
    if (!bits) fail(first, fmt::format("{} is not a number that fits .{}", spelled, place.type->name));
    return {Item::Kind::number, 0, *bits, (negative ? "-" : "") + std::string(number.text), 0, words};
  }

  Item laneid_item(const Token& token, const Slot& place) {
    if (place.written) fail(token, "%laneid cannot be written");
    if (!place.symbols && !place.in_braces) fail(token, fmt::format("{} cannot be %laneid: mov.u32 takes that to a register", place.what));
    if (place.type->bits != 32 || place.type->type_class == DataType::Class::floating)
      fail(token, fmt::format("%laneid is a .u32; {} is .{}", place.what, place.type->name));
    return {Item::Kind::laneid, 0, 0, {}, 0, 1};
  }

  Item variable_item(const Token& token, const SharedVariable& variable, const Slot& place, int words) {
    if (place.written) fail(token, fmt::format("'{}' is a shared variable and cannot be a result; st.shared writes to it", variable.name));
    if (!place.symbols)
      fail(token, fmt::format("{} cannot be the address of '{}': mov.u32 takes that to a register", place.what, variable.name));
    if (place.type->type_class == DataType::Class::floating)
      fail(token, fmt::format("the address of '{}' is an integer; {} is .{}", variable.name, place.what, place.type->name));
    if (place.type->bits < 32) fail(token, fmt::format("the address of '{}' needs 32 bits; {} has {}", variable.name, place.what, place.type->bits));
    const std::uint64_t offset = static_cast<std::uint64_t>(parse_offsets());
    return {Item::Kind::variable, static_cast<int>(&variable - program_.variables.data()), offset, {}, 0, words};
  }

  Item register_item(const Token& token, const Slot& place) {
    const NamedRegister* found = find_register(token.text);
    if (found == nullptr) found = &undeclared_register(token, place);
    const DataType& type = *found->type;
    const bool wide_enough = place.may_be_wider && place.type->type_class != DataType::Class::floating ? type.bits >= place.type->bits
                                                                                                       : type.bits == place.type->bits;
    if (!wide_enough) fail(token, fmt::format("'{}' is .{}, but {} has {} bits", token.text, type.name, place.what, place.type->bits));
    if (!accepts(place.accepted, type))
      fail(token, fmt::format("'{}' is .{}; ptxas does not take that for {}: declare it .b{}", token.text, type.name, place.what, type.bits));
    return {Item::Kind::named, static_cast<int>(found - program_.registers.data()), 0, {}, found->slot, type.bits > 32 ? 2 : 1};
  }

  const NamedRegister& undeclared_register(const Token& token, const Slot& place) {
    if (declares_registers_) fail(token, fmt::format("register '{}' is not declared", token.text));
    if (token.text.front() == '%' && here().kind == Token::Kind::qualifier)
      fail(token, fmt::format("'{}{}' is not supported: the only special register is %laneid", token.text, here().text));
    const int bits = place.may_be_wider ? std::max(place.type->bits, 32) : place.type->bits;
    define_register(token, std::string(token.text), *find_data_type(fmt::format("b{}", bits)));
    return program_.registers.back();
  }

  /// The sum of what follows: + or +- and a number, any number of times.
  std::int64_t parse_offsets() {
    std::uint64_t sum = 0;
    while (here().is('+') || here().is('-')) {
      const Token& sign = take();
      if (sign.is('-')) fail(sign, "ptxas takes no minus here: write +-");
      const bool negative = take_if('-');
      const Token& number = take();
      const auto value = number.kind == Token::Kind::number ? parse_integer(number.text) : std::nullopt;
      if (!value || *value > 0x7fffffff) fail(number, fmt::format("expected an offset below 2^31, found {}", spell(number)));
      sum += negative ? ~*value + 1 : *value;
    }
    return static_cast<std::int64_t>(sum);
  }

  OperandText parse_address(const std::string& what) {
    const Token& open = here();
    if (!take_if('[')) fail(open, fmt::format("{} is written in brackets: [register], [variable] or [register+16]", what));
    const Token& base = here();
    if (base.kind == Token::Kind::number) fail(base, "ptxas takes no number as a shared address: mov.u32 takes it to a register");
    if (base.kind != Token::Kind::word || base.text == "_")
      fail(base, fmt::format("expected a register or a shared variable, found {}", spell(base)));
    const bool is_variable = program_.find_variable(base.text) != nullptr;
    static const DataType& b32 = *find_data_type("b32");
    OperandText operand{OperandText::Kind::address, {parse_item({what, accepts_integers, &b32, false, !is_variable, is_variable})}, 0};
    if (!is_variable) operand.offset = parse_offsets();
    expect(']', what);
    return operand;
  }

  // ---- The register file ------------------------------------------------------------------------------------------------------------

  /// Gives every item that is not a named register its slot: behind the named ones the sink, then a read-only register for each value,
  /// and behind those the addresses.
  void place_slots() {
    for (const bool addresses : {false, true})
      for_each_item([&](Item& item) {
        if ((item.kind == Item::Kind::variable) == addresses) item.slot = slot_of(item);
      });
  }

  template <typename Visit>
  void for_each_item(Visit visit) {
    for (Statement& statement : program_.statements)
      for (OperandText& operand : statement.operands)
        for (Item& item : operand.items) visit(item);
  }

  int address_slot(const Item& item) {
    const std::uint64_t address = static_cast<std::uint64_t>(program_.variables[static_cast<std::size_t>(item.index)].address) + item.bits;
    std::vector<std::uint64_t>& addresses = program_.addresses;
    const auto found = std::ranges::find(addresses, address);
    const int slot = program_.address_slot(static_cast<std::size_t>(found - addresses.begin()));
    if (found == addresses.end()) addresses.push_back(address);
    return slot;
  }

  int slot_of(const Item& item) {
    switch (item.kind) {
      case Item::Kind::named: return item.slot;
      case Item::Kind::sink: return program_.sink_slot();
      case Item::Kind::number: return constant_slot(item.bits, item.words);
      case Item::Kind::variable: return address_slot(item);
      case Item::Kind::laneid: {
        Register ids;
        for (std::uint32_t lane = 0; lane < lanes; ++lane) ids[lane] = lane;
        return constant_slot({ids});
      }
    }
    return 0;
  }

  int constant_slot(std::uint64_t bits, int words) {
    std::vector<Register> value(static_cast<std::size_t>(words));
    for (Register& word : value) {
      word.fill(static_cast<std::uint32_t>(bits));
      bits >>= 32;
    }
    return constant_slot(value);
  }

  int constant_slot(const std::vector<Register>& value) {
    std::vector<Register>& constants = program_.constants;
    auto found = std::search(constants.begin(), constants.end(), value.begin(), value.end());
    const int slot = program_.first_constant() + static_cast<int>(found - constants.begin());
    if (found == constants.end()) constants.insert(constants.end(), value.begin(), value.end());
    return slot;
  }

  std::string_view source_;
  std::vector<std::size_t> line_starts_;
  std::vector<Token> tokens_;
  std::size_t position_ = 0;
  std::size_t failed_at_ = 0;  ///< where the current statement began: recovery must get beyond it
  const Target* fixed_target_;
  bool declares_registers_ = false;
  std::map<std::string, std::size_t, std::less<>> register_index_;  ///< by name: the position in Program::registers
  Program program_;
  std::vector<Diagnostic> errors_;
};

}  // namespace

Program parse(std::string_view text, std::string_view target_name) {
  return Parser(text, target_name.empty() ? nullptr : &target(target_name)).program();
}

}  // namespace warpmat

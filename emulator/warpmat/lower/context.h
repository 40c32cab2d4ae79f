#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <warpmat/lower/arithmetic.h>
#include <warpmat/lower/draft.h>
#include <warpmat/lower/module_symbols.h>
#include <warpmat/lower/names.h>
#include <warpmat/ptx/catalogue/executable.h>
#include <warpmat/ptx/text/token_reader.h>

namespace warpmat::code {

/// For maps by texts that are asked with views of them.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

/// Data shared by the functions of one program during resolution.
struct ProgramDraft {
  Program program;
  Constants constants;
  ModuleSymbols symbols;
  std::vector<DraftFunction> functions;  ///< by the order in which calls reach them; the entry first
  std::unordered_map<const catalogue::Match*, std::pair<scalar::Function, std::uint32_t>> kernels;  ///< and the numbers of their modifiers
  /// By opcode; their texts point into the keys.
  std::unordered_map<std::string, std::optional<catalogue::Match>, TextHash, std::equal_to<>> matches;
  std::unordered_set<const catalogue::Match*> accepted{};                                     ///< those that the target has
  std::vector<const catalogue::Match*> statement_matches{};                                   ///< of Program::statements, or null
  std::unordered_map<const catalogue::Match*, std::optional<Arithmetic>> known_arithmetic{};  ///< once asked for

  /// Matrix instructions that the target has, with their forms as the text names them; by opcode, a view of a statement's.
  std::unordered_map<std::string_view, std::pair<const Form*, Instruction>> matrices{};

  /// Of rows that spell an opcode, those that take more operands than the first.
  std::unordered_map<const catalogue::Match*, catalogue::Match> longer_matches{};

  /// The row that spells `opcode`, or nullptr.
  const catalogue::Match* find_match(std::string_view opcode);
  /// The row that spells the opcode of `match` and takes `operands`, which are more than `match` takes; `match` where there is none.
  const catalogue::Match* find_longer(const catalogue::Match& match, std::size_t operands);
  /// Gives a row that spells an opcode the number of its spelling in the program.
  const catalogue::Match* keep_spelling(catalogue::Match& match);
  /// Its number; it has no row yet.
  std::uint32_t add_statement(const syntax::Statement& statement);
  /// The row that the statement's opcode spells, or nullptr.
  const catalogue::Match* match_of_statement(std::uint32_t statement) const { return statement_matches[statement]; }
  const std::optional<Arithmetic>& arithmetic_of(const catalogue::Match& match);
  /// Sets `operation` to compute `match`'s row.
  void set_function(const catalogue::Match& match, Operation& operation);
  void set_function(const catalogue::Match& match, DraftOperation& draft);
  /// An operation without a guard that computes the row `opcode` for the statement of `like`. Throws StatementError where no row spells it.
  DraftOperation make(std::string_view opcode, std::vector<Value> results, std::vector<Value> sources, const DraftOperation& like);
  /// The number of the function. A new function is resolved later.
  int function_index(const syntax::Function& function);
};

struct ListDraft;

/// A statement while its operations are made.
struct CurrentStatement {
  const syntax::Statement* text = nullptr;
  std::uint32_t index = 0;                  ///< of Program::statements
  const catalogue::Match* match = nullptr;  ///< its row; null of matrix instructions
  bool guarded = false, guard_inverted = false;
  Value guard = 0;
  bool may_discard = false;  ///< the result that is being read may be _
  struct Extension {
    Value from, to;
    std::string opcode;
  };
  std::vector<Extension> extensions{};  ///< of results that are wider than the operation's
};

/// A function while its body becomes operations, and the statement at which that is. What each statement becomes, families of free
/// functions say: lower.h.
struct Context {
  Context(ProgramDraft& all, int number);

  ProgramDraft& draft;
  const int index;
  DraftFunction function;
  const syntax::Function& source;
  Names names;
  CurrentStatement current;

  std::deque<syntax::Statement> expanded;  ///< statements whose vector registers are written as their elements
  std::deque<std::string> element_names;
  /// What alloca has handed out ends at `pointer`, a register; lower than `limit` it may not go.
  struct Stack {
    Value pointer = 0, limit = 0;
  };
  std::optional<Stack> stack;
  std::optional<Value> carry;  ///< the register for .cc
  ListDraft* list = nullptr;   ///< null in a module

  // Labels belong to their scope: inline assembly repeats them.
  std::vector<int> scope_parents;
  std::map<std::pair<int, std::string_view>, int> labels;
  std::map<std::string_view, const syntax::TargetList*> target_lists;
  std::map<std::string_view, const syntax::Prototype*> prototypes;
  int scope = 0, scopes_seen = 0;
  int end_label = 0;  ///< before the only return of a .func

  // The current statement:
  const std::string& opcode() const { return current.text->opcode; }
  const std::vector<syntax::Operand>& operands() const { return current.text->operands; }
  const syntax::Operand& operand(std::size_t number) const;
  /// Throws if there are more operands. `here` ends the message.
  void must_end_at(std::size_t count, std::string_view here = {}) const;
  catalogue::Name instruction() const { return current.match == nullptr ? catalogue::Name::other : current.match->name(); }
  /// Why the program's target or version does not have what has that requirement.
  std::optional<std::string> unmet(const Requirement& requirement) const;
  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] void fail(const syntax::Operand& operand, const std::string& message) const;

  Value constant(RegisterClass register_class, std::uint64_t low) { return draft.constants.add(register_class, low); }
  Value temporary(RegisterClass register_class) { return names.new_register(register_class, 0); }
  int bits_of(Value value) const;
  RegisterClass class_of(Value value) const;
  std::int32_t new_local(std::int64_t bytes, std::int64_t alignment);

  /// Appends an operation with the statement's guard, and the widening of its results.
  void add(DraftOperation operation);
  void add(DraftOperation operation, Payload payload);
  /// Appends an operation that prepares an operand and needs no guard.
  void prepare(DraftOperation operation);
  /// A new value that the row `opcode` computes before the statement's own operation.
  Value computed(RegisterClass register_class, std::string_view opcode, std::vector<Value> sources);
  /// A value of 32 or 64 bits as one of 64.
  Value wide(Value value);
  /// The row `opcode`, which must exist, as an operation.
  DraftOperation row(std::string_view opcode, std::vector<Value> results, std::vector<Value> sources);
};

/// Makes the operations of a statement, and throws where it is wrong.
void statement(Context& in, const syntax::Statement& statement);

/// Converts the body of a function of the draft to operations. Appends all errors to `errors`, not only the first.
void resolve_function(ProgramDraft& draft, int function, std::vector<Diagnostic>& errors);
/// Of a list of statements, of which `list` keeps what its users see.
void resolve_function(ProgramDraft& draft, ListDraft& list, std::vector<Diagnostic>& errors);

}  // namespace warpmat::code

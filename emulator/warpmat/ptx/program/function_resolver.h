#pragma once

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <warpmat/program.h>
#include <warpmat/ptx/catalogue/executable.h>
#include <warpmat/ptx/program/arithmetic.h>
#include <warpmat/ptx/program/draft.h>
#include <warpmat/ptx/program/module_symbols.h>
#include <warpmat/ptx/program/names.h>
#include <warpmat/ptx/program/operand_rules.h>
#include <warpmat/ptx/program/special_register.h>
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

/// The space that the qualifiers name; generic if none does.
Space space_of(const catalogue::Match& match);

/// The operation of atom, red or a reducing copy; nothing of a copy.
std::optional<AtomicOperation> atomic_operation(const catalogue::Match& match);

/// The opcode of the catalogue's instruction that computes what an operation on that type stores, if that is arithmetic on formats.
std::string arithmetic_row(AtomicOperation operation, const DataType& type);

struct ListDraft;

/// Converts the body of one function to operations. It reports all errors, not only the first.
class FunctionResolver {
 public:
  FunctionResolver(ProgramDraft& draft, int function);

  /// The function is a list of statements, of which `list` keeps what its users see.
  void resolve_list(ListDraft& list, std::vector<Diagnostic>& errors);
  /// Of a list: its registers that are not words, with their words.
  const std::map<Value, Words>& kept_in_words() const { return kept_in_words_; }
  /// Appends errors to `errors`.
  void resolve(std::vector<Diagnostic>& errors);

 private:
  // The frame of the function: function_resolver.cpp
  void declare_parameters();
  void collect_labels();
  int open_scope(int parent);
  void element(const syntax::Element& element);
  void declare(const syntax::Variable& variable);
  void statement(const syntax::Statement& statement);
  void expand_vectors();
  void by_semantics(const catalogue::Match& match);
  int find_label(const syntax::Operand& operand) const;
  std::int32_t new_local(std::int64_t bytes, std::int64_t alignment);

  // Operands: operands.cpp
  const syntax::Operand& operand(std::size_t index) const;
  /// What the text of an operand means at its seat.
  struct Meaning {
    enum class Kind : std::uint8_t { register_, number, special, warp_size, variable, discard };
    // Of a register without the rest of its Named: copying what has just been written field by field stalls.
    Value value = 0;  ///< of a register
    Kind kind = Kind::register_;
    int index = 0;  ///< of a list's register, of a variable
    std::optional<Named> variable{};
    std::optional<SpecialRegisterName> special{};  ///< of a special register
  };
  const Dialect& dialect() const { return list_ != nullptr ? of_lists : of_modules; }
  Seat seat(const DataType& type, bool written, bool may_be_wider) const;
  Seat seat(const catalogue::Match& match, const catalogue::OperandPattern& pattern);
  Meaning meaning(const syntax::Operand& given, const Seat& seat);
  Meaning judged_meaning(const syntax::Operand& given, const Seat& seat);
  Meaning unnamed_meaning(const syntax::Operand& given, const Seat& seat);
  Meaning register_meaning(const Named& named, const syntax::Operand& given, const Seat& seat) const;
  std::optional<Value> plain_register(const syntax::Operand& given, const DataType& type, bool written) const;
  void judge_integer(Value value, const syntax::Operand& given, const Seat& seat) const;
  void judge_value(Value value, const syntax::Operand& given, const Seat& seat) const;
  std::optional<SpecialRegisterName> special_at(const syntax::Operand& given, const Seat& seat) const;
  [[noreturn]] void refuse(const Objection& objection, const Seat& seat, const syntax::Operand& given) const;
  /// Throws if there is an objection.
  void check(const std::optional<Objection>& objection, const Seat& seat, const syntax::Operand& given) const {
    if (objection) refuse(*objection, seat, given);
  }
  Value source(const syntax::Operand& operand, const DataType& type, bool may_be_wider = false);
  Value source(const syntax::Operand& operand, const DataType& type, const Seat& seat);
  Value source_of(const Meaning& found, const syntax::Operand& operand, const DataType& type, const Seat& seat);
  /// The register of a result. If it is wider than the type, a temporary that `extensions_` widens afterwards.
  Value result(const syntax::Operand& operand, const DataType& type, bool may_be_wider = false);
  Value result(const syntax::Operand& operand, const DataType& type, const Seat& seat);
  Value result_of(const Meaning& found, const DataType& type);
  Value named_register(const syntax::Operand& operand) { return named_register(operand, names_.find(operand.text)); }
  Value named_register(const syntax::Operand& operand, const std::optional<Named>& named);
  void check_type(const syntax::Operand& operand, Value value, const DataType& type) const;
  Value sum(Value value, std::int64_t offset);
  /// Whether a variable, meaning its address, is allowed as a source register.
  bool takes_addresses() const;
  catalogue::Name instruction() const { return draft_.program.names[statement_index_]; }
  /// The space of the variable that the operand names.
  std::optional<Space> variable_space(const syntax::Operand& operand) const;
  Value special_register(const syntax::Operand& operand, const SpecialRegisterName& special, const DataType& type);
  /// Reads the operands of the row.
  void read_operands(const catalogue::Match& match, DraftOperation& operation, scalar::Video* video = nullptr);
  syntax::Operand without_selector(const catalogue::Match& match, std::size_t index, scalar::Video& video);
  void read_operand(const catalogue::Match& match, const catalogue::OperandPattern& pattern, const syntax::Operand& operand,
                    DraftOperation& operation);
  Value number(const syntax::Operand& operand, const DataType& type);
  std::uint64_t immediate(const syntax::Operand& operand) const;
  Value address_of(const syntax::Operand& operand, const Named& named, RegisterClass register_class);
  Value temporary(RegisterClass register_class) { return names_.new_register(register_class, 0); }
  int bits_of(Value value) const;
  RegisterClass class_of(Value value) const;
  /// A place in memory: the value that holds the address, and an offset.
  struct Place {
    Value base = 0;
    std::int64_t offset = 0;
    std::optional<Space> space{};  ///< of a variable
    bool parameter = false;        ///< a .param variable, which is in local memory
    bool number = false;           ///< the text has a number, no register or variable
  };
  Place place(const syntax::Operand& operand);
  Place place(const syntax::Operand& operand, const Seat& seat);
  Place place_in(const syntax::Operand& operand, Space space);
  std::vector<Value> group(const syntax::Operand& operand, const DataType& type, bool result, std::size_t count);
  std::vector<Value> group(const syntax::Operand& operand, const DataType& type, Seat seat, std::size_t count, bool in_braces);

  // Lists: list_statements.cpp
  void list_element(const syntax::Directive& directive);
  void list_element(const syntax::Label& label);
  void list_element(const syntax::Fault& fault);
  void list_element(const syntax::Variable& variable);
  void list_element(const syntax::Statement& statement);
  template <typename Other>
  void list_element(const Other&) {}  // not in a list
  void define_list_registers(const syntax::Variable& variable, const DataType& type);
  Named define_list_register(Location location, std::string name, const DataType& type);
  void define_list_variable(const syntax::Variable& declared, const DataType& type);
  void require_new(Location location, const std::string& name) const;
  void refuse_labels_of_names(std::vector<Diagnostic>& errors) const;
  void begin_list_statement(const syntax::Statement& statement);
  void list_guard(const syntax::Guard& guard);
  Instruction list_matrix_instruction() const;
  Instruction list_scalar_instruction();
  void check_list_count() const;
  Seat list_seat() const;
  void begin_list_operand(const syntax::Operand& given);
  void note_group(OperandText::Kind kind);
  void note(const Meaning& found, const syntax::Operand& given, const Seat& seat);
  std::vector<Meaning> list_group(const syntax::Operand& operand, Seat seat, int count, bool in_braces);
  std::vector<Meaning> list_data(std::size_t index, int count);
  Place list_place(const syntax::Operand& operand, Seat seat);
  Named undeclared(const syntax::Operand& given, const Seat& seat);

  // Scalar statements: scalar_statements.cpp
  void compute(const catalogue::Match& match);
  void move_vector(const catalogue::Match& match);
  void pack(const catalogue::Match& match);
  void address_space(const catalogue::Match& match);
  Value in_constants(Value address);
  void query_space(Value address, Space space, bool of_block);

  // Memory: memory_statements.cpp
  bool has_several_types(std::span<const syntax::Operand> items) const;
  void take_policy(const catalogue::Match& match, std::size_t count);
  void load(const catalogue::Match& match);
  void store(const catalogue::Match& match);
  void multimem(const catalogue::Match& match);
  void atomic(const catalogue::Match& match);
  void cp_async(const catalogue::Match& match);
  void wait_group(const catalogue::Match& match);
  template <typename A>
  void add_access(DraftOperation operation, A access, const Place& place);

  // Control: control_statements.cpp
  void branch();
  void branch_table();
  void call();
  void call_indirectly(const syntax::Operand* returns, const syntax::Operand& name, const syntax::Operand* arguments, std::size_t next);
  void call_function(const syntax::Operand* returns, const syntax::Operand* arguments, int function, Call call);
  void simple(catalogue::Semantics semantics);
  void hint(const catalogue::Match& match);
  void absent(const catalogue::Match& match);
  void open_stack();
  void stack(const catalogue::Match& match);
  void trap_where(Value predicate, TrapCause cause);
  void no_operands() const;
  void leave();

  // Operations across lanes or warps: warp_statements.cpp
  void barrier(const catalogue::Match& match);
  void exchange(const catalogue::Match& match);

  // mbarrier, bulk copies, clusters: async_statements.cpp
  Value address(const syntax::Operand& operand, Space space);
  void mbarrier(const catalogue::Match& match);
  BulkCopy described_copy(const catalogue::Match& match);
  void bulk_copy(const catalogue::Match& match);
  void remote_store(const catalogue::Match& match);
  void cancel_sources(const BulkCopy& copy, DraftOperation& operation);
  void fill_sources(const BulkCopy& copy, DraftOperation& operation);
  void bulk_sources(const catalogue::Match& match, const BulkCopy& copy, DraftOperation& operation);
  void bulk_wait(const catalogue::Match& match);
  void cluster_barrier(const catalogue::Match& match);
  void cluster_rank(const catalogue::Match& match);
  void tensor_map(const catalogue::Match& match);
  Reduction reduction(const catalogue::Match& match, const DataType& type);

  // tcgen05: tensor_memory_statements.cpp
  Value tensor_address(const syntax::Operand& operand);
  Value columns(const syntax::Operand& operand, bool allocates);
  Value shared_address(const syntax::Operand& operand, Space space);
  void tensor_memory(const catalogue::Match& match);
  void tensor_transfer(TensorStatement& statement, DraftOperation& operation);
  void tensor_product(const catalogue::Match& match, TensorStatement& statement, DraftOperation& operation);
  void disabled_lanes(const syntax::Operand& lanes, TensorStatement& statement, DraftOperation& operation);
  void scale_of_d(const catalogue::Match& match, const syntax::Operand& given, TensorStatement& statement);
  void tensor_copy(DraftOperation& operation);
  void must_end_at(std::size_t operands) const;

  // Textures and surfaces: texture_statements.cpp
  void texture(const catalogue::Match& match);
  std::size_t texture_operands(const catalogue::Match& match, std::size_t next, TextureAccess& access, DraftOperation& operation);
  std::vector<Value> texture_results(const syntax::Operand& operand, int bits, std::size_t count);

  // Matrix instructions: matrix_statements.cpp
  std::pair<const Form*, Instruction> matrix_instruction();
  void matrix();
  Seat matrix_seat(const Form& form, const Operand& wanted, const Instruction& instruction) const;
  void matrix_place(const syntax::Operand& operand, const Form& form, const Seat& seat, Matrix& matrix, std::vector<Value>& sources);
  Value matrix_selector(const syntax::Operand& operand, const Operand& wanted, const Seat& seat);
  void add_words(Value value, std::vector<Value>& words);

  // Warpgroups: wgmma_statements.cpp
  void wgmma();
  void wgmma_wait();
  void max_registers(const catalogue::Match& match);
  void wait_for_read_accumulators();
  DraftOperation early_wait(const DraftOperation& reader);
  void keep_accumulators();
  WgmmaImmediates wgmma_immediates(const WgmmaForm& form, bool a_in_registers, std::size_t first);
  bool flag(const syntax::Operand& operand, const char* what, std::string_view clear, std::string_view set) const;

  /// Appends an operation with the statement's guard, and the widening of its results.
  void add(DraftOperation operation);
  /// Appends an operation that prepares an operand and needs no guard.
  void prepare(DraftOperation operation);
  /// The row `opcode`, which must exist, as an operation.
  DraftOperation row(std::string_view opcode, std::vector<Value> results, std::vector<Value> sources);
  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] void fail(const syntax::Operand& operand, const std::string& message) const;

  ProgramDraft& draft_;
  int index_;
  DraftFunction function_;
  const syntax::Function& source_;
  Names names_;

  const syntax::Statement* statement_ = nullptr;  ///< the current one
  const catalogue::Match* match_ = nullptr;       ///< its row; null of matrix instructions
  std::uint32_t statement_index_ = 0;
  bool guarded_ = false, guard_inverted_ = false;
  Value guard_ = 0;

  std::deque<syntax::Statement> expanded_;  ///< statements whose vector registers are written as their elements
  std::deque<std::string> element_names_;

  /// What alloca has handed out ends at `pointer`, a register; lower than `limit` it may not go.
  struct Stack {
    Value pointer = 0, limit = 0;
  };
  std::optional<Stack> stack_;

  struct Extension {
    Value from, to;
    std::string opcode;
  };
  std::vector<Extension> extensions_;
  std::optional<Value> carry_;            ///< the register for .cc
  ListDraft* list_ = nullptr;             ///< null in a module
  std::map<Value, Words> kept_in_words_;  ///< see kept_in_words()
  bool may_discard_ = false;              ///< the result that is being read may be _

  // Labels belong to their scope: inline assembly repeats them.
  std::vector<int> scope_parents_;
  std::map<std::pair<int, std::string_view>, int> labels_;
  std::map<std::string_view, const syntax::TargetList*> target_lists_;
  std::map<std::string_view, const syntax::Prototype*> prototypes_;
  int scope_ = 0, scopes_seen_ = 0;
  int end_label_ = 0;  ///< before the only return of a .func
};

}  // namespace warpmat::code

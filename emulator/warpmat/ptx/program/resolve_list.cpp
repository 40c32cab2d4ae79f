#include <warpmat/ptx/program/resolve_list.h>

#include <map>
#include <set>
#include <span>
#include <utility>

#include <warpmat/ptx/program/control_flow.h>
#include <warpmat/ptx/program/emit.h>
#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::inline v0_1::code {
namespace {

/// Loads a statement's predicates and 64-bit registers from their words, and stores them back.
class KeptInWords {
 public:
  KeptInWords(ProgramDraft& draft, const std::map<Value, Words>& words) : draft_(draft), words_(words) {}

  void wrap_statements(DraftFunction& function) {
    const std::vector<DraftOperation> operations = std::exchange(function.operations, {});
    for (std::size_t first = 0, last = 0; first < operations.size(); first = last) {
      const std::uint32_t statement = operations[first].operation.statement;
      while (last < operations.size() && operations[last].operation.statement == statement) ++last;
      wrap(std::span(operations).subspan(first, last - first), function.operations);
    }
  }

 private:
  void wrap(std::span<const DraftOperation> statement, std::vector<DraftOperation>& out) {
    std::set<Value> read, written;
    for (const DraftOperation& operation : statement) {
      for_each_read(operation, [&](Value value) { read.insert(value); });
      written.insert(operation.results.begin(), operation.results.end());
    }
    const std::uint32_t number = statement.front().operation.statement;
    for (const Value value : read)
      if (const auto found = words_.find(value); found != words_.end()) out.push_back(taken(value, found->second, number));
    out.insert(out.end(), statement.begin(), statement.end());
    for (const Value value : written)
      if (const auto found = words_.find(value); found != words_.end()) out.push_back(put_back(value, found->second, number));
  }

  DraftOperation taken(Value value, const Words& words, std::uint32_t statement) {
    if (!words.high) return row("%predicate.b32", {value}, {words.low}, statement);
    return row("%pack.b64.b32", {value}, {words.low, *words.high}, statement);
  }

  DraftOperation put_back(Value value, const Words& words, std::uint32_t statement) {
    if (!words.high) return row("%word.pred", {words.low}, {value}, statement);
    return row("%unpack.b64.b32", {words.low, *words.high}, {value}, statement);
  }

  DraftOperation row(const std::string& opcode, std::vector<Value> results, std::vector<Value> sources, std::uint32_t statement) {
    DraftOperation operation;
    draft_.set_function(*draft_.find_match(opcode), operation.operation);
    operation.operation.statement = statement;
    operation.results = std::move(results);
    operation.sources = std::move(sources);
    return operation;
  }

  ProgramDraft& draft_;
  const std::map<Value, Words>& words_;
};

}  // namespace

Program resolve_list(std::shared_ptr<const syntax::Module> module, const warpmat::Program& list) {
  const syntax::Function& body = module->functions.front();
  return make_program(std::move(module), *list.target(), [&](ProgramDraft& draft, std::vector<Diagnostic>& errors) {
    draft.program.is_list = true;
    draft.function_index(body);
    FunctionResolver resolver(draft, 0);
    resolver.declare(list);
    resolver.resolve(errors);
    DraftFunction& function = draft.functions.front();
    function.operations.pop_back();  // the exit: a list's lanes continue with another statement
    KeptInWords(draft, resolver.kept_in_words()).wrap_statements(function);
  });
}

}  // namespace warpmat::inline v0_1::code

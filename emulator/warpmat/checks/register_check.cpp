#include <cstdint>
#include <string>

#include <warpmat/checks/checks.h>

namespace warpmat::checks {

namespace {

/// Warns of warps of a warpgroup that executed setmaxnreg with different numbers.
class RegisterCheck : public machine::Observer {
 public:
  RegisterCheck(const Setup& setup, std::uint64_t cluster) : Observer(machine::EventKinds::none), setup_(setup), cluster_(cluster) {}

  void registers_differ(const machine::RegistersEvent& event) override {
    setup_.reports.warnings.add(event.statement, cluster_, event.report);
  }

 private:
  const Setup& setup_;
  std::uint64_t cluster_;
};

}  // namespace

void add_register_check(Observers& all, const Setup& setup, std::uint64_t cluster) {
  if (setup.program.limits.registers != 0) all.push_back(std::make_unique<RegisterCheck>(setup, cluster));
}

}  // namespace warpmat::checks

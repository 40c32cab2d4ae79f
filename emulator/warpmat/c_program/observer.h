#pragma once

#include <warpmat/c_program.h>
#include <warpmat/observer.h>

namespace warpmat::inline v0_1::c {

/// Hands events to the callbacks of a warpmat_observer, which outlives it.
class CallbackObserver : public machine::Observer {
 public:
  explicit CallbackObserver(const warpmat_observer& callbacks);

  void operation(const machine::Event& event) override;
  void access(const machine::AccessEvent& event) override;
  void bulk_issues(const machine::Event& event, const machine::BulkEvent& copy) override;

 private:
  const warpmat_observer& callbacks_;
};

}  // namespace warpmat::inline v0_1::c

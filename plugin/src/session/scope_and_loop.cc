// SPDX-License-Identifier: MIT
//
// The functions of syscost/syscost.h and syscost/loop.h over the process's session.

#include <memory>
#include <string>
#include <utility>

#include "os/errors.h"
#include "session/loops/loop_run.h"
#include "session/session.h"
#include "session/windows/backend_holder.h"
#include "session/windows/scopes.h"
#include "syscost/adapter.h"
#include "syscost/loop.h"
#include "syscost/syscost.h"

namespace syscost {
namespace {

/// For OwnCalls: the program's memory is used, and its own allocator may make calls.
session::OpenBackend* counting_backend() {
  const session::Session& session = session::process_session();
  return session.is_fork_child() ? nullptr : session.backend().current();
}

}  // namespace

Scope::Scope(std::string_view name, Reach reach) : cost_(session::unavailable_cost::pending()) {
  const KeptErrno kept;
  record_ = session::started_session().scopes().open(name, reach, cost_);
}

Scope::Scope(Reach reach, adapter::OfAdapter) : Scope(reach) {}

Scope::~Scope() {
  const KeptErrno kept;
  if (record_ != nullptr) session::process_session().scopes().close(record_);
}

Cost Scope::stop() {
  const KeptErrno kept;
  if (record_ != nullptr) cost_ = session::process_session().scopes().close(std::exchange(record_, nullptr));
  return cost_;
}

int cycles(int fallback) {
  return session::process_session().windows().cycles(fallback);
}

Loop::Loop(std::string_view name) {
  const KeptErrno kept;
  // Without a request the body runs once, and no session is started for it.
  if (!adapter::requested()) return;
  session::Session& session = session::started_session();
  const session::OwnCalls own(counting_backend());
  run_ = std::make_unique<session::LoopRun>(session.loops(), name);
}

Loop::~Loop() {
  if (run_ == nullptr) return;
  const KeptErrno kept;
  run_->leave();  // attaches the backend again
  const session::OwnCalls own(counting_backend());
  run_.reset();
}

std::uint64_t Loop::next_pass() {
  const KeptErrno kept;
  if (run_ != nullptr) return run_->next_pass();
  if (has_run_) return 0;
  has_run_ = true;
  return 1;
}

}  // namespace syscost

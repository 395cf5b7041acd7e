// SPDX-License-Identifier: MIT
#include "syscost/loop.h"

#include "os/kept_errno.h"
#include "session/loops/loop_run.h"
#include "session/process_session.h"
#include "syscost/adapter.h"

namespace syscost {

Loop::Loop(std::string_view name) {
  const KeptErrno kept;
  // Without a request the body runs once, and no session is started for it.
  if (adapter::requested()) run_ = std::make_unique<session::LoopRun>(session::started_session().loops(), name);
}

Loop::~Loop() {
  const KeptErrno kept;
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

// SPDX-License-Identifier: MIT
#include "syscost/loop.h"

#include "session/loop_run.h"
#include "syscost/adapter.h"

namespace syscost {

Loop::Loop(std::string_view name) {
  // Nobody asked: the body runs once, and no session is started for it.
  if (adapter::requested()) run_ = std::make_unique<session::LoopRun>(session::started_session(), name);
}

Loop::~Loop() = default;

std::uint64_t Loop::next_pass() {
  if (run_ != nullptr) return run_->next_pass();
  if (has_run_) return 0;
  has_run_ = true;
  return 1;
}

}  // namespace syscost

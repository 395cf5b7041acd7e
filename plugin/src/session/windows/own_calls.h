// SPDX-License-Identifier: MIT
//
// OwnCalls: the calling thread works for syscost while one of these exists. A scope of the user's may be open at that
// time, around a loop or on another thread: none of the thread's calls is charged to it. None of them meets a fault.
#pragma once

#include <optional>

#include "session/windows/backend_holder.h"

namespace syscost::session {

class OwnCalls {
 public:
  /// `opened`: the backend that counts; null = none.
  explicit OwnCalls(OpenBackend* opened) : opened_(opened) {
    if (opened_ == nullptr) return;
    lane_ = opened_->book.mute();
    if (FaultInjector* const faults = opened_->backend->faults(); faults != nullptr) thread_ = faults->begin_own_work();
  }
  ~OwnCalls() {
    if (opened_ == nullptr) return;
    if (thread_ != nullptr) opened_->backend->faults()->end_own_work(thread_);
    opened_->book.unmute(lane_);
  }
  OwnCalls(const OwnCalls&) = delete;
  OwnCalls& operator=(const OwnCalls&) = delete;

 private:
  OpenBackend* const opened_;
  std::optional<Lane> lane_;
  void* thread_ = nullptr;  // of FaultInjector::begin_own_work()
};

}  // namespace syscost::session

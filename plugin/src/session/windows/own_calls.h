// SPDX-License-Identifier: MIT
//
// OwnCalls: the calling thread works for syscost while one of these exists. A scope of the user's may be open at that
// time, around a loop or on another thread: none of the thread's calls is charged to it. None of them meets a fault.
#pragma once

#include <optional>

#include "session/windows/backend_holder.h"

namespace syscost::session {

/// The half of it for where no window is open on the thread: its calls meet no fault.
class OwnWork {
 public:
  explicit OwnWork(OpenBackend* opened) : faults_(opened != nullptr ? opened->backend->faults() : nullptr) {
    if (faults_ != nullptr) thread_ = faults_->begin_own_work();
  }
  ~OwnWork() {
    if (faults_ != nullptr) faults_->end_own_work(thread_);
  }
  OwnWork(const OwnWork&) = delete;
  OwnWork& operator=(const OwnWork&) = delete;

 private:
  FaultInjector* const faults_;
  void* thread_ = nullptr;
};

class OwnCalls {
 public:
  /// `opened`: the backend that counts; null = none.
  explicit OwnCalls(OpenBackend* opened) : opened_(opened), work_(opened) {
    if (opened_ != nullptr) lane_ = opened_->book.mute();
  }
  ~OwnCalls() {
    if (opened_ != nullptr) opened_->book.unmute(lane_);
  }
  /// False where the thread's calls cannot be told from the program's.
  bool has_lane() const { return lane_.has_value(); }
  OwnCalls(const OwnCalls&) = delete;
  OwnCalls& operator=(const OwnCalls&) = delete;

 private:
  OpenBackend* const opened_;
  const OwnWork work_;
  std::optional<Lane> lane_;
};

}  // namespace syscost::session

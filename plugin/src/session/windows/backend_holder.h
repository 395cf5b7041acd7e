// SPDX-License-Identifier: MIT
//
// BackendHolder: the open backend with its book of windows, and a new one if a test disabled it. OwnCalls: the calls
// that a thread makes for syscost, which no window is charged for.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/backend.h"
#include "core/cost_data.h"
#include "core/extensions.h"
#include "core/window_book.h"
#include "os/errors.h"
#include "session/options/options.h"

namespace syscost::session {

/// Opens the backend that the options choose, to count what they select; `automatic` opens the first that works. Never
/// called with `none`.
using BackendOpener = std::function<Result<std::unique_ptr<Backend>>(const Options&)>;

/// A backend that was opened, and its book.
struct OpenBackend {
  OpenBackend(std::unique_ptr<Backend> its_backend, std::shared_ptr<const Filter> its_filter);

  /// Empty counts for a window on this backend. No syscall, no malloc.
  std::shared_ptr<detail::CostData> new_cost() const;
  /// `cost` with `hidden` more lost events; `cost` itself if `hidden` is 0.
  std::shared_ptr<const detail::CostData> with_losses(std::shared_ptr<const detail::CostData> cost,
                                                      std::uint64_t hidden) const;

  std::unique_ptr<Backend> backend;
  WindowBook book;
  const Capabilities capabilities;
  const std::shared_ptr<const Filter> filter;
  /// The reason that a scope without a lane gets. It is made beforehand, because scopes open inside windows.
  const Cost no_lane;
  std::atomic<bool> is_intact{true};  ///< False when its counts are known to be too low.
  /// The last answer of Backend::hidden_losses(): the part that a window of `reach` may have lost. The increase between
  /// two answers belongs to every window that was open in between.
  std::uint64_t hidden_losses(Reach reach) const {
    return (reach == Reach::process ? hidden_losses_of_process : hidden_losses_of_scopes).load();
  }
  std::atomic<std::uint64_t> hidden_losses_of_process{0};
  std::atomic<std::uint64_t> hidden_losses_of_scopes{0};  ///< Those of thread scopes.

  /// Entries times the time that counting adds to one; empty if either is unknown.
  std::optional<std::uint64_t> overhead_estimate_ns(const detail::CostData& cost) const;
  /// True if reading the clock makes no syscall here. Tested once.
  bool clock_is_quiet = false;
};

/// A test that closes every file descriptor closes the backend's too. Its counts are then too low, which is worse than
/// no counts. So all counts of windows that are open on it are void, and a new backend is opened for later windows. The
/// old one stays in memory, because scopes may still be open on it.
class BackendHolder {
 public:
  /// `options` must outlive it. While a backend is open, what they say of counting must not change.
  BackendHolder(BackendOpener opener, const Options& options) : opener_(std::move(opener)), options_(options) {}

  /// Opens the backend of the options. Makes syscalls: between windows only.
  Result<void> open();

  /// Null if no backend works; why_not() then has the reason.
  OpenBackend* current() const { return current_.load(std::memory_order_acquire); }
  std::shared_ptr<const Unavailable> why_not() const { return why_not_; }

  /// Reads the losses that only a syscall shows. If the backend was disabled, voids it, opens another one, and fails
  /// with the reason. Makes syscalls: between windows only.
  Result<void> check(OpenBackend& opened);

 private:
  BackendOpener opener_;
  const Options& options_;
  std::vector<std::unique_ptr<OpenBackend>> opened_;
  std::atomic<OpenBackend*> current_{nullptr};
  std::shared_ptr<const Unavailable> why_not_;
};

// OwnCalls: the calling thread works for syscost while one of these exists. A scope of the user's may be open at that
// time, around a loop or on another thread: none of the thread's calls is charged to it. None of them meets a fault.

/// The half of it for where no window is open on the thread: its calls meet no fault.
class OwnWork {
 public:
  explicit OwnWork(OpenBackend* opened)
      : listener_(opened != nullptr ? opened->backend->extension<OwnWorkListener>() : nullptr) {
    if (listener_ != nullptr) thread_ = listener_->begin_own_work();
  }
  ~OwnWork() {
    if (listener_ != nullptr) listener_->end_own_work(thread_);
  }
  OwnWork(const OwnWork&) = delete;
  OwnWork& operator=(const OwnWork&) = delete;

 private:
  OwnWorkListener* const listener_;
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

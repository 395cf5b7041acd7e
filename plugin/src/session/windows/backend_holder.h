// SPDX-License-Identifier: MIT
//
// BackendHolder: the open backend with its book of windows, and its replacement when a test took it away.
//
// A test that closes every file descriptor closes the backend's too. Its counts are then short, and a short count is
// worse than none: everything measured on that instrument is void from then on, and a new one is opened for what
// follows. The old one stays in memory, because scopes may still be open on it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/backend.h"
#include "core/cost_data.h"
#include "core/window_book.h"
#include "os/result.h"
#include "session/options/options.h"

namespace syscost::session {

/// Opens the chosen backend, `automatic` being the first that works. Never called with `none`.
using BackendOpener = std::function<Result<std::unique_ptr<Backend>>(BackendChoice)>;

/// A backend that was opened, and its book.
struct OpenBackend {
  OpenBackend(std::unique_ptr<Backend> its_backend, std::shared_ptr<const Filter> its_filter);

  /// An empty account for what a window on this instrument counts. No syscall, no malloc.
  std::shared_ptr<detail::CostData> new_cost() const;
  /// `cost` and `hidden` events more that were lost; itself when there are none.
  std::shared_ptr<const detail::CostData> with_losses(std::shared_ptr<const detail::CostData> cost,
                                                      std::uint64_t hidden) const;

  std::unique_ptr<Backend> backend;
  WindowBook book;
  const Capabilities capabilities;
  const std::shared_ptr<const Filter> filter;
  /// Why a scope has no lane; made beforehand, because that is found out inside windows.
  const Cost no_lane;
  std::atomic<bool> is_intact{true};  ///< False once its counts are known to be short.
  /// Backend::hidden_losses() as last asked, as far as a window of `reach` may have lost them. What is new belongs to
  /// every window that was open since the time before.
  std::uint64_t hidden_losses(Reach reach) const {
    return (reach == Reach::process ? hidden_losses_of_process : hidden_losses_of_scopes).load();
  }
  std::atomic<std::uint64_t> hidden_losses_of_process{0};
  std::atomic<std::uint64_t> hidden_losses_of_scopes{0};  ///< Of thread scopes.

  /// Entries times what counting one adds; empty where either is unknown.
  std::optional<std::uint64_t> overhead_estimate_ns(const detail::CostData& cost) const;
  /// True when reading the clock makes no syscall here. Measured once, by doing.
  bool clock_is_quiet = false;
};

class BackendHolder {
 public:
  /// Every backend that is opened counts only what `filter` selects; null = everything.
  explicit BackendHolder(BackendOpener opener, std::shared_ptr<const Filter> filter = nullptr)
      : opener_(std::move(opener)), filter_(std::move(filter)) {}

  /// Opens the chosen backend. Between windows only, as everything here that makes syscalls.
  Result<void> open(BackendChoice choice);

  /// Null when nothing can count; why_not() then says why.
  OpenBackend* current() const { return current_.load(std::memory_order_acquire); }
  std::shared_ptr<const Unavailable> why_not() const { return why_not_; }

  /// Finds out the losses that only a syscall shows. When the instrument is not in place any more: voids it, opens
  /// another, and fails with what happened.
  Result<void> check(OpenBackend& opened);

 private:
  BackendOpener opener_;
  std::shared_ptr<const Filter> filter_;
  BackendChoice choice_ = BackendChoice::automatic;
  std::vector<std::unique_ptr<OpenBackend>> opened_;
  std::atomic<OpenBackend*> current_{nullptr};
  std::shared_ptr<const Unavailable> why_not_;
};

}  // namespace syscost::session

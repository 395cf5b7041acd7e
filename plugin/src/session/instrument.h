// SPDX-License-Identifier: MIT
//
// Instrument: the open backend with its book of windows, and its replacement when a test took it away.
//
// A test that closes every file descriptor closes the backend's too. Its counts are then short, and a short count is
// worse than none: everything measured on that instrument is void from then on, and a new one is opened for what
// follows. The old one stays in memory, because scopes may still be open on it.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "core/backend.h"
#include "core/cost_data.h"
#include "core/result.h"
#include "core/window_book.h"
#include "session/backends.h"

namespace syscost::session {

/// A backend that was opened, and its book.
struct Opened {
  explicit Opened(std::unique_ptr<Backend> its_backend);

  std::unique_ptr<Backend> backend;
  WindowBook book;
  const Capabilities capabilities;
  std::atomic<bool> is_intact{true};  ///< False once its counts are known to be short.

  /// Entries times what counting one adds; empty where either is unknown.
  std::optional<std::uint64_t> overhead_estimate_ns(const detail::CostData& cost) const;
  /// True when reading the clock makes no syscall here. Measured once, by doing.
  bool clock_is_quiet = false;
};

class Instrument {
 public:
  /// Every backend that is opened counts only what `filter` selects; null = everything.
  explicit Instrument(BackendOpener opener, std::shared_ptr<const Filter> filter = nullptr)
      : opener_(std::move(opener)), filter_(std::move(filter)) {}

  /// Opens the chosen backend. Between windows only, as everything here that makes syscalls.
  Result<void> open(BackendChoice choice);

  /// Null when nothing can count; why_not() then says why.
  Opened* current() const { return current_.load(std::memory_order_acquire); }
  std::shared_ptr<const Unavailable> why_not() const { return why_not_; }

  /// Adds the losses that only a syscall shows to `cost`, which was just read from `opened`. When the instrument is not
  /// in place any more: voids it, opens another, and fails with what happened.
  Result<void> check(Opened& opened, detail::CostData& cost);

 private:
  BackendOpener opener_;
  std::shared_ptr<const Filter> filter_;
  BackendChoice choice_ = BackendChoice::automatic;
  std::vector<std::unique_ptr<Opened>> opened_;
  std::atomic<Opened*> current_{nullptr};
  std::shared_ptr<const Unavailable> why_not_;
};

}  // namespace syscost::session

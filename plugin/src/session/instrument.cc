// SPDX-License-Identifier: MIT
#include "session/instrument.h"

#include <cmath>
#include <utility>

#include "core/quiet_memory.h"
#include "session/usage.h"

namespace syscost::session {
namespace {

/// Counts what reading the clock calls: nothing with a vDSO clock, clock_gettime in some virtual machines.
bool clock_makes_no_syscall(WindowBook& book) {
  Result<WindowBook::Window*> window = book.open(Reach::process);
  if (!window.ok()) return false;
  monotonic_ns();
  detail::CostData cost(&quiet_memory());
  book.close(window.value(), cost);
  return cost.table.empty();
}

}  // namespace

Opened::Opened(std::unique_ptr<Backend> its_backend)
    : backend(std::move(its_backend)), book(*backend, quiet_memory()), capabilities(backend->capabilities()) {
  clock_is_quiet = clock_makes_no_syscall(book);
}

std::optional<std::uint64_t> Opened::overhead_estimate_ns(const detail::CostData& cost) const {
  const Calibration calibration = backend->calibration();
  if (!calibration.measured) return std::nullopt;
  std::uint64_t calls = 0;
  for (const auto& [id, tally] : cost.table) calls += capabilities.entries ? tally.entries : tally.calls;
  return static_cast<std::uint64_t>(std::llround(static_cast<double>(calls) * calibration.armed_ns_per_call));
}

Result<void> Instrument::open(BackendChoice choice) {
  choice_ = choice;
  current_.store(nullptr, std::memory_order_release);
  if (choice == BackendChoice::none) {
    why_not_ = std::make_shared<Unavailable>(
        Unavailable{"Measuring was switched off with --syscost_backend none (or SYSCOST_BACKEND=none).",
                    "Leave that out, or choose auto."});
    return {};
  }
  if (Result<void> memory = top_up_quiet_memory(); !memory.ok()) {
    why_not_ = std::make_shared<Unavailable>(memory.failure());
    return memory;
  }
  Result<std::unique_ptr<Backend>> backend = opener_(choice);
  Result<void> selected = backend.ok() && filter_ != nullptr ? backend.value()->select(*filter_) : Result<void>();
  if (!backend.ok() || !selected.ok()) {
    Failure failure = backend.ok() ? selected.failure() : backend.failure();
    why_not_ = std::make_shared<Unavailable>(failure);
    return failure;
  }
  opened_.push_back(std::make_unique<Opened>(std::move(backend.value())));
  current_.store(opened_.back().get(), std::memory_order_release);
  return {};
}

Result<void> Instrument::check(Opened& opened, detail::CostData& cost) {
  const Losses before = opened.backend->losses();
  Result<Losses> now = opened.backend->losses_between_windows();
  if (now.ok()) {
    cost.late += now.value().late - before.late;
    cost.lost += now.value().lost - before.lost;
    return {};
  }
  opened.is_intact.store(false, std::memory_order_release);
  Failure failure = now.failure();
  if (current() == &opened) {
    Result<void> reopened = open(choice_);
    if (!reopened.ok()) failure.reason += "; opening it again failed: " + reopened.failure().reason;
  }
  return failure;
}

}  // namespace syscost::session

// SPDX-License-Identifier: MIT
#include "session/windows/backend_holder.h"

#include <cmath>
#include <memory_resource>
#include <string>
#include <utility>

#include "os/memory.h"
#include "session/windows/open_window.h"

namespace syscost::session {
namespace {

/// Counts the syscalls of reading the clock: none with a vDSO clock, clock_gettime in some virtual machines.
bool clock_makes_no_syscall(WindowBook& book) {
  WindowBook::Window* window = book.open(Reach::process);
  monotonic_ns();
  detail::CostData cost(&quiet_memory());
  book.close(window, cost);
  return cost.table.empty();
}

}  // namespace

OpenBackend::OpenBackend(std::unique_ptr<Backend> its_backend, std::shared_ptr<const Filter> its_filter)
    : backend(std::move(its_backend)),
      book(*backend, quiet_memory()),
      capabilities(backend->capabilities()),
      filter(std::move(its_filter)),
      no_lane(
          Unavailable{"Backend " + std::string(backend->name()) +
                          " cannot tell this thread from the others: more than " + std::to_string(capabilities.lanes) +
                          " threads are inside thread scopes at once, the thread is older than a backend that sees no "
                          "older ones (dispatch), or a seccomp filter denies it gettid.",
                      "Use Reach::process, or fewer threads at a time; allow gettid in the filter."}) {
  clock_is_quiet = clock_makes_no_syscall(book);
}

std::shared_ptr<detail::CostData> OpenBackend::new_cost() const {
  auto cost = std::allocate_shared<detail::CostData>(std::pmr::polymorphic_allocator<detail::CostData>(&quiet_memory()),
                                                     &quiet_memory());
  cost->measured = {.entries = capabilities.entries,
                    .calls = capabilities.calls,
                    .errors = capabilities.errors,
                    .latency = capabilities.latency,
                    .bytes = capabilities.bytes,
                    .altered = capabilities.altered,
                    .threads = capabilities.threads,
                    .uncountable = capabilities.uncountable};
  cost->filter = filter;
  if (const CallOrigins* origins = backend->extension<CallOrigins>(); origins != nullptr)
    cost->make_extra().origins = origins;
  return cost;
}

std::shared_ptr<const detail::CostData> OpenBackend::with_losses(std::shared_ptr<const detail::CostData> cost,
                                                                 std::uint64_t hidden) const {
  if (hidden == 0) return cost;
  std::shared_ptr<detail::CostData> all = new_cost();
  all->table.merge(cost->table);
  all->programs.merge(cost->programs);
  all->late = cost->late;
  all->lost = cost->lost + hidden;
  if (cost->unkept() != 0) all->make_extra().unkept = cost->unkept();
  return all;
}

std::optional<std::uint64_t> OpenBackend::overhead_estimate_ns(const detail::CostData& cost) const {
  const Calibration calibration = backend->calibration();
  if (!calibration.measured) return std::nullopt;
  std::uint64_t calls = 0;
  for (const auto& [id, tally] : cost.table) calls += capabilities.entries ? tally.entries : tally.calls;
  return static_cast<std::uint64_t>(std::llround(static_cast<double>(calls) * calibration.armed_ns_per_call));
}

Result<void> BackendHolder::open() {
  current_.store(nullptr, std::memory_order_release);
  if (options_.backend == BackendChoice::none) {
    why_not_ = std::make_shared<Unavailable>(
        Unavailable{"Measuring was switched off with --syscost_backend none (or SYSCOST_BACKEND=none).",
                    "Leave that out, or choose auto."});
    return {};
  }
  if (Result<void> memory = top_up_quiet_memory(); !memory.ok()) {
    why_not_ = std::make_shared<Unavailable>(memory.failure());
    return memory;
  }
  Result<std::unique_ptr<Backend>> backend = opener_(options_);
  if (!backend.ok()) {
    why_not_ = std::make_shared<Unavailable>(backend.failure());
    return backend.failure();
  }
  if (is_no_room_for_thread_because_of_us()) {
    const Failure no_room{
        "beside what syscost reserves, the limits of this process (ulimit -v, ulimit -d) leave no room for a thread: a "
        "test could fail that passes alone",
        "raise them by 64 MiB, or run this program without syscost"};
    why_not_ = std::make_shared<Unavailable>(no_room);
    return no_room;
  }
  opened_.push_back(std::make_unique<OpenBackend>(std::move(backend.value()), options_.filter));
  current_.store(opened_.back().get(), std::memory_order_release);
  return {};
}

Result<void> BackendHolder::check(OpenBackend& opened) {
  Result<std::uint64_t> hidden = opened.backend->hidden_losses();
  if (hidden.ok()) {
    opened.hidden_losses_of_process.store(hidden.value());
    opened.hidden_losses_of_scopes.store(hidden.value() - opened.backend->hidden_losses_beside_scopes());
    return {};
  }
  opened.is_intact.store(false, std::memory_order_release);
  Failure failure = hidden.failure();
  if (current() == &opened) {
    // A helper that shares BPF programs among processes accepts each process once.
    opened.backend->retire();
    Result<void> reopened = open();
    if (!reopened.ok()) failure.reason += "; opening it again failed: " + reopened.failure().reason;
  }
  return failure;
}

}  // namespace syscost::session

// SPDX-License-Identifier: MIT
#include "extras/leaks/dispatch/mapped_peak.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <memory>

#include "backends/dispatch/stub/common/raw.h"
#include "backends/dispatch/stub/common/state.h"
#include "backends/dispatch/stub/user_memory.h"
#include "backends/dispatch/stub_calls.h"
#include "extras/trace/stub/trace.h"
#include "os/descriptors.h"

namespace syscost::dispatch {
namespace {

/// For the trial, which takes no argument.
int g_tried_descriptor = -1;

void try_to_ask() {
  char text[1];
  syscost_raw_syscall(SYS_pread64, g_tried_descriptor, reinterpret_cast<long>(text), sizeof text, 0);
}

void stop() {
  if (signal_safe::stop_noting_mapped()) signal_safe::wait_for_calls_of_ours();
}

/// Since the backend began. Filters of other threads count only if the stub has seen them.
bool may_be_filtered() {
  return syscost_state.filters != 0 || std::atomic_ref(syscost_string_copies.may_be_filtered).load();
}

std::optional<std::uint64_t> noted() {
  const std::uint64_t unknown = std::atomic_ref(syscost_most_mapped.unknown).load();
  if (unknown != 0) return std::nullopt;
  return std::atomic_ref(syscost_most_mapped.most_pages).load();
}

void forget() {
  std::atomic_ref(syscost_most_mapped.most_pages).store(0);
  std::atomic_ref(syscost_most_mapped.unknown).store(0);
}

}  // namespace

MappedPeak::~MappedPeak() {
  stop();
  close_descriptor(statm_);
}

bool MappedPeak::open_statm() {
  // A test may have closed it.
  if (statm_ >= 0 && is_still_ours(statm_)) return true;
  // A fork child that keeps it reads its parent's number, and no child of ours reads it.
  const int opened = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (opened < 0) return false;
  statm_ = keep_descriptor(opened, InChildren::kept);
  if (statm_ != opened) return true;
  // So few descriptors are allowed that there is no high number: the program needs them all.
  close_descriptor(statm_);
  return false;
}

void MappedPeak::prepare_mapped_peak() {
  stop();
  is_ready_ = false;
  if ((is_tried_ && !may_ask_) || may_be_filtered() || !open_statm()) return;
  if (!is_tried_) {
    is_tried_ = true;
    has_filter_ = has_seccomp_filter();
    g_tried_descriptor = statm_;
    may_ask_ = why_no_call_of_ours(sees_all_, "pread64", try_to_ask).empty();
  }
  is_ready_ = may_ask_ && (has_filter_ || !has_seccomp_filter());
}

void MappedPeak::begin_mapped_peak() {
  forget();
  if (!is_ready_) return;
  std::atomic_ref(syscost_most_mapped.statm).store(statm_);
  // A thread that installs a filter does so before it looks at what was stored, or sees it.
  if (may_be_filtered()) stop();
}

std::optional<std::uint64_t> MappedPeak::end_mapped_peak() {
  if (!is_ready_ || std::atomic_ref(syscost_most_mapped.statm).exchange(-1) < 0) return std::nullopt;
  signal_safe::wait_for_calls_of_ours();
  if (!is_still_ours(statm_)) return std::nullopt;
  std::optional<std::uint64_t> pages = noted();
  if (pages.has_value()) *pages *= static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return pages;
}

void MappedPeak::check() {
  if (may_ask_ && !has_filter_ && has_seccomp_filter()) stop();
}

MadeAbility make_mapped_peak(const AbilityContext& context) {
  return std::unique_ptr<Ability>(std::make_unique<MappedPeak>(context.sees_all));
}

}  // namespace syscost::dispatch

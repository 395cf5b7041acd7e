// SPDX-License-Identifier: MIT
#include "backends/dispatch/mapped_peak.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>

#include "backends/dispatch/string_copies.h"
#include "backends/dispatch/stub/mapped_peak.h"
#include "os/own_descriptors.h"

namespace syscost::dispatch {
namespace {

std::optional<std::uint64_t> noted() {
  const std::uint64_t unknown = std::atomic_ref(syscost_mapped_peak.unknown).load();
  if (unknown != 0) return std::nullopt;
  return std::atomic_ref(syscost_mapped_peak.most_pages).load();
}

void forget() {
  std::atomic_ref(syscost_mapped_peak.most_pages).store(0);
  std::atomic_ref(syscost_mapped_peak.unknown).store(0);
}

}  // namespace

MappedPeak::~MappedPeak() {
  signal_safe::stop_noting_mapped();
  close_descriptor(statm_);
}

bool MappedPeak::open_statm() {
  // A test may have closed it.
  if (statm_ >= 0 && is_still_ours(statm_)) return true;
  // A fork child that keeps it reads its parent's number, and no child of ours reads it.
  const int opened = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  statm_ = opened >= 0 ? keep_descriptor(opened, InChildren::kept) : -1;
  return statm_ >= 0;
}

void MappedPeak::begin(bool sees_all) {
  signal_safe::stop_noting_mapped();
  forget();
  if (!open_statm()) return;
  if (!is_tried_) {
    is_tried_ = true;
    has_filter_ = has_seccomp_filter();
    may_ask_ = why_no_call_of_ours(sees_all, "pread64", [] { signal_safe::note_mapped_pages(); }).empty();
  }
  if (!may_ask_ || (!has_filter_ && has_seccomp_filter())) return;
  std::atomic_ref(syscost_mapped_peak.statm).store(statm_);
}

std::optional<std::uint64_t> MappedPeak::end() {
  if (std::atomic_ref(syscost_mapped_peak.statm).exchange(-1) < 0) return std::nullopt;
  if (!is_still_ours(statm_)) return std::nullopt;
  return noted();
}

void MappedPeak::check() const {
  if (may_ask_ && !has_filter_ && has_seccomp_filter()) signal_safe::stop_noting_mapped();
}

}  // namespace syscost::dispatch

// SPDX-License-Identifier: MIT
#include "backends/dispatch/file_kinds.h"

#include <atomic>
#include <cstdint>

#include "backends/dispatch/string_copies.h"
#include "backends/dispatch/stub/file_kinds.h"
#include "backends/dispatch/stub/marks.h"
#include "backends/dispatch/stub/state.h"
#include "backends/dispatch/stub/trace_strings.h"
#include "core/call_detail.h"

namespace syscost::dispatch {
namespace {

constexpr std::uint64_t kNoDescriptor = ~std::uint64_t{0};

bool is_answered() {
  return signal_safe::kind_of(kNoDescriptor) == static_cast<std::uint32_t>(FileKind::bad_descriptor);
}

}  // namespace

AskedKinds::~AskedKinds() {
  pause();
  std::atomic_ref(syscost_string_copies.may_ask_kinds).store(false);
}

void AskedKinds::start(bool sees_all) {
  is_started_ = true;
  has_filter_ = has_seccomp_filter();
  if (!sees_all && syscost_has_older_threads != 0) {
    why_not_ = "a thread that is older than the backend may install a seccomp filter unseen";
  } else if (syscost_state.has_filter) {
    why_not_ = "the program has installed a seccomp filter, and the filter may kill it for statx";
  } else if (has_filter_ && !is_safe_in_a_child([] { is_answered(); })) {
    why_not_ = "a seccomp filter kills a process that calls statx";
  } else if (!is_answered()) {
    why_not_ = "statx fails";
  }
  std::atomic_ref(syscost_string_copies.may_ask_kinds).store(why_not_.empty());
  resume();
}

void AskedKinds::pause() {
  if (is_started_) signal_safe::set_marks(signal_safe::kMarkedByFileKinds, {});
}

void AskedKinds::resume() {
  if (!is_started_) return;
  check();
  signal_safe::set_marks(signal_safe::kMarkedByFileKinds, signal_safe::moving_numbers());
}

void AskedKinds::check() const {
  if (is_started_ && why_not_.empty() && !has_filter_ && has_seccomp_filter()) signal_safe::stop_calls_of_ours();
}

}  // namespace syscost::dispatch

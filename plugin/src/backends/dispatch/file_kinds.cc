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
  why_not_ = why_no_call_of_ours(sees_all, "statx", [] { is_answered(); });
  if (why_not_.empty() && !is_answered()) why_not_ = "statx fails";
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

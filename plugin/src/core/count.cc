// SPDX-License-Identifier: MIT
//
// Count, and the adapter's handler that its comparisons call. Not in cost.cc, because late/stand_ins.cc includes this
// file for programs that cannot load the library: C++17 and public headers only.
#include <atomic>
#include <cstdio>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "libc/symbols.h"
#include "syscost/adapter.h"
#include "syscost/cost.h"

namespace syscost {
namespace {

std::atomic<adapter::UnavailableHandler> g_unavailable_handler{nullptr};
std::atomic<const adapter::TestReporter*> g_test_reporter{nullptr};

std::shared_ptr<const Unavailable> because(std::string reason, std::string how_to_fix) {
  return std::make_shared<const Unavailable>(Unavailable{std::move(reason), std::move(how_to_fix)});
}

/// Without the full stop, so that the sentence can continue.
std::string_view without_stop(std::string_view sentence) {
  return !sentence.empty() && sentence.back() == '.' ? sentence.substr(0, sentence.size() - 1) : sentence;
}

}  // namespace

namespace adapter {
void set_unavailable_handler(UnavailableHandler handler) {
  g_unavailable_handler.store(handler, std::memory_order_release);
}

void set_test_reporter(const TestReporter* reporter) {
  g_test_reporter.store(reporter, std::memory_order_release);
}

bool fail_test_if_any(std::string_view message, const SourceLine& at) {
  const TestReporter* const reporter = g_test_reporter.load(std::memory_order_acquire);
  return reporter != nullptr && reporter->fail(message, at);
}

std::optional<bool> test_has_failed() {
  const TestReporter* const reporter = g_test_reporter.load(std::memory_order_acquire);
  if (reporter == nullptr) return false;
  if (reporter->has_failed == nullptr) return std::nullopt;
  return reporter->has_failed();
}

void fail_test(std::string_view message, const SourceLine& at) {
  if (fail_test_if_any(message, at)) return;
  const std::string text = at.before().append(message);
  SYSCOST_LIBC(fprintf)(stderr, "syscost: %s\n", text.c_str());
}

void end_test(const Unavailable& why, const SourceLine& at) {
  const TestReporter* const reporter = g_test_reporter.load(std::memory_order_acquire);
  if (reporter != nullptr) return reporter->end(why, at);
  const std::string text = at.before() + why.reason + "\n  " + why.how_to_fix;
  SYSCOST_LIBC(fprintf)(stderr, "syscost: %s\n", text.c_str());
}
}  // namespace adapter

Count::Count(std::shared_ptr<const Unavailable> why)
    : why_(why != nullptr ? std::move(why) : because("Nothing was measured.", "Ask a Cost that was.")) {}

Count Count::at_least(std::uint64_t value, std::uint64_t lost) {
  Count count(because(std::to_string(lost) + " events were lost: at least " + std::to_string(value) + ".",
                      "Measure less at a time: a shorter stretch, or fewer threads."));
  count.value_ = value;
  count.lost_ = lost;
  return count;
}

Count::Holding Count::compare(const Count& other) const {
  const bool is_known = has_value() || lost_ > 0;
  if (!is_known || !(other.has_value() || other.lost_ > 0)) {
    return (is_known ? other : *this).excused() ? kAll : kNone;
  }
  if (has_value() && other.has_value())
    return value_ < other.value_ ? kLess : value_ > other.value_ ? kGreater : kEqual;
  // A lower bound decides a comparison only if it is greater than the other number.
  if (other.has_value() && value_ >= other.value_) {
    return static_cast<Holding>(value_ > other.value_ ? kGt | kGe : kGe);
  }
  if (has_value() && value_ <= other.value_) return static_cast<Holding>(value_ < other.value_ ? kLt | kLe : kLe);
  return kNone;
}

std::ostream& operator<<(std::ostream& out, const Count& count) {
  if (std::optional<std::uint64_t> value = count.value()) return out << *value;
  if (count.lost_ > 0) return out << "at least " << count.value_ << " (" << count.lost_ << " lost)";
  out << "n/a (" << without_stop(count.why_->reason);
  if (!count.why_->how_to_fix.empty()) out << "; " << without_stop(count.why_->how_to_fix);
  return out << ')';
}

bool Count::excused() const {
  adapter::UnavailableHandler handler = g_unavailable_handler.load(std::memory_order_acquire);
  if (handler == nullptr) return false;
  // The test is not skipped: the next time that the assertion is reached decides.
  return why_->comes_later || handler(*why_);
}

}  // namespace syscost

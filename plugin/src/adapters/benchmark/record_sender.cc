// SPDX-License-Identifier: MIT
#include "adapters/benchmark/record_sender.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "adapters/benchmark/passes.h"
#include "adapters/benchmark/record.h"

namespace syscost::benchmark_adapter {

RecordSender::RecordSender(PositionOf position_of, bool has_keys, std::string stop_message,
                           std::optional<Unavailable> unseen)
    : position_of_(std::move(position_of)),
      has_keys_(has_keys),
      stop_message_(std::move(stop_message)),
      unseen_(std::move(unseen)) {
  expect_next();
}

void RecordSender::report(const std::vector<TimedRun>& runs) {
  Record record;
  for (const TimedRun& run : runs) {
    if (!run.is_repetition) continue;
    ++record.repetitions;
    record.key = run.key;
    record.name = run.name;
    if (!run.has_passed() && run.message != stop_message_) {
      record.why_not = Unavailable{"It did not run while it was counted: " + run.message + ".", ""};
    }
  }
  std::optional<Unavailable> why_not;
  record.passes = Passes::instance().take(why_not);
  if (record.passes.empty() && unseen_.has_value()) why_not = unseen_;
  if (record.repetitions == 0) {
    // Aggregates come after the repetitions, and then the passes were taken already; or instead of them.
    if (record.passes.empty() || runs.empty()) return;
    const TimedRun& run = runs.front();
    record.repetitions = static_cast<std::size_t>(std::max<std::int64_t>(run.repetitions, 1));
    record.key = run.key;
    record.name = run.name;
  }
  if (!record.why_not.has_value()) record.why_not = why_not;
  if (!has_keys_) record.key.reset();
  record.position = position_of_(done_).value_or(done_);
  send_record(record);
  ++done_;
  expect_next();
}

void RecordSender::expect_next() const {
  if (const std::optional<std::size_t> next = position_of_(done_)) Passes::instance().expect(*next);
}

}  // namespace syscost::benchmark_adapter

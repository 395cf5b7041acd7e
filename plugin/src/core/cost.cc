// SPDX-License-Identifier: MIT
#include "syscost/cost.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory_resource>
#include <optional>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "core/bytes.h"
#include "core/cost_data.h"
#include "core/selector.h"
#include "core/syscall_table.h"
#include "os/errors.h"
#include "os/memory.h"
#include "os/text.h"
#include "syscost/adapter.h"

namespace syscost {
namespace {

/// to_string() names this many syscalls and counts the rest.
constexpr std::size_t kNamedSyscalls = 6;

using Why = std::shared_ptr<const Unavailable>;

Why because(std::string reason, std::string how_to_fix) {
  return std::make_shared<const Unavailable>(Unavailable{as_typed(reason), as_typed(how_to_fix)});
}

/// `other`: a backend that knows it and needs no privilege.
Count beyond_backend(std::string reason, std::string_view other) {
  return Count(std::make_shared<const Unavailable>(
      Unavailable{std::move(reason),
                  as_typed(std::string("Use one that can: --syscost_backend ")
                               .append(other)
                               .append(", or ebpf; --syscost_doctor says which of them works here.")),
                  true}));
}

Count not_measured(std::string_view what) {
  // Dispatch has all numbers except entries. Two backends have entries, and seccomp needs no privilege.
  return beyond_backend("The backend in use does not measure " + std::string(what) + ".",
                        what.starts_with("entries") ? "seccomp" : "dispatch");
}

/// Without the full stop, so that the sentence can continue.
std::string_view without_stop(std::string_view sentence) {
  return sentence.ends_with('.') ? sentence.substr(0, sentence.size() - 1) : sentence;
}

std::string not_available(const Unavailable* why) {
  std::string text("n/a (");
  return text.append(why == nullptr ? "nothing was measured" : without_stop(why->reason)).append(")");
}

Count unknown_bytes(SyscallId id) {
  return Count(because("Nothing says how many bytes " + syscall_name(id) + " moved.",
                       "Leave it out of the selector; docs/csv-format.md (Bytes) has the syscalls with bytes."));
}

/// The name of a number that the backend does not measure; else null.
const char* if_not_measured(const detail::CostData* data, bool detail::Measured::*is_measured, const char* what) {
  return data == nullptr || data->measured.*is_measured ? nullptr : what;
}

/// Sums `measure` over the chosen syscalls. If `data` is null, `why` is the reason; if `unmeasured` is not, the backend
/// does not measure that. An assertion calls it inside a window, so a selector without a regular expression is parsed
/// and applied without malloc.
template <class Measure>
Count sum(const detail::CostData* data, const Why& why, std::string_view selector, const char* unmeasured,
          Measure measure) {
  std::array<std::byte, 1024> on_stack;
  std::pmr::monotonic_buffer_resource memory(on_stack.data(), on_stack.size(), &quiet_memory());
  Result<Selector> chosen = Selector::parse(selector, &memory);
  // First, because it is a mistake on every machine.
  if (!chosen.ok()) {
    Unavailable mistake = chosen.failure();
    mistake.is_mistake = true;
    return Count(std::make_shared<const Unavailable>(std::move(mistake)));
  }
  if (data == nullptr) return Count(why);
  if (unmeasured != nullptr) return not_measured(unmeasured);
  if (data->filter != nullptr) {
    std::string missing = data->filter->left_out(chosen.value());
    if (!missing.empty()) {
      return Count(
          because("--syscost_filter " + data->filter->text() + " leaves out " + missing + ".",
                  "Remove or widen the filter (or the variable SYSCOST_FILTER), or read a count that it selects."));
    }
  }
  // A selector for everything means all that the backend sees. A selector that names syscalls needs all of them.
  constexpr SyscallId kUnnamed{kNativeAbi, Filter::kNumbers};
  for (const SyscallId unseen : data->measured.uncountable) {
    if (!chosen.value().matches(unseen) || chosen.value().matches(kUnnamed)) continue;
    // seccomp's way back from a signal handler; dispatch counts it.
    return beyond_backend("The backend in use cannot see " + syscall_name(unseen) + ".", "dispatch");
  }
  std::uint64_t total = 0;
  for (const auto& [id, tally] : data->table) {
    if (!chosen.value().matches(id)) continue;
    if constexpr (std::is_invocable_v<Measure, SyscallId, const Tally&>) {
      const std::optional<std::uint64_t> number = measure(id, tally);
      if (!number.has_value()) return unknown_bytes(id);
      total += *number;
    } else {
      total += measure(tally);
    }
  }
  const std::uint64_t lost = data->late + data->lost;
  return lost == 0 ? Count(total) : Count::at_least(total, lost);
}

void add_note(std::string& notes, std::uint64_t count, std::string_view what) {
  if (count == 0) return;
  if (!notes.empty()) notes += ", ";
  notes.append(std::to_string(count)).append(" ").append(what);
}

/// `3 openat (1 ENOENT)`: how often the program made the call, and which of these calls failed or did not return.
std::string described(SyscallId id, const Tally& tally, const detail::Measured& measured) {
  std::uint64_t made = measured.calls ? tally.calls + tally.in_flight() + tally.no_return : tally.entries;
  std::string notes;
  for (const ErrnoCounts::Entry& error : tally.errors) add_note(notes, error.count, errno_name(error.error));
  if (measured.calls) add_note(notes, tally.in_flight(), "in flight");
  add_note(notes, tally.carried_in, "from before");
  add_note(notes, tally.denied, "denied");
  std::string text = std::to_string(made).append(" ").append(syscall_name(id));
  return notes.empty() ? text : text.append(" (").append(notes).append(")");
}

/// Most entries first, or most calls if the backend sees no entries. Equal ones stay in the table's order.
std::vector<const CallTable::Entry*> busiest_first(const CallTable& table) {
  std::vector<const CallTable::Entry*> order;
  order.reserve(table.size());
  for (const CallTable::Entry& entry : table) {
    if (!entry.tally.empty()) order.push_back(&entry);
  }
  std::stable_sort(order.begin(), order.end(), [](const CallTable::Entry* a, const CallTable::Entry* b) {
    return std::max(a->tally.entries, a->tally.calls) > std::max(b->tally.entries, b->tally.calls);
  });
  return order;
}

}  // namespace

Cost::Cost(Unavailable why) : why_(std::make_shared<const Unavailable>(std::move(why))) {}
Cost::Cost(std::shared_ptr<const detail::CostData> data) : data_(std::move(data)) {
  SYSCOST_CHECK(data_ != nullptr);
}

bool Cost::available() const {
  return data_ != nullptr;
}
const Unavailable* Cost::unavailable() const {
  return why_.get();
}

Count Cost::calls(std::string_view selector) const {
  return sum(data_.get(), why_, selector, if_not_measured(data_.get(), &detail::Measured::calls, "calls, only entries"),
             [](const Tally& tally) { return tally.calls; });
}

Count Cost::entries(std::string_view selector) const {
  return sum(data_.get(), why_, selector,
             if_not_measured(data_.get(), &detail::Measured::entries, "entries, only calls"),
             [](const Tally& tally) { return tally.entries; });
}

Count Cost::errors(std::string_view selector) const {
  return sum(data_.get(), why_, selector, if_not_measured(data_.get(), &detail::Measured::errors, "errors"),
             [](const Tally& tally) { return tally.errors.total(); });
}

Count Cost::errors(std::string_view selector, int number) const {
  if (number < 1 || number > kMaxErrno) {
    return Count(std::make_shared<const Unavailable>(
        Unavailable{std::to_string(number) + " is no errno.", "Name one, e.g. ENOENT (from <cerrno>).",
                    /*is_beyond_backend=*/false, /*comes_later=*/false, /*is_mistake=*/true}));
  }
  return sum(data_.get(), why_, selector, if_not_measured(data_.get(), &detail::Measured::errors, "errors"),
             [number](const Tally& tally) { return tally.errors.count(number); });
}

Count Cost::kernel_ns(std::string_view selector) const {
  return sum(data_.get(), why_, selector, if_not_measured(data_.get(), &detail::Measured::latency, "time"),
             [](const Tally& tally) { return tally.latency.sum_ns(); });
}

namespace {

/// The sum of what `pick` takes from ByteNumbers. A syscall that can have no such number adds 0.
Count sum_bytes(const detail::CostData* data, const Why& why, std::string_view selector,
                std::optional<std::uint64_t> (*pick)(const ByteNumbers&)) {
  const BytesKnown known = data != nullptr ? data->measured.bytes : BytesKnown::none;
  const char* const unmeasured = data != nullptr && known == BytesKnown::none ? "bytes" : nullptr;
  return sum(data, why, selector, unmeasured, [=](SyscallId id, const Tally& tally) -> std::optional<std::uint64_t> {
    const std::optional<std::uint64_t> number = pick(byte_numbers(id, tally, known));
    if (number.has_value()) return number;
    const bool may_have = has_unknown_bytes(id) || pick(byte_numbers(id, tally, BytesKnown::all)).has_value();
    return tally.has_success() && may_have ? std::nullopt : std::optional<std::uint64_t>(0);
  });
}

}  // namespace

Count Cost::bytes(std::string_view selector) const {
  return sum_bytes(data_.get(), why_, selector, [](const ByteNumbers& numbers) { return numbers.bytes; });
}

Count Cost::bytes_released(std::string_view selector) const {
  return sum_bytes(data_.get(), why_, selector, [](const ByteNumbers& numbers) { return numbers.released; });
}

Count Cost::short_calls(std::string_view selector) const {
  return sum_bytes(data_.get(), why_, selector, [](const ByteNumbers& numbers) { return numbers.short_calls; });
}

Count Cost::lost() const {
  if (data_ == nullptr) return sum(nullptr, why_, "*", nullptr, [](const Tally&) { return std::uint64_t{0}; });
  return Count(data_->late + data_->lost);
}

std::vector<SyscallCost> Cost::syscalls() const {
  std::vector<SyscallCost> list;
  if (data_ == nullptr) return list;
  CallTable room(&quiet_memory());
  for (const CallTable::Entry* entry : busiest_first(detail::without_details(data_->table, room))) {
    const Tally& tally = entry->tally;
    SyscallCost& cost = list.emplace_back();
    cost.name = syscall_name(entry->id);
    cost.entries = tally.entries;
    cost.calls = tally.calls;
    cost.restarts = tally.restarts;
    cost.in_flight = data_->measured.calls ? tally.in_flight() : 0;
    cost.no_return = tally.no_return;
    cost.carried_in = tally.carried_in;
    cost.denied = tally.denied;
    for (const ErrnoCounts::Entry& error : tally.errors) cost.errors.push_back({error.error, error.count});
    cost.latency = tally.latency.dense();
  }
  return list;
}

std::string Cost::to_string() const {
  if (data_ == nullptr) return not_available(why_.get());
  return detail::breakdown(*data_) + detail::filter_note(*data_);
}

std::ostream& operator<<(std::ostream& out, const Cost& cost) {
  return out << cost.to_string();
}

namespace detail {

const CallTable& without_details(const CallTable& table, CallTable& room) {
  if (std::all_of(table.begin(), table.end(), [](const CallTable::Entry& entry) { return entry.id.detail.empty(); })) {
    return table;
  }
  for (const auto& [id, tally] : table) room.at(id.without_detail()).merge(tally);
  return room;
}

std::string breakdown(const CallTable& table, const Measured& measured) {
  CallTable room(&quiet_memory());
  std::vector<const CallTable::Entry*> order = busiest_first(without_details(table, room));
  std::string text;
  for (std::size_t i = 0; i < std::min(order.size(), kNamedSyscalls); ++i) {
    if (i > 0) text += ", ";
    text += described(order[i]->id, order[i]->tally, measured);
  }
  if (order.empty()) text = "no syscalls";
  if (order.size() > kNamedSyscalls) {
    text.append(", and ").append(std::to_string(order.size() - kNamedSyscalls)).append(" more");
  }
  return text;
}

std::string breakdown(const CostData& data) {
  std::string text = breakdown(data.table, data.measured);
  if (std::uint64_t lost = data.late + data.lost; lost > 0) {
    text.append("; ").append(std::to_string(lost)).append(" lost");
  }
  return text;
}

std::string filter_note(const CostData& data) {
  return data.filter == nullptr ? std::string() : " (only " + data.filter->text() + " counted)";
}

}  // namespace detail

}  // namespace syscost

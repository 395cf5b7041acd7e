// SPDX-License-Identifier: MIT
#include "extras/trace/dispatch/trace.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <iterator>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include "arguments/arguments.h"
#include "backends/common/counts.h"
#include "backends/dispatch/segments.h"
#include "core/syscall_id.h"
#include "core/syscall_table.h"
#include "extras/trace/stub/trace.h"

namespace syscost::dispatch {
namespace {

using signal_safe::kTraceChunkUnits;
using signal_safe::TraceChunk;
using signal_safe::TraceDetail;
using signal_safe::TraceEvent;
using signal_safe::TraceKind;
using signal_safe::TraceMode;
using signal_safe::TraceText;
using signal_safe::TraceUnit;

void set_mode(TraceMode mode) {
  std::atomic_ref(syscost_trace_mode).store(mode, std::memory_order_seq_cst);
}

// Older headers lack them.
constexpr std::uint32_t kFsopen = 430;
constexpr std::uint32_t kFspick = 433;
constexpr std::uint32_t kSetxattrat = 463;
constexpr std::uint32_t kRemovexattrat = 466;

/// True for calls that look at privileges, or at more than their flags, before they read their strings.
bool checks_before_strings(std::uint32_t number) {
  switch (number) {
    case SYS_pivot_root:
    case SYS_swapon:
    case SYS_swapoff:
    case SYS_fsetxattr:
    case SYS_fgetxattr:
    case SYS_fremovexattr:
    case SYS_memfd_create:
    case SYS_inotify_add_watch:
    case SYS_name_to_handle_at:
    case kFsopen:
    case kFspick:
      return true;
    default:
      return number >= kSetxattrat && number <= kRemovexattrat;
  }
}

/// Notes what an event has beside numbers: the arguments that are strings which the kernel reads in each successful
/// call, what errors show of them, and the device of an ioctl.
void learn_parts() {
  for (std::uint32_t number = 0; number < signal_safe::kNumbers; ++number) {
    std::uint16_t bits = 0;
    const auto arguments = syscall_arguments({Abi::x86_64, number});
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].kind == ArgumentKind::path) bits = static_cast<std::uint16_t>(bits | 1U << i);
    }
    if (bits != 0 && !checks_before_strings(number)) {
      bits |= signal_safe::kReadsStringsFirst;
      const bool has_directory = arguments[0].kind == ArgumentKind::directory;
      if (has_directory) bits |= signal_safe::kReadsStringsBeforeDescriptor;
    }
    if (number == SYS_ioctl) bits = signal_safe::kHasDetail;
    syscost_trace.parts[number] = bits;
  }
}

void learn_rules(std::span<const RequestRule> rules) {
  static_assert(kMaxRequestRules <= signal_safe::DetailRules::kMost &&
                RequestRule::kNowhere == signal_safe::DetailRule::kNowhere);
  syscost_detail_rules.count = 0;
  for (const RequestRule& rule : rules.first(std::min(rules.size(), kMaxRequestRules))) {
    syscost_detail_rules.rule[syscost_detail_rules.count++] = {rule.device,       rule.device_mask, rule.request,
                                                               rule.request_mask, rule.command_at,  rule.status_at};
  }
}

/// Converts times of the time-stamp counter into times of the clock, by two instants at which both are known.
class Times {
 public:
  Times(const Instant& first, const Instant& last)
      : first_(first),
        ns_per_tick_(static_cast<double>(last.ns - first.ns) /
                     static_cast<double>(std::max<std::uint64_t>(last.ticks - first.ticks, 1))) {}

  std::uint64_t ns(std::uint64_t ticks) const {
    const auto passed = static_cast<double>(static_cast<std::int64_t>(ticks - first_.ticks));
    return first_.ns + static_cast<std::uint64_t>(static_cast<std::int64_t>(passed * ns_per_tick_));
  }

 private:
  Instant first_;
  double ns_per_tick_;
};

const TraceUnit* unit_of(const TraceEvent& event) {
  return reinterpret_cast<const TraceUnit*>(&event);
}

void take_detail(const TraceDetail& from, std::uint32_t request, CallDetail& into) {
  into.file = from.is_block != 0 ? FileKind::block_device : FileKind::character_device;
  into.device = from.device;
  into.request = request;
  into.has_command = from.has_command != 0;
  into.command = from.command;
  into.status = from.status;
}

/// After the id.
void take_parts(const TraceEvent& from, CallEvent& into) {
  into.texts.clear();
  for (std::size_t i = 1; i <= from.parts; ++i) {
    const TraceUnit& unit = unit_of(from)[i];
    if (unit.detail.kind == TraceKind::detail) {
      take_detail(unit.detail, static_cast<std::uint32_t>(from.given.rsi), into.id.detail);
      continue;
    }
    const TraceText& part = unit.text;
    if (into.texts.empty() || into.texts.back().argument != part.argument) {
      into.texts.push_back({part.argument, {}, part.is_cut != 0});
    }
    into.texts.back().text.append(part.text, part.bytes);
  }
}

void take_event(const TraceEvent& from, const Times& times, CallEvent& into) {
  into.id = from.abi == static_cast<std::uint8_t>(Abi::x86_64) ? syscall_id_x86_64(from.number)
                                                               : SyscallId{static_cast<Abi>(from.abi), from.number};
  into.id.detail.origin = from.stack;
  into.thread = from.thread;
  into.start_ns = times.ns(from.start);
  into.latency_ns.reset();
  if (from.has_result != 0) into.latency_ns = from.end > from.start ? times.ns(from.end) - into.start_ns : 0;
  const auto result = static_cast<std::int64_t>(from.result);
  // int $0x80 returns 32 bits, and the stub does not keep all of its arguments.
  const bool is_32 = into.id.abi == Abi::i386;
  into.result = from.has_result == 0 ? 0 : is_32 ? static_cast<std::int32_t>(result) : result;
  into.has_arguments = !is_32;
  const signal_safe::Arguments& given = from.given;
  into.arguments = {given.rdi, given.rsi, given.rdx, given.r10, given.r8, given.r9};
  take_parts(from, into);
  into.entered_in = signal_safe::generation_of(from.entered);
  into.lane = Lane{signal_safe::lane_of(from.entered)};
  into.returned_in = signal_safe::generation_of(from.returned);
  into.returned_lane = Lane{signal_safe::lane_of(from.returned)};
}

}  // namespace

Result<std::unique_ptr<Trace>> Trace::open(const CallTraceRequest& request, const Lanes& lanes, bool sees_all) {
  if (syscost_state.ns_per_tick == 0) {
    return Failure{"the time-stamp counter does not run evenly here, so a trace (--syscost_trace) would have no times",
                   "leave --syscost_trace out"};
  }
  const std::uint64_t chunks = std::max<std::uint64_t>((request.events + kTraceChunkUnits - 1) / kTraceChunkUnits, 1);
  const std::size_t bytes = chunks * (sizeof(TraceChunk) + kTraceChunkUnits * sizeof(const TraceEvent*));
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) {
    Failure failure = errno_failure("reserve", std::to_string(bytes >> 10) + " KiB for the trace", errno);
    failure.how_to_fix = "give the program more memory (ulimit -v), or keep fewer events (--syscost_trace=events=N)";
    return failure;
  }
  // A fork child is not traced, and forking must not take longer.
  static_cast<void>(madvise(memory, bytes, MADV_DONTFORK));
  return std::unique_ptr<Trace>(new Trace(memory, bytes, chunks, lanes, sees_all, request.rules));
}

Trace::Trace(void* memory, std::size_t bytes, std::uint64_t chunks, const Lanes& lanes, bool sees_all,
             std::span<const RequestRule> rules)
    : memory_(memory),
      bytes_(bytes),
      order_(reinterpret_cast<const TraceEvent**>(static_cast<TraceChunk*>(memory) + chunks)),
      lanes_(lanes) {
  syscost_trace.chunks = static_cast<TraceChunk*>(memory);
  syscost_trace.count = chunks;
  syscost_trace.taken = chunks;  // none is clean: restart()
  learn_parts();
  learn_rules(rules);
  copies_.start(sees_all);
  restart();
}

Trace::~Trace() {
  if (!is_given_up_ && !pause()) is_given_up_ = true;
  // A thread that stands in the middle of an event may write yet.
  if (is_given_up_) return;
  set_mode(TraceMode::off);
  signal_safe::stop_copies();
  std::fill(std::begin(syscost_trace.chunk_of), std::end(syscost_trace.chunk_of), nullptr);
  syscost_trace.chunks = nullptr;
  syscost_trace.count = syscost_trace.taken = 0;
  munmap(memory_, bytes_);
}

std::uint64_t Trace::take_unkept(Lane lane) {
  return Segments::take_unkept(lane, lanes_.ended_bank(lane));
}

bool Trace::pause() {
  set_mode(TraceMode::paused);
  if (is_given_up_) return false;
  // Those given up earlier may be in the middle of an event, too.
  is_given_up_ = Segments::wait_for_recordings() != 0 || Segments::waits_for_any();
  return !is_given_up_;
}

/// Sorts the events by their start. Returns their number.
std::uint64_t Trace::collect() {
  std::uint64_t count = 0;
  const std::uint64_t chunks = std::min(syscost_trace.taken, syscost_trace.count);
  for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
    const TraceChunk& one = syscost_trace.chunks[chunk];
    for (std::uint64_t i = 0; i < std::min(one.used, kTraceChunkUnits); ++i) {
      if (one.units[i].event.kind == TraceKind::event) order_[count++] = &one.units[i].event;
    }
  }
  std::sort(order_, order_ + count, [](const TraceEvent* a, const TraceEvent* b) {
    return a->start != b->start ? a->start < b->start : a < b;
  });
  return count;
}

void Trace::deliver(CallEventSink& sink) {
  const Times times(started_, read_both_clocks());
  const std::uint64_t count = collect();
  CallEvent event;
  for (std::uint64_t i = 0; i < count; ++i) {
    take_event(*order_[i], times, event);
    if (!is_unselected_beyond_table(filter_, event.id)) sink.add(event);
  }
}

void Trace::restart() {
  if (is_given_up_) return;
  const std::uint64_t chunks = std::min(syscost_trace.taken, syscost_trace.count);
  for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) new (&syscost_trace.chunks[chunk]) TraceChunk{};
  std::fill(std::begin(syscost_trace.chunk_of), std::end(syscost_trace.chunk_of), nullptr);
  std::atomic_ref(syscost_trace.taken).store(0);
  started_ = read_both_clocks();
  copies_.check();
  set_mode(TraceMode::on);
}

MadeAbility make_trace(const AbilityContext& context) {
  const CallTraceRequest* const wish = context.request.find<CallTraceRequest>();
  if (wish == nullptr || wish->events == 0) return std::unique_ptr<Ability>();
  Result<std::unique_ptr<Trace>> opened = Trace::open(*wish, context.lanes, context.sees_all);
  if (!opened.ok()) return opened.failure();
  if (context.request.filter != nullptr) opened.value()->select(*context.request.filter);
  return std::unique_ptr<Ability>(std::move(opened.value()));
}

}  // namespace syscost::dispatch

// SPDX-License-Identifier: MIT
#include "extras/faults/session/faults.h"

#include <sys/syscall.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "arguments/call_text.h"
#include "core/syscall_table.h"
#include "extras/faults/core/fault_rule.h"
#include "extras/faults/options/fault_rules.h"
#include "extras/where/session/call_sites.h"
#include "os/memory.h"
#include "session/process/messages.h"
#include "session/windows/backend_holder.h"
#include "syscost/adapter.h"

namespace syscost::session {
namespace {

/// Leaves out what is syscost's, and what called the test.
std::vector<std::string> frames_of_test(std::vector<std::string> frames) {
  const auto is_of = [](std::string_view frame, std::initializer_list<std::string_view> names) {
    frame.remove_prefix(frame.find(' ') + 1);  // its line, or its module
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return frame.starts_with(name); });
  };
  std::erase_if(frames, [&](const std::string& frame) {
    return is_of(frame, {"syscost::"}) || frame.find("/include/syscost/") != std::string::npos;
  });
  frames.erase(std::find_if(frames.begin(), frames.end(),
                            [&](const std::string& frame) {
                              return is_of(frame, {"testing::", "Catch::", "doctest::"});
                            }),
               frames.end());
  constexpr std::size_t kMost = 8;
  if (frames.size() > kMost) frames.resize(kMost);
  return frames;
}

}  // namespace

Result<OpenFault*> Faults::open(std::string_view selector, const FaultRule& wanted) {
  if (shared_.has_no_faults()) return nullptr;
  OpenBackend* const opened = shared_.backend.current();
  if (opened == nullptr) return *shared_.backend.why_not();
  FaultInjector* const injector = opened->backend->extension<FaultInjector>();
  if (injector == nullptr) {
    return Failure{
        "backend " + std::string(opened->backend->name()) + " only counts calls, and cannot make one fail or forbid it",
        "use --syscost_backend dispatch or seccomp, which need no privilege (--syscost_doctor says why one cannot be "
        "used here)",
        /*is_beyond_backend=*/true};
  }
  FaultRule rule = wanted;
  if (Result<void> checked = check(rule); !checked.ok()) return checked.failure();
  if (Result<void> numbers = find_numbers(selector, rule, !injector->answers_brk()); !numbers.ok()) {
    return numbers.failure();
  }
  if (!rule.path.empty()) {
    const OwnCalls own(opened);
    if (Result<void> path = find_path(rule); !path.ok()) return path.failure();
  }
  if (rule.promises_all_threads) {
    const OwnCalls own(opened);
    const std::size_t unreached = injector->count_unreached_threads();
    if (unreached > 0) return has_unreached_threads(opened->backend->name(), unreached);
  }
  std::string why_no_lines;
  if (rule.keeps_hits) {
    const OwnCalls own(opened);
    if (Result<void> stacks = injector->begin_stacks(); !stacks.ok()) why_no_lines = stacks.failure().reason;
  }
  ScopeRecord* const scope = shared_.scopes.begin({});
  const auto fail = [&](const Failure& failure) {
    shared_.scopes.end(scope, false, nullptr, 0);
    return failure;
  };
  if (shared_.is_backend_detached.load() && !attach_backend_()) {
    return fail({"this is a timed pass of a syscost::loop, and this thread cannot attach the backend",
                 "make the fault before the loop, or on the loop's thread"});
  }
  const Result<FaultId> id = injector->open(rule);
  if (!id.ok()) return fail(id.failure());
  const std::lock_guard guard(lock_);
  OpenFault& fault = open_.emplace_back(quiet_memory());
  fault.opened = opened;
  fault.injector = injector;
  fault.rule = rule;
  fault.id = id.value();
  fault.scope = scope;
  fault.selector = selector;
  fault.why_no_lines = std::move(why_no_lines);
  return &fault;
}

Result<void> Faults::replace(OpenFault& fault, const FaultRule& wanted) {
  FaultRule rule = wanted;
  rule.numbers = fault.rule.numbers;
  if (Result<void> checked = check(rule); !checked.ok()) return checked.failure();
  if (fails(rule) && rule.numbers.test(SYS_brk) && !fault.injector->answers_brk()) {
    return Failure{quoted_selector(fault.selector) + " selects brk, which cannot fail on this backend",
                   "write " + std::string(fault.selector) + ",!brk"};
  }
  fault.injector->close(fault.id);
  const Result<FaultId> id = fault.injector->open(rule);
  if (!id.ok()) return id.failure();
  fault.rule = rule;
  fault.id = id.value();
  return {};
}

FaultCounts Faults::counts(const OpenFault& fault) const {
  return fault.injector->counts(fault.id);
}

void Faults::stop(OpenFault& fault) {
  if (!shared_.has_no_faults()) fault.injector->stop(fault.id);
}

void Faults::close(OpenFault* fault) {
  // A fork child leaves its copy alone.
  if (shared_.has_no_faults()) return;
  fault->injector->stop(fault->id);
  const FaultCounts last = counts(*fault);
  fault->injector->close(fault->id);
  const auto let_through = [&](std::uint64_t calls, const char* why, const char* how_to_fix) {
    if (calls == 0) return;
    shared_.recorder.note_problem({"the fault of " + quoted_selector(fault->selector) + " let " +
                                       std::to_string(calls) + (calls == 1 ? " call" : " calls") + " through: " + why,
                                   how_to_fix});
  };
  let_through(last.unnumbered, "there was no memory to count those of their thread",
              "run fewer threads, or use nth= in place of when= (docs/faults.md)");
  let_through(
      last.filtered,
      "the program has installed a seccomp filter, which may forbid the calls that a fault of a file or a delay "
      "needs",
      "end the fault before the filter is installed, or leave the file and the delay out");
  shared_.scopes.end(fault->scope, false, nullptr, 0);
  const std::lock_guard guard(lock_);
  open_.remove_if([&](const OpenFault& one) { return &one == fault; });
}

void Faults::begin_test() {
  if (!shared_.options.wants_faults() || shared_.is_fork_child() || !of_test_.empty()) return;
  OpenBackend* const opened = shared_.backend.current();
  const OwnCalls own(opened);
  FaultInjector* const injector = opened != nullptr ? opened->backend->extension<FaultInjector>() : nullptr;
  const bool is_brk_refused = injector != nullptr && !injector->answers_brk();
  const auto add = [&](std::string_view selector, const FaultRule& rule, std::size_t request) {
    const Result<OpenFault*> fault = open(selector, rule);
    if (fault.ok()) {
      of_test_.push_back({fault.value(), request, 0});
    } else {
      shared_.recorder.note_problem(fault.failure());
    }
  };
  const std::vector<InjectRequest>& wanted = shared_.options.inject;
  of_tests_.resize(wanted.size());
  // The last one that is opened is asked first: as they are written.
  for (std::size_t i = wanted.size(); i-- > 0;) {
    const InjectRequest& one = wanted[i];
    // As in strace, `when` counts each syscall of a set by itself.
    std::vector<std::string> names;
    if (counts_calls(one.rule)) names = names_of(one.selector, one.rule, is_brk_refused && fails(one.rule));
    for (const std::string& name : names) add(name, one.rule, i);
    if (names.empty()) add(one.selector, one.rule, i);
  }
  if (shared_.options.forbid.empty()) return;
  FaultRule forbidden;
  forbidden.is_process_wide = forbidden.promises_all_threads = forbidden.is_watch = forbidden.keeps_hits = true;
  add(shared_.options.forbid, forbidden, wanted.size());
}

void Faults::pause_test() {
  if (of_test_.empty() || shared_.is_fork_child()) return;
  const OwnCalls own(shared_.backend.current());
  for (OfTest& one : of_test_) {
    const std::uint64_t hits = one.request < of_tests_.size() ? 0 : counts(*one.fault).hits;
    if (hits > one.reported_hits && adapter::fail_test_if_any(report(*one.fault))) one.reported_hits = hits;
  }
}

void Faults::end_test() {
  if (of_test_.empty() || shared_.is_fork_child()) return;
  const OwnCalls own(shared_.backend.current());
  std::string text;
  for (const OfTest& one : of_test_) stop(*one.fault);
  for (const OfTest& one : of_test_) {
    const FaultCounts now = counts(*one.fault);
    if (one.request < of_tests_.size()) {
      of_tests_[one.request].matches += now.matches;
      of_tests_[one.request].hits += now.hits;
    } else if (now.hits > one.reported_hits) {
      text = report(*one.fault);
    }
    close(one.fault);
  }
  of_test_.clear();
  if (text.empty() || adapter::fail_test_if_any(text)) return;
  // Not every framework can be told. Then the run fails.
  const std::string test = shared_.window.has_value() ? shared_.window->test : std::string();
  shared_.recorder.note_problem(
      {"test " + test + ": " + text, "take the call out of the test, or out of --syscost_forbid"});
}

void Faults::finish_tests() {
  const std::vector<InjectRequest>& wanted = shared_.options.inject;
  for (std::size_t i = 0; i < wanted.size() && i < of_tests_.size(); ++i) {
    const FaultCounts all = std::exchange(of_tests_[i], {});
    if (all.matches == 0) {
      say("inject " + wanted[i].text + ": no test made such a call");
    } else {
      say("inject " + wanted[i].text + ": " + std::to_string(all.hits) + " of " + std::to_string(all.matches) +
          (all.matches == 1 ? " call was hit" : " calls were hit"));
    }
  }
}

std::vector<Faults::Call> Faults::calls(const OpenFault& fault) {
  std::vector<Call> calls;
  if (shared_.is_fork_child()) return calls;
  const OwnCalls own(shared_.backend.current());
  const std::vector<FaultHit> hits = fault.injector->hits(fault.id);
  const StackSource* const stacks = fault.injector->stacks();
  std::pmr::set<std::uint32_t> wanted(&mapped_memory());
  for (const FaultHit& hit : hits) wanted.insert(hit.stack);
  wanted.erase(0);
  Recorder::Lock guard;
  if (stacks != nullptr && !wanted.empty()) {
    guard = shared_.recorder.take_lock_inside_window();
    shared_.recorder.enter_file();
    call_sites_of(shared_).look_up(*stacks, wanted);
  }
  for (const FaultHit& hit : hits) {
    CallEvent event;
    event.id = {Abi::x86_64, hit.number};
    event.has_arguments = true;
    event.arguments = hit.arguments;
    event.texts = hit.paths;
    Call& call = calls.emplace_back();
    call.text = syscall_name(event.id) + "(";
    bool is_first = true;
    for (const ArgumentText& argument : argument_texts(event)) {
      call.text.append(is_first ? "" : ", ").append(argument.text);
      is_first = false;
    }
    call.text += ")";
    if (hit.result.has_value()) {
      event.latency_ns = 0;
      event.result = *hit.result;
      call.text += " = " + result_text(event) + " (injected)";
    }
    call.thread = hit.thread;
    if (hit.stack == 0 || stacks == nullptr) continue;
    call.line = call_sites_of(shared_).site_of(*stacks, hit.stack);
    call.frames = frames_of_test(call_sites_of(shared_).user_frames_of(*stacks, hit.stack));
  }
  return calls;
}

std::string Faults::report(const OpenFault& fault) {
  const std::uint64_t hits = counts(fault).hits;
  if (hits == 0 || shared_.is_fork_child()) return {};
  const OwnCalls own(shared_.backend.current());
  std::string text = quoted_selector(fault.selector) + " is forbidden, and " + std::to_string(hits) +
                     (hits == 1 ? " call was made:" : " calls were made:");
  const std::vector<Call> known = calls(fault);
  std::vector<std::string> last;
  for (const Call& call : known) {
    text.append("\n  ").append(call.text);
    if (!call.line.empty()) text.append(" ").append(call.line);
    // Calls in a loop have the same frames: those are shown once.
    if (call.frames == last) continue;
    last = call.frames;
    for (std::size_t i = 1; i < call.frames.size(); ++i) text.append("\n    from ").append(call.frames[i]);
  }
  if (hits > known.size() && !known.empty()) text += "\n  and " + std::to_string(hits - known.size()) + " more";
  if (!fault.why_no_lines.empty()) text += "\n  without lines: " + fault.why_no_lines;
  return text;
}

}  // namespace syscost::session

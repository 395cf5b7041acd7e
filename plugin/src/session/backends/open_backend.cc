// SPDX-License-Identifier: MIT
#include "session/backends/open_backend.h"

#include <atomic>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "extras/faults/options/fault_rules.h"
#include "session/backends/doctor.h"
#include "session/options/option_table.h"

#if SYSCOST_HAS_EBPF
#include "backends/ebpf/ebpf_backend.h"
#endif
#if SYSCOST_HAS_GPU_IOCTL
#include "extras/gpu/ioctl/drivers.h"
#endif
#if SYSCOST_HAS_DISPATCH
#include "backends/dispatch/dispatch_backend.h"
#include "extras/commands/dispatch/command_backend.h"
#endif
#if SYSCOST_HAS_SECCOMP
#include "backends/seccomp/seccomp_backend.h"
#endif

namespace syscost::session {
namespace {

using OpenedBackend = Result<std::unique_ptr<Backend>>;

/// The results of a backend that was tried.
struct Trial {
  Calibration calibration;
  std::string arrangement;
  std::string remark;
  std::optional<std::uint64_t> getppid_ns;
};

[[maybe_unused]] Failure built_without(const char* backend, const char* library) {
  return {std::string("this libsyscost was built without the ") + backend + " backend",
          std::string("build it where ") + library + " is installed (Debian: apt-get install " + library + "-dev)"};
}

std::atomic<bool> g_expects_faults{false};

/// The calls and details that a backend shall count.
struct BackendRequest {
  const Filter* filter = nullptr;  ///< Null = everything.
  bool children = false;
  DetailRequest details;                                    ///< How to distinguish calls of one syscall.
  bool stacks = false;                                      ///< A call stack for each call.
  std::uint64_t trace_events = 0;                           ///< Each call, as far as there is room; 0 = none.
  bool faults = false;                                      ///< Calls can fail, or are forbidden.
  const std::vector<InjectRequest>* inject = nullptr;       ///< These, if they are known by now.
  std::uint32_t scheduler_events = 0;                       ///< The same of the scheduler's events.
  std::optional<std::string> obstacle_inside_command = {};  ///< As in Options.
};

/// Tries a backend that leaves the process unchanged when it is closed (docs/decisions/0003).
Result<Trial> open_and_close(OpenedBackend (*open)(const BackendRequest&)) {
  OpenedBackend backend = open({});
  if (!backend.ok()) return backend.failure();
  return Trial{backend.value()->calibration(), backend.value()->arrangement(), backend.value()->remark(),
               latency_of_getppid(*backend.value())};
}

Failure has_no_details(const char* backend) {
  return {
      std::string("backend ") + backend + " does not support --syscost_detail: it cannot separate calls of one syscall",
      "use --syscost_backend ebpf (--syscost_doctor says what it needs), or leave --syscost_detail out"};
}

[[maybe_unused]] Failure has_only_kinds(const char* backend) {
  return {std::string("backend ") + backend +
              " has only --syscost_detail file: it cannot separate calls by requests of ioctl and by threads",
          "use --syscost_backend ebpf (--syscost_doctor says what it needs), or leave ioctl and thread:NAME out"};
}

Failure has_no_stacks(const char* backend, const char* why) {
  return {std::string("backend ") + backend + " has no call stacks (--syscost_where): " + why,
          "use --syscost_backend dispatch, which needs no privilege, or leave --syscost_where out"};
}

Failure has_no_faults(const char* backend) {
  return {std::string("backend ") + backend +
              " only counts calls, and cannot make one fail (--syscost_inject) or forbid it (--syscost_forbid)",
          "use --syscost_backend dispatch or seccomp, which need no privilege, or leave these out"};
}

Failure has_no_trace(const char* backend, const char* why) {
  return {std::string("backend ") + backend + " does not keep each call (--syscost_trace): " + why,
          "use --syscost_backend dispatch, which needs no privilege, or leave --syscost_trace out"};
}

Failure has_no_scheduler_events(const char* backend) {
  return {std::string("backend ") + backend + " does not see what the scheduler does (--syscost_sched)",
          "use --syscost_backend ebpf (--syscost_doctor says what it needs), or leave --syscost_sched out"};
}

/// `details`, with the rules for the drivers of this machine.
DetailRequest with_rules(DetailRequest details) {
#if SYSCOST_HAS_GPU_IOCTL
  if (details.ioctls) gpu::add_knowledge(details);
#endif
  return details;
}

#if SYSCOST_HAS_DISPATCH
/// With the names and rules for the drivers of this machine.
CallTraceRequest trace_request(std::uint64_t events) {
  if (events == 0) return {};
  DetailRequest details;
#if SYSCOST_HAS_GPU_IOCTL
  gpu::add_knowledge(details);
#endif
  return {events, std::move(details.rules)};
}
#endif

Failure counts_no_children(const char* backend) {
  return {std::string("backend ") + backend + " does not count child processes (--syscost_children)",
          "use --syscost_backend ebpf or --syscost_backend seccomp, or leave --syscost_children out"};
}

// ---- each backend ---------------------------------------------------------------------------------------------------

OpenedBackend open_ebpf([[maybe_unused]] const BackendRequest& request) {
  if (request.faults) return has_no_faults("ebpf");
  if (request.trace_events > 0) return has_no_trace("ebpf", "in the kernel, an event costs seven times as much");
  if (request.stacks) {
    return has_no_stacks("ebpf", "in the kernel, a stack of code without frame pointers costs forty times as much");
  }
#if SYSCOST_HAS_EBPF
  return ebpf::open_backend(
      {.details = request.details, .children = request.children, .scheduler_events = request.scheduler_events},
      request.filter);
#else
  return built_without("eBPF", "libbpf");
#endif
}

Result<Trial> try_ebpf() {
  return open_and_close(open_ebpf);
}

#if SYSCOST_HAS_DISPATCH
OpenedBackend open_dispatch_as(const char* name, dispatch::Patching patching, const BackendRequest& request) {
  if (request.details.needs_kernel()) return has_only_kinds(name);
  if (request.scheduler_events > 0) return has_no_scheduler_events(name);
  if (request.obstacle_inside_command) {
    if (request.obstacle_inside_command->empty()) return dispatch::open_command_backend(name, request.filter);
    return Failure{
        std::string(name) + " counts inside the programs of a command, and " + *request.obstacle_inside_command,
        "use --backend=ebpf or --backend=seccomp"};
  }
  // Dispatch ends at fork: a child runs without the handler that counts.
  if (request.children) return counts_no_children(name);
  dispatch::Request wanted;
  wanted.filter = request.filter;
  wanted.details = request.details;
  if (request.trace_events > 0) wanted.add(trace_request(request.trace_events));
  if (request.stacks) wanted.add(StackWish{});
  return dispatch::open_backend(patching, wanted);
}
OpenedBackend open_dispatch(const BackendRequest& request) {
  return open_dispatch_as("dispatch", dispatch::Patching::allowed, request);
}
OpenedBackend open_dispatch_automatically(const BackendRequest& request) {
  if (request.obstacle_inside_command) {
    return Failure{
        "for a command as a whole, dispatch is taken only if it is named, because it does not see the dynamic "
        "loader's calls and static programs",
        "use --backend=dispatch"};
  }
  if (Result<void> debugger = dispatch::check_for_debugger(); !debugger.ok()) return debugger.failure();
  return open_dispatch(request);
}
OpenedBackend open_dispatch_trap(const BackendRequest& request) {
  return open_dispatch_as("dispatch-trap", dispatch::Patching::never, request);
}
#else
OpenedBackend open_dispatch(const BackendRequest&) {
  return Failure{"this libsyscost was built without the dispatch backend, which supports x86-64 only",
                 "choose another backend, or build for x86-64"};
}
constexpr auto open_dispatch_trap = open_dispatch;
constexpr auto open_dispatch_automatically = open_dispatch;
#endif

Result<Trial> try_dispatch() {
  return open_and_close(open_dispatch_automatically);
}

OpenedBackend open_seccomp([[maybe_unused]] const BackendRequest& request) {
  if (request.trace_events > 0) return has_no_trace("seccomp", "it sees that a call begins, and not its result");
  if (request.details.any()) return has_no_details("seccomp");
  if (request.scheduler_events > 0) return has_no_scheduler_events("seccomp");
  if (request.stacks) return has_no_stacks("seccomp", "it counts in another process, which does not see them");
#if SYSCOST_HAS_SECCOMP
  for (const InjectRequest& one : request.inject != nullptr ? *request.inject : std::vector<InjectRequest>()) {
    FaultRule rule = one.rule;
    Result<void> possible = find_numbers(one.selector, rule, /*is_brk_refused=*/true);
    if (possible.ok()) possible = seccomp::check_fault(rule);
    if (!possible.ok())
      return Failure{"--syscost_inject " + one.text + ": " + possible.failure().reason, possible.failure().how_to_fix};
  }
  // A program that may make a fault later says so before any backend opens.
  return seccomp::open_backend(request.filter,
                               {.children = request.children, .faults = request.faults || g_expects_faults.load()});
#else
  return built_without("seccomp", "libseccomp");
#endif
}

/// A seccomp filter cannot be removed, so a child installs it.
Result<Trial> try_seccomp() {
#if SYSCOST_HAS_SECCOMP
  Result<void> probed = seccomp::probe_backend();
  if (!probed.ok()) return probed.failure();
  return Trial{};
#else
  return built_without("seccomp", "libseccomp");
#endif
}

struct Entry {
  BackendChoice choice;
  OpenedBackend (*open)(const BackendRequest& request);
  /// For `automatic`; null = it does not try the backend.
  OpenedBackend (*open_automatically)(const BackendRequest& request);
  /// For --syscost_doctor; null = it does not try the backend.
  Result<Trial> (*attempt)();

  std::string name() const { return std::string(kBackendWords[static_cast<std::size_t>(choice)].text); }
};

/// In the order in which `automatic` tries them.
constexpr Entry kBackends[] = {
    {BackendChoice::ebpf, open_ebpf, open_ebpf, try_ebpf},
    {BackendChoice::dispatch, open_dispatch, open_dispatch_automatically, try_dispatch},
    {BackendChoice::dispatch_trap, open_dispatch_trap, nullptr, nullptr},
    {BackendChoice::seccomp, open_seccomp, open_seccomp, try_seccomp},
};
static_assert(std::size(kBackends) == static_cast<std::size_t>(BackendChoice::none) - 1,
              "each backend of BackendChoice has a line in kBackends");

// ---- the first that works -------------------------------------------------------------------------------------------

std::string& earlier_failures_text() {
  static auto* const text = new std::string;  // never destroyed: static destructors may still measure
  return *text;
}

std::string without_stop(std::string text) {
  if (text.ends_with('.')) text.pop_back();
  return text;
}

void add(std::string& list, const std::string& item) {
  list.append(list.empty() ? "" : "; ").append(item);
}

/// The first that works of those that `is_wanted`; `what` they would do, for the message.
OpenedBackend open_first_of(const BackendRequest& request, const char* what, bool (*is_wanted)(BackendChoice)) {
  std::string reasons, fixes, first_parts;
  for (const Entry& entry : kBackends) {
    if (entry.open_automatically == nullptr || !is_wanted(entry.choice)) continue;
    OpenedBackend backend = entry.open_automatically(request);
    if (backend.ok()) {
      earlier_failures_text() = first_parts.empty() ? first_parts : first_parts + " (see --syscost_doctor)";
      return backend;
    }
    const std::string reason = entry.name() + ": " + without_stop(backend.failure().reason);
    const std::string fix = without_stop(backend.failure().how_to_fix);
    add(reasons, reason);
    add(fixes, entry.name() + ": " + fix);
    // For the first line of each run: the doctor has the rest of the reason, and the remedy.
    add(first_parts, reason.substr(0, reason.find("; ")));
  }
  return Failure{std::string("no backend can ") + what + " here; " + reasons, fixes};
}

bool makes_faults(BackendChoice choice) {
  return choice != BackendChoice::ebpf;
}

OpenedBackend open_first(const BackendRequest& request) {
  // The only one that has them.
  if (request.stacks || request.trace_events > 0) return open_dispatch_automatically(request);
  if (request.scheduler_events > 0) return open_ebpf(request);
  if (request.faults) return open_first_of(request, "make calls fail", makes_faults);
  // Where none of those can count, another one does, and the test that needs a fault hears why.
  if (g_expects_faults.load()) {
    OpenedBackend backend = open_first_of(request, "make calls fail", makes_faults);
    if (backend.ok()) return backend;
  }
  return open_first_of(request, "count", [](BackendChoice) { return true; });
}

}  // namespace

void expect_faults() {
  g_expects_faults.store(true);
}

bool faults_need_early_backend([[maybe_unused]] const Options& options) {
#if SYSCOST_HAS_DISPATCH
  if (options.backend == BackendChoice::dispatch || options.backend == BackendChoice::dispatch_trap) return true;
  if (options.backend != BackendChoice::automatic) return false;
  return dispatch::check_for_debugger().ok() && dispatch::try_backend().ok();
#else
  return false;
#endif
}

void name_requests([[maybe_unused]] const Options& options) {
#if SYSCOST_HAS_GPU_IOCTL
  if (options.details.ioctls) gpu::add_names();
#endif
}

OpenedBackend open_backend(const Options& options) {
  const BackendRequest request{options.filter.get(),
                               options.children,
                               with_rules(options.details),
                               options.where.wanted,
                               options.trace.wanted ? options.trace.events : 0,
                               options.wants_faults(),
                               &options.inject,
                               options.scheduler.wanted ? static_cast<std::uint32_t>(options.scheduler.events) : 0,
                               options.obstacle_inside_command};
  earlier_failures_text().clear();
  for (const Entry& entry : kBackends) {
    if (options.backend == entry.choice) return entry.open(request);
  }
  return open_first(request);
}

std::shared_ptr<void> hold_shared([[maybe_unused]] const Options& options) {
#if SYSCOST_HAS_EBPF
  const bool is_ebpf = options.backend == BackendChoice::automatic || options.backend == BackendChoice::ebpf;
  // With details or children, each process has a helper of its own.
  if (is_ebpf && !g_expects_faults.load() && !options.children && !options.details.any() && !options.where.wanted &&
      !options.trace.wanted && !options.scheduler.wanted)
    return ebpf::hold_helper();
#endif
  return nullptr;
}

std::string failures_of_earlier_backends() {
  return earlier_failures_text();
}

// ---- for people -----------------------------------------------------------------------------------------------------

std::string describe_calibration(const Calibration& calibration) {
  if (calibration.is_lost_in_noise) return "what counting adds to a call is not measurable: the machine is busy";
  if (!calibration.measured) return {};
  return std::to_string(std::lround(calibration.armed_ns_per_call)) + " ns added per call while counting";
}

std::vector<BackendHealth> examine_backends() {
  std::vector<BackendHealth> healths;
  for (const Entry& entry : kBackends) {
    if (entry.attempt == nullptr) continue;
    BackendHealth& health = healths.emplace_back();
    health.name = entry.name();
    const Result<Trial> trial = entry.attempt();
    health.works = trial.ok();
    if (!trial.ok()) {
      health.finding = trial.failure().reason;
      health.how_to_fix = trial.failure().how_to_fix;
      continue;
    }
    health.finding = "opened, and counted 64 of 64 known calls";
    const Trial& found = trial.value();
    health.getppid_ns = found.getppid_ns;
    for (const std::string& more : {describe_calibration(found.calibration), found.arrangement, found.remark}) {
      if (!more.empty()) add(health.finding, more);
    }
  }
  return healths;
}

}  // namespace syscost::session

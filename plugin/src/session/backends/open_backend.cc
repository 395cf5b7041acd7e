// SPDX-License-Identifier: MIT
#include "session/backends/open_backend.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "session/backends/backend_wish.h"
#include "session/backends/doctor.h"
#include "session/options/option_table.h"

#if SYSCOST_HAS_EBPF
#include "backends/ebpf/ebpf_backend.h"
#endif
#if SYSCOST_HAS_DISPATCH
#include "backends/dispatch/dispatch_backend.h"
#endif
#if SYSCOST_HAS_SECCOMP
#include "backends/seccomp/seccomp_backend.h"
#endif

namespace syscost::session {
namespace {

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

/// Tries a backend that leaves the process unchanged when it is closed (docs/decisions/0003).
Result<Trial> open_and_close(OpenedBackend (*open)(const BackendCandidate&, const BackendRequest&)) {
  OpenedBackend backend = open({}, {});
  if (!backend.ok()) return backend.failure();
  return Trial{backend.value()->calibration(), backend.value()->arrangement(), backend.value()->remark(),
               latency_of_getppid(*backend.value())};
}

// ---- each backend ---------------------------------------------------------------------------------------------------

OpenedBackend open_ebpf(const BackendCandidate& /*candidate*/, [[maybe_unused]] const BackendRequest& request) {
#if SYSCOST_HAS_EBPF
  return ebpf::open_backend(request);
#else
  return built_without("eBPF", "libbpf");
#endif
}

Result<Trial> try_ebpf() {
  return open_and_close(open_ebpf);
}

#if SYSCOST_HAS_DISPATCH
OpenedBackend open_dispatch(const BackendCandidate& candidate, const BackendRequest& request) {
  if (!candidate.is_named) {
    if (Result<void> debugger = dispatch::check_for_debugger(); !debugger.ok()) return debugger.failure();
  }
  return dispatch::open_backend(
      candidate.choice == BackendChoice::dispatch_trap ? dispatch::Patching::never : dispatch::Patching::allowed,
      request);
}
#else
OpenedBackend open_dispatch(const BackendCandidate&, const BackendRequest&) {
  return Failure{"this libsyscost was built without the dispatch backend, which supports x86-64 only",
                 "choose another backend, or build for x86-64"};
}
#endif

Result<Trial> try_dispatch() {
  return open_and_close(open_dispatch);
}

OpenedBackend open_seccomp(const BackendCandidate& /*candidate*/, [[maybe_unused]] const BackendRequest& request) {
#if SYSCOST_HAS_SECCOMP
  return seccomp::open_backend(request);
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
  OpenedBackend (*open)(const BackendCandidate& candidate, const BackendRequest& request);
  /// For --syscost_doctor; null = it does not try the backend.
  Result<Trial> (*attempt)();
  bool is_automatic;  ///< `automatic` tries it.
};

/// In the order in which `automatic` tries them.
constexpr Entry kBackends[] = {
    {BackendChoice::ebpf, open_ebpf, try_ebpf, true},
    {BackendChoice::dispatch, open_dispatch, try_dispatch, true},
    {BackendChoice::dispatch_trap, open_dispatch, nullptr, false},
    {BackendChoice::seccomp, open_seccomp, try_seccomp, true},
};
static_assert(std::size(kBackends) == static_cast<std::size_t>(BackendChoice::none) - 1,
              "each backend of BackendChoice has a line in kBackends");

// ---- what is asked of it --------------------------------------------------------------------------------------------

bool is_expected(const BackendWish& wish) {
  return wish.is_expected != nullptr && wish.is_expected();
}

BackendRequest request_of(const Options& options) {
  BackendRequest request{options.filter.get(), options.details};
  for (const BackendWish* wish : backend_wishes()) {
    const bool is_told = wish->tell != nullptr && (wish->is_wanted(options) || is_expected(*wish));
    if (is_told) wish->tell(options, request);
  }
  return request;
}

std::optional<Failure> refusal_of_details(const BackendCandidate& candidate, const DetailRequest& details) {
  if (candidate.choice == BackendChoice::seccomp && details.any()) {
    return Failure{"backend seccomp does not support --syscost_detail: it cannot separate calls of one syscall",
                   "use --syscost_backend ebpf (--syscost_doctor says what it needs), or leave --syscost_detail out"};
  }
  if (candidate.choice != BackendChoice::ebpf && details.needs_kernel()) {
    return Failure{
        "backend " + candidate.name() +
            " has only --syscost_detail file: it cannot separate calls by requests of ioctl and by threads",
        "use --syscost_backend ebpf (--syscost_doctor says what it needs), or leave ioctl and thread:NAME out"};
  }
  return std::nullopt;
}

OpenedBackend open_candidate(const Entry& entry, bool is_named, const Options& options) {
  const BackendCandidate candidate{entry.choice, is_named};
  if (std::optional<Failure> refused = refusal_of_details(candidate, options.details)) return *std::move(refused);
  for (const BackendWish* wish : backend_wishes()) {
    if (!wish->is_wanted(options)) continue;
    if (wish->refusal != nullptr) {
      if (std::optional<Failure> refused = wish->refusal(candidate, options)) return *std::move(refused);
    }
    if (wish->open_instead == nullptr) continue;
    if (std::optional<OpenedBackend> other = wish->open_instead(candidate, options)) return *std::move(other);
  }
  return entry.open(candidate, request_of(options));
}

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

/// The first of `tried` that works; `what` it would do, for the message.
OpenedBackend open_first_of(const std::vector<const Entry*>& tried, const char* what, const Options& options) {
  std::string reasons, fixes, first_parts;
  for (const Entry* entry : tried) {
    OpenedBackend backend = open_candidate(*entry, false, options);
    if (backend.ok()) {
      earlier_failures_text() = first_parts.empty() ? first_parts : first_parts + " (see --syscost_doctor)";
      return backend;
    }
    const std::string name = BackendCandidate{entry->choice, false}.name() + ": ";
    const std::string reason = name + without_stop(backend.failure().reason);
    add(reasons, reason);
    add(fixes, name + without_stop(backend.failure().how_to_fix));
    // For the first line of each run: the doctor has the rest of the reason, and the remedy.
    add(first_parts, reason.substr(0, reason.find("; ")));
  }
  return Failure{std::string("no backend can ") + what + " here; " + reasons, fixes};
}

std::vector<const Entry*> automatic_entries() {
  std::vector<const Entry*> entries;
  for (const Entry& entry : kBackends) {
    if (entry.is_automatic) entries.push_back(&entry);
  }
  return entries;
}

OpenedBackend open_first_fulfilling(const BackendWish& wish, const Options& options) {
  std::vector<const Entry*> entries = automatic_entries();
  std::erase_if(entries, [&](const Entry* entry) { return !wish.can_fulfil(entry->choice); });
  if (entries.size() == 1) return open_candidate(*entries.front(), false, options);
  return open_first_of(entries, wish.purpose, options);
}

OpenedBackend open_first(const Options& options) {
  const auto wishes = backend_wishes();
  for (const BackendWish* wish : wishes) {
    if (wish->can_fulfil != nullptr && wish->is_wanted(options)) return open_first_fulfilling(*wish, options);
  }
  // Where none that can fulfil it counts, another one does, and who needs it hears why.
  for (const BackendWish* wish : wishes) {
    if (wish->can_fulfil == nullptr || !is_expected(*wish)) continue;
    OpenedBackend backend = open_first_fulfilling(*wish, options);
    if (backend.ok()) return backend;
  }
  return open_first_of(automatic_entries(), "count", options);
}

}  // namespace

bool would_open_dispatch([[maybe_unused]] const Options& options) {
#if SYSCOST_HAS_DISPATCH
  if (options.backend == BackendChoice::dispatch || options.backend == BackendChoice::dispatch_trap) return true;
  if (options.backend != BackendChoice::automatic) return false;
  return dispatch::check_for_debugger().ok() && dispatch::try_backend().ok();
#else
  return false;
#endif
}

void name_requests(const Options& options) {
  for (const BackendWish* wish : backend_wishes()) {
    if (wish->name_details != nullptr && wish->is_wanted(options)) wish->name_details();
  }
}

OpenedBackend open_backend(const Options& options) {
  earlier_failures_text().clear();
  for (const Entry& entry : kBackends) {
    if (options.backend == entry.choice) return open_candidate(entry, true, options);
  }
  return open_first(options);
}

std::shared_ptr<void> hold_shared([[maybe_unused]] const Options& options) {
#if SYSCOST_HAS_EBPF
  const bool is_ebpf = options.backend == BackendChoice::automatic || options.backend == BackendChoice::ebpf;
  const auto wishes = backend_wishes();
  // What more is wanted needs another backend, or a helper for each process.
  const bool wants_more =
      options.details.any() || std::any_of(wishes.begin(), wishes.end(), [&](const BackendWish* wish) {
        return wish->is_wanted(options) || is_expected(*wish);
      });
  if (is_ebpf && !wants_more) return ebpf::hold_helper();
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
    health.name = BackendCandidate{entry.choice, true}.name();
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

// SPDX-License-Identifier: MIT
//
// A conformance case: a few syscalls, and the exact numbers of calls that are known beforehand.
//
// The suite asks every backend the same question: here is a program that does something awkward (a signal in a read, a
// thread born inside the window, a call denied by seccomp), how many calls was that? The answer is compared with two
// independent ones: the table written here, and strace's log of the very same run.
//
// HOW TO ADD A CASE. Pick the family's file (cases_*.cc), write `static const Register kName(Case{...})` there and
// run `conformance_case --markdown > docs/conformance.md`. A case consists of
//   early     runs before the backend is opened (threads that are older than the instrument, filters, capabilities)
//   setup     runs after that, before the first window
//   windows   one or more bodies, each measured in a process-wide Scope of its own, with the rows it must show
//   teardown  runs after the last window
// All threads must be quiet (spinning on memory, see spin_until) at both edges of a window, unless the case is about
// the edge itself; then the Assistant tells when a thread is really blocked. Use raw(), not libc, in bodies.
// A syscall that no row names must not appear. `any("reason")` replaces a number that is not ours to decide.
//
// HOW TO ADD A BACKEND. Add it to backends() in backends.cc with what it can know; cases that cannot hold on it get an
// `unsupported` entry with the reason.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "syscost/cost.h"

namespace conformance {

/// An expected number; empty = not ours to decide (a row that says so carries the reason).
using Expectation = std::optional<std::uint64_t>;

/// The numbers that one syscall's row must show. Built by the functions below.
struct Row {
  std::string name = {};
  Expectation entries = 0, calls = 0, restarts = 0, in_flight = 0, no_return = 0, carried_in = 0, denied = 0;
  std::map<int, std::uint64_t> errors = {};                 ///< errno -> calls; compared unless `calls` is open.
  std::string open_because = {};                            ///< Reason for the empty expectations above.
  Expectation bytes = {}, released = {}, short_calls = {};  ///< Not compared if empty, or if the backend knows none.

  Row restarted(std::uint64_t times) && {
    restarts = times;
    entries = *entries + times;
    return std::move(*this);
  }
  Row failing(int error, std::uint64_t times) && {
    errors[error] = times;
    return std::move(*this);
  }
  Row left_in_flight(std::uint64_t times) && {
    in_flight = times;
    entries = *entries + times;
    return std::move(*this);
  }
  Row never_returning(std::uint64_t times) && {
    no_return = times;
    entries = *entries + times;
    return std::move(*this);
  }
  Row carried(std::uint64_t times) && {
    carried_in = times;
    return std::move(*this);
  }
  Row moving(std::uint64_t its_bytes, Expectation its_short_calls = {}) && {
    bytes = its_bytes;
    short_calls = its_short_calls;
    return std::move(*this);
  }
  Row mapping(std::uint64_t its_bytes, std::uint64_t its_released) && {
    bytes = its_bytes;
    released = its_released;
    return std::move(*this);
  }
  /// Denied calls never were calls, but the program saw their errno.
  Row refused(std::uint64_t times, int error) && {
    denied = times;
    errors[error] = times;
    return std::move(*this);
  }
};

/// `times` calls that the program saw return.
Row calls(std::string name, std::uint64_t times);
/// A syscall of which only strace knows the right number, with the reason.
Row any(std::string name, std::string reason);

/// One measured stretch.
struct Window {
  std::string name = {};
  std::function<void()> body = {};
  std::vector<Row> rows = {};
  /// When not empty: syscalls without a row are allowed (still compared with strace), for this reason.
  std::string others_because = {};
  /// Checks of what rows cannot say, asked of the backend's answer; reports through problem().
  std::function<void(const syscost::Cost&)> check = {};
};

/// How the case program is started.
enum class Setting {
  plain,             ///< Bare, and once more under strace.
  pid_namespace,     ///< As the first processes of a new PID namespace, bare and under strace.
  debugger,          ///< Under gdb, compared with the table alone.
  sanitize_address,  ///< Built with -fsanitize=address.
  sanitize_thread,   ///< Built with -fsanitize=thread.
  sanitize_leak,     ///< Built with -fsanitize=leak.
};

struct Case {
  int number = 0;            ///< The mechanism it is about; docs/conformance.md lists them.
  std::string name = {};     ///< A word for file names: eintr_read.
  std::string summary = {};  ///< One sentence of behaviour, for the table.
  std::function<void()> early = {};
  std::function<void()> setup = {};
  std::vector<Window> windows = {};
  std::function<void()> teardown = {};
  /// The thing that this machine lacks for the case, with the remedy; empty = nothing.
  std::function<std::string()> missing = {};
  /// Cannot hold under a container engine's seccomp profile, which answers calls in the kernel's place.
  bool needs_no_seccomp_filter = false;
  /// Holds where the backend knows latencies only, which depends on the processor.
  bool needs_latency = false;
  Setting setting = Setting::plain;
  /// The windows run inside a GoogleTest test, for death tests: the style.
  std::string death_style = {};
  /// Backend -> a text: named, it must refuse to start, with exit status 2 and a message that contains the text.
  std::map<std::string, std::string> refusals = {};
  /// Backend -> why the case cannot hold there. `not linked`: under `bench run`, on each backend.
  std::map<std::string, std::string> unsupported = {};
};

/// `others` and both dispatch backends, with one reason.
std::map<std::string, std::string> and_dispatch(const std::string& reason,
                                                std::map<std::string, std::string> others = {});

/// strace's word for our `name`: it names the table that a call went through nowhere, we do by a prefix (`i386:`).
std::string strace_name(const std::string& name);

/// In the program that is not linked with syscost, the test that is this window.
std::string not_linked_test(const Window& window);

/// All cases by number, then name.
const std::vector<Case>& cases();
/// Null when there is none of that name.
const Case* find_case(const std::string& name);

/// Adds a case to cases(); for static objects.
class Register {
 public:
  explicit Register(Case one);
};

/// Called by a case when the kernel did not behave as the case assumes ("read returned 1, expected -EINTR"): the run
/// fails with this text, even if the counts are right. It allocates. So in a body that is counted, note the problem and
/// call this later, or accept the calls.
void problem(const std::string& text);
const std::vector<std::string>& problems();
/// problem() unless `condition`.
void require(bool condition, const std::string& text);

}  // namespace conformance

// SPDX-License-Identifier: MIT
//
// Session: what one process measures, from its first window to its end.
//
// It brings the parts together: options, instrument, CSV. The order inside open_window() and close_window() is the
// point: everything of ours that enters the kernel happens before the window is armed or after it is disarmed, so that
// an empty test has 0 calls.
//
// Scopes (scope.cc) may open and close on any thread inside a window; they neither malloc nor enter the kernel, and
// their rows wait in quiet memory until no window is open.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/spin_lock.h"
#include "session/child_guard.h"
#include "session/instrument.h"
#include "session/options.h"
#include "session/recorder.h"
#include "session/scopes.h"
#include "session/usage.h"
#include "syscost/adapter.h"
#include "syscost/syscost.h"

namespace syscost::session {

/// The window an adapter has open. (Not nested: Clang refuses std::optional of a nested class with initialisers.)
struct OpenWindow {
  adapter::Kind kind{};
  std::string test;
  std::string name;
  int repetition = 0;
  Usage usage_before;
  std::uint64_t start_ns = 0;
  Opened* opened = nullptr;
  WindowBook::Window* handle = nullptr;
};

class Session {
 public:
  /// The process's session, made at the first call and never destroyed. Tests make their own.
  static Session& instance();

  Session(Options options, BackendOpener opener);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Opens what the options ask for; fails with what cannot be had. Prints the header line if anything was asked for.
  /// A second call takes the framework's word for `selection` and `build_type`, and does what new options ask for.
  Result<void> start(const adapter::Framework& framework);
  /// Uses `options` from the next start() on: a static initialiser measured before main() read the flags. Fails when
  /// what was opened already is not what they ask for.
  Result<void> take_over(Options options);
  bool is_started() const { return is_started_.load(std::memory_order_acquire); }

  void open_window(const adapter::WindowName& name);
  adapter::Report close_window(std::string_view outcome, int framework_writes);

  /// Writes the rows that still wait.
  void finish();

  /// Opens a scope and returns it; null when it cannot count, with the reason in `cost`. Any thread.
  ScopeRecord* open_scope(std::string_view name, Reach reach, Cost& cost);
  Cost close_scope(ScopeRecord* scope);

  /// The answer of syscost::cycles(), which becomes column `iterations` of the running test.
  int cycles(int fallback);

  /// True when a backend is open.
  bool can_count() const { return instrument_.current() != nullptr; }
  bool is_fork_child() const { return guard_.is_child(); }
  std::string problem() const { return recorder_.problem(); }
  const Options& options() const { return options_; }

 private:
  std::string header_line() const;
  void read_run(const adapter::Framework& framework, bool is_new);
  void mark(const char* what, const OpenWindow& window) const;
  std::shared_ptr<detail::CostData> read_and_check(OpenWindow& window, std::shared_ptr<const Unavailable>& why_not);
  bool is_idle() const;
  /// In a program without tests, --syscost_profile prints a line for each named scope.
  bool prints_scopes() const { return options_.profile_syscalls && !has_framework_; }
  void add_scope_rows();

  Options options_;
  ChildGuard guard_;
  Instrument instrument_;
  Recorder recorder_;
  Scopes scopes_;
  csv::RunColumns run_;
  std::atomic<bool> is_started_{false};
  bool has_framework_ = false;
  bool has_new_options_ = false;  // since the last start()
  std::optional<OpenWindow> window_;
  std::atomic<bool> has_window_{false};
  std::atomic<int> cycles_{0};  // last answer inside the open window; 0 = none
  SpinLock writing_;            // held while rows go to the file; windows that would see that wait for it
};

/// The options of this process, read once: from what take_options() was given, else from /proc and the environment.
const Result<ParsedOptions>& process_options();
/// Uses `arguments` with `spelling` instead of the process's own; where a session exists already, it takes them over.
const Result<ParsedOptions>& read_process_options(const std::vector<std::string>& arguments, Spelling spelling);

/// The process's session, started: by the adapter, or here at the first use without one. When something asked for
/// cannot be had: message, exit(2). Also serves --syscost_help and --syscost_doctor.
Session& started_session(const adapter::Framework& framework = {});

}  // namespace syscost::session

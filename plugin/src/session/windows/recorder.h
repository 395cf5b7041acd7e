// SPDX-License-Identifier: MIT
//
// Recorder: keeps the rows of windows and of closed scopes until no window is open, writes them into the CSV, and
// remembers everything that went wrong. It also makes the line under a test, and removes the framework's own writes
// from a window.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <list>
#include <memory_resource>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/cost_data.h"
#include "core/tally.h"
#include "csv/sink.h"
#include "csv/window_rows.h"
#include "os/errors.h"
#include "os/memory.h"
#include "os/spin_lock.h"
#include "session/windows/origin_namer.h"
#include "session/windows/scope_records.h"

namespace syscost::session {

/// The lock of the thread that writes rows to the file. A window that would count its calls waits for it.
///
/// It is mostly held for microseconds, and a waiter spins, because sleeping would enter the kernel. But the thread that
/// writes rows may have to wait for the lock of the file, and another test program may hold that lock for long. Then
/// waiters that are in no window sleep.
class WritingLock {
 public:
  /// Where the calling thread is.
  enum class Waiter {
    inside_window,   ///< Never enters the kernel.
    outside_window,  ///< Sleeps while the holder is at the file.
  };

  void lock(Waiter waiter) {
    while (!try_lock()) {
      if (waiter == Waiter::outside_window && is_at_file_.load(std::memory_order_relaxed)) {
        // Polled, because waking a sleeper would be a system call of the holder, who may have opened a window.
        const timespec pause{0, 100'000};
        nanosleep(&pause, nullptr);
      } else {
        relax_cpu();
      }
    }
  }
  bool try_lock() { return lock_.try_lock(); }
  /// For the end of the process: false if the lock is not free within a second. The holder may be an interrupted
  /// function of this thread, which never continues.
  bool lock_within_a_second() {
    return becomes_true_within_a_second([this] { return try_lock(); });
  }
  template <class Condition>
  static bool becomes_true_within_a_second(Condition is_met) {
    constexpr int kTries = 1000;
    for (int i = 0; i < kTries; ++i) {
      if (is_met()) return true;
      const timespec pause{0, 1'000'000};
      nanosleep(&pause, nullptr);
    }
    return false;
  }
  /// The holder calls it before it uses the file, which enters the kernel and may take long.
  void enter_file() { is_at_file_.store(true, std::memory_order_relaxed); }
  void unlock() {
    is_at_file_.store(false, std::memory_order_relaxed);
    lock_.unlock();
  }

 private:
  SpinLock lock_;
  std::atomic<bool> is_at_file_{false};
};

/// `1024 write, 131 us in the kernel, 94 % of wall`. Time in calls that block by design (%wait) is no work and has
/// its own part: `..., 2 ms waiting`. Under a filter it ends with ` (only %network counted)`.
std::string report_line(const detail::CostData& cost, std::uint64_t wall_ns);

/// `2 write, 1 fsync a call`: the table's counts divided by `calls`; with 3 digits if they do not divide evenly.
std::string breakdown_per_call(const detail::CostData& cost, std::uint64_t calls);

/// A time with three digits at most: "131 us", "1.52 ms".
std::string format_ns(std::uint64_t ns);

/// Removes the framework's own progress output from a window (GoogleTest prints "[ RUN      ]" between a suite's set-up
/// and its first test). It removes writes only if the window has exactly `count` of them: then all are the framework's.
/// If the window also wrote by itself, nothing is removed, because latencies cannot be separated. Adds what it removes
/// to `removed`.
void remove_framework_writes(CallTable& table, int count, CallTable& removed);

/// True if the table has no count.
bool is_empty(const CallTable& table);

/// Writes the call stacks of rows into files. The caller holds Recorder's lock.
class StackFiles {
 public:
  virtual ~StackFiles() = default;
  /// Those of a loop or a scope, in a folder `KIND NAME` of its test's folder. Makes syscalls: between windows.
  virtual void write_stacks(std::string_view kind, std::string_view test, std::string_view name,
                            const detail::CostData& cost) = 0;
};

/// The meaning of lost events for the run.
enum class LossRule {
  ignored,   ///< They are data: the user requested nothing, or the adapter prints them itself (decision 0013).
  accepted,  ///< A message.
  refused,   ///< A message, and a problem of the run: it ends non-zero.
};

/// A thread holds the recorder's lock while it writes rows, and a window that is about to open waits for it. A scope
/// closes inside a test, where its row cannot be written. The row waits in quiet memory (scope_records.h).
///
/// If the disk fills up while tests run, no test's verdict may change, but the run must not end as if its CSV were
/// whole. So the recorder prints the first failure, remembers each one, and the tests go on.
///
/// In a process with several threads, the caller holds the lock for everything that keeps or writes rows. Makes
/// syscalls: between windows only.
class Recorder {
 public:
  using Lock = std::unique_lock<WritingLock>;

  Recorder() = default;
  /// Writes the rows of closed scopes too. `scopes` must outlive it.
  explicit Recorder(ScopeRecords& scopes) : scopes_(&scopes) {}

  void set_loss_rule(LossRule rule) { loss_rule_ = rule; }
  /// Prints a line for each named scope when its row is written: in a program without a test framework.
  void set_prints_scopes(bool prints_scopes) { prints_scopes_ = prints_scopes; }

  /// Opens the CSV at the absolute path `path`.
  Result<void> open_csv(const std::string& path, csv::Lifetime lifetime = csv::Lifetime::kept);
  /// True if open_csv() would do, as far as one can know without creating the file.
  static Result<void> check_csv(const std::string& path) { return csv::Sink::check(path); }
  bool has_csv() const { return sink_.has_value(); }
  /// Empty without a CSV.
  std::string csv_path() const { return sink_.has_value() ? sink_->path() : std::string(); }

  /// Finds the sites of calls that have origins. `namer` must outlive it.
  void set_origin_namer(OriginNamer* namer) { namer_ = namer; }

  /// Also writes the call stacks of loops and named scopes into files. `files` must outlive it.
  void set_stack_files(StackFiles& files) { stack_files_ = &files; }

  /// The columns of every row that follows. The run's own row goes before the next window's.
  void set_run(const csv::RunColumns& run);

  /// Waits until no other thread writes rows. `scope` is the scope that the calling thread is about to open, if any.
  Lock take_lock(const ScopeRecord* scope = nullptr);
  /// The same inside a window: waiting does not enter the kernel.
  Lock take_lock_inside_window();
  /// For the end of the process. If the lock is not free within a second, returns a lock that is not held: the holder
  /// may be an interrupted function of this thread, which never continues.
  Lock take_lock_within_a_second();
  /// The lock's holder calls it before it uses the file, which enters the kernel and may take long.
  void enter_file() { lock_.enter_file(); }

  /// Keeps a window's rows for the next write(). If the clock went back in the window, the time is left out.
  void add(const csv::WindowColumns& window, const detail::CostData* cost, const Capabilities& capabilities);
  /// Keeps the rows of a tool beside us for the same window.
  void add(const csv::WindowColumns& window, const csv::ToolWindow& tool);
  /// Writes the kept rows and those of closed scopes into the file, with one write. `window` names them in the message
  /// of a failure. While another process holds the file's lock, the rows stay kept, and one message says so.
  void write(std::string_view window);
  /// The rows that are added from now on have an outcome that may change: no row is written before settle_outcome(), or
  /// the end of the process. `window` names them.
  void let_outcome_wait(std::string_view window);
  /// Gives them this outcome and writes them. No effect if none wait.
  void settle_outcome(std::string_view outcome);
  /// Writes the kept rows of `loop`. The rows of scopes keep waiting, because the test goes on. Takes the lock.
  void write_loop(std::string_view loop);
  /// Writes the run's row that says that tests begin, unless tests began and have not finished. Takes the lock.
  void begin_tests(std::string_view only_test);
  /// At the end of the tests: writes the rows that still wait, and that the tests finished, if they began. A shard may
  /// have got no test: its run's row alone then says that it was not forgotten. Takes the lock.
  void finish(std::string_view outcome = {});
  /// The same at the end of the process: rows that cannot be written are lost, and that is a problem of the run.
  void conclude();

  /// Prints `failure` and remembers it as the run's problem; each failure once.
  void note_problem(const Failure& failure);
  /// All problems, in one line; empty if there are none.
  std::string problem() const;

 private:
  /// The call stacks of all rows with one name: of the passes of a loop, and of a scope that opened many times.
  struct NamedStacks {
    NamedStacks(std::string_view its_kind, std::string_view its_test, std::string_view its_name)
        : kind(its_kind), test(its_test, &mapped_memory()), name(its_name, &mapped_memory()) {}
    std::string_view kind;  // a literal
    std::pmr::string test;
    std::pmr::string name;
    detail::CostData cost{&mapped_memory()};
  };

  void keep_stacks(const csv::WindowColumns& window, const detail::CostData& cost);
  void write_stack_files();
  void write_kept(std::string_view window);
  void add_scopes(std::string_view window);
  void add_scope(const ScopeRow& row);
  void note_lost_rows();
  void say_that_rows_wait(Failure failure);
  void note_outcome(std::size_t at, std::string_view outcome);
  void let_rows_go();
  void add_run_row();
  void add_sites(const csv::WindowColumns& window, const detail::CostData& cost, const Capabilities& capabilities);
  csv::WindowColumns without_time_that_went_back(csv::WindowColumns window);
  void judge_losses(const csv::WindowColumns& window, const detail::CostData& cost);

  ScopeRecords* scopes_ = nullptr;  // null = there are no scopes
  OriginNamer* namer_ = nullptr;
  StackFiles* stack_files_ = nullptr;  // null = none are requested
  std::pmr::list<NamedStacks> stacks_{&mapped_memory()};
  bool prints_scopes_ = false;
  WritingLock lock_;
  std::optional<csv::Sink> sink_;
  std::optional<csv::WindowRows> rows_;
  std::pmr::string pending_{&mapped_memory()};
  /// Where outcomes stand in pending_ that may change. While there is one, no row is written.
  std::pmr::vector<std::size_t> outcomes_{&mapped_memory()};
  std::size_t outcome_length_ = 0;
  std::pmr::string waiting_window_{&mapped_memory()};
  bool lets_outcome_wait_ = false;
  bool has_begun_tests_ = false;
  std::string run_id_;
  bool has_run_row_ = false;
  bool is_shard_ = false;
  bool has_said_that_rows_wait_ = false;
  bool has_said_that_time_went_back_ = false;
  // Not in the heap: a test that counts its allocations would find them.
  std::pmr::string first_problem_{&mapped_memory()};
  std::pmr::set<std::pmr::string> said_{&mapped_memory()};
  LossRule loss_rule_ = LossRule::ignored;
  bool has_told_of_losses_ = false;
  int problems_ = 0;
  int unwritten_windows_ = 0;
};

}  // namespace syscost::session

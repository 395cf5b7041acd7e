// SPDX-License-Identifier: MIT
//
// Profiler: another tool that looks at one window of this process: bpftrace with some scripts, or perf. And the word of
// our memory by which it sees that the window is open.
//
// The tool runs beside us, attached from before the window's first call until after its last. Its output is kept as it
// is, and parsed. Counts and latencies of syscalls come into the CSV, under the tool's own origin. A window that a
// profiler observes has no times in the timing columns.
//
// attach() and detach() enter the kernel and take long (starting bpftrace takes a third of a second), so they happen
// between windows. arm() and disarm() are one store each: a script counts only while the word they write is 1, so that
// the handshake's own calls fall outside.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "os/errors.h"

namespace syscost::profilers {

/// One bucket of a latency histogram: [lower_ns, next bucket's lower bound).
struct LatencyBucket {
  std::uint64_t lower_ns = 0;
  std::uint64_t count = 0;
  bool operator==(const LatencyBucket&) const = default;
};

/// The figures of a tool for one syscall (its number in the x86-64 table). A figure that the tool does not have is
/// empty.
struct SyscallFigures {
  int number = 0;
  std::optional<std::uint64_t> entries;               ///< Trips into the kernel that began while the window was armed.
  std::optional<std::uint64_t> returned;              ///< Those that returned while it was armed.
  std::vector<std::pair<int, std::uint64_t>> errors;  ///< errno (positive) and how often.
  bool has_errors = false;                            ///< The tool counts errors; false: `errors` means nothing.
  std::vector<LatencyBucket> latency;                 ///< That of `returned`; powers of two.
  std::optional<std::uint64_t> latency_sum_ns;
  std::optional<std::uint64_t> latency_min_ns;
  std::optional<std::uint64_t> latency_max_ns;
};

/// A file for the window's artifacts folder.
struct Artifact {
  std::string name;     ///< Without folders: "syslat.txt", "flamegraph.html".
  std::string content;  ///< Bytes.
};

/// Launches, copies, ... of a figure that are one row: how many, and their times together.
struct TimeRow {
  std::uint64_t iterations = 0;
  std::uint64_t total_ns = 0;
  bool operator==(const TimeRow&) const = default;
};

/// A figure that is a time; rows of kind `gpu_kernel`.
struct TimeFigure {
  std::string name;  ///< Column `window`: "add_tree duration (CUPTI)".
  std::string note;  ///< Column `detail`; may be empty.
  std::vector<TimeRow> rows;
  bool is_sum = false;  ///< One row, over the whole window.
  bool operator==(const TimeFigure&) const = default;
};

/// The output of one script or command of a tool for one window.
struct Output {
  std::string script;                    ///< "syslat"; "stat" and "record" of perf.
  std::vector<Artifact> artifacts;       ///< The tool's text, the same parsed as JSON, pictures.
  std::string summary;                   ///< For people, a few lines, names in place of numbers.
  std::vector<SyscallFigures> syscalls;  ///< Empty if the script counts no syscalls.
  bool counts_syscalls = false;   ///< True: `syscalls` is complete; a syscall that is missing there was not made.
  std::vector<TimeFigure> times;  ///< Times of work on a GPU.
  std::uint64_t lost_events = 0;  ///< As reported by the tool.
};

/// The values of the window's word. A tool that cannot read it sees 0, which is neither of them, and counts a loss.
inline constexpr std::uint64_t kArmed = 1;
inline constexpr std::uint64_t kDisarmed = 2;

class Profiler {
 public:
  virtual ~Profiler() = default;

  /// The tool: "bpftrace", "perf". Column `origin` of its rows.
  virtual std::string_view name() const = 0;

  /// Tries everything that was requested: attaches, makes a known number of known calls, and must see exactly these.
  /// Fails with cause and fix. Call it once, at start-up.
  virtual Result<void> check() = 0;

  /// Starts the tool and returns when it is attached. Not thread-safe. Fails when it cannot be started or ended at
  /// once.
  virtual Result<void> attach() = 0;

  /// Opens and closes the tool's window. Any number of times between attach() and detach(). One store: no syscall.
  void arm() noexcept {
    before_arming();
    word_->store(kArmed, std::memory_order_seq_cst);
  }
  void disarm() noexcept {
    word_->store(kDisarmed, std::memory_order_seq_cst);
    after_disarming();
  }

  /// True for a tool that is part of this process, with threads and calls of its own: while it is attached, nothing is
  /// counted, and after it was attached, nothing is timed.
  virtual bool runs_inside() const { return false; }

  /// Stops the tool, waits until it is gone and returns what it found. Leaves no process, pipe or file.
  virtual Result<std::vector<Output>> detach() = 0;

 protected:
  /// `word` outlives the profiler and lies in memory that fork children do not share.
  explicit Profiler(std::atomic<std::uint64_t>& word) : word_(&word) {}

  /// For a tool inside: its clock says when windows open and close. Other tools must not enter the kernel here.
  virtual void before_arming() noexcept {}
  virtual void after_disarming() noexcept {}

 private:
  std::atomic<std::uint64_t>* word_;
};

/// The requests of the flags for the profilers.
struct ProfilerOptions {
  std::vector<std::string> scripts;  ///< --syscost_bpf: names of shipped scripts or of files in `script_folders`.
  std::vector<std::string> script_folders;  ///< --syscost_bpf_path, searched before ours.
  bool uses_sudo = false;                   ///< --syscost_bpf_sudo: start the tool by `sudo -n`.
};

/// A shipped or found script, for --syscost_bpf list.
struct ScriptInfo {
  std::string name;
  std::string purpose;  ///< One line.
  std::string path;
};

/// Fails with cause and fix: unknown script (with the nearest name), tool missing or too old.
Result<std::unique_ptr<Profiler>> make_bpftrace(const ProfilerOptions& options);
Result<std::unique_ptr<Profiler>> make_perf(const ProfilerOptions& options);

/// Fails for a folder of `options` that does not exist, because its scripts would be missing silently.
Result<void> check_script_folders(const ProfilerOptions& options);

/// Returns the scripts that --syscost_bpf can name, those in the folders of `options` first.
std::vector<ScriptInfo> list_scripts(const ProfilerOptions& options);

/// Eight bytes of our memory, by which a script sees if the window is open.
///
/// A script reads them in the context of the process, and cannot wait for a page: so the page is touched, locked, and
/// protected from being moved. A fork child gets a page of zeros of its own, so that it neither opens nor closes
/// anything.
class WindowWord {
 public:
  static Result<WindowWord> make();
  ~WindowWord();
  WindowWord(WindowWord&& other) noexcept;
  WindowWord& operator=(WindowWord&&) = delete;

  std::atomic<std::uint64_t>& word() { return *word_; }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(word_); }

 private:
  explicit WindowWord(std::atomic<std::uint64_t>* word) : word_(word) {}
  std::atomic<std::uint64_t>* word_;
};

}  // namespace syscost::profilers

// SPDX-License-Identifier: MIT
//
// TracedWindow: the calls of a trace in order, with what each descriptor and path of them is, and which of them one
// call of the test made.
//
// The trace has texts: `openat(AT_FDCWD, "app.log", O_RDONLY) = 3`, then `read(3, ...)`. Rules ask which file a read is
// of, so descriptors are followed from the call that makes them to their close.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/trace_file.h"

namespace syscost::bench::findings {

/// Whether one call that the test makes led to several syscalls.
///
/// A test may do small things one by one, because it tests them: it writes a record, and the next one. If a library
/// does them within one call of the test, that is another matter: the test asked once. Call stacks tell these apart.
/// The innermost function of the test's own code stands at one place for both syscalls, and a function below it goes on
/// from one syscall to the next.
class OneCall {
 public:
  /// Reads the stacks of `trace`, which must outlive it.
  explicit OneCall(const trace::TraceFile& trace);

  /// True if one call of the test's code leads to both, as far as a function with lines is at another place in each.
  /// Or if a thread makes both that runs no code of the test. False if a stack is not known.
  bool makes(const trace::Call& a, const trace::Call& b) const;
  /// The same, and that function makes `b` further down. A loop around it would come back to `a`.
  bool makes_in_order(const trace::Call& a, const trace::Call& b) const;
  /// The function of a system's library that the program called for this: `malloc` of an mmap; "" if it is not known.
  std::string_view system_function(const trace::Call& call) const;

 private:
  /// The function that goes on from `a` to `b`, in their stacks.
  struct Fork {
    bool is_one_call = false;
    const trace::Frame* a = nullptr;  ///< Null in a thread without code of the test.
    const trace::Frame* b = nullptr;
  };
  struct Stack {
    std::size_t test_end = 0;   ///< So many frames, from the outermost on, end with the test's own code.
    bool is_of_thread = false;  ///< A thread's whole stack, of code with lines, without code of the test.
  };

  Fork fork_of(const trace::Call& a, const trace::Call& b) const;

  const trace::TraceFile& trace_;
  std::vector<bool> has_lines_;  ///< By frame: a function of the program's, and its line is known.
  std::vector<Stack> stacks_;
};

/// An open file: several descriptors may be of one.
struct OpenFile {
  std::string path;        ///< The file's; "" for a socket.
  std::string_view flags;  ///< As of openat: `O_RDONLY|O_CLOEXEC`; of socket: `SOCK_STREAM`.
  bool is_socket = false;
  bool is_appended = false;  ///< O_APPEND
  bool is_written = false;   ///< Opened for writing.
  std::size_t opened = 0;    ///< The place of the call that made it.

  /// True for a file of which only this program's calls change the content, as far as its name says.
  bool is_plain() const;
  bool has_flag(std::string_view flag) const;
};

/// No call returns more; a damaged trace may say so. Two of them have a sum.
inline constexpr std::int64_t kLargestResult = std::int64_t{1} << 60;

/// True if `flag` is among `flags`, which stand between `|`.
bool has_flag(std::string_view flags, std::string_view flag);

struct ByOpening {
  bool operator()(const OpenFile* a, const OpenFile* b) const { return a->opened < b->opened; }
};
/// In the order in which they were opened.
template <class Value>
using PerFile = std::map<const OpenFile*, Value, ByOpening>;

struct TracedCall {
  const trace::Call* call = nullptr;
  std::int64_t result = 0;         ///< -1: it failed, or has none.
  const OpenFile* file = nullptr;  ///< That it makes, uses or closes; null: unknown.
  std::string path;                ///< The first path of its arguments, if it is whole; else "".
  std::string other_path;          ///< The second one.
  std::size_t closes = 0;          ///< How often its descriptor was closed before: a number is another file then.
  std::size_t in_thread = 0;       ///< Its place among the calls of its thread.
  std::size_t heard = 0;           ///< How many calls of its thread before it may have brought news: see is_next.
  bool failed() const { return result < 0; }
  std::string_view name() const { return call->name; }
  double start_ns() const { return static_cast<double>(call->start_ns); }
  double end_ns() const { return start_ns() + took_ns(); }
  double took_ns() const { return static_cast<double>(call->took_ns.value_or(0)); }
};

/// True if `call` comes right after `before`, as if nothing could have changed: one thread makes both, and in between
/// at most `few` other calls, of which none brings news. News comes by calls that wait, receive, lock or start a thread
/// or process: after them another thread or process may have changed anything.
bool is_next(const TracedCall& before, const TracedCall& call, std::size_t few);

/// Follows descriptors from the call that makes them to their close, over dup and fcntl. Descriptors that a window did
/// not open itself, and those that the kernel writes into memory (pipe2, socketpair), are unknown.
class TracedWindow {
 public:
  /// Reads the calls of `trace`, which must outlive it.
  explicit TracedWindow(const trace::TraceFile& trace);
  TracedWindow(const TracedWindow&) = delete;
  TracedWindow& operator=(const TracedWindow&) = delete;

  const std::vector<TracedCall>& calls() const { return calls_; }
  std::span<const trace::Note> arguments(const TracedCall& call) const {
    return std::span(trace_.notes).subspan(call.call->first_note, call.call->note_count);
  }
  /// The argument's text; "" if there is none.
  std::string_view argument(const TracedCall& call, std::string_view name) const;
  std::optional<std::int64_t> number(const TracedCall& call, std::string_view name) const;
  /// True for a file of the system: below /etc, /usr, /lib, /bin, /sbin or /opt, in a folder of these that the window
  /// neither changes nor enters. A file that a test makes or owns may be what it tests; this is not.
  bool is_system_file(std::string_view path) const;
  /// True if one call that the test makes led to both, as call stacks show: see OneCall. False without stacks.
  bool in_one_call(const TracedCall& a, const TracedCall& b) const { return one_call_.makes(*a.call, *b.call); }
  /// The same, and the function that goes on makes `b` further down.
  bool in_one_call_in_order(const TracedCall& a, const TracedCall& b) const {
    return one_call_.makes_in_order(*a.call, *b.call);
  }
  /// The function of a system's library that the program called for this: `malloc` of an mmap; "" if it is not known.
  std::string_view system_function(const TracedCall& call) const { return one_call_.system_function(*call.call); }
  /// How many of `calls` one call of the test made together with the one before or after.
  std::size_t count_in_one_call(const std::vector<const TracedCall*>& calls) const;
  /// Calls of the window without an event in the trace.
  std::uint64_t lost() const { return lost_; }

 private:
  void follow(const trace::Call& traced);
  void find_paths(TracedCall& call);
  bool brings_news(const TracedCall& call) const;
  void open(TracedCall& call, std::int64_t descriptor, OpenFile file);

  const trace::TraceFile& trace_;
  OneCall one_call_;
  std::vector<TracedCall> calls_;
  std::deque<OpenFile> files_;  ///< A deque: calls point into it.
  std::map<std::int64_t, const OpenFile*> descriptors_;
  struct Thread {
    std::size_t calls = 0;
    std::size_t heard = 0;
  };
  std::map<std::uint32_t, Thread> threads_;
  std::map<std::int64_t, std::size_t> closes_;  ///< By descriptor.
  std::set<std::string, std::less<>> own_;      ///< The parts that the window changes or enters, by own_part.
  std::uint64_t lost_ = 0;
  std::size_t folder_changes_ = 0;  ///< Paths before and after a chdir are of other files.
};

/// The paths of which a call that succeeds changes the content, or that it makes or removes.
std::vector<const std::string*> changed_by(const TracedCall& call);

/// `src/log.cc:17 Log::batch`: the site of most of `calls`; "" if they have none.
std::string site_of(const std::vector<const TracedCall*>& calls);

/// The site at which `calls` take the most time.
std::string slowest_site_of(const std::vector<const TracedCall*>& calls);

/// The kernel time of `calls`.
double cost_of(const std::vector<const TracedCall*>& calls);

}  // namespace syscost::bench::findings

// SPDX-License-Identifier: MIT
//
// Reads `strace -f -o FILE`: the oracle's side of the comparison.
//
// strace stops every thread at every entry, so its log is complete and ordered. The price is that we read text meant
// for people. For dispatch, syscost itself must make calls in a window (to arm a new thread, to return from SIGSYS).
// The reader tells these from the program's calls and leaves them out. It is strict: a line it does not understand is
// an error, because a skipped line is a wrong count. It joins halves (`<unfinished ...>`, `<... read resumed>`). It
// follows clone to know which threads belong to the measured process. It adds restart_syscall to the call that
// continues, and names unnamed numbers as syscost does.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace conformance {

/// The calls that strace saw of one process between two marker calls.
struct StraceWindow {
  std::map<std::string, std::uint64_t> entries;           ///< Entered between the markers.
  std::map<std::string, std::uint64_t> restarted = {};    ///< Those that a signal ended in order to be entered again.
  std::map<std::string, std::uint64_t> carried_in;        ///< Entered before the first marker, returned between them.
  std::map<std::string, std::uint64_t> in_flight;         ///< Entered between them, not returned before the second.
  std::map<std::string, std::uint64_t> no_return = {};    ///< Entered between them, and never returned.
  std::map<std::string, std::uint64_t> interrupted = {};  ///< Those that returned, ended by a signal.
  std::map<std::string, std::uint64_t> bytes = {};        ///< That calls entered and returned between them moved.
  std::map<std::string, std::uint64_t> released = {};     ///< That these unmapped.
  std::map<std::string, std::uint64_t> short_calls = {};  ///< Such calls that moved less than asked.
};

class StraceLog {
 public:
  /// Reads a whole log. Lines that make no sense are listed in errors().
  static StraceLog parse(std::istream& in);

  /// "line 12: ..." for each line that was not understood. A log with errors must not be compared with.
  const std::vector<std::string>& errors() const { return errors_; }

  /// The stretch between `write(-1, "syscost-begin NAME", ...)` and `write(-1, "syscost-end NAME", ...)`, threads of
  /// the process that wrote the first one only. Empty when a marker is missing.
  std::optional<StraceWindow> window(const std::string& name) const;

 private:
  struct Call {
    int tid = 0;
    std::string name;
    std::string text;          // the text between the parentheses, both halves
    std::string result;        // after the last " = "
    std::size_t entered = 0;   // line of the entry
    std::size_t returned = 0;  // line of the return; 0 = never
    bool is_ours = false;      // syscost's own
  };

  void read_line(std::string_view line, std::size_t number);
  bool read_call(int tid, std::string_view text, std::size_t number);
  void note_signal(int tid, std::string_view text);
  bool is_ours(int tid, const std::string& name, std::string_view arguments);
  /// The latest call of `tid` that is not known as ours is, if it is a `name`.
  void leave_out_last(int tid, std::string_view name);
  bool read_resumed(int tid, std::string_view text, std::size_t number);
  bool read_end_of_thread(int tid, std::string_view text);
  void finish(Call& call, std::string_view text, std::size_t number);
  std::string canonical_name(int tid, std::string_view name, std::string_view arguments) const;
  void add_bytes(const Call& call, StraceWindow& window) const;
  std::uint64_t break_before(const Call& call) const;
  const Call* marker(const std::string& text, std::size_t after) const;
  std::set<int> threads_of(int tid) const;

  std::vector<Call> calls_;
  std::set<int> dispatched_;         // threads that return from a dispatched call by their next rt_sigreturn
  bool is_dispatching_ = false;      // a thread of ours was armed: handlers are entered by us
  std::set<int> holds_signals_;      // threads in which we hold all signals back for a moment
  std::set<int> has_asked_break_;    // threads in which we asked for the break, before the program's brk
  std::set<int> own_dispatch_;       // threads of a program that dispatches for itself
  std::map<int, std::size_t> open_;  // thread -> its unfinished call
  std::map<int, std::size_t> last_;  // thread -> its latest call
  std::vector<std::string> errors_;
};

}  // namespace conformance

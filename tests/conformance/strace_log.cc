// SPDX-License-Identifier: MIT
#include "strace_log.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>
#include <vector>

namespace conformance {
namespace {

constexpr std::string_view kUnfinished = "<unfinished ...>";
constexpr std::string_view kResumed = "<... ";

bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

bool is_name(std::string_view text) {
  if (text.empty()) return false;
  for (char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '?') return false;
  }
  return true;
}

std::optional<int> leading_number(std::string_view text) {
  int number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return number;
}

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

StraceLog StraceLog::parse(std::istream& in) {
  StraceLog log;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) log.read_line(line, number);
  return log;
}

void StraceLog::read_line(std::string_view line, std::size_t number) {
  std::optional<int> tid = leading_number(line);
  std::size_t space = line.find(' ');
  bool understood = tid.has_value() && space != std::string_view::npos;
  if (understood) {
    std::string_view text = without_spaces(line.substr(space));
    const bool is_signal = text.starts_with("--- ") && ends_with(text, " ---");
    // The next call's names come from another table, in which strace has already looked.
    const bool is_change_of_abi = text.starts_with("[ Process PID=") && ends_with(text, " mode. ]");
    if (is_signal || is_change_of_abi) {
      // No entry.
      if (is_signal) note_signal(*tid, text);
    } else if (text.starts_with("+++ ") && ends_with(text, " +++")) {
      understood = read_end_of_thread(*tid, text);
    } else if (text.starts_with(kResumed)) {
      understood = read_resumed(*tid, text, number);
    } else {
      understood = read_call(*tid, text, number);
    }
  }
  if (!understood) {
    std::ostringstream error;
    error << "line " << number << ": not understood: " << line;
    errors_.push_back(error.str());
  }
}

bool StraceLog::read_call(int tid, std::string_view text, std::size_t number) {
  std::size_t parenthesis = text.find('(');
  if (parenthesis == std::string_view::npos || !is_name(text.substr(0, parenthesis))) return false;
  if (open_.count(tid) != 0) return false;  // a thread is in one call at a time
  Call call;
  call.tid = tid;
  call.entered = number;
  std::string_view rest = text.substr(parenthesis + 1);
  call.name = canonical_name(tid, text.substr(0, parenthesis), rest);
  call.is_ours = is_ours(tid, call.name, rest);
  bool unfinished = ends_with(rest, kUnfinished);
  if (unfinished) {
    call.text = rest.substr(0, rest.size() - kUnfinished.size());
    open_[tid] = calls_.size();
  } else {
    if (rest.rfind(" = ") == std::string_view::npos) return false;
    finish(call, rest, number);
  }
  last_[tid] = calls_.size();
  calls_.push_back(std::move(call));
  return true;
}

void StraceLog::note_signal(int tid, std::string_view text) {
  if (own_dispatch_.count(tid) != 0) return;
  const bool is_dispatched = text.find("si_code=SYS_USER_DISPATCH") != std::string_view::npos;
  if (is_dispatched || is_dispatching_) dispatched_.insert(tid);
}

bool StraceLog::is_ours(int tid, const std::string& name, std::string_view arguments) {
  constexpr std::string_view kSetDispatch = "PR_SET_SYSCALL_USER_DISPATCH, ";
  if (name == "prctl" && arguments.starts_with(kSetDispatch)) {
    arguments.remove_prefix(kSetDispatch.size());
    // A program that dispatches everything names no stretch of code that is left out; we do.
    const bool is_own = arguments.starts_with("PR_SYS_DISPATCH_ON, 0, ");
    if (is_own) own_dispatch_.insert(tid);
    if (arguments.starts_with("PR_SYS_DISPATCH_OFF")) own_dispatch_.erase(tid);
    const bool is_by_us = !is_own && arguments.starts_with("PR_SYS_DISPATCH_ON");
    is_dispatching_ = is_dispatching_ || is_by_us;
    if (is_by_us) leave_out_last(tid, "gettid");
    return is_by_us;
  }
  // All signals wait until a handler of ours has returned, be that for a dispatched call or into the program's handler:
  // the first rt_sigreturn is its.
  if (name == "rt_sigreturn") return dispatched_.erase(tid) != 0;
  if (!is_dispatching_) return false;
  // In a window we ask for the break before each brk of the program.
  if (name == "brk") {
    const bool is_ours = arguments.starts_with("NULL") && has_asked_break_.insert(tid).second;
    if (!is_ours) has_asked_break_.erase(tid);
    return is_ours;
  }
  // The program's signal stacks never reach the kernel; arguments are copied by the kernel from and to the calling
  // thread itself; whether an address can be read is asked by a mask that is not set; SIGSYS is blocked for the length
  // of a call that awaits it, and one that waits with us is announced by another.
  if (name == "process_vm_readv" || name == "process_vm_writev") {
    return arguments.starts_with(std::to_string(tid) + ", ");
  }
  if (name == "sigaltstack") return !arguments.starts_with("NULL, ");
  if (name == "rt_sigprocmask") {
    if (arguments.starts_with("SIG_BLOCK, ~[]")) {
      leave_out_last(tid, "getuid");
      holds_signals_.insert(tid);
      return true;
    }
    if (arguments.starts_with("SIG_SETMASK, ") && holds_signals_.erase(tid) != 0) return true;
    return arguments.starts_with("0xffffffff") || arguments.starts_with("SIG_BLOCK, [SYS], NULL, 8)") ||
           arguments.starts_with("SIG_UNBLOCK, [SYS], NULL, 8)");
  }
  return name == "rt_tgsigqueueinfo" && arguments.find(", SIGSYS, ") != std::string_view::npos;
}

void StraceLog::leave_out_last(int tid, std::string_view name) {
  auto is_last = [&](const Call& call) { return call.tid == tid && !call.is_ours; };
  auto last = std::find_if(calls_.rbegin(), calls_.rend(), is_last);
  if (last != calls_.rend() && last->name == name) last->is_ours = true;
}

bool StraceLog::read_resumed(int tid, std::string_view text, std::size_t number) {
  auto open = open_.find(tid);
  std::size_t end_of_name = text.find(" resumed>");
  if (open == open_.end() || end_of_name == std::string_view::npos) return false;
  std::string_view rest = text.substr(end_of_name + std::string_view(" resumed>").size());
  if (rest.rfind(" = ") == std::string_view::npos) return false;
  finish(calls_[open->second], rest, number);
  open_.erase(open);
  return true;
}

bool StraceLog::read_end_of_thread(int tid, std::string_view text) {
  constexpr std::string_view kSuperseded = "+++ superseded by execve in pid ";
  if (text.starts_with(kSuperseded)) {
    // The leader is gone and the caller of execve continues under the leader's number.
    std::optional<int> caller = leading_number(text.substr(kSuperseded.size()));
    if (!caller || open_.count(*caller) == 0) return false;
    open_[tid] = open_[*caller];
    open_.erase(*caller);
    return true;
  }
  if (!text.starts_with("+++ exited with ") && !text.starts_with("+++ killed by ")) return false;
  if (auto open = open_.find(tid); open != open_.end()) {
    calls_[open->second].result = std::string("?");
    open_.erase(open);
  }
  return true;
}

void StraceLog::finish(Call& call, std::string_view text, std::size_t number) {
  std::size_t equals = text.rfind(" = ");
  call.text += text.substr(0, equals);
  call.result = text.substr(equals + 3);
  // `exit_group(0) = ?` does not return; neither does a call during which its thread was killed.
  if (call.result != "?") call.returned = number;
}

std::string StraceLog::canonical_name(int tid, std::string_view name, std::string_view arguments) const {
  constexpr std::string_view kNumber = "syscall_0x";
  if (name.starts_with(kNumber)) {
    std::uint64_t value = 0;
    std::from_chars(name.data() + kNumber.size(), name.data() + name.size(), value, 16);
    return std::string("syscall_").append(std::to_string(value));
  }
  if (name == "restart_syscall") {
    constexpr std::string_view kOf = "resuming interrupted ";
    std::size_t of = arguments.find(kOf);
    if (of != std::string_view::npos) {
      std::string_view rest = arguments.substr(of + kOf.size());
      return std::string(rest.substr(0, rest.find(' ')));
    }
    auto last = last_.find(tid);
    if (last != last_.end()) return calls_[last->second].name;
  }
  return std::string(name);
}

const StraceLog::Call* StraceLog::marker(const std::string& text, std::size_t after) const {
  const std::string beginning = std::string("-1, \"").append(text).append("\"");
  for (const Call& call : calls_) {
    if (call.entered > after && call.name == "write" && call.text.starts_with(beginning)) return &call;
  }
  return nullptr;
}

std::set<int> StraceLog::threads_of(int tid) const {
  std::set<int> threads = {tid};
  // A thread's calls may be logged before the clone that made it returns: repeat until nothing is added.
  for (std::size_t before = 0; before != threads.size();) {
    before = threads.size();
    for (const Call& call : calls_) {
      if (!call.name.starts_with("clone") || threads.count(call.tid) == 0) continue;
      if (call.text.find("CLONE_THREAD") == std::string::npos) continue;
      if (std::optional<int> child = leading_number(call.result); child && *child > 0) threads.insert(*child);
    }
  }
  return threads;
}

std::optional<StraceWindow> StraceLog::window(const std::string& name) const {
  const Call* begin = marker("syscost-begin " + name, 0);
  if (begin == nullptr) return std::nullopt;
  std::set<int> threads = threads_of(begin->tid);
  const Call* end = marker("syscost-end " + name, begin->returned);
  // Children may write markers of their own (a re-executed death test): they are not ours.
  while (end != nullptr && threads.count(end->tid) == 0) end = marker("syscost-end " + name, end->entered);
  if (end == nullptr) return std::nullopt;

  StraceWindow window;
  for (const Call& call : calls_) {
    if (threads.count(call.tid) == 0 || call.is_ours) continue;
    bool entered_inside = call.entered > begin->returned && call.entered < end->entered;
    bool returned_inside = call.returned > begin->returned && call.returned < end->entered;
    if (entered_inside) ++window.entries[call.name];
    if (entered_inside && call.result.starts_with("? ERESTARTSYS")) ++window.restarted[call.name];
    if (entered_inside && !returned_inside && call.result != "?") ++window.in_flight[call.name];
    if (entered_inside && call.result == "?") ++window.no_return[call.name];
    if (entered_inside && returned_inside && call.result.starts_with("? ERESTART")) ++window.interrupted[call.name];
    if (call.entered < begin->entered && returned_inside) ++window.carried_in[call.name];
    if (entered_inside && returned_inside) add_bytes(call, window);
  }
  return window;
}

}  // namespace conformance

// SPDX-License-Identifier: MIT
#include "findings/traced_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <set>
#include <string>
#include <string_view>

#include "findings/thresholds.h"
#include "findings/window_calls.h"
#include "model/site.h"

namespace syscost::bench::findings {
namespace {

using trace::Frame;

/// Names of the functions that frameworks make of a test: GoogleTest, Catch2 (two of its versions), doctest,
/// Boost.Test.
constexpr std::array<std::string_view, 5> kTestFunctions = {"TestBody", "CATCH2_INTERNAL_TEST_", "C_A_T_C_H_T_E_S_T_",
                                                            "DOCTEST_ANON_FUNC_", "::test_method"};

bool is_test_function(std::string_view function) {
  return std::any_of(kTestFunctions.begin(), kTestFunctions.end(),
                     [&](std::string_view part) { return function.find(part) != std::string_view::npos; });
}

bool is_main(std::string_view function) {
  return function == "main" || function.starts_with("main(");
}

/// True if the file's name, or that of one of its two innermost folders, says that it is for tests.
bool is_named_test(std::string_view source) {
  std::size_t from = source.size();
  for (int i = 0; i < 3 && from != std::string_view::npos && from > 0; ++i) from = source.rfind('/', from - 1);
  std::string name(source.substr(from == std::string_view::npos ? 0 : from));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name.find("test") != std::string::npos || name.find("bench") != std::string::npos;
}

bool is_of_system(std::string_view path) {
  return path.starts_with("/usr/") || path.starts_with("/lib");
}

/// Where each thread but the first begins, in libc.
bool is_thread_start(std::string_view function) {
  static constexpr std::array<std::string_view, 5> kStarts = {"start_thread", "clone", "clone3", "__clone", "__clone3"};
  return is_one_of(kStarts, function);
}

}  // namespace

OneCall::OneCall(const trace::TraceFile& trace) : trace_(trace) {
  std::set<std::string_view> own;  // files with tests or main
  for (const Frame& frame : trace.frames) {
    if (!frame.source.empty() && (is_test_function(frame.function) || is_main(frame.function)))
      own.insert(frame.source);
  }
  std::vector<bool> is_test;
  for (const Frame& frame : trace.frames) {
    has_lines_.push_back(!frame.source.empty() && !frame.function.empty() && !is_of_system(frame.source) &&
                         !is_of_system(frame.module));
    is_test.push_back(is_test_function(frame.function) || own.contains(frame.source) || is_named_test(frame.source));
  }
  for (const std::vector<std::uint32_t>& frames : trace.stacks) {
    Stack stack;
    bool has_code = false;  // with lines
    bool is_known = !frames.empty() && is_thread_start(trace.frames[frames.front()].function);
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const std::uint32_t frame = frames[i];
      if (is_test[frame]) stack.test_end = i + 1;
      has_code = has_code || has_lines_[frame];
      is_known = is_known && (!trace.frames[frame].source.empty() || is_of_system(trace.frames[frame].module));
    }
    stack.is_of_thread = is_known && has_code && stack.test_end == 0;
    stacks_.push_back(stack);
  }
}

std::string_view OneCall::system_function(const trace::Call& call) const {
  std::string_view function;
  for (const std::uint32_t place : trace_.stacks[call.stack]) {
    const Frame& frame = trace_.frames[place];
    if (!is_of_system(frame.module)) {
      function = {};
    } else if (function.empty()) {
      function = frame.function;
    }
  }
  return function;
}

bool OneCall::makes(const trace::Call& a, const trace::Call& b) const {
  return fork_of(a, b).is_one_call;
}

bool OneCall::makes_in_order(const trace::Call& a, const trace::Call& b) const {
  const Fork fork = fork_of(a, b);
  return fork.is_one_call && fork.a != nullptr && fork.a->module == fork.b->module && fork.a->offset < fork.b->offset;
}

OneCall::Fork OneCall::fork_of(const trace::Call& a, const trace::Call& b) const {
  if (a.stack == 0 || b.stack == 0 || a.thread != b.thread) return {};
  const Stack& of_a = stacks_[a.stack];
  const Stack& of_b = stacks_[b.stack];
  if (of_a.is_of_thread && of_b.is_of_thread) return {true};
  if (of_a.test_end == 0 || of_a.test_end != of_b.test_end) return {};
  const std::vector<std::uint32_t>& frames_a = trace_.stacks[a.stack];
  const std::vector<std::uint32_t>& frames_b = trace_.stacks[b.stack];
  const auto [at_a, at_b] = std::mismatch(frames_a.begin(), frames_a.end(), frames_b.begin(), frames_b.end());
  if (at_a == frames_a.end() || at_b == frames_b.end()) return {};
  // The test's own code is at two places: it makes two calls.
  if (static_cast<std::size_t>(at_a - frames_a.begin()) < of_a.test_end) return {};
  const Frame& in_a = trace_.frames[*at_a];
  const Frame& in_b = trace_.frames[*at_b];
  return {has_lines_[*at_a] && in_a.function == in_b.function, &in_a, &in_b};
}

namespace {

using trace::Call;
using trace::Note;

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

/// Results are `3`, `0x7f...` (an address, as mmap's) or `-1 ENOENT (...)`; a call that did not return has `?`.
std::int64_t result_in(std::string_view text) {
  if (text.starts_with("0x")) {
    std::uint64_t value = 0;
    std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
    return static_cast<std::int64_t>(value);
  }
  return number_in(text).value_or(-1);
}

/// When a call takes effect on the table of descriptors: a close when it begins, others when they end. So a descriptor
/// that one thread closes and another one opens again changes hands in this order.
std::uint64_t effective_ns(const Call& call) {
  return call.name == "close" || !call.took_ns ? call.start_ns : call.start_ns + *call.took_ns;
}

std::string unquoted(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return {};
  return std::string(text.substr(1, text.size() - 2));
}

/// `/opt/project` of `/opt/project/data/x`: such a folder belongs to one owner. `/etc/hosts` of itself.
std::string_view own_part(std::string_view path) {
  const std::size_t second = path.find('/', 1);
  return second == std::string_view::npos ? path : path.substr(0, path.find('/', second + 1));
}

/// The site with the largest sum of `weight`.
std::string most_of(const std::vector<const TracedCall*>& calls, double (*weight)(const TracedCall&)) {
  std::map<std::string_view, double> sites;
  for (const TracedCall* call : calls) {
    if (!call->call->site.empty()) sites[call->call->site] += weight(*call);
  }
  if (sites.empty()) return {};
  const auto most =
      std::max_element(sites.begin(), sites.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const model::Site site = model::parse_site(most->first);
  return site.is_unknown() ? std::string() : model::text_of(site);
}

}  // namespace

bool has_flag(std::string_view flags, std::string_view flag) {
  while (!flags.empty()) {
    const std::size_t end = std::min(flags.find('|'), flags.size());
    if (flags.substr(0, end) == flag) return true;
    flags.remove_prefix(std::min(end + 1, flags.size()));
  }
  return false;
}

bool OpenFile::has_flag(std::string_view flag) const {
  return findings::has_flag(flags, flag);
}

bool OpenFile::is_plain() const {
  if (path.empty() || is_socket) return false;
  if (path == "/dev/null" || path.starts_with("/dev/shm/")) return true;
  static constexpr std::array<std::string_view, 3> kSpecial = {"/proc/", "/sys/", "/dev/"};
  return std::none_of(kSpecial.begin(), kSpecial.end(),
                      [&](std::string_view folder) { return path.starts_with(folder); });
}

TracedWindow::TracedWindow(const trace::TraceFile& trace) : trace_(trace), one_call_(trace) {
  const trace::Slice* window = trace.window();
  if (window != nullptr) lost_ = window->lost.value_or(0);
  std::vector<const Call*> calls;
  for (const Call& call : trace.calls) calls.push_back(&call);
  std::stable_sort(calls.begin(), calls.end(),
                   [](const Call* a, const Call* b) { return effective_ns(*a) < effective_ns(*b); });
  calls_.reserve(calls.size());
  for (const Call* call : calls) follow(*call);
}

bool TracedWindow::is_system_file(std::string_view path) const {
  static constexpr std::array<std::string_view, 9> kFolders = {"/etc/",    "/usr/", "/lib/",  "/lib32/", "/lib64/",
                                                               "/libx32/", "/bin/", "/sbin/", "/opt/"};
  const bool is_below =
      std::any_of(kFolders.begin(), kFolders.end(), [&](std::string_view folder) { return path.starts_with(folder); });
  return is_below && path.find("/../") == std::string_view::npos && !own_.contains(own_part(path));
}

std::string_view TracedWindow::argument(const TracedCall& call, std::string_view name) const {
  for (std::size_t i = 0; i < call.call->note_count; ++i) {
    const Note& note = trace_.notes[call.call->first_note + i];
    if (note.name == name) return note.text;
  }
  return {};
}

std::optional<std::int64_t> TracedWindow::number(const TracedCall& call, std::string_view name) const {
  const std::string_view text = argument(call, name);
  if (text.starts_with("0x")) return result_in(text);
  return number_in(text);
}

std::size_t TracedWindow::count_in_one_call(const std::vector<const TracedCall*>& calls) const {
  std::size_t count = 0;
  bool is_counted = false;  // the call before
  for (std::size_t i = 1; i < calls.size(); ++i) {
    const bool is_one = in_one_call(*calls[i - 1], *calls[i]);
    if (is_one) count += is_counted ? 1 : 2;
    is_counted = is_one;
  }
  return count;
}

void TracedWindow::find_paths(TracedCall& call) {
  std::string folder;
  for (std::size_t i = 0; i < call.call->note_count; ++i) {
    const Note& note = trace_.notes[call.call->first_note + i];
    if (note.name.ends_with("dfd") || note.name == "dirfd") {
      folder.clear();
      if (const auto descriptor = number_in(note.text)) {
        const auto found = descriptors_.find(*descriptor);
        folder = found == descriptors_.end() || found->second->path.empty() ? "?" : found->second->path;
      }
      continue;
    }
    if (!note.text.starts_with('"')) continue;
    std::string path = unquoted(note.text);
    if (path.empty()) continue;
    if (!path.starts_with('/')) {
      if (folder == "?") continue;  // in a folder that is not known
      if (!folder.empty()) path = folder + "/" + path;
    }
    if (call.path.empty()) {
      call.path = std::move(path);
    } else {
      call.other_path = std::move(path);
      return;
    }
  }
}

void TracedWindow::open(TracedCall& call, std::int64_t descriptor, OpenFile file) {
  file.opened = calls_.size();
  call.file = &files_.emplace_back(std::move(file));
  descriptors_[descriptor] = call.file;
}

void TracedWindow::follow(const Call& traced) {
  TracedCall call{&traced, result_in(traced.result), nullptr, {}, {}};
  if (call.result > kLargestResult) call.result = -1;
  find_paths(call);
  const std::string_view name = traced.name;
  std::optional<std::int64_t> used = number(call, "fd");
  if (!used && argument(call, "filename") == R"("")") used = number(call, "dfd");  // fstat is newfstatat of no path
  if (used) {
    const auto found = descriptors_.find(*used);
    if (found != descriptors_.end()) call.file = found->second;
  }
  if (const auto descriptor = used ? used : number(call, "dfd")) call.closes = closes_[*descriptor];
  if (!call.failed()) {
    if (name == "openat" || name == "open" || name == "creat" || name == "openat2") {
      const std::string_view flags = name == "creat" ? "O_WRONLY|O_CREAT|O_TRUNC" : argument(call, "flags");
      OpenFile file;
      file.path = call.path;
      file.flags = flags;
      file.is_appended = has_flag(flags, "O_APPEND");
      file.is_written = has_flag(flags, "O_WRONLY") || has_flag(flags, "O_RDWR");
      open(call, call.result, std::move(file));
    } else if (name == "socket" || name == "accept" || name == "accept4") {
      OpenFile file;
      file.is_socket = true;
      file.flags = argument(call, "type");
      open(call, call.result, std::move(file));
    } else if (name == "close") {
      if (used) descriptors_.erase(*used);
      if (used) ++closes_[*used];
    } else if (name == "close_range") {
      const std::int64_t first = number(call, "fd").value_or(0);
      const std::int64_t last = number(call, "max_fd").value_or(first);
      descriptors_.erase(descriptors_.lower_bound(first), descriptors_.upper_bound(last));
      for (auto one = closes_.lower_bound(first); one != closes_.end() && one->first <= last; ++one) ++one->second;
    } else if (name == "dup" || name == "dup2" || name == "dup3") {
      const auto old = descriptors_.find(number(call, name == "dup" ? "fildes" : "oldfd").value_or(-1));
      call.file = old == descriptors_.end() ? nullptr : old->second;
      descriptors_.erase(call.result);
      ++closes_[call.result];
      if (call.file != nullptr) descriptors_[call.result] = call.file;
    } else if (name == "fcntl" && argument(call, "cmd").starts_with("F_DUPFD")) {
      descriptors_.erase(call.result);
      if (call.file != nullptr) descriptors_[call.result] = call.file;
    } else if (name == "chdir" || name == "fchdir") {
      ++folder_changes_;
    } else if (name.starts_with("epoll_create") || name.starts_with("eventfd") || name == "memfd_create" ||
               name.starts_with("timerfd_create") || name.starts_with("signalfd") || name == "inotify_init1") {
      descriptors_.erase(call.result);
    }
  }
  if (folder_changes_ > 0) {
    for (std::string* path : {&call.path, &call.other_path}) {
      if (!path->empty() && !path->starts_with('/')) path->insert(0, fmt::format("({} chdir) ", folder_changes_));
    }
  }
  for (const std::string* path : changed_by(call)) own_.emplace(own_part(*path));
  if (name == "chdir" && !call.failed()) own_.emplace(own_part(call.path));
  Thread& thread = threads_[traced.thread];
  call.in_thread = thread.calls++;
  call.heard = thread.heard;
  if (brings_news(call)) ++thread.heard;
  calls_.push_back(std::move(call));
}

bool TracedWindow::brings_news(const TracedCall& call) const {
  static constexpr std::array<std::string_view, 24> kAlways = {
      "accept", "accept4",         "recvfrom",     "recvmsg",        "recvmmsg",        "wait4",
      "waitid", "rt_sigtimedwait", "pause",        "rt_sigsuspend",  "semop",           "semtimedop",
      "msgrcv", "mq_timedreceive", "io_getevents", "io_uring_enter", "flock",           "fork",
      "vfork",  "clone",           "clone3",       "nanosleep",      "clock_nanosleep", "io_pgetevents"};
  const std::string_view name = call.name();
  if (is_one_of(kAlways, name)) return true;
  // A poll that finds nothing at once has not waited.
  if (is_one_of(kPolls, name)) return call.result != 0 || call.took_ns() > kShortestWaitNs;
  if (name == "futex") return argument(call, "op").starts_with("FUTEX_WAIT") && call.call->error() != "EAGAIN";
  if (name == "fcntl") return argument(call, "cmd").find("LK") != std::string_view::npos;
  if (is_one_of(kReads, name)) return !call.failed() && (call.file == nullptr || call.file->is_socket);
  return false;
}

bool is_next(const TracedCall& before, const TracedCall& call, std::size_t few) {
  return before.call->thread == call.call->thread && before.heard == call.heard && before.in_thread <= call.in_thread &&
         call.in_thread <= before.in_thread + few + 1;
}

std::vector<const std::string*> changed_by(const TracedCall& call) {
  static constexpr std::array<std::string_view, 22> kChanges = {
      "rename",    "renameat", "renameat2", "unlink",  "unlinkat", "link",           "linkat", "symlink",
      "symlinkat", "mkdir",    "mkdirat",   "rmdir",   "truncate", "ftruncate",      "mknod",  "mknodat",
      "write",     "pwrite64", "writev",    "pwritev", "sendfile", "copy_file_range"};
  if (call.failed()) return {};
  if (is_one_of(kOpens, call.name())) {
    const bool makes = call.file != nullptr && (call.file->has_flag("O_CREAT") || call.file->has_flag("O_TRUNC"));
    return makes && !call.file->is_appended ? std::vector{&call.path} : std::vector<const std::string*>();
  }
  if (!is_one_of(kChanges, call.name())) return {};
  if (call.file != nullptr) return {&call.file->path};
  return {&call.path, &call.other_path};
}

std::string site_of(const std::vector<const TracedCall*>& calls) {
  return most_of(calls, [](const TracedCall&) { return 1.0; });
}

std::string slowest_site_of(const std::vector<const TracedCall*>& calls) {
  return most_of(calls, [](const TracedCall& call) { return call.took_ns(); });
}

double cost_of(const std::vector<const TracedCall*>& calls) {
  double ns = 0;
  for (const TracedCall* call : calls) ns += call->took_ns();
  return ns;
}

}  // namespace syscost::bench::findings

// SPDX-License-Identifier: MIT
#include "syscost/gpu/record.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "extras/profilers/profiler.h"
#include "extras/profilers/session/artifacts.h"
#include "extras/profilers/session/tracing.h"
#include "os/files.h"
#include "session/session.h"
#include "syscost/adapter.h"
#include "syscost/gpu/stamp_figures.h"
#include "syscost/gpu/stamp_file.h"

namespace syscost::gpu {
namespace {

constexpr std::string_view kName = "GPU stamps";

/// The session, where there is anything to do.
session::Session* active_session() {
  if (!adapter::requested()) return nullptr;
  session::Session& session = session::started_session();
  return session.is_fork_child() ? nullptr : &session;
}

Failure file_failure(const std::string& operation, const std::string& path) {
  return {operation + " " + path + ": " + std::strerror(errno), "name a folder that can be written: SYSCOST_ARTIFACTS"};
}

/// Appends `rows` under lock, after a header if the file is empty. Rows that fitted only in part are taken back.
Result<void> append(const Descriptor& folder, const std::string& name, const std::string& path,
                    const std::string& rows) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const Descriptor opened(::openat(folder.number(), name.c_str(), kFlags, 0644));
  const int file = opened.number();
  if (file < 0) return file_failure("open", path);
  std::optional<Failure> failure;
  struct stat before {};
  if (::fstat(file, &before) != 0 || !S_ISREG(before.st_mode) || before.st_uid != ::geteuid()) {
    return Failure{"write " + path + ": it is there already, and is no file of this user", "remove it"};
  }
  const FileLock lock(file);
  if (!lock.is_held()) {
    failure = Failure{"lock " + path + ": another process" + lock_holder(file) + " holds its lock", "end that process"};
  } else if (::fstat(file, &before) != 0) {
    failure = file_failure("look at", path);
  }
  const std::string text = before.st_size == 0 ? stamp_header() + rows : rows;
  if (const int error = failure ? 0 : write_whole(file, text); error != 0) {
    errno = error;
    failure = file_failure("write GPU stamps to", path);
    while (::ftruncate(file, before.st_size) != 0 && errno == EINTR) continue;
  }
  return failure ? Result<void>(*failure) : Result<void>();
}

Result<void> write_stamps(const session::Session& session, const StampedLaunch& launch) {
  const Result<std::string> root = session::artifacts_root(session.options());
  if (!root.ok()) return root.failure();
  const Result<Descriptor> folder = session::open_artifacts_root(root.value());
  if (!folder.ok()) return folder.failure();
  const std::string name = "stamps-" + session.program() + "-" + std::to_string(::getpid()) + ".csv";
  return append(folder.value(), name, root.value() + "/" + name, stamp_rows(launch));
}

bool is_whole(const StampedLaunch& launch) {
  if (launch.overflowed.value_or(0) != 0 || !launch.level || !launch.grid || !launch.block) return false;
  const std::uint64_t threads = launch.block->count();
  const std::uint64_t in_block = *launch.level == Level::thread ? threads
                                 : *launch.level == Level::warp ? (threads + kWarpThreads - 1) / kWarpThreads
                                                                : 1;
  return launch.scopes.size() == launch.grid->count() * in_block;
}

/// The figures that are times. One that the timer cannot resolve stays the number that was read: `compare` needs it,
/// and its spread says what it is worth.
std::vector<profilers::TimeFigure> times_of(const StampedLaunch& launch) {
  std::vector<profilers::TimeFigure> times;
  const auto add = [&](const char* figure, const Recorded& ns) {
    if (ns) times.push_back({launch.gpu_kernel + " " + figure, "", {{1, *ns}}});
  };
  if (is_whole(launch)) {
    add("span", span_ns(launch));
    add("idle per SM", idle_per_sm_ns(launch));
    add("launch ramp", launch_ramp_ns(launch));
  }
  const std::vector<std::uint64_t> durations = durations_ns(launch);
  add("unit time p50", percentile(durations, 0.50));
  add("unit time max", percentile(durations, 1));
  const std::vector<std::uint64_t> spreads = exit_spreads_ns(launch);
  add("exit spread p95", percentile(spreads, 0.95));
  add("exit spread max", percentile(spreads, 1));
  return times;
}

/// Adds the GPU kernel to the trace of the test, from its first entry to its last exit, if all stamps and the relation
/// of the two clocks are known.
void trace_launch(session::Session& session, const StampedLaunch& launch) {
  if (!is_whole(launch) || launch.scopes.empty() || !launch.gpu_anchor_ns || !launch.host_anchor_ns) return;
  std::uint64_t first = UINT64_MAX;
  std::uint64_t last = 0;
  for (const Stamp& stamp : launch.scopes) {
    if (!stamp.entry_ns || !stamp.exit_ns) return;
    first = std::min(first, *stamp.entry_ns);
    last = std::max(last, *stamp.exit_ns);
  }
  const std::uint64_t to_host = *launch.host_anchor_ns - *launch.gpu_anchor_ns;  // may wrap, as the sums below
  if (last < first || first + to_host > last + to_host) return;
  session.add_to_trace("GPU kernel " + launch.gpu_kernel + ", launch " + std::to_string(launch.launch), first + to_host,
                       last + to_host);
}

}  // namespace

Aside::Aside() {
  session::Session* const session = active_session();
  is_aside_ = session != nullptr && session->loops().pause_test();
}

Aside::~Aside() {
  if (is_aside_) session::process_session().loops().resume_test(kName);
}

std::string record(StampedLaunch launch) {
  session::Session* const session = active_session();
  if (session == nullptr) return {};
  const Aside aside;
  launch.run_id = session->run_id();
  launch.test = session->running_test();
  launch.launch = session->part<session::Tracing>().take_gpu_kernel_repetitions(launch.gpu_kernel, 1);
  session->part<session::Tracing>().add_gpu_kernel_times(times_of(launch), launch.launch);
  trace_launch(*session, launch);
  const Result<void> written = write_stamps(*session, launch);
  if (written.ok()) return {};
  session->note_problem(written.failure());
  return written.failure().reason;
}

void record_times(const std::string& figure, const std::vector<std::uint64_t>& durations_ns) {
  session::Session* const session = active_session();
  if (session == nullptr || durations_ns.empty()) return;
  const Aside aside;
  profilers::TimeFigure time{figure, "", {}};
  for (const std::uint64_t duration_ns : durations_ns) time.rows.push_back({1, duration_ns});
  session->part<session::Tracing>().add_gpu_kernel_times({time});
}

}  // namespace syscost::gpu

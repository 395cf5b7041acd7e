// SPDX-License-Identifier: MIT
#include "backends/ebpf/attachment.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backends/ebpf/diagnosis.h"
#include "backends/ebpf/libbpf.h"
#include "backends/ebpf/shared.h"
#include "os/descriptors.h"
#include "os/errors.h"

namespace syscost::ebpf {
namespace {

std::optional<Attachment> g_chosen;

/// The kernel's number of a tracepoint; negative: errno.
int number_of_event(std::string_view event) {
  int error = ENOENT;
  for (const std::string_view folder : {"/sys/kernel/tracing/events/", "/sys/kernel/debug/tracing/events/"}) {
    const std::string path = std::string(folder).append(event).append("/id");
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) {
      if (errno != ENOENT) error = errno;
      continue;
    }
    std::array<char, 16> text{};
    const ssize_t got = read(file, text.data(), text.size());
    close(file);
    int number = 0;
    if (got > 0 && std::from_chars(text.data(), text.data() + got, number).ec == std::errc()) return number;
  }
  return -error;
}

Failure no_number(std::string_view event, int error) {
  const bool is_mounted = error != ENOENT;
  const std::string cause = is_mounted ? errno_name(error) : "tracefs is not mounted at /sys/kernel/tracing";
  return {"from Linux 7.0 on eBPF needs the number of the event " + std::string(event) + ", which cannot be read (" +
              cause + ")",
          is_mounted ? "run as root, or let syscost-ebpf-helper read it: sudo setcap " +
                           std::string(capabilities_of_a_helper()) + " PREFIX/libexec/syscost/syscost-ebpf-helper"
                     : "as root: mount -t tracefs none /sys/kernel/tracing; for a container: -v "
                       "/sys/kernel/tracing:/sys/kernel/tracing:ro"};
}

/// The kernel's limit is BPF_TRACE_MAX_PROGS, kernel/trace/bpf_trace.c.
Failure no_room() {
  return {"64 BPF programs already run on this tracepoint's perf events, and the kernel allows no more",
          "run fewer processes with --syscost_children or --syscost_detail at a time, or let all use one helper"};
}

/// A program for perf events, and its event.
struct Event {
  std::string_view program;
  std::string_view name;
  int number = 0;  ///< Of this boot; 0: not asked yet.
};

/// Asked once: a test may leave for a root without tracefs before the programs are attached again.
std::array g_events{
    Event{"event_enter", "raw_syscalls/sys_enter"},     Event{"event_exit", "raw_syscalls/sys_exit"},
    Event{"event_signal", "signal/signal_deliver"},     Event{"event_ch_enter", "raw_syscalls/sys_enter"},
    Event{"event_ch_exit", "raw_syscalls/sys_exit"},    Event{"event_ch_signal", "signal/signal_deliver"},
    Event{"event_ch_exec", "sched/sched_process_exec"}, Event{"event_ch_end", "sched/sched_process_exit"},
};

/// 0, or errno.
int ask_for_number(Event& event) {
  if (event.number > 0) return 0;
  const int number = number_of_event(event.name);
  if (number < 0) return -number;
  event.number = number;
  return 0;
}

/// A perf event that is never enabled and counts nothing: the kernel runs the programs of a tracepoint's events on each
/// CPU, as long as one such event exists.
Result<int> open_event(std::string_view program) {
  auto* event = std::ranges::find(g_events, program, &Event::program);
  if (event == g_events.end()) return explain_failure("find a perf event for a program", ENOENT, {});
  if (const int error = ask_for_number(*event); error != 0) return no_number(event->name, error);
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_TRACEPOINT;
  attributes.size = sizeof attributes;
  attributes.config = static_cast<std::uint64_t>(event->number);
  attributes.disabled = 1;
  int error = ENODEV;
  // A CPU may be offline. The event may be on any CPU.
  for (int cpu = 0; error == ENODEV && cpu < SYSCOST_MAX_CPUS; ++cpu) {
    const long opened = syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (opened >= 0) return static_cast<int>(opened);
    error = errno;
  }
  return explain_failure("open a perf event", error, {});
}

/// A program and the event that it is attached to, after all of them are ready.
struct Prepared {
  int program = -1;
  int event = -1;  ///< Or -1: to the raw tracepoint that it names itself.
};

Result<Prepared> prepare(int program) {
  bpf_prog_info info{};
  __u32 size = sizeof info;
  if (libbpf().bpf_obj_get_info_by_fd(program, &info, &size) != 0) {
    return explain_failure("ask for a program's type", errno, {});
  }
  if (info.type != BPF_PROG_TYPE_TRACEPOINT) return Prepared{program, -1};
  const Result<int> event = open_event(info.name);
  if (!event.ok()) return event.failure();
  return Prepared{program, event.value()};
}

/// One syscall. The attachment, or a negative errno.
int attach(const Prepared& prepared) {
  if (prepared.event < 0) return libbpf().bpf_raw_tracepoint_open(nullptr, prepared.program);
  return ioctl(prepared.event, PERF_EVENT_IOC_SET_BPF, prepared.program) == 0 ? prepared.event : -errno;
}

}  // namespace

Attachment attachment_for_this_kernel() {
  if (g_chosen) return *g_chosen;
  return kernel_is_at_least(7, 0) ? Attachment::perf_events : Attachment::raw_tracepoints;
}

std::string_view capabilities_of_a_helper() {
  return attachment_for_this_kernel() == Attachment::raw_tracepoints ? "cap_bpf,cap_perfmon+ep"
                                                                     : "cap_bpf,cap_perfmon,cap_dac_read_search+ep";
}

void use_attachment(Attachment attachment) {
  g_chosen = attachment;
}

void read_event_numbers() {
  if (attachment_for_this_kernel() != Attachment::perf_events) return;
  for (Event& event : g_events) ask_for_number(event);
}

Result<std::vector<int>> open_links(const std::vector<int>& programs) {
  if (Result<const LibbpfApi*> api = open_libbpf(); !api.ok()) return api.failure();
  std::vector<int> opened;  // events, which are the links of the programs for them, and other links
  std::vector<Prepared> all;
  for (const int program : programs) {
    const Result<Prepared> prepared = prepare(program);
    if (!prepared.ok()) {
      close_each(opened);
      return prepared.failure();
    }
    if (prepared.value().event >= 0) opened.push_back(prepared.value().event);
    all.push_back(prepared.value());
  }
  // sys_enter comes first, and sys_exit directly after it. If a call began between the two, the programs would see only
  // its enter, as when programs are attached twice. In the other order they would see an exit without its enter, and on
  // a known thread that is a lost event.
  std::vector<int> links;
  for (const Prepared& prepared : all) {
    const int link = attach(prepared);
    if (link < 0) {
      close_each(opened);
      if (link == -E2BIG) return no_room();
      return explain_failure("attach to the syscall tracepoints", -link, {});
    }
    if (prepared.event < 0) opened.push_back(link);
    links.push_back(link);
  }
  return links;
}

}  // namespace syscost::ebpf

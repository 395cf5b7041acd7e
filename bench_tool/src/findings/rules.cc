// SPDX-License-Identifier: MIT
//
// The table of rules. Thresholds are in thresholds.h; a test holds the definitions against them.

#include "findings/rules.h"

#include <algorithm>
#include <array>

namespace syscost::bench::findings {
namespace {

constexpr std::array kRules = {
    Rule{.name = "tiny-writes",
         .title = "many small writes",
         .needs = Needs::bytes,
         .definition =
             "1000 writes or more that succeed (write, writev, pwrite64, pwritev, pwritev2), and 8 or more for each "
             "file that is opened, of 4 bytes or less on average, in a window that uses no sockets, pipes or eventfds.",
         .in_a_trace = "512 writes or more to one open file, of 256 bytes or less each, in rows of 8 or more. In a row "
                       "one thread writes at places beside each other, and makes no other call on the file. Half of "
                       "them or more are made with the one before or after in one call of the test; or one "
                       "function makes the open, all of them and the close in one call of the test, further down in "
                       "its code each; or, in a trace without call stacks, they are 1000 or more, of 4 bytes or less "
                       "on average. No other "
                       "thread or descriptor reads the file meanwhile, and it is not mapped.",
         .note =
             "Other such writes: the test may write one by one on purpose. Without a trace: 256 writes or more, of 64 "
             "bytes or less on average.",
         .remedy = "Collect the data in a buffer, and write 4096 bytes or more at once.",
         .in_counts = tiny_writes,
         .in_trace = tiny_writes_in_order},
    Rule{
        .name = "tiny-reads",
        .title = "many small reads",
        .needs = Needs::bytes,
        .definition =
            "1000 reads or more that succeed (read, readv, pread64, preadv, preadv2), and 8 or more for each file that "
            "is opened, of 4 bytes or less on average, in a window that uses no sockets, pipes or eventfds.",
        .in_a_trace = "512 reads or more of one open file, of 256 bytes or less each, in rows of 8 or more. In a row "
                      "one thread reads at places beside each other, and makes no other call on the file. Half of "
                      "them or more are made with the one before or after in one call of the test; or one "
                      "function makes the open, all of them and the close in one call of the test, further down in "
                      "its code each; or, in a trace without call stacks, they are 1000 or more, of 4 bytes or less on "
                      "average. Or 1000 "
                      "getrandom or more at one line, of 32 bytes or less each, in rows of 8 or more, half of them or "
                      "more made with another one in one call of the test.",
        .note = "Other such reads and getrandom: the test may read one by one on purpose. Without a trace: 256 reads "
                "or more, of 64 bytes or less on average.",
        .remedy = "Read 4096 bytes or more at once into a buffer, and take the parts from there.",
        .in_counts = tiny_reads,
        .in_trace = tiny_reads_in_order},
    Rule{.name = "read-amplification",
         .title = "the same bytes read again and again",
         .needs = Needs::trace,
         .definition =
             "In a row of calls on a system file, the bytes read are 4 times as many as the different ones among "
             "them or more, and 65536 or more are read again. Bytes that were read before the file changed are "
             "others.",
         .note = "The same of other files, or of all calls on a path: independent parts of a test may read one file.",
         .remedy = "Keep what was read, or map the file.",
         .in_trace = read_amplification},
    Rule{.name = "fsync-storm",
         .title = "more syncs than changes need",
         .needs = Needs::counts,
         .definition = "No finding without a trace.",
         .in_a_trace = "20 syncs or more of one path in a row, with at most 4 writes before each of them. Or 8 syncs "
                       "or more of a file that nothing was written to since the sync before, and that is not mapped. "
                       "Half of them or more are made with another sync in one call of the test.",
         .note = "Other such syncs: each may be what the test asks for. 20 syncs or more, with at most 4 writes for "
                 "each of them on average: in a trace of one path; else beyond one for each file that is opened "
                 "(fsync, fdatasync, sync, syncfs).",
         .remedy = "Write a group of changes, and sync once for all of them. In a test that no crash follows, turn "
                   "syncing off.",
         .in_counts = fsync_storm,
         .in_trace = fsync_storm_in_order},
    Rule{.name = "seek-then-read",
         .title = "lseek before each read or write",
         .needs = Needs::trace,
         .definition = "64 times or more, the call of a thread after an lseek to a place (SEEK_SET) is a read or a "
                       "write of the same file. Half of the times or more one call of the test makes both, and calls "
                       "lseek itself, not by a stream of a library of the system.",
         .note = "Other such calls: a test of seeking has to seek.",
         .remedy = "Use pread or pwrite, which take the offset.",
         .in_trace = seek_then_read},
    Rule{.name = "connection-per-message",
         .title = "a connection for each message",
         .needs = Needs::trace,
         .definition = "No finding, a note at most.",
         .note =
             "16 stream sockets or more are connected by one thread at one line, send once, and are closed. A trace "
             "has no addresses, and each may be another peer's.",
         .remedy = "Keep the connection open, and send the next message on it.",
         .in_trace = connection_per_message},
    Rule{.name = "missing-paths",
         .title = "looking for what is not there",
         .needs = Needs::results,
         .definition = "No finding without a trace.",
         .in_a_trace = "16 lookups or more in a row of one path of the system (below /etc, /usr, /lib, /bin, /sbin or "
                       "/opt) fail with ENOENT.",
         .note = "The same of other paths: another process may make the file. A search for a name through 16 folders "
                 "or more: the loader searches where the machine says. Without "
                 "a trace: 32 lookups of paths or more fail with ENOENT, and they are half of the lookups or more "
                 "(open, stat, access, readlink, and their relatives).",
         .remedy = "Remember what is not there, or look in the place where it is first.",
         .in_counts = missing_paths,
         .in_trace = missing_paths_in_order},
    Rule{.name = "open-to-probe",
         .title = "files opened to see whether they are there",
         .needs = Needs::trace,
         .definition = "No finding, a note at most.",
         .note = "16 opens or more from one line, after which the thread closes the file at once, without a read, a "
                 "write or a mapping. Opens that make, cut or only locate a file (O_CREAT, O_TRUNC, O_PATH, "
                 "O_DIRECTORY) do not count.",
         .remedy = "Use stat or access, or keep the file that you opened.",
         .in_trace = open_to_probe},
    Rule{.name = "reopened-file",
         .title = "the same file opened again and again",
         .needs = Needs::trace,
         .definition = "In a row, a system file is opened 32 times or more for reading, and read or mapped, while it "
                       "does not change; or any file 32 times or more to append to it, with 2 writes or less each, "
                       "and half of them or more are opened and closed by one call of the test.",
         .note = "Other files opened so. The same, but not in a row: a test may close and open again all that it uses.",
         .remedy = "Keep the file open, or keep its content.",
         .in_trace = reopened_file},
    Rule{.name = "busy-polling",
         .title = "asking again and again without waiting",
         .needs = Needs::results,
         .definition = "No finding, a note at most.",
         .note =
             "With a trace: 64 calls or more of one syscall that find nothing and do not wait (poll, epoll_wait, "
             "select; reads, writes and accepts that fail with EAGAIN), in rows of 8 or more that last 1 ms or more "
             "together: a loop of events may have work to do in between. 256 sched_yield or more, in a trace 64 or "
             "more of them one after the other: a barrier of a test may spin. Without a trace: 64 calls or more of a "
             "syscall that reads, writes or accepts fail with EAGAIN, and these are three quarters of its calls or "
             "more.",
         .remedy = "Wait in poll, epoll_wait or for a condition variable.",
         .in_counts = busy_polling,
         .in_trace = busy_polling_in_order},
    Rule{
        .name = "sleep-in-test",
        .title = "sleeping for a fixed time",
        .needs = Needs::times,
        .definition = "No finding without a trace.",
        .in_a_trace =
            "Sleeps of 10 ms or more each (also a select or a poll without descriptors) take 50 ms or more together at "
            "one line, in rows of 3 or more, and in between the thread looks for something and does not find it until "
            "the end: a poll without an "
            "answer, a connect or another call that fails. Or the first connect of a test comes after a "
            "sleep that goes on for 50 ms or more, and half of its time or more, after the server listens, "
            "and no other thread does anything in the second half of that.",
        .note = "Sleeps of 10 ms or more that take 50 ms or more together (at one line, in a trace): a test of time "
                "has to sleep. Without a trace: nanosleep and clock_nanosleep together, if they take 10 ms or more on "
                "average, in a window that is no command.",
        .remedy = "Wait for the event itself, or give the code a clock that the test moves.",
        .in_counts = sleep_in_test,
        .in_trace = sleep_in_test_in_order},
    Rule{.name = "short-timeouts",
         .title = "many waits that time out after a short time",
         .needs = Needs::times,
         .definition = "No finding without a trace.",
         .in_a_trace = "32 sleeps or more of less than 10 ms at one line, in rows of 3 or more, and in between the "
                       "thread looks for something and does not find it until the end: a poll without an answer, a "
                       "connect or another call that fails.",
         .note =
             "32 calls or more of one syscall, at one line in a trace, end because their time is over, each after less "
             "than 10 ms: sleeps, futex, poll, select, epoll_wait (without a trace: sleeps or futex, on average).",
         .remedy = "Wait without a timeout, or with one that is as long as you can wait.",
         .in_counts = short_timeouts,
         .in_trace = short_timeouts_in_order},
    Rule{
        .name = "lock-convoy",
        .title = "threads that queue for one lock",
        .needs = Needs::trace,
        .definition = "No finding, a note at most.",
        .note = "Two threads or more wait 64 times or more in all for the same lock of glibc (std::mutex, "
                "pthread_mutex_t): a test may queue on purpose. The note says how often the thread that frees the lock "
                "reads, writes, opens, sends or syncs meanwhile, and does not sleep, if these are half of the waits or "
                "more. Locks with a futex of another form are not seen.",
        .remedy = "Make these calls without the lock, hold it for a shorter time, or give each thread data of its own.",
        .in_trace = lock_convoy},
    Rule{.name = "allocator-churn",
         .title = "memory taken from the kernel and given back again",
         .needs = Needs::bytes,
         .definition = "No finding without a trace.",
         .in_a_trace = "32 times or more a thread unmaps anonymous memory as a whole, and its next such mapping is not "
                       "larger, and 32 MiB at most; or the heap (brk) grows and shrinks again 16 times or more. "
                       "Mappings at a fixed place, or with pages that mprotect guards, do not count.",
         .note = "The same of memory that the program itself maps, without malloc, as call stacks show. Without a "
                 "trace: 32 mmap or more with a munmap each, not counting one for each file that is opened "
                 "and each thread that starts, and half of the bytes or more are given back; or 32 brk or more that "
                 "give back half of the bytes or more.",
         .remedy = "Use the memory again, or raise the allocator's limits (M_MMAP_THRESHOLD, M_TRIM_THRESHOLD).",
         .in_counts = allocator_churn,
         .in_trace = allocator_churn_in_order},
    Rule{.name = "fork-without-exec",
         .title = "processes forked to run the same program",
         .needs = Needs::children,
         .definition = "No finding, a note at most.",
         .note = "8 children or more of a test end by exit_group beyond those that made an execve: a test of exiting "
                 "or crashing has to fork.",
         .remedy = "Use a thread; to run another program, use posix_spawn.",
         .in_test = fork_without_exec},
    Rule{.name = "gpu-transfers",
         .title = "copies take longer than GPU kernels",
         .needs = Needs::gpu,
         .definition = "No finding, a note at most.",
         .note = "The copies between host and device take longer than the GPU kernels, both added up, and 100 us or "
                 "more: a test may have little to compute.",
         .remedy = "Keep the data on the device, copy while a GPU kernel runs, or copy from pinned memory.",
         .in_test = gpu_transfers},
    Rule{.name = "gpu-allocations",
         .title = "GPU memory taken for each launch",
         .needs = Needs::requests,
         .definition = "A pass of a loop or a benchmark makes 1 request or more for GPU memory to the driver; or a "
                       "test makes 16 or more, and as many as it has launches with stamps or more. This is a fault "
                       "whatever it costs.",
         .note = "A test without stamps makes 16 requests or more for GPU memory, and gives memory back 16 times or "
                 "more: it may be needed at the same time.",
         .remedy = "Take the memory once, and use it for all launches.",
         .in_test = gpu_allocations},
    Rule{.name = "failing-calls",
         .title = "calls that fail again and again",
         .needs = Needs::results,
         .definition = "20 calls or more of a syscall, over all passes of a loop, fail with EBADF, in a window that is "
                       "no command: the descriptor is not open. This is a fault whatever it costs. It is a note for "
                       "close, dup, dup2, dup3, fcntl, fstat, newfstatat and ioctl: programs look by these which "
                       "descriptors are open.",
         .in_a_trace =
             "In rows, a call fails 20 times or more after the first time, with the same arguments and EBADF, "
             "EFAULT or ENOTSOCK. This is a fault whatever it costs.",
         .note =
             "Other errors, while the call's file does not change, but for EAGAIN, EALREADY, ECHILD, EINPROGRESS, "
             "EINTR, ETIMEDOUT and, for lookups, ENOENT: an error may be the answer. Without a trace: 20 calls or "
             "more of a syscall, over all passes of a loop, and half of them or more fail with such errors. Not of a "
             "syscall that another rule speaks of, unless that is a note that costs less than half of this one.",
         .remedy = "Look at the errors: the call asks for something that is not there, or is not needed.",
         .is_general = true,
         .in_counts = failing_calls,
         .in_trace = failing_calls_in_order},
    Rule{
        .name = "many-calls",
        .title = "many calls of one syscall",
        .needs = Needs::counts,
        .definition = "No finding without a trace.",
        .in_a_trace =
            "In rows, a call that asks about a system file (stat, access, readlink) is made 1000 times or more "
            "after the first time, with the same arguments and result, while the file does not change.",
        .note =
            "The same of other files, of descriptors, and of getpid and its relatives, getcwd, uname and "
            "getsockopt. Else 1000 calls or more of a syscall that does not wait; only the one with the most calls. "
            "Not of a syscall that another rule speaks of, unless that is a note that costs less than half of this "
            "one.",
        .remedy = "Keep the answer, or let one call do more. Look for the line that makes the calls (--syscost_where).",
        .is_general = true,
        .in_counts = many_calls,
        .in_trace = many_calls_in_order},
};

}  // namespace

std::span<const Rule> rules() {
  return kRules;
}

const Rule* rule_of(std::string_view name) {
  const auto found = std::find_if(kRules.begin(), kRules.end(), [&](const Rule& rule) { return rule.name == name; });
  return found == kRules.end() ? nullptr : &*found;
}

std::string_view text_of(Needs needs) {
  switch (needs) {
    case Needs::counts:
      return "counts of calls";
    case Needs::results:
      return "results of calls (not seccomp)";
    case Needs::bytes:
      return "bytes of calls (ebpf, dispatch)";
    case Needs::times:
      return "times of calls (not seccomp)";
    case Needs::trace:
      return "a trace (--syscost_trace)";
    case Needs::children:
      return "rows of children (--syscost_children)";
    case Needs::gpu:
      return "times of GPU kernels (--syscost_profile cupti)";
    case Needs::requests:
      return "requests of ioctl (--syscost_detail ioctl)";
  }
  return {};
}

}  // namespace syscost::bench::findings

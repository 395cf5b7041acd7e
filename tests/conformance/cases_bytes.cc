// SPDX-License-Identifier: MIT
//
// Bytes: what calls moved and mapped. Under strace, every case compares its bytes; these make each kind of call.
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <memory>

#include "assistant.h"
#include "case.h"
#include "raw.h"
#include "syscost/syscost.h"
#include "worker.h"

namespace conformance {
namespace {

constexpr long kPage = 4096;

int g_file = -1;
int g_copy = -1;
int g_pipe[2] = {-1, -1};
int g_sockets[2] = {-1, -1};
std::array<char, 8192> g_buffer;

void make_files() {
  g_file = memfd_create("bytes", MFD_CLOEXEC);
  g_copy = memfd_create("copy", MFD_CLOEXEC);
  const bool has_pipe = pipe2(g_pipe, O_CLOEXEC) == 0;
  const bool has_sockets = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, g_sockets) == 0;
  require(g_file >= 0 && g_copy >= 0 && has_pipe && has_sockets, "memfd_create, pipe2 or socketpair failed");
}

void read_and_write() {
  char* const buffer = g_buffer.data();
  bool is_as_said = raw(SYS_write, g_file, buffer, 1000) == 1000;
  is_as_said = raw(SYS_pwrite64, g_file, buffer, 24, 1000) == 24 && is_as_said;
  is_as_said = raw(SYS_pread64, g_file, buffer, 100, 0) == 100 && is_as_said;
  is_as_said = raw(SYS_pread64, g_file, buffer, 100, 1000) == 24 && is_as_said;  // short: the file ends
  raw(SYS_lseek, g_file, 0, SEEK_SET);
  is_as_said = raw(SYS_read, g_file, buffer, 1000) == 1000 && is_as_said;
  is_as_said = raw(SYS_read, g_file, buffer, 1000) == 24 && is_as_said;  // short
  is_as_said = raw(SYS_read, g_file, buffer, 1000) == 0 && is_as_said;   // short
  is_as_said = raw(SYS_read, -1, buffer, 1000) == -EBADF && is_as_said;
  is_as_said = raw(SYS_read, g_file, buffer, 0) == 0 && is_as_said;  // all that was asked
  iovec parts[2] = {{buffer, 3}, {buffer, 4}};
  is_as_said = raw(SYS_writev, g_pipe[1], parts, 2) == 7 && is_as_said;
  is_as_said = raw(SYS_readv, g_pipe[0], parts, 2) == 7 && is_as_said;
  is_as_said = raw(SYS_getrandom, buffer, 16, 0) == 16 && is_as_said;
  require(is_as_said, "a read or a write did not move what it should");
}

const Register kReadAndWrite(Case{
    .number = 56,
    .name = "bytes_read_and_written",
    .summary = "Reads and writes count the bytes that they moved, and those that moved less than asked.",
    .setup = make_files,
    .windows = {{"",
                 read_and_write,
                 {calls("write", 1).moving(1000, 0), calls("pwrite64", 1).moving(24, 0),
                  calls("pread64", 2).moving(124, 1), calls("lseek", 1),
                  calls("read", 5).failing(EBADF, 1).moving(1024, 2), calls("writev", 1).moving(7),
                  calls("readv", 1).moving(7), calls("getrandom", 1).moving(16, 0)}}},
});

void send_and_copy() {
  char* const buffer = g_buffer.data();
  bool is_as_said = raw(SYS_sendto, g_sockets[0], buffer, 50, 0, nullptr, 0) == 50;
  is_as_said = raw(SYS_recvfrom, g_sockets[1], buffer, 80, 0, nullptr, nullptr) == 50 && is_as_said;  // short
  iovec part = {buffer, 60};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  is_as_said = raw(SYS_sendmsg, g_sockets[0], &message, 0) == 60 && is_as_said;
  is_as_said = raw(SYS_recvmsg, g_sockets[1], &message, 0) == 60 && is_as_said;
  is_as_said = raw(SYS_write, g_file, buffer, 500) == 500 && is_as_said;
  long from = 0;
  is_as_said = raw(SYS_sendfile, g_sockets[0], g_file, &from, 200) == 200 && is_as_said;
  from = 400;
  is_as_said = raw(SYS_splice, g_file, &from, g_pipe[1], nullptr, 300, 0) == 100 && is_as_said;  // short
  from = 0;
  is_as_said = raw(SYS_copy_file_range, g_file, &from, g_copy, nullptr, 500, 0) == 500 && is_as_said;
  require(is_as_said, "a call of a socket or a copy did not move what it should");
}

const Register kSendAndCopy(Case{
    .number = 56,
    .name = "bytes_sent_and_copied",
    .summary = "Calls of sockets and copies between descriptors count the bytes that they moved.",
    .setup = make_files,
    .windows = {{"",
                 send_and_copy,
                 {calls("sendto", 1).moving(50, 0), calls("recvfrom", 1).moving(50, 1), calls("sendmsg", 1).moving(60),
                  calls("recvmsg", 1).moving(60), calls("write", 1).moving(500, 0), calls("sendfile", 1).moving(200, 0),
                  calls("splice", 1).moving(100, 1), calls("copy_file_range", 1).moving(500, 0)}}},
});

void map_and_unmap() {
  constexpr long kNone = -1;
  const long at = raw(SYS_mmap, nullptr, 5000, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, kNone, 0);
  const long grown = raw(SYS_mremap, at, 2 * kPage, 5 * kPage, MREMAP_MAYMOVE);
  const long shrunk = raw(SYS_mremap, grown, 5 * kPage, kPage + 1, 0);
  const long refused = raw(SYS_munmap, shrunk + 1, kPage);
  const long unmapped = raw(SYS_munmap, shrunk, 2 * kPage);
  require(at > 0 && grown > 0 && shrunk == grown && refused == -EINVAL && unmapped == 0, "a mapping failed");
  const long end = raw(SYS_brk, 0);
  const long higher = raw(SYS_brk, end + 3 * kPage);
  const long lower = raw(SYS_brk, end + kPage);
  require(higher == end + 3 * kPage && lower == end + kPage, "brk did not move the break");
}

const Register kMapAndUnmap(Case{
    .number = 56,
    .name = "bytes_mapped",
    .summary = "mmap, mremap, munmap and brk count the bytes that they mapped and unmapped, in whole pages.",
    .windows = {{"",
                 map_and_unmap,
                 {calls("mmap", 1).mapping(2 * kPage, 0), calls("mremap", 2).mapping(3 * kPage, 3 * kPage),
                  calls("munmap", 2).failing(EINVAL, 1).mapping(0, 2 * kPage),
                  calls("brk", 3).mapping(3 * kPage, 2 * kPage)}}},
});

std::unique_ptr<Assistant> g_assistant;
std::unique_ptr<Worker> g_worker;

void read_blocked() {
  std::array<char, 10> bytes;
  raw(SYS_read, g_pipe[0], bytes.data(), bytes.size());
}

/// The read entered in one segment and returns in another; both are the outer window's.
void read_across_a_boundary() {
  g_worker->go();
  g_assistant->when_blocked(g_worker->tid(), SYS_read);
  g_assistant->wait();
  syscost::measure([] {}, syscost::Reach::process);
  g_assistant->when_blocked_write(g_worker->tid(), SYS_read, g_pipe[1]);
  g_worker->wait();
}

const Register kAcrossABoundary(Case{
    .number = 56,
    .name = "bytes_across_a_boundary",
    .summary = "A read that an inner window's boundary falls into counts its byte, and that it was short.",
    .setup =
        [] {
          make_files();
          g_assistant = std::make_unique<Assistant>();
          g_worker = std::make_unique<Worker>(read_blocked);
          syscost::measure([] {}, syscost::Reach::process);
        },
    .windows = {{"", read_across_a_boundary, {calls("read", 1).moving(1, 1)}}},
    .teardown =
        [] {
          g_worker.reset();
          g_assistant.reset();
        },
    .unsupported = {{"oracle", "the body opens windows of its own"},
                    {"not linked", "the body opens windows of its own"}},
});

}  // namespace
}  // namespace conformance

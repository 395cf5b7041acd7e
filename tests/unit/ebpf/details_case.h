// SPDX-License-Identifier: MIT
//
// What tests of details share: a backend with details, and its counts of ioctls by them. A test loads the programs, and
// skips with the reason where it may not.
#pragma once

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/ebpf/ebpf_backend.h"
#include "core/syscall_id.h"
#include "os/memory.h"

namespace syscost::ebpf {

inline constexpr SyscallId kIoctl{Abi::x86_64, SYS_ioctl};
inline constexpr std::uint32_t kNull = 1U << 20 | 3;
inline constexpr std::uint32_t kRandom = 1U << 20 | 8;
/// Of no driver's.
inline constexpr unsigned long kUnknown = 0x1234;

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) { EXPECT_GE(fd, 0); }
  ~Fd() { close(fd_); }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  operator int() const { return fd_; }  // NOLINT(google-explicit-constructor): so that calls read as calls

 private:
  int fd_;
};

class Details : public testing::Test {
 protected:
  void open_backend_for(const DetailRequest& details) {
    Result<std::unique_ptr<Backend>> opened = open_backend({.details = details});
    if (!opened.ok()) {
      // If programs without details work here, those with details must work too.
      ASSERT_FALSE(details.any() && open_backend().ok()) << opened.failure().reason;
      GTEST_SKIP() << opened.failure().reason << "; " << opened.failure().how_to_fix;
    }
    backend_ = std::move(opened.value());
  }

  /// Counts what `body` does.
  template <class Body>
  void count(Body body) {
    table_.clear();
    backend_->boundary(Lane::kProcess, Next::kArm);
    body();
    backend_->boundary(Lane::kProcess, Next::kDisarm);
    backend_->read(Lane::kProcess, table_);
  }

  /// Calls of ioctl with this detail.
  std::uint64_t ioctls(const CallDetail& detail) const {
    const Tally* tally = table_.find({kIoctl.abi, kIoctl.number, detail});
    return tally == nullptr ? 0 : tally->calls;
  }
  std::uint64_t all_ioctls() const {
    std::uint64_t sum = 0;
    for (const auto& [id, tally] : table_) {
      if (id.without_detail() != kIoctl) continue;
      EXPECT_EQ(tally.entries, tally.calls);
      EXPECT_EQ(tally.latency.count(), tally.calls);
      sum += tally.calls;
    }
    return sum;
  }

  std::unique_ptr<Backend> backend_;
  CallTable table_{&quiet_memory()};
};

inline CallDetail device(std::uint32_t number, unsigned long request) {
  return {.file = FileKind::character_device, .device = number, .request = static_cast<std::uint32_t>(request)};
}

inline DetailRequest ioctls_by(std::vector<RequestRule> rules = {}, std::vector<std::string> driver_threads = {}) {
  return {true, std::move(rules), std::move(driver_threads)};
}

#define OPEN_WITH_DETAILS_OR_SKIP(...)                    \
  ASSERT_NO_FATAL_FAILURE(open_backend_for(__VA_ARGS__)); \
  if (backend_ == nullptr) return

}  // namespace syscost::ebpf

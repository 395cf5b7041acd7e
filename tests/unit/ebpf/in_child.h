// SPDX-License-Identifier: MIT
//
// Runs code in a child of the test, which may damage its own process, and checks whether a backend counts there.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "core/backend.h"
#include "os/memory.h"

namespace syscost::ebpf {

/// Runs `body` in a child; the test fails with the text that it returns.
class InChild {
 public:
  explicit InChild(const std::function<std::string()>& body) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    const pid_t child = fork();
    if (child == 0) {
      const std::string said = body();
      [[maybe_unused]] const ssize_t written = write(ends[1], said.data(), said.size());
      _exit(0);
    }
    close(ends[1]);
    std::array<char, 512> part{};
    for (ssize_t got = 0; (got = read(ends[0], part.data(), part.size())) > 0;) {
      said_.append(part.data(), static_cast<std::size_t>(got));
    }
    close(ends[0]);
    waitpid(child, &status_, 0);
    if (status_ != 0) said_ += "wait status " + std::to_string(status_);
  }
  const std::string& said() const { return said_; }

 private:
  std::string said_;
  int status_ = 0;
};

inline std::uint64_t count_getppids(Backend& backend, const std::function<void()>& body) {
  CallTable table(&quiet_memory());
  backend.boundary(Lane::kProcess, Next::kArm);
  body();
  backend.boundary(Lane::kProcess, Next::kDisarm);
  backend.read(Lane::kProcess, table);
  const Tally* found = table.find({Abi::x86_64, SYS_getppid});
  return found == nullptr ? 0 : found->entries;
}

inline void call_ten_times() {
  for (int i = 0; i < 10; ++i) syscall(SYS_getppid);
}

/// Empty when ten calls are counted as ten, and nothing is said to be wrong.
inline std::string miscounts(Backend& backend) {
  const std::uint64_t counted = count_getppids(backend, call_ten_times);
  if (counted != 10) return "counted " + std::to_string(counted) + " of 10 calls; ";
  const Result<std::uint64_t> losses = backend.hidden_losses();
  return losses.ok() ? "" : losses.failure().reason + "; ";
}

}  // namespace syscost::ebpf

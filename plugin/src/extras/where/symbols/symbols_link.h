// SPDX-License-Identifier: MIT
//
// SymbolsLink: this process's connection to syscost-symbols, which finds functions and lines.
//
// The helper starts with the first question, and ends with this process. The measured program does not notice it
// (os/detached_process.h). Everything here makes syscalls: between windows only.
#pragma once

#include <sys/types.h>

#include <memory_resource>
#include <span>
#include <string>
#include <string_view>

#include "extras/where/core/call_stack.h"
#include "extras/where/symbols/protocol.h"
#include "os/errors.h"

namespace syscost::symbols {

/// Finds functions and lines of addresses. Not thread-safe.
class Symbolizer {
 public:
  Symbolizer() = default;
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;
  virtual ~Symbolizer() = default;

  /// Looks the addresses of one file up; at most kMaxAddresses. Fails if nothing can be looked up at all, or if this
  /// file ended the helper. If only this file cannot be used, `answer` has the reason.
  virtual Result<void> look_up(const Module& module, std::span<const Address> addresses, Answer& answer) = 0;
  /// Call it after a batch of look_up(). In a process that adopts orphans it ends the helper, which a wait() would
  /// find.
  virtual void pause() {}
};

class SymbolsLink final : public Symbolizer {
 public:
  /// `memory` is used for everything but failures. `helper_path`: empty = the installed one.
  explicit SymbolsLink(std::pmr::memory_resource& memory, std::string_view helper_path = {});
  ~SymbolsLink() override;

  Result<void> look_up(const Module& module, std::span<const Address> addresses, Answer& answer) override;
  void pause() override;

  /// The helper's process id; 0 = it does not run. For tests.
  pid_t helper() const { return helper_; }

 private:
  Result<void> start();
  void end();
  Result<void> ask(std::string_view question, std::size_t count, Answer& answer);
  bool send_all(std::string_view bytes) const;
  int receive_all(char* into, std::size_t size, std::uint64_t deadline_ms) const;

  std::pmr::memory_resource& memory_;
  std::pmr::string helper_path_;  // empty = there is none
  int socket_ = -1;
  pid_t helper_ = 0;
  pid_t session_ = 0;
  pid_t owner_ = 0;
  int ends_ = 0;  ///< How often it ended by itself.
  Failure last_failure_;
};

}  // namespace syscost::symbols

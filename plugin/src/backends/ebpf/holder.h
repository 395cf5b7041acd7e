// SPDX-License-Identifier: MIT
//
// Who holds the BPF programs and their attachments: a helper (HelperLink), or the measured process itself where no
// helper can be (OwnPrograms). A measured process keeps sockets and files that it can only read, never one of those.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "backends/ebpf/helper/protocol.h"
#include "backends/ebpf/loaded_programs.h"
#include "backends/ebpf/missed_runs.h"
#include "os/descriptors.h"
#include "os/errors.h"

namespace syscost::ebpf {

/// The holder's answer when it is asked.
struct Report {
  std::uint64_t missed_runs = 0;  ///< As Holder::missed_runs().
  std::uint32_t refusal = 0;      ///< enum syscost_refusal: why this process is not enrolled.
};

class Holder {
 public:
  virtual ~Holder() = default;
  Holder() = default;
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  /// This process is to be counted again; it must enrol again. Between windows only, as all of this.
  virtual Result<void> attach() = 0;
  /// Stops counting this process until attach(). When no process is counted, the programs come off.
  virtual void detach() = 0;
  /// Fails when the programs are not there any more, or the test took away what leads to them.
  virtual Result<Report> report() = 0;
  /// Runs of the programs that the kernel skipped since they were loaded; those that are not `wanted` may be missing.
  /// Fails as report() does.
  virtual Result<std::uint64_t> missed_runs(Runs wanted) = 0;
};

/// Why nothing is counted any more, once the test has closed what leads to the programs.
Failure taken_away();
/// The same, when system calls of ours are denied.
Failure shut_out();
/// Why counts are too high.
Failure counted_twice();

/// A place comes with these. Descriptors belong to the caller.
struct Joined {
  std::uint32_t cpu_count = 0;
  std::uint64_t cookie = 0;
  std::uint64_t missed_runs = 0;  ///< Before this process came.
  PassedDescriptors maps;
};

/// A pair of programs that this process loads and holds itself.
///
/// Programs and attachments lie in the queues of two sockets, of three where some programs stay attached
/// (os/descriptors.h), so that a child, however it was made, holds no attachment that this process could not take off.
class OwnPrograms final : public Holder {
 public:
  /// Loads and attaches.
  static Result<std::unique_ptr<OwnPrograms>> load(const ProgramRequest& request, Joined& joined);

  Result<void> attach() override;
  void detach() override;
  Result<Report> report() override;
  Result<std::uint64_t> missed_runs(Runs wanted) override;

 private:
  OwnPrograms(ParkedDescriptors programs, std::size_t counting, std::size_t watching)
      : programs_(std::move(programs)), counting_(counting), watching_(watching) {}
  Result<void> keep_attached(const std::vector<int>& programs, ParkedDescriptors& links);

  ParkedDescriptors programs_;  ///< Those that count first, then those that watch, then those that stay attached.
  std::size_t counting_;
  std::size_t watching_;
  ParkedDescriptors counting_links_;
  ParkedDescriptors following_links_;
};

/// This process's place at the pair of programs that a helper holds.
///
/// The first process opens the socket, connects to it and starts the helper with it. So a later process, even one that
/// comes before the helper runs, just connects and waits. The kernel decides which process binds the name. A process
/// that needs its own programs starts a helper for itself alone. docs/decisions/0018.
class HelperLink final : public Holder {
 public:
  /// The reason why this process has no helper.
  enum class Obstacle {
    surroundings,    ///< There is no helper here, and none can be.
    missing_rights,  ///< Of this process and of the helper's file.
    helper,          ///< It said so itself.
  };

  /// Gets a place from the helper that serves us, after starting one when none does. Between windows only.
  /// On failure: why this process cannot share, and which obstacle that is.
  static Result<std::unique_ptr<HelperLink>> join(Joined& joined, Obstacle& obstacle);
  /// The same from a helper of this process's own.
  static Result<std::unique_ptr<HelperLink>> start_own(const ProgramRequest& request, Joined& joined,
                                                       Obstacle& obstacle);

  ~HelperLink() override;

  Result<void> attach() override;
  void detach() override;
  Result<Report> report() override;
  Result<std::uint64_t> missed_runs(Runs wanted) override;

 private:
  HelperLink(int socket, RunFiles files) : socket_(socket), files_(std::move(files)) {}
  static std::unique_ptr<HelperLink> on(int socket, RunFiles files);
  Result<Answer> ask(Request request);

  int socket_;
  RunFiles files_;
};

/// Where the helper lies, or would lie.
std::string helper_path();

}  // namespace syscost::ebpf

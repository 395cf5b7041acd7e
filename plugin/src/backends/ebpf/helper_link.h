// SPDX-License-Identifier: MIT
//
// HelperLink: this process's place at the pair of programs that a helper holds.
//
// The first process opens the socket, connects to it and starts the helper with it. So a later process, even one that
// comes before the helper runs, just connects and waits. The kernel decides which process binds the name. A process
// with details or children starts a helper for itself alone. docs/decisions/0018.
#pragma once

#include <memory>
#include <utility>

#include "backends/ebpf/helper/protocol.h"
#include "backends/ebpf/holder.h"
#include "backends/ebpf/missed_runs.h"
#include "backends/ebpf/own_programs.h"
#include "os/result.h"

namespace syscost::ebpf {

class HelperLink final : public Holder {
 public:
  /// What keeps this process from having a helper.
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

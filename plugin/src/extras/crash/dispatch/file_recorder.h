// SPDX-License-Identifier: MIT
//
// FileRecorder of dispatch: the log of stub/file_log.h, from outside of the user's calls.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "backends/dispatch/ability.h"
#include "backends/dispatch/stub_calls.h"
#include "extras/crash/core/file_calls.h"

namespace syscost::dispatch {

class Files final : public FileRecorder, public Ability {
 public:
  Files() = default;
  ~Files() override;
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  Result<void> start(std::span<const FileKey> files) override;
  void mark(std::string_view name) override;
  Result<std::vector<FileCall>> stop() override;
  void* find(std::string_view name) override { return name == kExtension ? static_cast<FileRecorder*>(this) : nullptr; }

 private:
  /// True if no thread writes a record any more.
  static bool close_log();
  void free_memory(bool is_quiet);

  StringCopies copies_;
  char* memory_ = nullptr;
};

MadeAbility make_file_recorder(const AbilityContext& context);

}  // namespace syscost::dispatch

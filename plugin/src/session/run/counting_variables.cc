// SPDX-License-Identifier: MIT
#include "session/run/counting_variables.h"

#include <string_view>

#include "os/environment.h"

namespace syscost::session {
namespace {

constexpr std::string_view kRunId = "SYSCOST_INTERNAL_RUN_ID";
constexpr std::string_view kArtifacts = "SYSCOST_INTERNAL_ARTIFACTS";

}  // namespace

std::vector<std::string> counting_variables(const std::string& run_id, const std::string& artifacts) {
  return {std::string(kRunId) + "=" + run_id, std::string(kArtifacts) + "=" + artifacts};
}

void take_counting_variables(Options& options) {
  if (const char* run_id = variable(kRunId.data())) options.run_id = run_id;
  if (const char* artifacts = variable(kArtifacts.data())) options.artifacts = artifacts;
}

}  // namespace syscost::session

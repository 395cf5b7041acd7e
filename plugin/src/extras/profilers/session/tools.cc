// SPDX-License-Identifier: MIT
#include "extras/profilers/session/tools.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#if SYSCOST_HAS_GPU_CUPTI
#include "extras/gpu/cupti/cupti_profiler.h"
#endif

namespace syscost::session {
namespace {

profilers::ProfilerOptions profiler_options(const Options& options) {
  return {.scripts = scripts_of(options), .script_folders = options.script_folders, .uses_sudo = options.bpf_sudo};
}

/// GPUs live in folders that may be missing.
Result<std::unique_ptr<profilers::Profiler>> make_cupti([[maybe_unused]] const Options& options) {
#if SYSCOST_HAS_GPU_CUPTI
  return gpu::cupti::make_profiler(options.cupti_library);
#else
  return Failure{"this libsyscost was built without CUPTI",
                 "build it with plugin/src/extras/gpu/cupti and nlohmann-json"};
#endif
}

}  // namespace

std::vector<std::string> scripts_of(const Options& options) {
  return options.scripts.empty() ? std::vector<std::string>{kDefaultScript} : options.scripts;
}

Result<ToolList> open_tools(const Options& options) {
  ToolList tools;
  if (options.profile_cupti) {
    Result<std::unique_ptr<profilers::Profiler>> cupti = make_cupti(options);
    if (!cupti.ok()) return cupti.failure();
    tools.push_back(std::move(cupti.value()));
    return tools;  // alone: see check_together()
  }
  using Make = Result<std::unique_ptr<profilers::Profiler>> (*)(const profilers::ProfilerOptions&);
  for (const auto& [is_wanted, make] : {std::pair<bool, Make>{options.profile_bpftrace, profilers::make_bpftrace},
                                        {options.profile_perf, profilers::make_perf}}) {
    if (!is_wanted) continue;
    Result<std::unique_ptr<profilers::Profiler>> tool = make(profiler_options(options));
    if (!tool.ok()) return tool.failure();
    tools.push_back(std::move(tool.value()));
  }
  return tools;
}

int list_scripts(const Options& options) {
  if (const Result<void> checked = profilers::check_script_folders(profiler_options(options)); !checked.ok()) {
    std::fputs(("syscost: " + checked.failure().reason + "\n  fix: " + checked.failure().how_to_fix + "\n").c_str(),
               stderr);
    return 2;
  }
  std::size_t width = 0;
  const std::vector<profilers::ScriptInfo> scripts = profilers::list_scripts(profiler_options(options));
  for (const profilers::ScriptInfo& script : scripts) width = std::max(width, script.name.size());
  for (const profilers::ScriptInfo& script : scripts) {
    std::printf("%-*s  %s\n", static_cast<int>(width), script.name.c_str(), script.purpose.c_str());
  }
  std::fflush(stdout);
  return 0;
}

std::string Tools::names() const {
  std::string text;
  for (const auto& tool : tools_) text += (text.empty() ? "" : " and ") + std::string(tool->name());
  return text;
}

Result<void> Tools::check() {
  for (const auto& tool : tools_) {
    Result<void> checked = tool->check();
    if (!checked.ok()) return checked;
  }
  return {};
}

Result<void> Tools::attach() {
  for (std::size_t i = 0; i < tools_.size(); ++i) {
    Result<void> attached = tools_[i]->attach();
    if (attached.ok()) continue;
    while (i-- > 0) static_cast<void>(tools_[i]->detach());
    return attached;
  }
  is_attached_ = true;
  return {};
}

Result<void> Tools::detach(Findings& findings) {
  if (!std::exchange(is_attached_, false)) return {};
  Findings part;
  Result<void> result;
  for (const auto& tool : tools_) {
    Result<std::vector<profilers::Output>> outputs = tool->detach();
    if (!outputs.ok() && result.ok()) result = outputs.failure();
    part.push_back(
        {std::string(tool->name()), outputs.ok() ? std::move(outputs.value()) : std::vector<profilers::Output>{}});
  }
  add_part(findings, std::move(part));
  return result;
}

}  // namespace syscost::session

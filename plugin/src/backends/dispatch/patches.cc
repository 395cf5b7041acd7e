// SPDX-License-Identifier: MIT
#include "backends/dispatch/patches.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <sstream>
#include <string>

#include "backends/dispatch/dispatch_backend.h"
#include "backends/dispatch/stub/common/raw.h"
#include "backends/dispatch/stub/common/state.h"
#include "os/files.h"
#include "os/proc.h"
#include "os/program_files.h"
#include "os/text.h"

namespace syscost::dispatch {

int tracer_pid() {
  return static_cast<int>(number_in_status(read_small_file("/proc/self/status"), "TracerPid").value_or(0));
}

Result<void> check_for_debugger() {
  std::string name;
  if (const int pid = tracer_pid(); pid != 0)
    std::istringstream(read_small_file("/proc/" + std::to_string(pid) + "/comm")) >> name;
  if (name.rfind("gdb", 0) != 0 && name.rfind("lldb", 0) != 0) return {};
  return Failure{"a debugger is attached (" + printable(name) + "), and it stops at every dispatched call",
                 "tell it `handle SIGSYS nostop noprint pass` (gdb) and name the backend: --syscost_backend dispatch"};
}

namespace {

constexpr long kRegisterSyncCore = 1 << 6;  // MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE

bool is_there(const char* runtime) {
  return loaded_function(runtime) != nullptr;
}

bool is_under_sanitizer() {
  return has_signal_stack_sanitizer() || is_there("__tsan_init") || is_there("__lsan_init");
}

/// The file that libc's text comes from, open while pages are replaced.
class LibcFile {
 public:
  LibcFile()
      : descriptor_(static_cast<int>(syscost_raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(libc_text().path),
                                                         O_RDONLY | O_CLOEXEC | O_NONBLOCK))) {}
  ~LibcFile() {
    if (descriptor_ >= 0) syscost_raw_syscall(SYS_close, descriptor_);
  }
  LibcFile(const LibcFile&) = delete;
  LibcFile& operator=(const LibcFile&) = delete;

  CodeFile at(const unsigned char* page) const {
    return {descriptor_, libc_text().file_offset + (page - libc_text().begin)};
  }

 private:
  int descriptor_;
};

bool is_alone() {
  return std::atomic_ref(syscost_is_alone).load() != 0;
}

bool lies_within(const Patch& patch, const Pages& pages) {
  return std::all_of(patch.changes.begin(), patch.changes.end(), [&pages](const Change& change) {
    return change.at >= pages.begin && change.at + change.count <= pages.end;
  });
}

bool touches(const Patch& patch, const Pages& pages) {
  return std::any_of(patch.changes.begin(), patch.changes.end(),
                     [&pages](const Change& change) { return pages.hold(change); });
}

/// True if apply() may write `patch` into `pages`.
bool may_come(const Patch& patch, const Pages& pages, bool alone) {
  return patch.is_in_place || (lies_within(patch, pages) && (alone || !patch.site.is_split));
}
bool must_stay(const Patch& patch, const Pages& pages, bool alone) {
  return patch.is_in_place && (!lies_within(patch, pages) || (patch.site.is_split && !alone));
}
using IsWanted = bool (*)(const Patch& patch, const Pages& pages, bool alone);

/// True if the jump of `patch` shall be there. A short jump must not lead to a bridge that something else has
/// overwritten.
bool shall_be_there(const Patch& patch, const Pages& pages, IsWanted is_wanted, bool alone) {
  if (must_stay(patch, pages, alone)) return true;
  auto is_foreign = [](const Change& change) { return change.is_foreign(); };
  return is_wanted(patch, pages, alone) && std::none_of(patch.changes.begin(), patch.changes.end(), is_foreign);
}

/// Returns all changes of `pages`, in order of address. A patch that is not wanted gets its original bytes back, unless
/// something else has written over it.
std::vector<Change> changes_of(const Pages& pages, IsWanted is_wanted, bool alone) {
  std::vector<Change> changes;
  for (const Patch& patch : patch_plan().patches) {
    if (!touches(patch, pages)) continue;
    const bool is_there = shall_be_there(patch, pages, is_wanted, alone);
    for (const Change& change : patch.changes) {
      if (!pages.hold(change) || change.is_foreign()) continue;
      changes.push_back(change);
      const bool is_to_stay = change.at == patch.site.bridge && patch.leaves_bridge(alone);
      if (!is_to_stay && !is_there) changes.back().content = change.original;
    }
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.at < b.at; });
  return changes;
}

/// Replaces `pages` with the wanted patches. Returns the reason if it fails, else null.
const char* replace(const Pages& pages, CopyOf source, IsWanted is_wanted) {
  const LibcFile file;
  const char* why_not = nullptr;
  bool alone = is_alone();
  for (bool is_done = false; !is_done;) {
    alone = is_alone();
    const std::vector<Change> changes = changes_of(pages, is_wanted, alone);
    // A handler could make a thread.
    const signal_safe::SignalsHeld held;
    is_done = is_alone() == alone;
    if (is_done) why_not = replace_code(pages, changes, source, file.at(pages.begin));
  }
  if (why_not != nullptr) return why_not;
  for (Patch& patch : patch_plan().patches) {
    if (!touches(patch, pages)) continue;
    const bool is_there = shall_be_there(patch, pages, is_wanted, alone);
    patch.has_left_bridge = !is_there && patch.leaves_bridge(alone);
    patch.is_in_place = is_there;
  }
  return nullptr;
}

/// The present state of a page.
enum class State : std::uint8_t {
  of_file,   ///< Equal to libc's file, except for our changes.
  changed,   ///< Something else has written there.
  not_code,  ///< Writable or not executable: something else is about to change it.
};

std::vector<State> look_at(const Pages& pages) {
  std::vector<Change> ours;
  for (const Patch& patch : patch_plan().patches) ours.insert(ours.end(), patch.changes.begin(), patch.changes.end());
  std::sort(ours.begin(), ours.end(), [](const Change& a, const Change& b) { return a.at < b.at; });
  const LibcFile file;
  const std::vector<bool> are_code = are_mapped_as_code(pages);
  // Pages that may not be read are skipped.
  const std::vector<bool> are_same = compare_with_file(pages, are_code, ours, file.at(pages.begin));
  std::vector<State> found;
  for (std::size_t i = 0; i < pages.count(); ++i) {
    found.push_back(!are_code[i] ? State::not_code : are_same[i] ? State::of_file : State::changed);
  }
  return found;
}

bool has(const std::vector<State>& pages, State some) {
  return std::find(pages.begin(), pages.end(), some) != pages.end();
}
bool are_all_of_file(const std::vector<State>& pages) {
  return !has(pages, State::changed) && !has(pages, State::not_code);
}

Pages page_at(const Pages& pages, std::size_t index) {
  return {pages.begin + index * kPage, pages.begin + (index + 1) * kPage};
}

/// Takes the patches away from `pages`, except bridges that a thread may need.
void take_away(const Pages& pages, CopyOf source) {
  std::vector<Patch>& patches = patch_plan().patches;
  const bool alone = is_alone();
  std::vector<Patch*> here;
  for (Patch& patch : patches) {
    if ((patch.is_in_place || patch.has_left_bridge) && touches(patch, pages)) here.push_back(&patch);
  }
  if (here.empty()) return;
  const bool is_all_to_go = std::none_of(here.begin(), here.end(), [&](const Patch* patch) {
    return must_stay(*patch, pages, alone) || patch->leaves_bridge(alone);
  });
  if (source != CopyOf::file || !is_all_to_go || !forget_changes(pages)) {
    replace(pages, source, must_stay);
    return;
  }
  for (Patch* patch : here) patch->is_in_place = patch->has_left_bridge = false;
}

}  // namespace

bool has_signal_stack_sanitizer() {
  return is_there("__asan_init") || is_there("__msan_init") || is_there("__hwasan_init");
}

std::string Patches::obstacle() {
  if (is_under_sanitizer()) return "a sanitizer watches this program";
  if (tracer_pid() != 0) return "a debugger or tracer is attached";
  if (libc_text().begin == nullptr) return "libc is linked statically";
  // Older kernels have none: replaced pages (patch_plan.h) do without.
  syscost_raw_syscall(SYS_membarrier, kRegisterSyncCore, 0, 0);
  return {};
}

std::string Patches::apply() {
  if (std::string why_not = obstacle(); !why_not.empty()) return why_not;
  if (syscost_state.filters != 0) {
    return "the program has installed a seccomp filter, and the filter may kill it for the calls that patching needs";
  }
  const PatchPlan& plan = patch_plan();
  if (!plan.why_not.empty()) return plan.why_not;
  const Pages all = plan.pages();
  const std::vector<State> states = look_at(all);
  std::vector<Part> parts;
  if (are_all_of_file(states)) {
    parts = {{all, CopyOf::file}};
  } else {
    // If only some pages differ, something else has changed those: a tracer's breakpoint for example.
    const State wanted = has(states, State::of_file) ? State::of_file : State::changed;
    for (std::size_t i = 0; i < all.count(); ++i) {
      const Pages page = page_at(all, i);
      const bool is_changed = std::any_of(plan.patches.begin(), plan.patches.end(),
                                          [&page](const Patch& patch) { return lies_within(patch, page); });
      if (!is_changed || states[i] != wanted) continue;
      parts.push_back({page, wanted == State::of_file ? CopyOf::file : CopyOf::memory});
    }
  }
  for (const Part& part : parts) {
    if (const char* why_not = replace(part.pages, part.source, may_come); why_not != nullptr) {
      undo();
      return why_not;
    }
    parts_.push_back(part);
  }
  return {};
}

void Patches::undo() {
  // A seccomp filter of the program may kill it for the following calls.
  if (parts_.empty() || syscost_state.filters != 0) return;
  for (const Part& part : parts_) {
    const Pages& all = part.pages;
    const std::vector<State> states = look_at(all);
    if (are_all_of_file(states)) {
      take_away(all, CopyOf::file);
      continue;
    }
    const CopyOf other = has(states, State::of_file) ? CopyOf::memory_over_file : CopyOf::memory;
    // Bytes that something else has written stay, for example a hook of the program.
    for (std::size_t i = 0; i < all.count(); ++i) {
      if (states[i] == State::not_code) continue;
      take_away(page_at(all, i), states[i] == State::of_file ? CopyOf::file : other);
    }
  }
  parts_.clear();
}

std::string Patches::describe_coverage() {
  const PatchPlan& plan = patch_plan();
  std::size_t in_place = 0;
  std::size_t waiting = 0;
  for (const Patch& patch : plan.patches) {
    if (patch.is_in_place) ++in_place;
    if (!patch.is_in_place && patch.site.is_split) ++waiting;
  }
  std::size_t total = plan.patches.size();
  for (const unsigned refused : plan.refused) total += refused;
  std::string others;
  auto add = [&others](std::size_t count, const std::string& why) {
    if (count != 0) others += (others.empty() ? ": " : ", ") + std::to_string(count) + " " + why;
  };
  for (std::size_t i = 0; i < kRefusals; ++i) add(plan.refused[i], describe(static_cast<Refusal>(i)));
  add(waiting, "across a cache line, while other threads run");
  add(plan.patches.size() - in_place - waiting, "on pages that something else has changed");
  return std::to_string(in_place) + " of " + std::to_string(total) + " call sites of libc patched" +
         (others.empty() ? "" : ", the rest trapped" + others);
}

}  // namespace syscost::dispatch

// SPDX-License-Identifier: MIT
#include "extras/where/session/call_sites.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <utility>

#include "core/site_names.h"
#include "core/syscall_table.h"
#include "extras/where/core/call_stack.h"
#include "os/memory.h"

namespace syscost::session {
namespace {

using symbols::Address;
using symbols::Place;
using symbols::ResolvedFrame;

std::pmr::string main_program(std::pmr::memory_resource& memory) {
  std::array<char, PATH_MAX> path{};
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  return {path.data(), size > 0 ? static_cast<std::size_t>(size) : 0, &memory};
}

/// Null if the calls have other origins, or none.
const StackSource* stacks_of(const detail::CostData& cost) {
  return dynamic_cast<const StackSource*>(cost.origins());
}

/// True for a module that is a file.
bool can_be_read(const Module& module) {
  return module.path.starts_with('/');
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// `src/log.cc:17` of `at src/log.cc:17 Log::batch+3`; empty for a site without a line.
std::string_view line_of(std::string_view site) {
  constexpr std::size_t kAt = 3;  // "at "
  for (std::size_t colon = site.find(':', kAt); colon != std::string_view::npos; colon = site.find(':', colon + 1)) {
    std::size_t end = colon + 1;
    while (end < site.size() && is_digit(site[end])) ++end;
    if (end > colon + 1 && (end == site.size() || site[end] == ' ')) return site.substr(kAt, end - kAt);
  }
  return {};
}

}  // namespace

CallSites::CallSites(const WhereRequest& request, std::shared_ptr<symbols::Symbolizer> symbolizer,
                     std::pmr::memory_resource& memory)
    : memory_(memory),
      symbolizer_(std::move(symbolizer)),
      rule_{request.skip, main_program(memory)},
      tree_(memory),
      files_(&memory),
      modules_(&memory),
      sites_(&memory),
      places_(&memory) {}

/// Notes a failure, each once.
void CallSites::note(Failure failure) {
  if (said_.insert(failure.reason).second) failures_.push_back(std::move(failure));
}

std::vector<Failure> CallSites::take_failures() {
  return std::exchange(failures_, {});
}

// ---- addresses ------------------------------------------------------------------------------------------------------

/// Looks addresses of one file up, and remembers the answers. One that cannot be looked up is remembered as unknown.
void CallSites::look_up(const Module& module, std::span<const Address> addresses) {
  symbols::Answer answer(&memory_);
  const Result<void> asked = symbolizer_->look_up(module, addresses, answer);
  if (!asked.ok()) {
    note({"functions and lines of calls are missing: " + asked.failure().reason, asked.failure().how_to_fix});
  } else if (!answer.reason.empty()) {
    note({"functions and lines of calls in " + std::string(module.path) + " are missing: it " +
              std::string(answer.reason),
          ""});
  }
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    Place place(&memory_);
    if (i < answer.places.size()) place = std::move(answer.places[i]);
    places_.insert_or_assign(AddressKey{&module, addresses[i]}, std::move(place));
  }
}

void CallSites::look_up(const std::pmr::set<AddressKey>& addresses) {
  std::pmr::vector<Address> of_module(&memory_);
  for (auto at = addresses.begin(); at != addresses.end();) {
    const Module& module = *at->module;
    of_module.clear();
    while (at != addresses.end() && at->module == &module && of_module.size() < symbols::kMaxAddresses) {
      of_module.push_back(at++->address);
    }
    look_up(module, of_module);
  }
}

/// Two backends may name the same file.
const Module& CallSites::kept(const StackSource& source, std::uint32_t index) {
  const auto [at, is_new] = modules_.try_emplace({&source, index}, nullptr);
  if (is_new) {
    const Module& module = source.module(index);
    const auto same = std::find_if(files_.begin(), files_.end(), [&](const Module& file) {
      return file.path == module.path && file.build_id == module.build_id;
    });
    at->second = same != files_.end() ? &*same : &files_.emplace_back(module.path, module.build_id, &memory_);
  }
  return *at->second;
}

/// The frames of a stack, with the places that are known so far. After the frame of a signal handler's return, the next
/// address is exact.
std::pmr::vector<ResolvedFrame> CallSites::resolve(StackKey key) {
  std::pmr::vector<ResolvedFrame> frames(&memory_);
  bool is_exact = false;
  for (const StackFrame& frame : key.source->frames(key.stack)) {
    ResolvedFrame& resolved = frames.emplace_back();
    resolved.offset = frame.offset;
    if (frame.module == kNoModule) {
      is_exact = false;
      continue;
    }
    resolved.module = &kept(*key.source, frame.module);
    const auto place = places_.find(AddressKey{resolved.module, {frame.offset, is_exact}});
    resolved.place = place != places_.end() ? &place->second : nullptr;
    is_exact = resolved.place != nullptr && resolved.place->is_signal_frame;
  }
  return frames;
}

void CallSites::look_up_new_stacks(const detail::CostData& cost) {
  std::pmr::set<StackKey> fresh(&memory_);
  for (const auto& [id, tally] : cost.table) {
    const StackKey key{stacks_of(cost), id.detail.origin};
    if (key.stack != 0 && !sites_.contains(key)) fresh.insert(key);
  }
  look_up_stacks(fresh);
}

/// The stacks must have no site yet.
void CallSites::look_up_stacks(const std::pmr::set<StackKey>& fresh) {
  if (fresh.empty()) return;
  // The first round finds the frames of signals; the second one looks exact addresses up.
  for (int round = 0; round < 2; ++round) {
    std::pmr::set<AddressKey> unknown(&memory_);
    for (const StackKey& key : fresh) {
      bool is_exact = false;
      for (const StackFrame& frame : key.source->frames(key.stack)) {
        const Module* const module = frame.module == kNoModule ? nullptr : &kept(*key.source, frame.module);
        if (module == nullptr || !can_be_read(*module)) {
          is_exact = false;
          continue;
        }
        const AddressKey address{module, {frame.offset, is_exact}};
        const auto place = places_.find(address);
        if (place == places_.end()) unknown.insert(address);
        is_exact = place != places_.end() && place->second.is_signal_frame;
      }
    }
    if (unknown.empty()) break;
    look_up(unknown);
  }
  symbolizer_->pause();
  for (const StackKey& key : fresh) {
    const std::pmr::string text = symbols::site_text(resolve(key), key.source->end(key.stack), rule_, tree_, memory_);
    sites_.emplace(key, number_of_site(text));
  }
}

// ---- single stacks --------------------------------------------------------------------------------------------------

void CallSites::look_up(const StackSource& source, const std::pmr::set<std::uint32_t>& stacks) {
  std::pmr::set<StackKey> fresh(&memory_);
  for (const std::uint32_t stack : stacks) {
    const StackKey key{&source, stack};
    if (stack != 0 && !sites_.contains(key)) fresh.insert(key);
  }
  look_up_stacks(fresh);
}

std::string_view CallSites::site_of(const StackSource& source, std::uint32_t stack) const {
  const auto found = sites_.find(StackKey{&source, stack});
  return found != sites_.end() ? text_of_site(found->second) : std::string_view();
}

std::pmr::vector<ResolvedFrame> CallSites::frames_of(const StackSource& source, std::uint32_t stack) {
  return resolve({&source, stack});
}

std::vector<std::string> CallSites::user_frames_of(const StackSource& source, std::uint32_t stack) {
  return symbols::user_frames(resolve({&source, stack}), rule_, tree_, memory_);
}

// ---- tables ---------------------------------------------------------------------------------------------------------

void CallSites::name_origins(const detail::CostData& cost, detail::CostData& into) {
  if (stacks_of(cost) != nullptr) look_up_new_stacks(cost);
  for (const auto& [id, tally] : cost.table) {
    SyscallId site = id;
    if (stacks_of(cost) != nullptr && id.detail.origin != 0) {
      site.detail.origin = sites_.find(StackKey{stacks_of(cost), id.detail.origin})->second;
    }
    into.table.at(site).merge(tally);
  }
  into.programs.merge(cost.programs);
  into.measured = cost.measured;
  into.filter = cost.filter;
  into.late += cost.late;
  into.lost += cost.lost;
}

std::pmr::string CallSites::folded(const detail::CostData& cost) {
  std::pmr::string text(&memory_);
  if (stacks_of(cost) == nullptr) return text;
  look_up_new_stacks(cost);
  std::pmr::map<std::pmr::string, std::uint64_t> lines(&memory_);  // different stacks can have the same names
  for (const auto& [id, tally] : cost.table) {
    const std::uint64_t calls = cost.measured.calls ? tally.calls : tally.entries;
    if (id.detail.origin == 0 || calls == 0) continue;
    const StackKey key{stacks_of(cost), id.detail.origin};
    std::pmr::string line = symbols::folded_text(resolve(key), key.source->end(key.stack), memory_);
    line.append(";").append(syscall_name(id));
    const std::string_view place = line_of(text_of_site(sites_.find(key)->second));
    if (!place.empty()) line.append(" ").append(place);
    lines[line] += calls;
  }
  for (const auto& [line, calls] : lines) text.append(line).append(" ").append(std::to_string(calls)).append("\n");
  return text;
}

CallSites& call_sites_of(Measurement& shared) {
  if (shared.origin_namer == nullptr) {
    std::pmr::memory_resource& memory = mapped_memory();
    const std::pmr::polymorphic_allocator<> allocator(&memory);
    shared.origin_namer = std::allocate_shared<CallSites>(
        allocator, shared.options.where, std::allocate_shared<symbols::SymbolsLink>(allocator, memory), memory);
  }
  return dynamic_cast<CallSites&>(*shared.origin_namer);
}

}  // namespace syscost::session

// SPDX-License-Identifier: MIT
//
// CallSites: from the call stacks that a backend counted to the sites that rows name.
//
// A stack is looked up when a window with a call of it is recorded for the first time. The answers are kept, because
// the next test comes past the same lines.
#pragma once

#include <compare>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/cost_data.h"
#include "extras/where/core/call_stack.h"
#include "extras/where/symbols/site.h"
#include "extras/where/symbols/symbols_link.h"
#include "os/errors.h"
#include "session/windows/measurement.h"
#include "session/windows/origin_namer.h"

namespace syscost::session {

/// Not thread-safe: the caller holds the lock of the rows. Makes syscalls: between windows only.
class CallSites final : public OriginNamer {
 public:
  /// `memory` must outlive it.
  CallSites(const WhereRequest& request, std::shared_ptr<symbols::Symbolizer> symbolizer,
            std::pmr::memory_resource& memory);

  void name_origins(const detail::CostData& cost, detail::CostData& into) override;

  /// One line for each stack and syscall, for flamegraph.pl and speedscope: `main;Log::batch;write src/log.cc:17 100`.
  /// Empty if no call has a stack.
  std::pmr::string folded(const detail::CostData& cost);

  /// Looks stacks of a trace up, for site_of() and frames_of().
  void look_up(const StackSource& source, const std::pmr::set<std::uint32_t>& stacks);
  /// The text of the site of a stack that was looked up: `at src/log.cc:17 Log::batch+3`. Valid for ever.
  std::string_view site_of(const StackSource& source, std::uint32_t stack) const;
  /// Its frames, innermost first. Valid until another stack is looked up.
  std::pmr::vector<symbols::ResolvedFrame> frames_of(const StackSource& source, std::uint32_t stack);

  /// Those that are the user's, as site_of() has the innermost one. The stack was looked up.
  std::vector<std::string> user_frames_of(const StackSource& source, std::uint32_t stack);

  std::vector<Failure> take_failures() override;

 private:
  struct StackKey {
    const StackSource* source;
    std::uint32_t stack;
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 within a defaulted <=> for ours
    friend auto operator<=>(const StackKey&, const StackKey&) = default;
  };
  struct AddressKey {
    const Module* module;  // in files_
    symbols::Address address;
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 within a defaulted <=> for ours
    friend auto operator<=>(const AddressKey&, const AddressKey&) = default;
  };

  void look_up_new_stacks(const detail::CostData& cost);
  void look_up_stacks(const std::pmr::set<StackKey>& fresh);
  void look_up(const std::pmr::set<AddressKey>& addresses);
  void look_up(const Module& module, std::span<const symbols::Address> addresses);
  std::pmr::vector<symbols::ResolvedFrame> resolve(StackKey key);
  const Module& kept(const StackSource& source, std::uint32_t index);
  void note(Failure failure);

  std::pmr::memory_resource& memory_;
  std::shared_ptr<symbols::Symbolizer> symbolizer_;
  symbols::SiteRule rule_;
  symbols::SourceTree tree_;
  std::pmr::list<Module> files_;  // a list: they never move
  std::pmr::map<std::pair<const StackSource*, std::uint32_t>, const Module*> modules_;
  std::pmr::map<StackKey, std::uint32_t> sites_;
  std::pmr::map<AddressKey, symbols::Place> places_;
  std::set<std::string> said_;
  std::vector<Failure> failures_;
};

/// Those of the session, made with the helper that is installed when they are first needed. Takes no memory of the
/// heap: a test would notice. Call it with the recorder's lock, or in a process with one thread.
CallSites& call_sites_of(Measurement& shared);

}  // namespace syscost::session

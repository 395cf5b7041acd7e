// SPDX-License-Identifier: MIT
//
// What the core asks a backend for besides counting, through Backend::extension(). Each is null if the backend lacks
// it.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/segments_held.h"
#include "core/tally.h"

namespace syscost {

/// The calls of other programs, apart from the process's own: of its child processes, or of the programs of a command.
class ProgramReader {
 public:
  static constexpr std::string_view kExtension = "programs";  ///< Backend::extension()

  virtual ~ProgramReader() = default;
  ProgramReader(const ProgramReader&) = delete;
  ProgramReader& operator=(const ProgramReader&) = delete;

  /// Adds the calls that other programs entered in the process lane's previous segment to `into`, and clears them. Call
  /// it after each Backend::read(Lane::kProcess), if capabilities().programs.
  virtual void read_programs(ProgramTables& into) = 0;

 protected:
  ProgramReader() = default;
};

/// Keeps a record of each call beside its counts, as far as there is room. A call of a window has a record, or is
/// counted as unkept: records + unkept calls = calls, in every window.
class CallKeeper {
 public:
  static constexpr std::string_view kExtension = "records of calls";  ///< Backend::extension()

  virtual ~CallKeeper() = default;
  CallKeeper(const CallKeeper&) = delete;
  CallKeeper& operator=(const CallKeeper&) = delete;

  /// The calls of `lane`'s previous segment that have no record; sets the number to 0. As Backend::read, and after it.
  virtual std::uint64_t take_unkept(Lane lane) = 0;

  /// Keeps no more records until it is told to: calls are unkept. The caller holds the window book's lock. False if a
  /// thread does not end its record in time: then it stays paused for good.
  virtual bool pause() = 0;

 protected:
  CallKeeper() = default;
};

/// A part of a backend that must know while a thread works for syscost, because it would meddle with the thread's
/// calls.
class OwnWorkListener {
 public:
  static constexpr std::string_view kExtension = "own work";  ///< Backend::extension()

  virtual ~OwnWorkListener() = default;
  OwnWorkListener(const OwnWorkListener&) = delete;
  OwnWorkListener& operator=(const OwnWorkListener&) = delete;

  /// The calling thread works for syscost until end_own_work() with what this returns. Any thread, at any time; nests.
  virtual void* begin_own_work() = 0;
  virtual void end_own_work(void* thread) = 0;

 protected:
  OwnWorkListener() = default;
};

/// What CallDetail::origin stands for in the tables of a backend that tells calls apart by where they come from. Who
/// knows the backend knows more of it; before rows are written, a site (core/site_names.h) takes its place.
class CallOrigins {
 public:
  static constexpr std::string_view kExtension = "origins of calls";  ///< Backend::extension()

  virtual ~CallOrigins() = default;
  CallOrigins(const CallOrigins&) = delete;
  CallOrigins& operator=(const CallOrigins&) = delete;

 protected:
  CallOrigins() = default;
};

}  // namespace syscost

// SPDX-License-Identifier: MIT
//
// ChildTables: the syscalls of the measured process's descendants, by program.
//
// By program and not by process: ids differ from run to run, and a test that runs `gzip` four times is compared with
// one that runs it three times.
#pragma once

#include <algorithm>
#include <list>
#include <memory_resource>
#include <string>
#include <string_view>

#include "core/tally.h"

namespace syscost {

/// Iterates in the order in which programs were first seen: `for (const auto& [program, table] : children)`.
class ChildTables {
 public:
  struct Entry {
    Entry(std::string_view its_program, std::pmr::memory_resource* memory)
        : program(its_program, memory), table(memory) {}
    std::pmr::string program;
    CallTable table;
  };

  /// `memory` must outlive the tables.
  explicit ChildTables(std::pmr::memory_resource* memory) : entries_(memory) {}
  ChildTables(const ChildTables&) = delete;
  ChildTables& operator=(const ChildTables&) = delete;

  /// The table of a program; made empty at first use.
  CallTable& at(std::string_view program) {
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.program == program; });
    if (found != entries_.end()) return found->table;
    return entries_.emplace_back(program, entries_.get_allocator().resource()).table;
  }
  void merge(const ChildTables& other) {
    for (const Entry& entry : other) {
      if (!entry.table.empty()) at(entry.program).merge(entry.table);
    }
  }
  /// Forgets every count.
  void clear() {
    for (Entry& entry : entries_) entry.table.clear();
  }
  /// True when no program has a count.
  bool empty() const {
    return std::all_of(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.table.empty(); });
  }
  std::pmr::list<Entry>::const_iterator begin() const { return entries_.begin(); }
  std::pmr::list<Entry>::const_iterator end() const { return entries_.end(); }

 private:
  std::pmr::list<Entry> entries_;
};

}  // namespace syscost

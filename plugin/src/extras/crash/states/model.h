// SPDX-License-Identifier: MIT
//
// Plan: what of a log of operations a power cut may lose, by a model of the file system (docs/crash-states.md).
//
// Each operation becomes changes, which are persisted whole or not at all: a block of a write, a size, the entries of a
// rename. A change may need others, without which it is never persisted. A stage is a time of the power cut: which
// changes had been requested by then, and which of them had been made sure by an fsync. A state of a stage is any set
// of its changes that holds those made sure and, with each change, those that it needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "extras/crash/states/image.h"
#include "syscost/crash.h"

namespace syscost::crash {

struct Settings {
  CrashModel model = CrashModel::posix;
  std::uint64_t block_bytes = 4096;  ///< A write is persisted block by block.
  std::uint64_t sector_bytes = 512;  ///< The last block of a write may be torn in its middle, between two of these.
};

enum class Part : std::uint8_t { entries, data, size };

struct Change {
  std::uint32_t operation = 0;
  Part part = Part::entries;
  Node node = kNoNode;                    ///< Only for data and size.
  std::uint64_t offset = 0;               ///< For data: in the file. A resize's data are zeros beyond the new end.
  std::uint64_t length = 0;               ///< For data: bytes. For size: the size.
  std::vector<std::uint32_t> after = {};  ///< The changes that it needs; each comes before it in Plan::changes.
};

using Changes = std::vector<bool>;  ///< By the places in Plan::changes.

struct Stage {
  std::size_t operations = 0;  ///< The first so many had ended.
  Changes possible;
  Changes sure;
  std::size_t marks = 0;     ///< The body had made so many.
  bool is_finished = false;  ///< The body had ended.
};

struct Plan {
  std::vector<Change> changes;
  std::vector<Stage> stages;  ///< Only those that another one does not include.
};

/// `initial` holds the inodes that operations make, too; all that its folders name is on the disk.
Plan make_plan(const Image& initial, std::span<const Operation> log, const Settings& settings);

/// The files on the disk if exactly `persisted` reached it.
Image image_of(const Image& initial, std::span<const Operation> log, const Plan& plan, const Changes& persisted);

}  // namespace syscost::crash

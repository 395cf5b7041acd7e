// SPDX-License-Identifier: MIT
//
// Parts of a file, so that a large one is read on all cores.
//
// No field of a syscost CSV holds a line break. So every line feed ends a row, and a file can be cut after any of them.
// A part counts its lines from its own first one. The code that joins the parts adds the number of lines
// before.
#pragma once

#include <cstdint>
#include <vector>

#include "csv/input.h"
#include "csv/problems.h"
#include "csv/reader.h"

namespace syscost::bench::csv {

/// The part at offset 0 begins with the header, the others with a row.
struct FilePart {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  ///< 0: to the end, however far that is.
};

/// At least one part, at most `most`; small files, pipes and files that cannot be read are one. `input` is open.
std::vector<FilePart> split_file(Input& input, unsigned most);

/// Reads a part of the open `input`; see read_csv(). Parts of one input may be read by several threads at once.
ReadEnd read_csv_part(Input& input, const FilePart& part, const RowHandler& handle, Problems& problems);

}  // namespace syscost::bench::csv

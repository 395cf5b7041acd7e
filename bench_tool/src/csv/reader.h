// SPDX-License-Identifier: MIT
//
// The reader: a CSV of ours, row by row, as cells. A large file is cut into parts and read on all cores.
//
// A large file is often read for a few of its rows. So the handler of a row tells the reader which of the next rows it
// does not need, and the reader does not even split those. If a line cannot be used, it becomes a problem with its line
// number, and the reader goes on with the next line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "csv/cells.h"
#include "csv/input.h"
#include "csv/problems.h"
#include "syscost/schema.h"

namespace syscost::bench::csv {

/// One row; cells live until the handler returns.
class Row {
 public:
  std::string_view text(schema::Column column) const { return cells_[static_cast<std::size_t>(column)]; }
  bool are_empty(schema::Column first, schema::Column last) const {
    return cells_.are_empty(static_cast<std::size_t>(first), static_cast<std::size_t>(last));
  }
  std::uint64_t line() const { return line_; }
  /// True if its columns before `record` equal those of the previous row that was handed out.
  bool repeats_key() const { return repeats_key_; }

 private:
  friend class RowReader;

  Row() = default;

  Cells cells_{schema::kColumnCount};
  std::uint64_t line_ = 0;
  bool repeats_key_ = false;
};

/// Which of the directly following rows are not handed out: those with the same beginning as this row.
enum class Skip {
  nothing,
  key,      ///< Up to column `record`: the rest of the window.
  context,  ///< Up to column `pid`: rows of the same program's run.
};

/// Takes one row; returns its fault, or "" if it was used. It may change `skip`, which is `nothing` before. The reader
/// checks only the end of a skipped line.
using RowHandler = std::function<std::string(const Row&, Skip& skip)>;

struct ReadEnd {
  bool is_ours = false;     ///< False if the header is not ours, or of another version: then no row has a meaning.
  std::uint64_t lines = 0;  ///< That were read.
};

/// With what an input begins. A later part of a file has no header.
enum class Begin { header, row };

/// Reads the whole input `bytes`, called `name` in messages. Calls `handle` for each whole row, in file order.
ReadEnd read_csv(const std::string& name, ReadBytes bytes, const RowHandler& handle, Problems& problems,
                 Begin begin = Begin::header);

/// The text of a problem with a row or a file of schema version `version`, which bench does not read.
std::string version_fault(std::uint64_t version);

/// Reads text in memory.
void read_csv_text(const std::string& name, std::string_view text, const RowHandler& handle, Problems& problems);

/// A part of a file, so that a large one is read on all cores. The part at offset 0 begins with the header, the others
/// with a row.
///
/// No field of a syscost CSV holds a line break. So every line feed ends a row, and a file can be cut after any of
/// them. A part counts its lines from its own first one. The code that joins the parts adds the number of lines before.
struct FilePart {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  ///< 0: to the end, however far that is.
};

/// At least one part, at most `most`; small files, pipes and files that cannot be read are one. `input` is open.
std::vector<FilePart> split_file(Input& input, unsigned most);

/// Reads a part of the open `input`; see read_csv(). Parts of one input may be read by several threads at once.
ReadEnd read_csv_part(Input& input, const FilePart& part, const RowHandler& handle, Problems& problems);

}  // namespace syscost::bench::csv

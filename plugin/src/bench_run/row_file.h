// SPDX-License-Identifier: MIT
//
// The CSV of a run: the one that the user names, else one that goes when the run ends.
#pragma once

#include <string>
#include <vector>

namespace syscost::bench_run {

/// One in a process.
class RowFile {
 public:
  /// `named`: what set_variables() returned. Tells the programs below where the file is. Ends this program where no
  /// temporary file can be made.
  explicit RowFile(std::string named);

  const std::string& path() const { return path_; }
  /// The user looks at it later, so no summary is printed.
  bool is_named() const { return is_named_; }

  /// Ends this program where no rows can be written to the file. Creates nothing: a program below, which may have
  /// another user, does that.
  void check() const;

  /// Sets variables for the programs below: which `bench run` they are below, and that the file may be gone before they
  /// are; then their rows go nowhere, and their verdict stays.
  void tell_programs() const;

  /// The kind of the rows of the programs below. Others may append to the file, too. A file that cannot be read back,
  /// as a device, counts as one with rows of tests.
  enum class Rows { none, of_programs_without_tests, of_tests };
  Rows rows_of_this_run() const;

  /// A program below.
  struct Program {
    std::string name;
    std::string process;      ///< Its id.
    std::string first_cells;  ///< The columns before `kind`.
    bool has_ended = false;   ///< Its tests came to their end.
    bool has_passed = false;  ///< And all passed,
    bool has_failed = false;  ///< or something failed. Neither: its framework does not say it.
  };
  /// The programs below that began tests.
  std::vector<Program> programs() const;

  /// A second file that goes when the run ends; empty where none can be made.
  static std::string file_for_notes();

  /// For the handler of a signal that ends this process.
  static void remove_temporary();

 private:
  std::string path_;
  bool is_named_;
};

}  // namespace syscost::bench_run

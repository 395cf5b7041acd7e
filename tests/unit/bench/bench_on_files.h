// SPDX-License-Identifier: MIT
//
// BenchOnFiles: runs commands of bench on CSVs that a test writes row by row (csv_text.h).
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "../csv/temporary_folder.h"
#include "bench.h"
#include "csv_text.h"

namespace syscost::bench::testing {

class BenchOnFiles : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& rows) const { return text(name, header() + rows); }
  std::string text(const std::string& name, const std::string& content) const {
    std::ofstream(folder_.file(name)) << content;
    return folder_.file(name);
  }
  int bench(const std::vector<std::string>& args) {
    out_.str("");
    err_.str("");
    return bench_main(args, out_, err_);
  }
  bool has(const std::string& words) const { return out_.str().find(words) != std::string::npos; }
  std::string all() const { return out_.str() + err_.str(); }

  syscost::testing::TemporaryFolder folder_;
  std::ostringstream out_;
  std::ostringstream err_;
};

}  // namespace syscost::bench::testing

// SPDX-License-Identifier: MIT
//
// conformance_case: runs one case in a process of its own and writes what was measured.
//
//     conformance_case eintr_read                    the backend's answer, as JSON, to stdout
//     strace -f conformance_case eintr_read --bare   without a window: what does the case really do?
//     conformance_case --list | --markdown           the cases; docs/conformance.md
//
// Exit status: 0 the case ran (what it measured is for the suite to judge), 1 the case found the kernel's behaviour
// other than it assumes, 2 usage, 77 this machine lacks something the case needs.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>

#include "copy.h"
#include "driver.h"
#include "markdown.h"

namespace {

using conformance::Case;
using conformance::DriverOptions;
using conformance::Measured;

constexpr int kSkipped = 77;

struct Arguments {
  std::string name;  // of the case, or an option that stands alone
  std::string role;
  std::string out;
  bool bare = false;
  bool nested = false;
};

bool read_arguments(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    bool has_value = i + 1 < argc;
    if (word == "--bare") {
      arguments.bare = true;
    } else if (word == "--nested") {
      arguments.nested = true;
    } else if (word == "--out" && has_value) {
      arguments.out = argv[++i];
    } else if (word == "--copy" && has_value) {
      arguments.role = argv[++i];
    } else if (arguments.name.empty()) {
      arguments.name = word;
    } else {
      std::cerr << "conformance_case: unexpected argument '" << word << "'\n";
      return false;
    }
  }
  return !arguments.name.empty() || !arguments.role.empty();
}

// A death test needs a GoogleTest test around it, also in the child that the threadsafe style starts.
const Case* g_case = nullptr;
DriverOptions g_options;
Measured g_measured;

TEST(DeathTestHost, RunsTheCase) {
  g_measured = conformance::run_case(*g_case, g_options);
}

void run_in_googletest() {
  GTEST_FLAG_SET(death_test_style, g_case->death_style);
  if (RUN_ALL_TESTS() != 0) g_measured.problems.emplace_back("the death test failed");
}

int run(const Arguments& arguments) {
  g_case = conformance::find_case(arguments.name);
  if (g_case == nullptr) {
    std::cerr << "conformance_case: no case named '" << arguments.name << "'; --list shows all\n";
    return 2;
  }
  g_options.open_scopes = !arguments.bare;
  g_options.nested = arguments.nested;
  if (g_case->death_style.empty()) {
    g_measured = conformance::run_case(*g_case, g_options);
  } else {
    run_in_googletest();
  }
  std::string json = conformance::to_json(g_measured);
  if (arguments.out.empty()) {
    std::cout << json;
  } else if (!(std::ofstream(arguments.out) << json << std::flush)) {
    std::cerr << "conformance_case: cannot write " << arguments.out << ": " << std::strerror(errno) << '\n';
    return 2;
  }
  for (const std::string& problem : g_measured.problems) std::cerr << "conformance_case: " << problem << '\n';
  if (!g_measured.missing.empty()) return kSkipped;
  return g_measured.problems.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  Arguments arguments;
  if (!read_arguments(argc, argv, arguments)) {
    std::cerr << "usage: conformance_case NAME [--bare | --nested] [--out FILE] | --list | --markdown\n";
    return 2;
  }
  conformance::copies_open_scopes(!arguments.bare);
  if (!arguments.role.empty()) return conformance::play_role(arguments.role);
  if (arguments.name == "--list") {
    for (const Case& one : conformance::cases()) std::printf("%d %s\n", one.number, one.name.c_str());
    return 0;
  }
  if (arguments.name == "--markdown") {
    std::cout << conformance::conformance_page();
    return 0;
  }
  return run(arguments);
}

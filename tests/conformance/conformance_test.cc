// SPDX-License-Identifier: MIT
//
// The conformance suite: runs every case on every backend, and compares the answer with the table and with strace.
//
// Each (backend, case) is a test in one or two ways: `..._bare` compares the backend's answer with the table, without
// anything else in the picture; `..._under_strace` compares it with strace's log of the same run as well. Column
// `oracle` runs the case without a window and compares the table itself with strace. Column `not linked` runs each case
// on each backend in a program that is not linked with syscost, under `bench run`, and compares its rows with the
// table. On the backends that can do it, each case runs once more with --syscost_where and with --syscost_trace, under
// strace where that is possible: counts are the same, and no call of syscost is inside a window, but for the documented
// one by which a trace copies strings. A case that cannot
// hold is skipped with the reason from the table. A case that needs what this machine lacks is skipped with the remedy.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "backends.h"
#include "case.h"
#include "compare.h"
#include "csv_rows.h"
#include "driver.h"
#include "markdown.h"
#include "measured.h"
#include "process.h"
#include "strace_log.h"

namespace conformance {
namespace {

namespace fs = std::filesystem;

constexpr int kSkipped = 77;
constexpr int kDeadlineSeconds = 300;

enum class Way { alone, under_strace, not_linked };

/// A request of a run besides counts, which must stay the same.
struct Request {
  const char* name;
  const char* variable;
  const char* own_call;  ///< The one call that syscost makes inside a window, as documented: strace sees it.
};
constexpr Request kNothing = {"", "", ""};
constexpr Request kWhere = {"_where", "SYSCOST_WHERE=1", ""};
constexpr Request kTrace = {"_trace", "SYSCOST_TRACE=1", "process_vm_readv"};  // for strings

/// A folder for one run, removed unless the run failed.
class Workspace {
 public:
  Workspace() {
    std::string pattern = (fs::temp_directory_path() / "conformance-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~Workspace() {
    std::error_code ignored;
    if (testing::Test::HasFailure()) {
      std::printf("kept for a look: %s\n", path_.c_str());
    } else if (!path_.empty()) {
      fs::remove_all(path_, ignored);
    }
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  std::string file(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

/// How a setting starts the case program, and what that needs.
struct Start {
  std::string missing;
  std::vector<std::string> before_strace;
  std::vector<std::string> before_program;
  std::string program = CONFORMANCE_CASE_PROGRAM;
  std::string not_linked = CONFORMANCE_NOT_LINKED_PROGRAM;
  std::vector<std::string> environment;
};

Start sanitizer_start(std::string program, std::string not_linked) {
  Start start;
  // Sanitizers reserve fixed address ranges, which a kernel that randomises more widely than they expect takes away.
  start.before_program = {"setarch", "-R"};
  start.program = std::move(program);
  start.not_linked = std::move(not_linked);
  if (start.program.empty()) {
    start.missing =
        "this build has no program under this sanitizer: ./dev test --all builds it, if its runtime library is "
        "installed";
  }
  if (run_program({"setarch", "-R", "true"}, {}, 10).status != 0) {
    start.missing = "setarch -R is denied; in a container run with --security-opt seccomp=unconfined";
  }
  return start;
}

Start start_of(Setting setting) {
  Start start;
  switch (setting) {
    case Setting::plain:
      break;
    case Setting::pid_namespace:
      start.before_strace = {"unshare", "--fork", "--pid", "--mount-proc"};
      if (run_program({"unshare", "--fork", "--pid", "--mount-proc", "true"}, {}, 10).status != 0) {
        start.missing = "a PID namespace cannot be made; run the suite as root (and install util-linux)";
      }
      break;
    case Setting::debugger:
      start.before_program = {"gdb", "-nx", "-batch", "-return-child-result",
                              // People who debug under the dispatch backends must use the same command.
                              "-ex", "handle SIGSYS nostop noprint pass", "-ex", "run", "--args"};
      if (!is_on_path("gdb")) start.missing = "needs gdb: apt-get install gdb";
      break;
    case Setting::sanitize_address:
      return sanitizer_start(CONFORMANCE_CASE_ADDRESS, CONFORMANCE_NOT_LINKED_ADDRESS);
    case Setting::sanitize_thread:
      return sanitizer_start(CONFORMANCE_CASE_THREAD, CONFORMANCE_NOT_LINKED_THREAD);
    case Setting::sanitize_leak:
      return sanitizer_start(CONFORMANCE_CASE_LEAK, CONFORMANCE_NOT_LINKED_LEAK);
  }
  return start;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

void report(const Window& window, const std::vector<std::string>& differences) {
  for (const std::string& difference : differences) {
    ADD_FAILURE() << (window.name.empty() ? "" : "window " + window.name + ": ") << difference;
  }
}

bool is_under_a_filter() {
  return read_file("/proc/self/status").find("\nSeccomp:\t2") != std::string::npos;
}

class Conformance : public testing::Test {
 public:
  Conformance(const Case& one, const BackendColumn& backend, Way way, const Request& request)
      : case_(one), backend_(backend), way_(way), request_(request) {}

  void TestBody() override {
    for (const std::string& column : {backend_.name, std::string(way_ == Way::not_linked ? kNotLinked : "")}) {
      if (auto reason = case_.unsupported.find(column); reason != case_.unsupported.end()) {
        GTEST_SKIP() << "unsupported on " << column << ": " << reason->second;
      }
    }
    if (!backend_.missing.empty()) GTEST_SKIP() << backend_.name << " " << backend_.missing;
    if (const char* reason = unsupported_under_a_filter(); reason != nullptr && is_under_a_filter()) {
      GTEST_SKIP() << "under a seccomp filter " << reason
                   << "; in a container run with --security-opt seccomp=unconfined";
    }
    if (case_.needs_latency && backend_.opens_scopes && !backend_.knows_latency) {
      GTEST_SKIP() << "the time-stamp counter does not run evenly here, by which " << backend_.name
                   << " takes latencies; run on a processor with an invariant one";
    }
    Start start = start_of(case_.setting);
    if (way_ == Way::under_strace && !is_on_path("strace")) start.missing = "needs strace: apt-get install strace";
    if (!start.missing.empty()) GTEST_SKIP() << start.missing;

    Workspace workspace;
    std::vector<std::string> command = command_for(start, workspace);
    if (backend_.opens_scopes && way_ != Way::not_linked) {
      start.environment.push_back("SYSCOST_BACKEND=" + backend_.name);
    }
    if (*request_.variable != '\0') {
      start.environment.emplace_back(request_.variable);
      start.environment.push_back("SYSCOST_ARTIFACTS=" + workspace.file("artifacts"));
    }
    Ended ended = run_program(command, start.environment, kDeadlineSeconds);
    std::string what = joined(command) + "\n" + ended.output;
    ASSERT_FALSE(ended.timed_out) << "no end after " << kDeadlineSeconds << " s: " << what;
    if (auto refusal = case_.refusals.find(backend_.name); refusal != case_.refusals.end()) {
      EXPECT_EQ(ended.status, 2) << what;
      EXPECT_NE(ended.output.find(refusal->second), std::string::npos) << what;
      EXPECT_NE(ended.output.find("fix: "), std::string::npos) << what;
      return;
    }
    if (ended.status == kSkipped && way_ == Way::not_linked) GTEST_SKIP() << ended.output;
    if (ended.status == kSkipped) GTEST_SKIP() << Measured(from_json(read_file(workspace.file("out.json")))).missing;
    ASSERT_EQ(ended.status, 0) << what;
    const Measured measured = way_ == Way::not_linked ? from_csv(case_, read_file(workspace.file("out.csv")))
                                                      : from_json(read_file(workspace.file("out.json")));
    for (const std::string& problem : measured.problems) ADD_FAILURE() << problem;
    compare(measured, workspace);
    if (HasFailure()) std::printf("%s\n", what.c_str());
  }

 private:
  /// Why the case cannot hold here if this program is under a container engine's seccomp profile; null = it can.
  const char* unsupported_under_a_filter() const {
    if (case_.needs_no_seccomp_filter) return "some calls are answered before the kernel sees them";
    if (backend_.name == "seccomp" && way_ == Way::under_strace) {
      return "the calls it denies do not reach ours, and strace sees them";
    }
    return nullptr;
  }

  std::vector<std::string> not_linked_command(const Start& start, const Workspace& workspace) const {
    std::vector<std::string> command = {
        CONFORMANCE_BENCH, "run", "--tests", "--backend", backend_.name, "--csv", workspace.file("out.csv"), "--"};
    command.insert(command.end(), start.before_strace.begin(), start.before_strace.end());
    command.insert(command.end(), start.before_program.begin(), start.before_program.end());
    command.push_back(start.not_linked);
    command.push_back(case_.name);
    return command;
  }

  std::vector<std::string> command_for(const Start& start, const Workspace& workspace) const {
    if (way_ == Way::not_linked) return not_linked_command(start, workspace);
    std::vector<std::string> command = start.before_strace;
    if (way_ == Way::under_strace) {
      for (const std::string& word : {std::string("strace"), std::string("-f"), std::string("-s"), std::string("128"),
                                      std::string("-o"), workspace.file("strace.log")}) {
        command.push_back(word);
      }
    }
    command.insert(command.end(), start.before_program.begin(), start.before_program.end());
    command.push_back(start.program);
    command.push_back(case_.name);
    command.emplace_back("--out");
    command.push_back(workspace.file("out.json"));
    if (!backend_.opens_scopes) {
      command.emplace_back("--bare");
    } else if (way_ == Way::under_strace) {
      command.emplace_back("--nested");
    }
    return command;
  }

  void compare(const Measured& measured, const Workspace& workspace) const {
    StraceLog log;
    if (way_ == Way::under_strace) {
      std::ifstream file(workspace.file("strace.log"));
      log = StraceLog::parse(file);
      for (const std::string& error : log.errors()) ADD_FAILURE() << "strace.log: " << error;
      if (!log.errors().empty()) return;
    }
    for (const Window& window : case_.windows) {
      std::optional<StraceWindow> strace;
      if (way_ == Way::under_strace) {
        strace = log.window(marker_name(case_, window));
        ASSERT_TRUE(strace.has_value()) << "strace.log has no markers for window '" << window.name << "'";
        strace->entries.erase(request_.own_call);
        strace->bytes.erase(request_.own_call);
      }
      if (backend_.opens_scopes) {
        auto found = measured.windows.find(window.name);
        ASSERT_NE(found, measured.windows.end()) << "the case program reported no window '" << window.name << "'";
        compare_window(window, found->second, strace);
      } else {
        report(window, compare_table_with_strace(window, *strace));
      }
    }
  }

  void compare_window(const Window& window, const MeasuredWindow& measured,
                      const std::optional<StraceWindow>& strace) const {
    ASSERT_TRUE(measured.available) << measured.reason << " " << measured.how_to_fix;
    report(window, compare_with_table(window, backend_, measured));
    if (strace) report(window, compare_with_strace(backend_, measured, *strace));
  }

  const Case& case_;
  const BackendColumn& backend_;
  const Way way_;
  const Request& request_;
};

void register_test(const Case& one, const BackendColumn& backend, Way way, const Request& request = kNothing) {
  std::array<char, 8> number = {};
  std::snprintf(number.data(), number.size(), "%02d", one.number);
  std::string name = std::string(number.data()) + "_" + one.name;
  name += way == Way::under_strace ? "_under_strace" : way == Way::not_linked ? "_not_linked" : "_bare";
  // In a filter of GoogleTest, what follows a '-' is left out: ctest would run no test.
  std::string suite = "conformance_" + backend.name + request.name;
  std::replace(suite.begin(), suite.end(), '-', '_');
  testing::RegisterTest(
      suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
      [&one, &backend, way, &request]() -> testing::Test* { return new Conformance(one, backend, way, request); });
}

void register_all() {
  for (const BackendColumn& backend : backends()) {
    for (const Case& one : cases()) {
      bool takes_strace = one.setting == Setting::plain || one.setting == Setting::pid_namespace;
      if (backend.opens_scopes) register_test(one, backend, Way::alone);
      if (takes_strace) register_test(one, backend, Way::under_strace);
      if (backend.opens_scopes && *CONFORMANCE_BENCH != '\0') register_test(one, backend, Way::not_linked);
      if (!backend.keeps_stacks) continue;
      for (const Request* request : {&kWhere, &kTrace}) {
        register_test(one, backend, takes_strace ? Way::under_strace : Way::alone, *request);
      }
    }
  }
}

TEST(ConformanceNames, AreTakenByAFilter) {
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int k = 0; k < suite.total_test_count(); ++k) {
      const std::string name = std::string(suite.name()) + "." + suite.GetTestInfo(k)->name();
      EXPECT_EQ(name.find_first_of("-:*?"), std::string::npos) << name;
    }
  }
}

TEST(ConformancePage, EqualsTheCases) {
  EXPECT_EQ(read_file(CONFORMANCE_PAGE), conformance_page()) << "write the page anew: ./dev update pages";
}

}  // namespace
}  // namespace conformance

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  conformance::register_all();
  return RUN_ALL_TESTS();
}

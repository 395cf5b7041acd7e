// SPDX-License-Identifier: MIT
//
// Power cuts while SQLite commits two transactions. Each setting's promise is in SQLite's documentation of `PRAGMA
// synchronous`: so the states must hold exactly the failures that it names.
#include <sqlite3.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <ostream>
#include <stdexcept>
#include <string>

#include "syscost/gtest.h"

namespace {

enum class Promise { all, consistent, nothing };

struct Setting {
  const char* journal;
  const char* synchronous;
  Promise promise;
};

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for it
void PrintTo(const Setting& setting, std::ostream* out) {
  *out << setting.journal << ' ' << setting.synchronous;
}

class Database {
 public:
  explicit Database(const std::string& path) {
    if (sqlite3_open(path.c_str(), &database_) != SQLITE_OK) throw std::runtime_error("cannot open " + path);
  }
  ~Database() { sqlite3_close(database_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void run(const std::string& statements) {
    if (sqlite3_exec(database_, statements.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
      throw std::runtime_error(statements + ": " + sqlite3_errmsg(database_));
    }
  }
  /// The first column of the first row.
  std::string value(const std::string& query) {
    std::string found;
    const auto keep = [](void* into, int, char** columns, char**) {
      std::string& text = *static_cast<std::string*>(into);
      if (text.empty()) text = columns[0];
      return 0;
    };
    if (sqlite3_exec(database_, query.c_str(), keep, &found, nullptr) == SQLITE_OK) return found;
    return std::string("error: ") + sqlite3_errmsg(database_);
  }

 private:
  sqlite3* database_ = nullptr;
};

class Sqlite : public testing::TestWithParam<Setting> {
 protected:
  Sqlite() {
    std::string folder = std::filesystem::temp_directory_path() / "sqlite-XXXXXX";
    folder_ = mkdtemp(folder.data());
  }
  ~Sqlite() override { std::filesystem::remove_all(folder_); }

  static std::string settings() {
    return std::string("PRAGMA journal_mode=") + GetParam().journal + "; PRAGMA synchronous=" + GetParam().synchronous;
  }

  std::string folder_;
};

/// Empty, `lost: ...` or `broken: ...`.
std::string state_of(const syscost::CrashPoint& point) {
  Database database(point.path + "/db");
  const std::string integrity = database.value("PRAGMA integrity_check");
  if (integrity != "ok") return "broken: " + integrity;
  const std::string value = database.value("SELECT v FROM c");
  const std::string rows = database.value("SELECT count(*) FROM t");
  const std::string wanted = value == "0" ? "20" : value == "1" ? "21" : value == "2" ? "17" : "?";
  if (rows != wanted) return "broken: value " + value + " with " + rows + " rows";
  if (point.has_passed("2") && value != "2") return "lost: the second commit";
  if (point.has_passed("1") && value == "0") return "lost: the first commit";
  return "";
}

TEST_P(Sqlite, KeepsWhatItPromises) {
  Database database(folder_ + "/db");
  database.run(settings());
  database.run("CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); CREATE TABLE c(v); INSERT INTO c VALUES('0')");
  for (int i = 0; i < 20; ++i) database.run("INSERT INTO t(b) VALUES(printf('%0400d', " + std::to_string(i) + "))");
  syscost::CrashOptions options;
  options.may_be_mapped = {"*-shm"};
  const char* const most_states = std::getenv("SQLITE_STATES");
  if (most_states != nullptr) options.most_states = std::strtoul(most_states, nullptr, 10);
  const syscost::CrashReport report = syscost::for_each_crash(
      folder_,
      [&] {
        database.run(
            "BEGIN; UPDATE c SET v='1'; INSERT INTO t(b) VALUES(printf('%0600d', 7)); "
            "UPDATE t SET b=printf('%0360d', a) WHERE a % 3 = 0; COMMIT");
        syscost::crash_mark("1");
        database.run("BEGIN; UPDATE c SET v='2'; DELETE FROM t WHERE a < 5; COMMIT");
        syscost::crash_mark("2");
      },
      state_of, options);
  ASSERT_EQ(report.why, nullptr) << report;
  std::size_t broken = 0;
  for (const syscost::CrashFailure& failure : report.failed) broken += failure.message.rfind("broken", 0) == 0 ? 1 : 0;
  std::cout << GetParam().journal << ' ' << GetParam().synchronous << ": " << report << std::endl;
  EXPECT_EQ(report.failed_states > 0, GetParam().promise != Promise::all) << report;
  EXPECT_EQ(broken > 0, GetParam().promise == Promise::nothing) << report;
}

INSTANTIATE_TEST_SUITE_P(
    Settings, Sqlite,
    testing::Values(
        // The journal is removed last, and the removal may be lost: the transaction is rolled back.
        Setting{"DELETE", "FULL", Promise::consistent}, Setting{"DELETE", "EXTRA", Promise::all},
        // "A very small chance that a power loss corrupts the database."
        Setting{"DELETE", "NORMAL", Promise::nothing}, Setting{"DELETE", "OFF", Promise::nothing},
        Setting{"TRUNCATE", "FULL", Promise::all}, Setting{"PERSIST", "FULL", Promise::all},
        Setting{"WAL", "FULL", Promise::all}, Setting{"WAL", "NORMAL", Promise::consistent},
        Setting{"MEMORY", "FULL", Promise::nothing}));

}  // namespace

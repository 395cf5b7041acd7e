// SPDX-License-Identifier: MIT
#include "session/run/run_info.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory_resource>
#include <string_view>
#include <system_error>

#include "csv/row.h"
#include "libc/clock_and_mutex.h"
#include "os/environment.h"
#include "os/files.h"
#include "os/proc.h"
#include "os/program_files.h"
#include "syscost/schema.h"

namespace syscost::session {
namespace {

/// "2026-01-31T12:00:00.123Z". Computed here, because glibc's gmtime_r reads the time zone once in a process: a test
/// that then sets TZ and calls localtime_r without tzset() would get the old zone.
std::string now_iso8601() {
  namespace chrono = std::chrono;
  const auto now = chrono::floor<chrono::milliseconds>(libc::system_time());
  const auto midnight = chrono::floor<chrono::days>(now);
  const chrono::year_month_day day(midnight);
  const chrono::hh_mm_ss time(now - midnight);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(day.year()),
                static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()),
                static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                static_cast<int>(time.seconds().count()), static_cast<int>(time.subseconds().count()));
  return text.data();
}

std::string known(const std::string& start) {
  return start.empty() ? "0" : start;
}

/// The folder of the tests that the process `ctest` runs, or empty. It is not ctest's working directory, because ctest
/// changes into a test's own folder while it starts the test. But ctest keeps its log open:
/// FOLDER/Testing/Temporary/LastTest.log.tmp.
std::string folder_of_ctest(pid_t ctest) {
  const std::string descriptors = proc_of(ctest) + "/fd";
  for (const std::string& number : names_in(descriptors)) {
    const std::string target = read_link(descriptors + "/" + number);
    const std::size_t log = target.rfind("/Testing/Temporary/LastTest");
    if (log != std::string::npos) return target.substr(0, log);
  }
  return {};
}

/// The bytes of the object's part `part`, as far as the object has mapped it; empty if it lies elsewhere.
std::string_view mapped(const dl_phdr_info& object, const ElfW(Phdr) & part) {
  for (std::size_t i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object.dlpi_phdr[i];
    const std::uint64_t offset = part.p_vaddr - segment.p_vaddr;
    const bool is_readable = segment.p_type == PT_LOAD && (segment.p_flags & PF_R) != 0;
    if (!is_readable || offset > segment.p_filesz || part.p_filesz > segment.p_filesz - offset) continue;
    // ELF headers hold addresses as numbers.
    return {reinterpret_cast<const char*>(object.dlpi_addr + part.p_vaddr), part.p_filesz};  // NOLINT
  }
  return {};
}

/// dl_iterate_phdr's callback: the first object is the program itself. Its notes are mapped, so nothing is opened.
int find_build_id(dl_phdr_info* info, std::size_t, void* result) {
  for (std::size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    auto& id = *static_cast<std::string*>(result);
    id = build_id_in(mapped(*info, segment));
    if (!id.empty()) return 1;
  }
  return 1;
}

std::string own_build_id() {
  std::string id;
  dl_iterate_phdr(find_build_id, &id);
  return id;
}

/// The program's file, without links; "" if the kernel does not name one.
std::string program_path() {
  constexpr std::string_view kDeleted = " (deleted)";
  std::string path = read_link("/proc/self/exe");
  if (path.ends_with(kDeleted)) path.resize(path.size() - kDeleted.size());
  return path;
}

}  // namespace

Result<std::string> resolve_path(const std::string& path, Source source) {
  if (path.starts_with('/')) return path;
  const pid_t ctest = source == Source::environment ? ctest_ancestor(getpid()) : 0;
  const std::string start = ctest != 0 ? folder_of_ctest(ctest) : read_link("/proc/self/cwd");
  if (start.empty()) {
    return Failure{"the relative path " + path + " cannot be resolved: its start folder is unknown",
                   "use an absolute one, e.g. SYSCOST_CSV=$PWD/out.csv"};
  }
  return start + (start.ends_with('/') ? "" : "/") + path;
}

csv::Lifetime lifetime_of_csv(const std::string& path) {
  const char* const temporary = variable(kTemporaryCsv);
  return temporary != nullptr && path == temporary ? csv::Lifetime::temporary : csv::Lifetime::kept;
}

bool are_one_file(const std::string& one, const std::string& other) {
  struct stat first {};
  struct stat second {};
  if (stat(one.c_str(), &first) == 0) {
    return S_ISREG(first.st_mode) && stat(other.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
  }
  // The target of a link need not exist yet.
  const auto place_of = [](std::filesystem::path name) {
    constexpr int kMostLinks = 40;  // the kernel's limit
    for (int links = 0; links < kMostLinks; ++links) {
      const std::string target = read_link(name.string());
      if (target.empty()) break;
      name = name.parent_path() / target;
    }
    return without_links(name.string());
  };
  return place_of(absolute_path(one)) == place_of(absolute_path(other));
}

namespace {

std::string own_run_id(const Options& options, const std::string& host) {
  if (!options.run_id.empty()) return options.run_id;
  // Opening the file will fail for a path that cannot be resolved.
  const Result<std::string> csv = options.csv.empty() ? std::string() : resolve_path(options.csv, options.csv_source);
  const pid_t owner = run_owner(csv.ok() ? csv.value() : std::string());
  return host + namespace_mark() + "-" + std::to_string(owner) + "-" + known(start_time(owner));
}

/// `,TEXT,` as it stands in a row.
std::string as_field(std::string_view text) {
  std::pmr::string field(1, ',');
  csv::append_field(field, text);
  field += ',';
  return {field.begin(), field.end()};
}

}  // namespace

bool has_rows_of_this_program(const std::string& path, const Options& options) {
  utsname system{};
  uname(&system);
  const std::string run = as_field(own_run_id(options, system.nodename));
  const std::string program = as_field(program_name());
  constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // of more, what comes first
  std::string text;
  const Descriptor file = open_regular(path.c_str());
  if (file.is_open()) static_cast<void>(read_whole(file, kMostBytes, text));
  for (std::size_t begin = 0; begin < text.size();) {
    const std::string_view line(text.data() + begin, std::min(text.find('\n', begin), text.size()) - begin);
    // Column 1 is the version, of one digit or two.
    const std::size_t at = line.find(run);
    if (at < 3 && line.find(program, at) != std::string_view::npos) return true;
    begin += line.size() + 1;
  }
  return false;
}

std::string header_line(const csv::RunColumns& run, const std::string& how, const std::string& csv) {
  std::string line = "backend " + run.backend + how;
  if (!run.filter.empty()) line += ", only " + run.filter + " counted";
  if (!csv.empty()) line += ", csv " + csv;
  line += ", run " + run.run_id;
  if (!run.why_no_commit.empty()) line += ", no commit: " + run.why_no_commit + "; SYSCOST_COMMIT can name it";
  return line;
}

namespace {

/// As the process began: main() may clear the environment.
const std::string kBenchRunsAtStart = [] {
  const char* const above = variable(kBenchRuns);
  return std::string(above != nullptr ? above : "");
}();

}  // namespace

csv::RunColumns read_run_info(const Options& options, std::string_view build_type) {
  csv::RunColumns info;
  utsname system{};
  uname(&system);
  info.host = system.nodename;
  info.kernel_release = system.release;
  info.started_at = now_iso8601();
  info.label = options.label;
  info.pid = static_cast<std::uint64_t>(getpid());
  info.program = program_name();
  const FoundCommit found = options.commit.empty() ? find_commit() : FoundCommit{options.commit, {}};
  info.commit = found.hash;
  info.why_no_commit = found.why_not;
  info.build_id = own_build_id();
  Surroundings surroundings = read_surroundings();
  surroundings.emplace_back(schema::kFactProcessStart, known(start_time(getpid())));
  if (std::string path = program_path(); !path.empty()) {
    surroundings.emplace_back(schema::kFactProgramPath, std::move(path));
  }
  const char* const above = variable(kBenchRuns);
  const std::string runs = above != nullptr ? above : kBenchRunsAtStart;
  if (!runs.empty()) surroundings.emplace_back(schema::kFactBenchRun, known(runs));
  for (auto& fact : options.facts()) surroundings.push_back(std::move(fact));
  info.surroundings = to_text(surroundings);
  info.build_type = options.build_type.empty() ? std::string(build_type) : options.build_type;
  info.run_id = own_run_id(options, info.host);
  return info;
}

namespace {

/// True if descriptor `number` of `pid` was opened with the flags of our sink. An editor, `tail -f` or a script that
/// reads the file uses other flags.
bool is_sinks(pid_t pid, const std::string& number) {
  const std::string info = read_small_file(proc_of(pid) + "/fdinfo/" + number);
  const std::string field = "flags:";
  const std::size_t at = info.find(field);
  if (at == std::string::npos) return false;
  const unsigned long flags = std::strtoul(info.c_str() + at + field.size(), nullptr, 8);
  constexpr unsigned long kSinks = O_RDWR | O_APPEND | O_NONBLOCK | O_CLOEXEC;
  return (flags & kSinks) == kSinks;
}

/// True if `pid` appends rows to `file`. False also if we may not read its descriptors.
bool is_measured_into(pid_t pid, const struct stat& file) {
  const std::string folder = proc_of(pid) + "/fd/";
  for (const std::string& number : names_in(folder)) {
    struct stat open {};
    if (stat((folder + number).c_str(), &open) != 0 || open.st_dev != file.st_dev || open.st_ino != file.st_ino)
      continue;
    if (is_sinks(pid, number)) return true;
  }
  return false;
}

/// True when `pid` was started with that SYSCOST_CSV.
bool was_given(pid_t pid, const char* csv) {
  std::string environment(1, '\0');
  environment += read_small_file(proc_of(pid) + "/environ");
  std::string wanted(1, '\0');
  wanted.append("SYSCOST_CSV=").append(csv).push_back('\0');
  return environment.find(wanted) != std::string::npos;
}

/// The requests to `pid` for rows: SYSCOST_CSV and --syscost_csv, as it was started with them.
std::string requests_of(pid_t pid) {
  std::string found;
  const auto add_words = [&](const std::string& file, std::string_view begin) {
    const std::string words = read_small_file(proc_of(pid) + file);
    for (std::size_t at = 0; at < words.size();) {
      const std::string_view word(words.c_str() + at);
      if (word.substr(0, begin.size()) == begin) found.append(word).push_back('\0');
      at += word.size() + 1;
    }
  };
  add_words("/environ", "SYSCOST_CSV=");
  add_words("/cmdline", "--syscost_csv");
  return found;
}

/// True for the parent of a worker: a main may fork for each of its suites, or start itself, and run no test itself.
bool is_same_program(pid_t worker, pid_t parent) {
  struct stat one {};
  struct stat other {};
  return stat((proc_of(worker) + "/exe").c_str(), &one) == 0 && stat((proc_of(parent) + "/exe").c_str(), &other) == 0 &&
         one.st_dev == other.st_dev && one.st_ino == other.st_ino && requests_of(worker) == requests_of(parent);
}

}  // namespace

pid_t parent_of(pid_t pid) {
  // As this process knows its parent: /proc may be that of another PID namespace.
  if (pid == getpid()) return getppid();
  const std::string stat = read_small_file(proc_of(pid) + "/stat");
  // "PID (NAME) STATE PARENT ...": the name may hold anything, parentheses and blanks too.
  const std::size_t name_end = stat.rfind(") ");
  if (name_end == std::string::npos || stat.size() < name_end + 5) return 0;
  return static_cast<pid_t>(std::strtol(stat.c_str() + name_end + 4, nullptr, 10));
}

pid_t ctest_parent(pid_t pid) {
  const pid_t parent = parent_of(pid);
  return parent != 0 && read_small_file(proc_of(parent) + "/comm") == "ctest\n" ? parent : 0;
}

pid_t ctest_ancestor(pid_t pid) {
  if (const pid_t ctest = ctest_parent(pid); ctest != 0) return ctest;
  // If a script chose another file, or another folder for a relative name, this is not ctest's run.
  const char* const csv = variable("SYSCOST_CSV");
  if (csv == nullptr) return 0;
  for (pid = parent_of(pid); pid > 1; pid = parent_of(pid)) {
    const pid_t ctest = ctest_parent(pid);
    if (ctest != 0) return was_given(ctest, csv) ? ctest : 0;
  }
  return 0;
}

pid_t run_owner(const std::string& csv) {
  pid_t outermost = getpid();
  struct stat file {};
  if (!csv.empty() && stat(csv.c_str(), &file) == 0 && S_ISREG(file.st_mode)) {
    for (pid_t pid = parent_of(outermost); pid > 1; pid = parent_of(pid)) {
      if (is_measured_into(pid, file)) outermost = pid;
    }
  }
  for (pid_t parent = parent_of(outermost); parent > 0 && is_same_program(outermost, parent);
       parent = parent_of(outermost)) {
    outermost = parent;
  }
  const pid_t ctest = ctest_ancestor(outermost);
  return ctest != 0 ? ctest : outermost;
}

namespace {

constexpr std::string_view kRunId = "SYSCOST_INTERNAL_RUN_ID";
constexpr std::string_view kArtifacts = "SYSCOST_INTERNAL_ARTIFACTS";

}  // namespace

std::vector<std::string> counting_variables(const std::string& run_id, const std::string& artifacts) {
  return {std::string(kRunId) + "=" + run_id, std::string(kArtifacts) + "=" + artifacts};
}

void take_counting_variables(Options& options) {
  if (const char* run_id = variable(kRunId.data())) options.run_id = run_id;
  if (const char* artifacts = variable(kArtifacts.data())) options.artifacts = artifacts;
}

}  // namespace syscost::session

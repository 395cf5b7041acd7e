// SPDX-License-Identifier: MIT
#include "csv/sink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <memory_resource>
#include <string>
#include <utility>

#include "csv/row.h"
#include "os/descriptors.h"
#include "os/files.h"
#include "os/memory.h"
#include "os/signals.h"
#include "os/text.h"
#include "syscost/schema.h"

namespace syscost::csv {
namespace {

/// Takes the text up to the next comma off `line`.
std::string_view take_column(std::string_view& line) {
  std::string_view column = line.substr(0, line.find(','));
  line.remove_prefix(column.size() + (column.size() < line.size() ? 1 : 0));
  return column;
}

/// A file's own words, short and on one line.
std::string excerpt(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string shown = printable(text.substr(0, kLongest));
  return text.size() > kLongest ? shown + "..." : shown;
}

}  // namespace

Result<HeaderState> check_header(int fd, const std::string& path) {
  // One byte more than our header, so that a longer first line shows.
  std::string start(header_line().size() + 1, '\0');
  std::size_t size = 0;
  while (size < start.size()) {
    const ssize_t count = pread(fd, start.data() + size, start.size() - size, static_cast<off_t>(size));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_failure("read the CSV file", path, errno);
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  start.resize(size);
  return check_header_text(start, path);
}

Result<HeaderState> check_header_text(std::string_view start, const std::string& path) {
  const std::string_view ours = header_line();
  if (start.starts_with(ours)) return HeaderState{};
  if (ours.starts_with(start)) return HeaderState{ours.substr(start.size())};

  std::string_view line = start.substr(0, start.find('\n'));
  if (line.substr(0, line.find(',')) != schema::kColumnNames[0]) {
    return Failure{path + " is not a syscost CSV: it begins with \"" + excerpt(line) + "\"",
                   "name another file, or move this one away; nothing was written to it"};
  }
  std::size_t number = 0;
  for (std::string_view expected : schema::kColumnNames) {
    ++number;
    std::string_view found = take_column(line);
    if (found == expected) continue;
    return Failure{path + " is a CSV of another syscost version: its column " + std::to_string(number) + " is \"" +
                       excerpt(found) + "\", this version (schema " + std::to_string(schema::kSchemaVersion) +
                       ") writes \"" + std::string(expected) + "\" there",
                   "name another file, or move this one away; nothing was written to it"};
  }
  return Failure{path + " is a CSV of another syscost version: it has more than our " +
                     std::to_string(schema::kColumnCount) + " columns",
                 "name another file, or move this one away; nothing was written to it"};
}

namespace {

/// `lock` is not held. Devices need none, because they are not read back.
Failure lock_failure(const FileLock& lock, int fd, const std::string& path) {
  if (lock.error() != EWOULDBLOCK) return errno_failure("lock the CSV file", path, lock.error());
  return {"another process" + lock_holder(fd) + " holds the lock of the CSV file " + path,
          "end that process, or name another file: rows are appended under the lock (flock), and programs with syscost "
          "hold it for one write only"};
}

int open_retrying(const std::string& path, int more_flags) {
  int fd;
  do {
    fd = ::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | more_flags, 0666);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

Failure no_file(const std::string& path, int error) {
  return errno_failure("write the CSV file", path, error);
}

Result<int> open_for_append(const std::string& path, Lifetime lifetime) {
  int fd = open_retrying(path, O_CREAT);
  if (fd < 0 && errno == ENOENT && lifetime == Lifetime::temporary) fd = open_retrying("/dev/null", 0);
  if (fd < 0) return no_file(path, errno);
  return move_fd_high(fd);
}

bool is_same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// To be continued with the bytes that follow (FNV-1a).
std::uint64_t add_to_hash(std::uint64_t hash, std::string_view bytes) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * kPrime;
  return hash;
}
constexpr std::uint64_t kHashOfNothing = 0xcbf29ce484222325;

/// True when the file is where this program prints to.
bool is_own_output(const struct stat& file) {
  for (int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat output {};
    if (status_of(fd, &output) == 0 && is_same_file(file, output)) return true;
  }
  return false;
}

}  // namespace

Result<Sink> Sink::open(const std::string& path, Lifetime lifetime) {
  Result<int> fd = open_for_append(path, lifetime);
  if (!fd.ok()) return fd.failure();
  Sink sink(path, fd.value(), lifetime);
  if (Result<void> remembered = sink.remember_file(); !remembered.ok()) return remembered.failure();
  const FileLock lock(sink.fd_);
  if (!lock.is_held()) return lock_failure(lock, sink.fd_, path);
  if (Result<void> checked = sink.check_or_write_header(); !checked.ok()) return checked.failure();
  return sink;
}

Result<void> Sink::check(const std::string& path) {
  if (const int fd = open_retrying(path, 0); fd >= 0) {
    Sink sink(path, fd, Lifetime::kept);
    if (Result<void> remembered = sink.remember_file(); !remembered.ok()) return remembered;
    if (!sink.is_regular_) return {};
    const Result<HeaderState> header = check_header(fd, path);
    return header.ok() ? Result<void>() : header.failure();
  }
  if (errno != ENOENT) return no_file(path, errno);
  struct stat link {};
  if (lstat(path.c_str(), &link) == 0) return {};  // a link to a file that is not there yet
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  if (faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0) return no_file(path, errno);
  return {};
}

Sink::Sink(Sink&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      lifetime_(other.lifetime_),
      is_regular_(other.is_regular_),
      has_header_(other.has_header_),
      is_locked_out_(other.is_locked_out_),
      device_(other.device_),
      inode_(other.inode_),
      seen_end_(other.seen_end_),
      own_begin_(other.own_begin_),
      own_end_(other.own_end_),
      own_hash_(other.own_hash_),
      has_loss_(other.has_loss_) {}

Sink& Sink::operator=(Sink&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(lifetime_, other.lifetime_);
  std::swap(is_regular_, other.is_regular_);
  std::swap(has_header_, other.has_header_);
  std::swap(is_locked_out_, other.is_locked_out_);
  std::swap(device_, other.device_);
  std::swap(inode_, other.inode_);
  std::swap(seen_end_, other.seen_end_);
  std::swap(own_begin_, other.own_begin_);
  std::swap(own_end_, other.own_end_);
  std::swap(own_hash_, other.own_hash_);
  std::swap(has_loss_, other.has_loss_);
  return *this;
}

Sink::~Sink() {
  if (fd_ < 0) return;
  // A test may have closed our descriptor and got its number for a file of its own.
  struct stat now {};
  if (status_of(fd_, &now) == 0 && is_ours(now)) close(fd_);
}

bool Sink::is_ours(const struct stat& file) const {
  return file.st_dev == device_ && file.st_ino == inode_;
}

Result<void> Sink::remember_file() {
  struct stat file {};
  if (status_of(fd_, &file) != 0) return errno_failure("look at the CSV file", path_, errno);
  device_ = file.st_dev;
  inode_ = file.st_ino;
  is_regular_ = S_ISREG(file.st_mode);
  if (!is_regular_ && !S_ISCHR(file.st_mode)) {
    return Failure{"the CSV file " + path_ + " is a pipe, a socket or a block device",
                   "name a regular file: rows are appended under a lock, which only files have"};
  }
  if (isatty(fd_) != 0 || (is_regular_ && is_own_output(file))) {
    return Failure{"the CSV file " + path_ + " is this program's own output",
                   "name another file: rows and test output would mix"};
  }
  return {};
}

Result<void> Sink::check_or_write_header() {
  // A device has no contents to look at; its header goes with the first rows.
  if (!is_regular_) return {};
  struct stat file {};
  if (status_of(fd_, &file) != 0) return errno_failure("look at the CSV file", path_, errno);
  Result<HeaderState> header = check_header(fd_, path_);
  if (!header.ok()) return header.failure();
  seen_end_ = file.st_size;
  if (header.value().missing.empty()) return {};
  Result<void> written = write_all(header.value().missing, file.st_size);
  if (written.ok()) seen_end_ += static_cast<off_t>(header.value().missing.size());
  return written;
}

Result<void> Sink::append(std::string_view rows) {
  if (Result<void> usable = make_usable(); !usable.ok()) return usable;
  // After one wait in vain there is no second one: a run of a thousand tests would take a thousand times as long.
  const FileLock lock(fd_, is_locked_out_ ? 0 : FileLock::kPatience);
  is_locked_out_ = lock.error() == EWOULDBLOCK && is_regular_;
  if (!lock.is_held() && is_regular_) return lock_failure(lock, fd_, path_);
  return append_locked(rows);
}

/// Opens the file again if a test closed our descriptor or the file was deleted.
Result<void> Sink::make_usable() {
  struct stat now {};
  const bool is_open = fd_ >= 0 && status_of(fd_, &now) == 0 && is_ours(now);
  if (is_open && (now.st_nlink > 0 || !is_regular_ || lifetime_ == Lifetime::temporary)) return {};
  if (is_open) {
    note_loss(now);
    close(fd_);
  }
  fd_ = -1;
  Result<Sink> reopened = open(path_, lifetime_);
  if (!reopened.ok()) return reopened.failure();
  Sink before = std::move(*this);
  *this = std::move(reopened.value());
  has_header_ = has_header_ || (before.has_header_ && !is_regular_);
  has_loss_ = before.has_loss_;
  // Our knowledge of the file holds only for the same one: without a descriptor of ours, another may have got its
  // number.
  struct stat file {};
  if (is_open || !is_regular_ || !before.is_regular_ || status_of(fd_, &file) != 0) return {};
  before.fd_ = fd_;
  has_loss_ = has_loss_ || before.has_lost_rows(file) ||
              (!before.is_ours(file) && before.seen_end_ > static_cast<off_t>(header_line().size()));
  before.fd_ = -1;
  return {};
}

/// `file` is the state of fd_. Nothing is read where the file ends with our own rows: that would also write its time of
/// access.
bool Sink::has_lost_rows(const struct stat& file) const {
  if (!is_regular_ || lifetime_ == Lifetime::temporary) return false;
  const bool is_cut = file.st_size < seen_end_ || file.st_nlink == 0;
  if (is_cut) return seen_end_ > static_cast<off_t>(header_line().size());
  return own_end_ >= 0 && file.st_size != own_end_ && !holds_own_rows();
}

void Sink::note_loss(const struct stat& file) {
  if (!has_lost_rows(file)) return;
  has_loss_ = true;
  seen_end_ = 0;
  own_end_ = -1;
}

/// False where another file's contents stand in the place of our last rows, or nothing does.
bool Sink::holds_own_rows() const {
  std::uint64_t hash = kHashOfNothing;
  std::array<char, 4096> bytes;
  for (off_t at = own_begin_; at < own_end_;) {
    const auto wanted = std::min<std::size_t>(bytes.size(), static_cast<std::size_t>(own_end_ - at));
    const ssize_t size = pread(fd_, bytes.data(), wanted, at);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return true;  // nothing is known
    if (size == 0) return false;
    hash = add_to_hash(hash, {bytes.data(), static_cast<std::size_t>(size)});
    at += size;
  }
  return hash == own_hash_;
}

void Sink::look_for_loss() {
  struct stat now {};
  if (fd_ >= 0 && status_of(fd_, &now) == 0 && is_ours(now)) note_loss(now);
}

std::optional<Failure> Sink::take_loss() {
  if (!std::exchange(has_loss_, false)) return std::nullopt;
  return Failure{"rows are missing from the CSV file " + path_ +
                     ": while this program ran, something cut, deleted or replaced the file after they were written",
                 "let no test do that, e.g. name a file outside the folders that tests clean; then run again"};
}

Result<void> Sink::append_locked(std::string_view rows) {
  struct stat file {};
  if (status_of(fd_, &file) != 0) return errno_failure("look at the CSV file", path_, errno);
  const off_t size = is_regular_ ? file.st_size : 0;
  note_loss(file);
  std::pmr::string bytes(&mapped_memory());
  if (is_regular_ ? size == 0 : !has_header_) bytes = header_line();
  // A file that is as long as we left it ends with our own rows. Reading it would also write its time of access.
  char last = '\n';
  if (size > 0 && size != own_end_ && pread(fd_, &last, 1, size - 1) == 1 && last != '\n') bytes += '\n';
  if (!bytes.empty()) rows = bytes.append(rows);
  Result<void> written = write_all(rows, size);
  has_header_ = has_header_ || written.ok();
  if (!is_regular_) return written;
  own_begin_ = size;
  own_end_ = written.ok() ? size + static_cast<off_t>(rows.size()) : -1;
  own_hash_ = add_to_hash(kHashOfNothing, rows);
  seen_end_ = written.ok() ? own_end_ : size;
  return written;
}

Result<void> Sink::write_all(std::string_view bytes, off_t size_before) const {
  // A test may have limited the size of files: then EFBIG is the answer, not the signal that kills.
  SignalHold hold(SIGXFSZ);
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t written = write(fd_, rest.data(), rest.size());
    if (written > 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
      continue;
    }
    if (written < 0 && errno == EINTR) continue;
    const int error = written < 0 ? errno : ENOSPC;
    // Takes back what fitted, so that no torn row stays; if even that fails, the missing end mark shows it.
    if (is_regular_ && rest.size() < bytes.size()) {
      while (ftruncate(fd_, size_before) != 0 && errno == EINTR) continue;
    }
    return errno_failure("write to the CSV file", path_, error);
  }
  hold.was_not_raised();
  return check_written(size_before + static_cast<off_t>(bytes.size()));
}

/// Our writes may be answered by something other than the kernel: a library that replaces functions in memory, a
/// filter, a tracer. Then rows would be missing without a word, and every comparison of the file would be good.
Result<void> Sink::check_written(off_t expected) const {
  struct stat file {};
  if (!is_regular_) return {};
  if (status_of(fd_, &file) != 0) return errno_failure("look at the CSV file", path_, errno);
  // Others append, too, if the lock of the file is one that they do not take.
  if (file.st_size >= expected) return {};
  return Failure{
      "the CSV file " + path_ + " has " + std::to_string(file.st_size) + " bytes after rows were written, and not " +
          std::to_string(expected) +
          ": something answers write() in place of the kernel, or another process cuts the file",
      "run without the library, tracer or seccomp filter that does it, and let no other process write to the file"};
}

}  // namespace syscost::csv

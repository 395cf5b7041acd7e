// SPDX-License-Identifier: MIT
#include "backends/ebpf/holder.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <optional>
#include <thread>
#include <utility>

#include "backends/ebpf/missed_runs.h"
#include "os/confinement.h"
#include "os/descriptors.h"
#include "os/detached_process.h"
#include "os/environment.h"
#include "os/program_files.h"

namespace syscost::ebpf {
namespace {

Result<std::vector<int>> duplicates(const std::vector<int>& descriptors) {
  std::vector<int> copies;
  for (const int descriptor : descriptors) {
    const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    if (copy < 0) {
      const int error = errno;
      close_each(copies);
      return errno_failure("keep", "the BPF programs", error);
    }
    copies.push_back(copy);
  }
  return copies;
}

/// Why the programs are not reached, given what `failure` says of it.
Failure out_of_reach(int error, const Failure& failure) {
  switch (error) {
    case EBADF:
      return taken_away();
    case EPERM:
    case EACCES:
    case ENOSYS:
      return shut_out();
    default:
      return failure;
  }
}

}  // namespace

Result<std::unique_ptr<OwnPrograms>> OwnPrograms::load(const ProgramRequest& request, Joined& joined) {
  Result<LoadedPrograms> loaded = LoadedPrograms::load(request);
  if (!loaded.ok()) return loaded.failure();
  LoadedPrograms& pair = loaded.value();
  Result<std::vector<LoadedPrograms::ProcessSlot>> places = pair.make_slots(1);
  if (!places.ok()) return places.failure();
  const LoadedPrograms::ProcessSlot& place = places.value().front();
  joined.cpu_count = pair.cpu_count();
  joined.cookie = place.cookie;
  joined.maps.add(place.map);
  const Result<std::vector<int>> further = duplicates(pair.further_maps());
  if (!further.ok()) return further.failure();
  for (const int map : further.value()) joined.maps.add(map);

  const std::vector<int> attached = pair.attached_programs();
  std::vector<int> all = attached;
  const std::vector<int> following = pair.following_programs();
  all.insert(all.end(), following.begin(), following.end());
  const std::size_t counting = pair.counting_programs().size();
  const Result<std::vector<int>> copies = duplicates(all);
  if (!copies.ok()) return copies.failure();
  Result<ParkedDescriptors> programs = ParkedDescriptors::park(copies.value());
  if (!programs.ok()) return programs.failure();
  std::unique_ptr<OwnPrograms> own(new OwnPrograms(std::move(programs.value()), counting, attached.size() - counting));
  if (Result<void> kept = own->keep_attached(attached, own->counting_links_); !kept.ok()) return kept.failure();
  if (Result<void> kept = own->keep_attached(following, own->following_links_); !kept.ok()) return kept.failure();
  return own;
}

Result<void> OwnPrograms::keep_attached(const std::vector<int>& programs, ParkedDescriptors& links) {
  if (programs.empty() || !links.empty()) return {};
  const Result<std::vector<int>> opened = open_links(programs);
  if (!opened.ok()) return opened.failure();
  Result<ParkedDescriptors> parked = ParkedDescriptors::park(opened.value());
  if (!parked.ok()) return parked.failure();
  links = std::move(parked.value());
  return {};
}

Result<void> OwnPrograms::attach() {
  Result<std::vector<int>> programs = programs_.copies();
  if (!programs.ok()) return out_of_reach(errno, programs.failure());
  const std::vector<int> all = programs.value();
  programs.value().resize(counting_ + watching_);
  Result<void> attached = keep_attached(programs.value(), counting_links_);
  close_each(all);
  return attached;
}

void OwnPrograms::detach() {
  counting_links_.close_all();
}

Result<Report> OwnPrograms::report() {
  const Result<std::uint64_t> missed = missed_runs(Runs::of_all);
  if (!missed.ok()) return missed.failure();
  return Report{missed.value(), 0};
}

/// Always those of all programs: selecting some of them costs more than asking for one more.
Result<std::uint64_t> OwnPrograms::missed_runs(Runs /*wanted*/) {
  const Result<std::vector<int>> programs = programs_.copies();
  if (!programs.ok()) return out_of_reach(errno, programs.failure());
  std::vector<int> that_count = programs.value();
  const auto watching = that_count.begin() + static_cast<std::ptrdiff_t>(counting_);
  that_count.erase(watching, watching + static_cast<std::ptrdiff_t>(watching_));
  Result<std::uint64_t> missed = ebpf::missed_runs(that_count);
  const int error = errno;
  close_each(programs.value());
  return missed.ok() ? missed : out_of_reach(error, missed.failure());
}

namespace {

constexpr std::uint64_t kNeeded = 1ULL << CAP_BPF | 1ULL << CAP_PERFMON;
/// The limit until there is a connection. A stranger who holds the name of our helper can cost no more than this. A
/// helper that runs has a queue, so it connects at once even if it is busy.
constexpr timeval kPatienceWithStrangers{.tv_sec = 0, .tv_usec = 500'000};
/// With a helper that is root's or our own: loading and verifying takes 20 ms, on a machine with more to do than
/// processors much longer.
constexpr timeval kPatience{.tv_sec = 20, .tv_usec = 0};
/// If a helper ends at the moment when we connect, begin again. Each repetition needs another helper that came and
/// went.
constexpr int kAttempts = 100;

/// A descriptor until it is given away.
class Socket {
 public:
  Socket() : Socket(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {}
  explicit Socket(int fd) : fd_(fd) {
    if (fd_ >= 0) setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &kPatienceWithStrangers, sizeof kPatienceWithStrangers);
  }
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return fd_; }
  void close_now() { close(give_away()); }
  int give_away() { return std::exchange(fd_, -1); }

  /// 0 or an errno; EAGAIN: others wait in the queue, and no helper accepts them.
  int connect_to(const Address& address) const {
    return connect(fd_, reinterpret_cast<const sockaddr*>(&address.name), address.size) == 0 ? 0 : errno;
  }

  /// Any process can take a name. We map and believe what a helper sends, so the helper must be root's or our own. Such
  /// a helper may also take longer.
  bool trusts(uid_t expected) const {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (getsockopt(fd_, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != expected) return false;
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
    setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
    return true;
  }

 private:
  int fd_;
};

Failure stranger() {
  return {"the socket of this user's eBPF helper belongs to another user or to an unknown process",
          "find it with: ss -xlp"};
}

Failure connect_failure(int error) {
  return error == EAGAIN ? stranger() : errno_failure("connect to", "the eBPF helper", error);
}

std::string find_helper() {
  return find_installed(SYSCOST_HELPER_FROM_LIBRARY, "../libexec/syscost/syscost-ebpf-helper");
}

/// Why a process may not use its user's helper. This is not only about starting it: the result for a process without
/// rights must not depend on a process with rights that happens to run beside it.
std::optional<Failure> missing_right(const std::string& path) {
  const Confinement here = read_confinement();
  if (holds(here.effective, CAP_BPF) && holds(here.effective, CAP_PERFMON)) return std::nullopt;
  if (!path.empty() && !here.no_new_privileges && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0) {
    return std::nullopt;
  }
  return Failure{"neither this process nor the helper's file has CAP_BPF and CAP_PERFMON",
                 "grant them to syscost's helper, once for all programs and users: sudo setcap " +
                     std::string(capabilities_of_a_helper()) + " " + (path.empty() ? helper_path() : path)};
}

/// True if a seccomp filter, mostly of a container, denies bpf(2) here. It also denies bpf(2) to a helper that this
/// process starts. It does not deny it to the helper of another process, and that must not decide what works here.
bool is_bpf_filtered() {
  bpf_attr nothing{};
  nothing.info.bpf_fd = static_cast<__u32>(-1);
  if (syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &nothing, sizeof nothing) == 0) return false;
  // The kernel's own answers to a bad descriptor: bpf_obj_get_info_by_fd() in its kernel/bpf/syscall.c.
  if (errno == EBADFD || errno == EBADF) return false;
  return errno == ENOSYS || read_confinement().has_seccomp_filter;
}

/// Why the helper could not work or would do harm.
std::optional<Failure> reason_not_to_start(const std::string& path) {
  if (path.empty() || access(path.c_str(), X_OK) != 0) {
    return Failure{"syscost-ebpf-helper is missing or not executable; its place is " + helper_path(),
                   "install syscost as a whole (cmake --install), and move it as a whole"};
  }
  if (adopts_orphans()) {
    return Failure{"this process adopts orphans: the helper would become its child, and a test's wait() would find it",
                   "run the tests below an init process (docker run --init)"};
  }
  return std::nullopt;
}

/// The helper's: what is needed to find libbpf as we would.
std::vector<std::string> environment_of_helper() {
  std::vector<std::string> environment;
  if (const char* path = variable("LD_LIBRARY_PATH"); path != nullptr) {
    environment.push_back(std::string("LD_LIBRARY_PATH=") + path);
  }
  return environment;
}

enum class Start { connected, taken };

/// Makes `address` ours, connects `client` to it, and starts the helper that listens there.
Result<Start> start_helper(const std::string& path, const Address& address, const Socket& client) {
  if (std::optional<Failure> reason = reason_not_to_start(path)) return *std::move(reason);
  const Socket listener;
  if (listener.get() < 0) return errno_failure("open", "a socket", errno);
  refuse_descriptors(listener.get());
  ask_for_senders(listener.get());
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address.name), address.size) != 0) {
    if (errno == EADDRINUSE) return Start::taken;
    return errno_failure("bind", "the eBPF helper's name", errno);
  }
  if (listen(listener.get(), SOMAXCONN) != 0) return errno_failure("listen for", "the eBPF helper", errno);
  // Connected before the helper runs, so that it never finds itself without a client.
  if (const int error = client.connect_to(address); error != 0) return connect_failure(error);
  const Result<DetachedProcess> helper = start_detached({{path}, environment_of_helper(), {listener.get()}, kNeeded});
  if (!helper.ok()) return helper.failure();
  return Start::connected;
}

/// A connection to a helper that may be trusted. It does not notice that the helper no longer listens.
Result<void> connect_or_start(const Socket& client, HelperLink::Obstacle& obstacle) {
  if (client.get() < 0) return errno_failure("open", "a socket", errno);
  const int error_at_everyones = client.connect_to(address_for_everyone());
  if (error_at_everyones == 0) {
    if (client.trusts(0)) return {};
    return Failure{
        "the socket of the eBPF helper for everyone belongs to a process that does not run as root",
        std::string("make ") + kFolderForEveryone + " a folder that belongs to root and that only root can write to"};
  }
  const std::string path = find_helper();
  if (std::optional<Failure> missing = missing_right(path)) {
    if (error_at_everyones == EAGAIN) {
      obstacle = HelperLink::Obstacle::helper;
      return Failure{"the eBPF helper for everyone has too many waiting connections",
                     "to list the processes that connect: sudo ss -xp | grep syscost"};
    }
    obstacle = HelperLink::Obstacle::missing_rights;
    return *std::move(missing);
  }
  if (is_bpf_filtered())
    return Failure{"a seccomp filter denies bpf(2)", "allow bpf in the container's seccomp profile"};
  const Address own = address_of(geteuid());
  // Another process has taken the name (bind) and does not listen yet. That takes a moment only.
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const int error = client.connect_to(own);
    if (error == 0) break;
    if (error != ECONNREFUSED) return connect_failure(error);
    Result<Start> started = start_helper(path, own, client);
    if (!started.ok()) return started.failure();
    if (started.value() == Start::connected) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (client.trusts(geteuid())) return {};
  return stranger();
}

/// Failure with errno 0: the helper ended before it answered.
bool ask_on(int socket, const Question& question, Answer& answer, PassedDescriptors* passed) {
  if (!send_message(socket, &question, sizeof question)) {
    if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN) errno = 0;
    return false;
  }
  if (receive_message(socket, &answer, sizeof answer, passed)) return true;
  if (errno == ECONNRESET) errno = 0;
  return false;
}

/// The connection ended, and the helper did not.
Failure cut_off() {
  return {"something closed the connection to the eBPF helper, which still runs",
          "do not close or shut down descriptors that the test did not open, also not in a child by clone or _Fork"};
}

Failure silence(int error) {
  switch (error) {
    case 0:
      return {"the eBPF helper, which counts for this process, has ended",
              "run `dmesg` to see whether the kernel killed it; then try again"};
    case EAGAIN:
      return {"the eBPF helper did not answer within " + std::to_string(kPatience.tv_sec) + " s",
              "use `ps -eo pid,stat,wchan,args` to see what it is waiting for; on a loaded machine try again"};
    case EPERM:
    case EACCES:
    case ENOSYS:
      return shut_out();
    case EMFILE:
      return errno_failure("receive", "the counters from the eBPF helper", error);
    default:
      return errno_failure("talk to", "the eBPF helper", error);
  }
}

/// Asks for a place on a connection to a helper that is trusted. Empty: it ended before it answered.
Result<std::optional<RunFiles>> take_place(int socket, const Question& question, Joined& joined,
                                           HelperLink::Obstacle& obstacle) {
  Answer answer;
  PassedDescriptors passed;
  if (!ask_on(socket, question, answer, &passed)) {
    if (errno == 0) return std::optional<RunFiles>();
    return silence(errno);
  }
  if (answer.has_failed == 0 && passed.is_short && passed.count < answer.map_count) {
    passed.close_all();
    return silence(EMFILE);
  }
  obstacle = HelperLink::Obstacle::helper;
  if (answer.has_failed != 0) {
    passed.close_all();
    return failure_of(answer);
  }
  joined.cpu_count = answer.cpu_count;
  joined.cookie = answer.cookie;
  joined.missed_runs = answer.missed_runs;
  const std::size_t maps = std::min<std::size_t>(answer.map_count, passed.count);
  for (const int map : passed.all().first(maps)) joined.maps.add(map);
  return std::optional(RunFiles(passed.all().subspan(maps)));
}

}  // namespace

std::string helper_path() {
  return expected_installed_path(SYSCOST_HELPER_FROM_LIBRARY);
}

Result<std::unique_ptr<HelperLink>> HelperLink::join(Joined& joined, Obstacle& obstacle) {
  obstacle = Obstacle::surroundings;
  for (int attempt = 0;; ++attempt) {
    Socket client;
    if (Result<void> connected = connect_or_start(client, obstacle); !connected.ok()) return connected.failure();
    Result<std::optional<RunFiles>> files = take_place(client.get(), join_question({}), joined, obstacle);
    if (!files.ok()) return files.failure();
    if (files.value()) return HelperLink::on(client.give_away(), *std::move(files.value()));
    if (attempt >= kAttempts) return silence(0);
  }
}

Result<std::unique_ptr<HelperLink>> HelperLink::start_own(const ProgramRequest& request, Joined& joined,
                                                          Obstacle& obstacle) {
  obstacle = Obstacle::surroundings;
  const std::string path = find_helper();
  if (std::optional<Failure> reason = reason_not_to_start(path)) return *std::move(reason);
  // It would be refused: the rights of the helper's file are only for programs that all processes share.
  if (!missing_for_bpf(read_confinement().effective).empty()) {
    return Failure{"this process lacks CAP_BPF and CAP_PERFMON", "grant them"};
  }
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return errno_failure("open", "a socket", errno);
  }
  Socket client(ends[0]);
  Socket helpers(ends[1]);
  refuse_descriptors(helpers.get());
  ask_for_senders(helpers.get());
  const Result<DetachedProcess> helper = start_detached({{path}, environment_of_helper(), {helpers.get()}, kNeeded});
  if (!helper.ok()) return helper.failure();
  client.trusts(geteuid());
  helpers.close_now();
  Result<std::optional<RunFiles>> files = take_place(client.get(), join_question(request), joined, obstacle);
  if (!files.ok()) return files.failure();
  if (!files.value()) return silence(0);
  return HelperLink::on(client.give_away(), *std::move(files.value()));
}

std::unique_ptr<HelperLink> HelperLink::on(int socket, RunFiles files) {
  return std::unique_ptr<HelperLink>(new HelperLink(keep_descriptor(socket), std::move(files)));
}

HelperLink::~HelperLink() {
  close_descriptor(socket_);
}

Result<Answer> HelperLink::ask(Request request) {
  if (!is_still_ours(socket_)) {
    if (errno != EBADF) return shut_out();
    socket_ = -1;
    return taken_away();
  }
  Question question;
  question.request = request;
  Answer answer;
  if (!ask_on(socket_, question, answer, nullptr)) {
    // A late answer would be taken for the answer to the next question.
    const int error = errno;
    const bool still_runs = error == 0 && files_.read(Runs::of_all).has_value();
    const Failure failure = still_runs ? cut_off() : silence(error);
    close_descriptor(socket_);
    return failure;
  }
  if (answer.has_failed != 0) return failure_of(answer);
  return answer;
}

void HelperLink::detach() {
  // If the helper has ended, its attachments are gone too.
  static_cast<void>(ask(Request::detach).ok());
}

Result<void> HelperLink::attach() {
  const Result<Answer> answer = ask(Request::attach);
  return answer.ok() ? Result<void>() : answer.failure();
}

Result<Report> HelperLink::report() {
  const Result<Answer> answer = ask(Request::report);
  if (!answer.ok()) return answer.failure();
  return Report{answer.value().missed_runs, answer.value().refusal};
}

Result<std::uint64_t> HelperLink::missed_runs(Runs wanted) {
  if (const std::optional<std::uint64_t> missed = files_.read(wanted)) return *missed;
  const Result<Report> report = this->report();
  if (!report.ok()) return report.failure();
  return report.value().missed_runs;
}

}  // namespace syscost::ebpf

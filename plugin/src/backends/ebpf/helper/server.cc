// SPDX-License-Identifier: MIT
#include "backends/ebpf/helper/server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "backends/ebpf/helper/shares.h"
#include "backends/ebpf/missed_runs.h"
#include "backends/ebpf/shared.h"
#include "os/descriptors.h"

namespace syscost::ebpf {
namespace {

/// Children that close connections end at once, unless someone makes their end wait. So many such ends are free for
/// all; each further child takes so many connections at least.
constexpr std::size_t kFreeChildren = 8;
constexpr std::size_t kConnectionsOfAFurtherChild = 64;

struct Message {
  ssize_t size = -1;  ///< As recvmsg() returns it.
  bool has_descriptors = false;
  bool is_cut = false;
  bool is_there = false;  ///< False at the end, of which recvmsg() says 0, too.
  Sender sender;
};

Message receive(int connection, void* into, std::size_t size, int flags) {
  iovec part{into, size};
  // Room for the sender alone: descriptors come after it, and find none.
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  Message message;
  do {
    message.size = recvmsg(connection, &header, flags | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (message.size < 0 && errno == EINTR);
  if (message.size < 0) return message;
  message.has_descriptors = (header.msg_flags & MSG_CTRUNC) != 0;
  message.is_cut = (header.msg_flags & MSG_TRUNC) != 0;
  const cmsghdr* credentials = CMSG_FIRSTHDR(&header);
  message.is_there = credentials != nullptr;
  if (credentials == nullptr || credentials->cmsg_type != SCM_CREDENTIALS) return message;
  ucred sender{};
  std::memcpy(&sender, CMSG_DATA(credentials), sizeof sender);
  message.sender = {sender.pid, sender.uid};
  return message;
}

}  // namespace

Arrival receive_question(int connection, bool may_bring_descriptors, Question& question, Sender& sender) {
  if (may_bring_descriptors && receive(connection, &question, sizeof question, MSG_PEEK).has_descriptors) {
    return Arrival::descriptors;
  }
  // The same message as before: no other process reads from this end.
  const Message message = receive(connection, &question, sizeof question, 0);
  if (message.size < 0) return errno == EAGAIN ? Arrival::nothing : Arrival::end;
  if (!message.is_there) return Arrival::end;
  sender = message.sender;
  const bool is_whole = message.size == static_cast<ssize_t>(sizeof question) && !message.is_cut;
  return is_whole && !message.has_descriptors ? Arrival::question : Arrival::nonsense;
}

bool Closer::may_have_child() const {
  return children_ < kFreeChildren || connections_.size() >= (children_ - kFreeChildren) * kConnectionsOfAFurtherChild;
}

void Closer::reap() {
  while (children_ > 0 && waitpid(-1, nullptr, WNOHANG) > 0) --children_;
}

void Closer::close_all() {
  reap();
  if (connections_.empty() || !may_have_child()) return;
  // The child ends when the pipe does, so it still holds the connections while they are closed here.
  std::array<int, 2> closed{-1, -1};
  if (pipe2(closed.data(), O_CLOEXEC) != 0) return;
  const pid_t child = fork();
  if (child == 0) {
    close(closed[1]);
    char byte = 0;
    while (read(closed[0], &byte, 1) < 0 && errno == EINTR) {
    }
    _exit(0);
  }
  if (child > 0) {
    ++children_;
    close_each(connections_);
    connections_.clear();
  }
  close(closed[0]);
  close(closed[1]);
}

}  // namespace syscost::ebpf

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77  // Linux 6.5
#endif

namespace syscost::ebpf {
namespace {

/// A client asks for its place as soon as it is connected. This limit keeps one user from taking all descriptors.
constexpr std::size_t kConnectionsOfAGuest = SYSCOST_PROCESSES / 2;
constexpr std::chrono::seconds kPatienceWithTheIdle{5};
constexpr int kAcceptedAtOnce = 64;
/// A helper that made more of them does not stay: each keeps the memory of a process's counters.
constexpr std::uint32_t kPlacesThatStay = 4;
/// Between tries to close connections.
constexpr int kPauseBeforeClosingMs = 100;

/// A pidfd of the process at the other end, or -1 where we may not see it.
int process_at_other_end(int socket, const ucred& peer) {
  int process = -1;
  socklen_t size = sizeof process;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &process, &size) == 0) return process;
  // 0 is a process in a namespace that we do not see into.
  return peer.pid > 0 ? static_cast<int>(syscall(SYS_pidfd_open, peer.pid, 0)) : -1;
}

}  // namespace

Server::Server(int socket, Clients clients) : policy_(clients), may_get_descriptors_(!refuses_descriptors(socket)) {
  if (policy_ == Clients::one) {
    add_client(socket);
  } else {
    listener_ = socket;
  }
}

Server::Server(int socket, Clients clients, Result<LoadedPrograms> pair) : Server(socket, clients) {
  loaded_.emplace(std::move(pair));
}

void Server::run() {
  std::vector<pollfd> watched;
  do {
    watched.assign(1, {listener_, POLLIN, 0});
    for (const Client& client : clients_) {
      watched.push_back({client.socket, POLLIN, 0});
      watched.push_back({client.process, POLLIN, 0});
    }
    const bool makes_spare = wants_spare_slot();
    const int ready = poll(watched.data(), watched.size(), makes_spare ? 0 : milliseconds_to_wait());
    if (ready < 0 && errno != EINTR) return;
    if (ready == 0 && makes_spare) {
      make_spare_slot();
      continue;
    }
    // Ends come before beginnings. A process that executed another program closed its socket before the new program
    // asks for a place, and must not be found in its old place.
    const std::size_t known = clients_.size();
    for (std::size_t i = 0; i < known; ++i) {
      const auto seen_on_socket = watched[1 + 2 * i].revents;
      if ((seen_on_socket & (POLLHUP | POLLERR | POLLNVAL)) != 0 || watched[2 + 2 * i].revents != 0) {
        clients_[i].is_gone = true;
      }
    }
    bury_the_gone();
    for (Client& client : clients_) read_request(client);
    for (Client& client : clients_) {
      const bool is_idle = !client.place.has_value() && !client.is_joining;
      if (is_idle && Clock::now() - client.since >= kPatienceWithTheIdle) client.is_gone = true;
    }
    if ((watched[0].revents & POLLIN) != 0) accept_clients();
    serve_joining();
    bury_the_gone();
    detach_unless_wanted();
    closer_.close_all();
    // A client that is queued at this instant finds the socket closed; it begins again and starts another helper.
    if (clients_.empty() && is_for_own_user()) accept_clients();
  } while (!clients_.empty() || policy_ == Clients::everyone ||
           Clock::now() < end().value_or(Clock::time_point::min()));
}

std::optional<Server::Clock::time_point> Server::end() const {
  if (policy_ != Clients::own_user || !last_left_ || loaded_->value().slots() > kPlacesThatStay) return std::nullopt;
  return *last_left_ + kStaysAfterTheLast;
}

// ---- clients --------------------------------------------------------------------------------------------------------

void Server::accept_clients() {
  // A bounded number at a time, because strangers may come and go as fast as they are accepted, and known clients wait
  // for answers.
  for (int accepted = 0; accepted < kAcceptedAtOnce; ++accepted) {
    const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket >= 0) {
      add_client(socket);
      continue;
    }
    if (errno == EINTR) continue;
    // There are no descriptors left until a client goes, so do not try again at once.
    if (errno != EAGAIN) poll(nullptr, 0, 100);
    return;
  }
}

void Server::add_client(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  const bool is_known = getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  const bool is_guest = peer.uid != geteuid();
  if (!is_known || (is_guest && policy_ != Clients::everyone) ||
      (is_guest && count_of(peer.uid, false) >= kConnectionsOfAGuest)) {
    return close_connection(socket);
  }
  Client client;
  client.socket = socket;
  client.number = peer.pid;
  client.user = peer.uid;
  client.since = Clock::now();
  client.process = process_at_other_end(socket, peer);
  clients_.push_back(client);
  read_request(clients_.back());
}

void Server::close_connection(int socket) {
  if (may_get_descriptors_) {
    closer_.add(socket);
  } else {
    close(socket);
  }
}

int Server::milliseconds_to_wait() const {
  int least = closer_.empty() ? -1 : kPauseBeforeClosingMs;
  const Clock::time_point now = Clock::now();
  const auto wait_until = [&](Clock::time_point until) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(std::max(until, now) - now);
    const int milliseconds = std::max(0, static_cast<int>(left.count()));
    if (least < 0 || milliseconds < least) least = milliseconds;
  };
  for (const Client& client : clients_) {
    if (client.place.has_value()) continue;
    // A client that is joining asked while others were served, or has to wait for its share of the time.
    wait_until(client.is_joining ? join_rate_.next(client.user) : client.since + kPatienceWithTheIdle);
  }
  if (clients_.empty() && end()) wait_until(*end());
  return least;
}

void Server::bury_the_gone() {
  for (const Client& client : clients_) {
    if (!client.is_gone) continue;
    if (client.place.has_value()) {
      loaded_->value().give_back(*client.place);
      last_left_ = Clock::now();
      may_make_spare_ = true;
    }
    close_connection(client.socket);
    if (client.process >= 0) close(client.process);
  }
  clients_.erase(std::remove_if(clients_.begin(), clients_.end(), [](const Client& client) { return client.is_gone; }),
                 clients_.end());
}

std::size_t Server::count_of(uid_t user, bool with_place) const {
  return static_cast<std::size_t>(std::count_if(clients_.begin(), clients_.end(), [&](const Client& client) {
    return client.user == user && (!with_place || client.place.has_value());
  }));
}

std::size_t Server::places() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(clients_, [](const Client& client) { return client.place.has_value(); }));
}

// ---- requests -------------------------------------------------------------------------------------------------------

void Server::read_request(Client& client) {
  Question question;
  Sender sender;
  switch (receive_question(client.socket, may_get_descriptors_, question, sender)) {
    case Arrival::nothing:
      return;
    case Arrival::question:
      if (is_from(client, sender)) serve(client, question);
      return;
    case Arrival::nonsense:
      if (is_from(client, sender)) client.is_gone = true;
      return;
    case Arrival::descriptors:
    case Arrival::end:
      client.is_gone = true;
  }
}

/// Children inherit the connection, and may have given up rights that the client has.
bool Server::is_from(Client& client, const Sender& sender) {
  if (!client.speaks_as) client.speaks_as = sender.user;
  return client.number > 0 ? sender.process == client.number : sender.process == 0 && sender.user == client.speaks_as;
}

void Server::serve(Client& client, const Question& question) {
  if (question.request == Request::join) {
    if (client.place.has_value()) return refuse(client, {"the process has a place already", "report this"});
    client.joining = question;
    client.is_joining = true;
    return;
  }
  if (!client.place.has_value()) return refuse(client, {"the process has no place", "report this"});
  switch (question.request) {
    case Request::detach:
      // Programs that follow children stay attached. They know the parent of a child by its place.
      if (policy_ != Clients::one) loaded_->value().dismiss(*client.place);
      client.is_counted = false;
      detach_unless_wanted();
      return answer(client, {});
    case Request::attach: {
      const Result<void> attached = attach();
      client.is_counted = attached.ok();
      return attached.ok() ? answer(client, {}) : refuse(client, attached.failure());
    }
    case Request::report:
      return answer(client, report(client));
    default:
      client.is_gone = true;
  }
}

Answer Server::report(const Client& client) const {
  const LoadedPrograms& pair = loaded_->value();
  const Result<std::uint64_t> missed = missed_runs(pair.programs());
  if (!missed.ok()) return failed_answer(missed.failure());
  Answer answer;
  answer.missed_runs = missed.value();
  answer.refusal = pair.refusal_of(*client.place);
  return answer;
}

std::size_t Server::places_of_a_guest() const {
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return ebpf::places_of_a_guest(std::min(pages * page, memory_limit_.value_or(pages * page)),
                                 map_bytes(loaded_->value().cpu_count()));
}

/// If no one else is joining, both numbers are 0.
std::optional<Failure> Server::why_no_place(const Client& client, std::size_t joining_of_user,
                                            std::size_t joining) const {
  const bool is_guest = client.user != geteuid();
  if (is_guest && count_of(client.user, true) + joining_of_user >= places_of_a_guest()) {
    return Failure{"one user may measure " + std::to_string(places_of_a_guest()) + " processes at once here",
                   "measure fewer at once"};
  }
  if (!memory_limit_) return std::nullopt;
  const std::size_t most = places_within(*memory_limit_, map_bytes(loaded_->value().cpu_count()));
  if (places() + joining < most) return std::nullopt;
  return Failure{
      "the control group of the eBPF helper for everyone has memory for " + std::to_string(most) + " processes at once",
      "raise its limit (memory.max, MemoryMax= of a systemd unit), or measure fewer at once"};
}

void Server::serve_joining() {
  std::vector<Client*> joining;
  const auto joining_of = [&](uid_t user) {
    return static_cast<std::size_t>(
        std::count_if(joining.begin(), joining.end(), [&](const Client* client) { return client->user == user; }));
  };
  for (Client& client : clients_) {
    if (!client.is_joining || client.is_gone) continue;
    const bool is_guest = client.user != geteuid();
    if (is_guest && !join_rate_.take(client.user, Clock::now())) continue;
    client.is_joining = false;
    if (policy_ == Clients::everyone && joining.empty()) memory_limit_ = own_memory_limit();
    const ProgramRequest request = request_of(client.joining);
    if (request.needs_own_programs() && policy_ != Clients::one) {
      refuse(client, {"shared programs look for nothing but the calls of a process", "report this"});
      continue;
    }
    if (!loaded_.has_value()) loaded_.emplace(LoadedPrograms::load(request));
    if (!loaded_->ok()) {
      refuse(client, loaded_->failure());
    } else if (const std::optional<Failure> why = why_no_place(client, joining_of(client.user), joining.size())) {
      refuse(client, *why);
    } else {
      joining.push_back(&client);
    }
  }
  if (joining.empty()) return;
  const Result<std::vector<LoadedPrograms::ProcessSlot>> places = take_slots(joining.size());
  const Result<void> attached = places.ok() ? attach() : places.failure();
  std::size_t served = 0;
  if (places.ok()) {
    for (const LoadedPrograms::ProcessSlot& place : places.value()) {
      Client& client = *joining[served++];
      client.place = place.process;
      client.is_counted = attached.ok();
      if (attached.ok()) {
        welcome(client, place);
      } else {
        refuse(client, attached.failure());
      }
      close(place.map);
    }
  }
  for (; served < joining.size(); ++served) {
    refuse(*joining[served],
           places.ok() ? Failure{"no place is left", "measure fewer processes at once"} : places.failure());
  }
}

/// The spare one first. Fewer when there is no room; empty is a failure.
Result<std::vector<LoadedPrograms::ProcessSlot>> Server::take_slots(std::size_t count) {
  if (!spare_slot_) return loaded_->value().make_slots(count);
  std::vector taken{*std::exchange(spare_slot_, std::nullopt)};
  if (count == 1) return taken;
  if (const auto made = loaded_->value().make_slots(count - 1); made.ok()) {
    taken.insert(taken.end(), made.value().begin(), made.value().end());
  }
  return taken;
}

/// Everyone's helper counts the memory of each place to its user, and one that has a single client needs no further
/// place.
bool Server::wants_spare_slot() const {
  const bool is_loaded = loaded_ && loaded_->ok();
  return is_loaded && is_for_own_user() && !spare_slot_ && may_make_spare_ && !clients_.empty();
}

void Server::make_spare_slot() {
  const Result<std::vector<LoadedPrograms::ProcessSlot>> made = loaded_->value().make_slots(1);
  may_make_spare_ = made.ok();
  if (made.ok()) spare_slot_ = made.value().front();
}

void Server::welcome(Client& client, const LoadedPrograms::ProcessSlot& place) {
  const LoadedPrograms& pair = loaded_->value();
  Answer message = report(client);
  if (message.has_failed != 0) return answer(client, message);
  message.cpu_count = pair.cpu_count();
  message.cookie = place.cookie;
  PassedDescriptors passed;
  passed.add(place.map);
  for (const int map : pair.further_maps()) passed.add(map);
  message.map_count = static_cast<std::uint32_t>(passed.count);
  const std::vector<int> files = open_run_files(pair.programs());
  for (const int file : files) passed.add(file);
  answer(client, message, passed);
  close_each(files);
}

void Server::answer(Client& client, const Answer& message, const PassedDescriptors& passed) {
  if (!send_message(client.socket, &message, sizeof message, passed)) client.is_gone = true;
}

// ---- attachment -----------------------------------------------------------------------------------------------------

Result<void> Server::attach() {
  if (!links_.empty()) return {};
  LoadedPrograms& pair = loaded_->value();
  Result<std::vector<int>> links = open_links(pair.attached_programs());
  if (!links.ok()) return links.failure();
  links_ = std::move(links.value());
  if (following_links_.empty()) {
    // These programs stay attached: they must know a child that is made while nothing counts, because its calls may
    // count later.
    Result<std::vector<int>> following = open_links(pair.following_programs());
    if (!following.ok()) return following.failure();
    following_links_ = std::move(following.value());
  }
  return {};
}

void Server::detach_unless_wanted() {
  const bool is_wanted =
      std::any_of(clients_.begin(), clients_.end(), [](const Client& client) { return client.is_counted; });
  if (!is_wanted) close_each(std::exchange(links_, {}));
}

}  // namespace syscost::ebpf

// SPDX-License-Identifier: MIT
#include "backends/ebpf/helper/server.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "backends/ebpf/missed_runs.h"
#include "backends/ebpf/shared.h"
#include "os/parked_descriptors.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77  // Linux 6.5
#endif

namespace syscost::ebpf {
namespace {

/// A client asks for its place as soon as it is connected. This limit keeps one user from taking all descriptors.
constexpr std::size_t kConnectionsOfAGuest = SYSCOST_PROCESSES / 2;
constexpr std::chrono::seconds kPatienceWithTheIdle{5};
constexpr int kAcceptedAtOnce = 64;

/// A pidfd of the process at the other end, or -1 where we may not see it.
int process_at_other_end(int socket, const ucred& peer) {
  int process = -1;
  socklen_t size = sizeof process;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &process, &size) == 0) return process;
  // 0 is a process in a namespace that we do not see into.
  return peer.pid > 0 ? static_cast<int>(syscall(SYS_pidfd_open, peer.pid, 0)) : -1;
}

}  // namespace

Server::Server(int socket, Clients clients) : policy_(clients) {
  if (policy_ == Clients::one) {
    add_client(socket);
  } else {
    listener_ = socket;
  }
}

Server::Server(int socket, Clients clients, LoadedPrograms pair) : Server(socket, clients) {
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
    if (poll(watched.data(), watched.size(), milliseconds_to_wait()) < 0 && errno != EINTR) return;
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
    // A client that is queued at this instant finds the socket closed; it begins again and starts another helper.
    if (clients_.empty() && policy_ == Clients::own_user) accept_clients();
  } while (!clients_.empty() || policy_ == Clients::everyone);
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
    close(socket);
    return;
  }
  Client client;
  client.socket = socket;
  client.user = peer.uid;
  client.since = Clock::now();
  client.process = process_at_other_end(socket, peer);
  clients_.push_back(client);
  read_request(clients_.back());
}

int Server::milliseconds_to_wait() const {
  int least = -1;
  const Clock::time_point now = Clock::now();
  for (const Client& client : clients_) {
    if (client.place.has_value()) continue;
    // A client that is joining asked while others were served, or has to wait for its share of the time.
    const Clock::time_point until =
        client.is_joining ? join_rate_.next(client.user) : client.since + kPatienceWithTheIdle;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(std::max(until, now) - now);
    const int milliseconds = std::max(0, static_cast<int>(left.count()));
    if (least < 0 || milliseconds < least) least = milliseconds;
  }
  return least;
}

void Server::bury_the_gone() {
  for (const Client& client : clients_) {
    if (!client.is_gone) continue;
    if (client.place.has_value()) loaded_->value().give_back(*client.place);
    close(client.socket);
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

// ---- requests -------------------------------------------------------------------------------------------------------

void Server::read_request(Client& client) {
  Question question;
  if (!receive_message(client.socket, &question, sizeof question, nullptr)) {
    if (errno != EAGAIN) client.is_gone = true;
    return;
  }
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
  return ebpf::places_of_a_guest(pages * page, map_bytes(loaded_->value().cpu_count()));
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
    const ProgramRequest request = request_of(client.joining);
    if (request.needs_own_programs() && policy_ != Clients::one) {
      refuse(client, {"shared programs count no details and no children, and keep no events", "report this"});
      continue;
    }
    if (!loaded_.has_value()) loaded_.emplace(LoadedPrograms::load(request));
    if (!loaded_->ok()) {
      refuse(client, loaded_->failure());
    } else if (is_guest && count_of(client.user, true) + joining_of(client.user) >= places_of_a_guest()) {
      refuse(client, {"one user may measure " + std::to_string(places_of_a_guest()) + " processes at once here",
                      "measure fewer at once"});
    } else {
      joining.push_back(&client);
    }
  }
  if (joining.empty()) return;
  const Result<std::vector<LoadedPrograms::ProcessSlot>> places = loaded_->value().make_slots(joining.size());
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
  Result<std::vector<int>> links = open_links(pair.counting_and_scheduler_programs());
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

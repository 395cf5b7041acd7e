// SPDX-License-Identifier: MIT
#include "backends/ebpf/helper/server.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "backends/ebpf/shared.h"

namespace syscost::ebpf {
namespace {

/// So that one user cannot take all places from the others.
constexpr std::size_t kPlacesOfAGuest = SYSCOST_PROCESSES / 4;

}  // namespace

Server::Server(int listener, Result<Pair> pair, Clients clients)
    : listener_(listener), pair_(std::move(pair)), clients_policy_(clients) {}

void Server::run() {
  std::vector<pollfd> watched;
  do {
    watched.assign(1, {listener_, POLLIN, 0});
    for (const Client& client : clients_) {
      watched.push_back({client.socket, POLLIN, 0});
      watched.push_back({client.process, POLLIN, 0});
    }
    if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return;
    // Ends before beginnings: a process that executed another program has closed its socket before that one asks for a
    // place, and must not be found in its old one.
    const std::size_t known = clients_.size();
    for (std::size_t i = 0; i < known; ++i) {
      const auto seen_on_socket = watched[1 + 2 * i].revents;
      if ((seen_on_socket & (POLLHUP | POLLERR | POLLNVAL)) != 0 || watched[2 + 2 * i].revents != 0) {
        clients_[i].is_gone = true;
      }
    }
    bury_the_gone();
    for (Client& client : clients_) read_request(client);
    if ((watched[0].revents & POLLIN) != 0) accept_clients();
    serve_joining();
    bury_the_gone();
    detach_unless_wanted();
    // Who is queued at this instant and finds the socket closed begins again, with a helper of its own.
    if (clients_.empty() && clients_policy_ == Clients::own_user) accept_clients();
  } while (!clients_.empty() || clients_policy_ == Clients::everyone);
}

void Server::accept_clients() {
  while (true) {
    const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket < 0 && errno == EINTR) continue;
    if (socket < 0) {
      // Out of descriptors, until a client goes: not to be asked again at once.
      if (errno != EAGAIN) poll(nullptr, 0, 100);
      return;
    }
    ucred peer{};
    socklen_t size = sizeof peer;
    const bool is_known = getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
    if (!is_known || (clients_policy_ == Clients::own_user && peer.uid != geteuid())) {
      close(socket);
      continue;
    }
    Client client;
    client.socket = socket;
    client.user = peer.uid;
    // 0 is a process in a namespace that we do not see into.
    if (peer.pid > 0) client.process = static_cast<int>(syscall(SYS_pidfd_open, peer.pid, 0));
    clients_.push_back(client);
    read_request(clients_.back());
  }
}

void Server::read_request(Client& client) {
  Request request{};
  Passed passed;
  if (!receive_message(client.socket, &request, sizeof request, passed)) {
    if (errno != EAGAIN) client.is_gone = true;
    return;
  }
  for (std::size_t i = 0; i < passed.count; ++i) close(passed.descriptors[i]);
  switch (request) {
    case Request::join:
      if (client.place.has_value()) return refuse(client, {"the process has a place already", "report this"});
      client.is_joining = true;
      return;
    case Request::detach:
      if (client.place.has_value()) pair_.value().dismiss(*client.place);
      client.is_counted = false;
      detach_unless_wanted();
      return answer(client, {});
    case Request::attach: {
      if (!client.place.has_value()) return refuse(client, {"the process has no place", "report this"});
      if (Result<void> attached = attach(); !attached.ok()) return refuse(client, attached.failure());
      client.is_counted = true;
      Passed links;
      add_links(links);
      return answer(client, {}, links);
    }
  }
  client.is_gone = true;
}

void Server::serve_joining() {
  std::vector<Client*> joining;
  for (Client& client : clients_) {
    if (!client.is_joining || client.is_gone) continue;
    client.is_joining = false;
    if (!pair_.ok()) {
      refuse(client, pair_.failure());
    } else if (client.user != geteuid() && places_of(client.user) >= kPlacesOfAGuest) {
      refuse(client, {"one user may measure " + std::to_string(kPlacesOfAGuest) + " processes at once",
                      "measure fewer at once"});
    } else {
      joining.push_back(&client);
    }
  }
  if (joining.empty()) return;
  Pair& pair = pair_.value();
  Result<std::vector<Pair::Place>> places = pair.make_places(joining.size());
  Result<void> attached = places.ok() ? attach() : places.failure();
  std::size_t served = 0;
  if (places.ok()) {
    for (const Pair::Place& place : places.value()) {
      Client& client = *joining[served++];
      client.place = place.process;
      if (attached.ok()) {
        client.is_counted = true;
        Answer welcome;
        welcome.cpu_count = pair.cpu_count();
        welcome.cookie = place.cookie;
        Passed passed;
        passed.descriptors[passed.count++] = place.map;
        for (const int program : pair.programs()) passed.descriptors[passed.count++] = program;
        add_links(passed);
        answer(client, welcome, passed);
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

void Server::answer(Client& client, const Answer& message, const Passed& passed) {
  if (!send_message(client.socket, &message, sizeof message, passed)) client.is_gone = true;
}

void Server::bury_the_gone() {
  for (const Client& client : clients_) {
    if (!client.is_gone) continue;
    if (client.place.has_value()) pair_.value().give_back(*client.place);
    close(client.socket);
    if (client.process >= 0) close(client.process);
  }
  clients_.erase(std::remove_if(clients_.begin(), clients_.end(), [](const Client& client) { return client.is_gone; }),
                 clients_.end());
}

std::size_t Server::places_of(uid_t user) const {
  return static_cast<std::size_t>(std::count_if(clients_.begin(), clients_.end(), [user](const Client& client) {
    return client.user == user && client.place.has_value();
  }));
}

Result<void> Server::attach() {
  if (links_[0] >= 0) return {};
  Result<ProgramDescriptors> links = open_links(pair_.value().programs());
  if (!links.ok()) return links.failure();
  links_ = links.value();
  return {};
}

void Server::detach_unless_wanted() {
  const bool is_wanted =
      std::any_of(clients_.begin(), clients_.end(), [](const Client& client) { return client.is_counted; });
  if (is_wanted || links_[0] < 0) return;
  for (int& link : links_) close(std::exchange(link, -1));
}

void Server::add_links(Passed& passed) const {
  for (const int link : links_) passed.descriptors[passed.count++] = link;
}

}  // namespace syscost::ebpf

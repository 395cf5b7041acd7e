# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # what tools/docker assigns
#
# What `./dev docker` does with Podman, if it is installed: it builds the example image, and runs the pods of the manifests.
# So the manifests for Kubernetes are read and run without a cluster. Sourced by tools/docker_steps.sh.
#
# Root's Podman is a rootful one. A user namespace there shows how a rootless one handles an image.

title "Podman, and what is in the manifests for Kubernetes"

# Podman looks for a file in the folder DOCKER_CONFIG, and ends if there is none.
podman() { env -u DOCKER_CONFIG podman "$@"; }
# run_job NAME [unconfined]: the pod of docker/kubernetes/NAME.yaml, with its container's output and exit code.
run_job() {
  local manifest=build/docker/$1.pod.yaml container status
  docker run --rm -v "$PWD:/src" syscost-dev tests/containers/pod_of_job.py "docker/kubernetes/$1.yaml" "${@:2}" >"$manifest"
  container=$(sed -n 's/^  name: //p' "$manifest" | head -n 1)-tests
  podman kube play "$manifest" || return
  status=$(podman wait "$container")
  podman logs "$container"
  podman kube down "$manifest"
  return "$status"
}
remove_pods() {
  local manifest
  for manifest in docker/podman/unprivileged.yaml build/docker/*.pod.yaml; do
    podman kube down "$manifest" >/dev/null 2>&1 || true
  done
}
export -f podman

podman_steps() {
  local by_podman=(podman run --rm) in_namespace=() profile=()
  if ((EUID == 0)); then
    expect 0 podman run --rm --cap-add BPF --cap-add PERFMON --security-opt seccomp=unconfined \
      -v /sys/kernel/tracing:/sys/kernel/tracing:ro syscost-example my_tests --syscost_doctor
    says "container of Podman: CAP_BPF granted, CAP_PERFMON granted" "auto would take ebpf"
    says_not "without tracefs"
    expect 0 "${by_podman[@]}" "${grant[@]}" syscost-example my_tests --syscost_doctor
    says "seccomp profile on" "sudo podman run -v /sys/kernel/tracing:/sys/kernel/tracing:ro"
    if ! grep -qF "auto would take ebpf" "$log"; then
      # Debian 12's profile lets bpf(2) pass to CAP_SYS_ADMIN only.
      says "allow bpf in the container's seccomp profile" "sudo podman run --security-opt seccomp=unconfined"
      profile=(unconfined)
    fi
    expect 0 "${by_podman[@]}" syscost-example my_tests --syscost_doctor
    says "this Podman container was not granted CAP_BPF and CAP_PERFMON" "sudo podman run --cap-add BPF --cap-add PERFMON"
    says "auto would take dispatch"
    expect 0 run_job tests "${profile[@]}"
    says "backend ebpf" "19 write"
    in_namespace=(--uidmap "0:100000:65536")
  fi
  expect 0 "${by_podman[@]}" "${in_namespace[@]}" "${grant[@]}" syscost-example my_tests --syscost_doctor
  says "in a user namespace" "outside of every user namespace" "run it by a rootful engine" "auto would take dispatch"
  expect 0 run_job unprivileged
  says "user id 1000" "no-new-privileges set" "auto would take dispatch"
  expect 0 bash -c \
    "podman kube play docker/podman/unprivileged.yaml && podman wait syscost-tests-tests && podman logs syscost-tests-tests"
  says "backend dispatch" "19 write"
}

if ! type -P podman >/dev/null; then  # not the function
  skip "there is no podman (Debian: apt-get install podman catatonit)"
else
  expect 0 bash -c "docker save syscost-example | podman load"
  if podman run --rm syscost-example true >"$log" 2>&1; then
    remove_pods
    podman_steps
    remove_pods
  else
    skip "podman runs nothing here: $(tail -n 1 "$log")"
  fi
  podman rmi syscost-example >/dev/null 2>&1 || true
fi

# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # what tools/docker assigns
#
# What `./dev docker` does, in order: the commands of docs/containers.md, with their expected results. Sourced by
# tools/docker, which has expect, says, holds, doctor and the rest.

title "the development image: build, demo, tests"
expect 0 docker compose build dev
expect 0 docker compose run --rm -T dev ./dev demo
says "ManySmallWrites -> SingleBatchedWrite" "1024 -> 1"
expect 0 docker compose run --rm -T test
says " 0 failed, "
tail -n 1 "$log"
expect 0 docker compose run --rm -T dev ./dev test -R Histogram
# The exit code of ./dev comes through. 2: no test has this name. 1: a test finds an empty docs/containers.md.
expect 2 docker compose run --rm -T test ./dev test -R '^no test is called so$'
expect 1 docker compose run --rm -T -v /dev/null:/src/docs/containers.md:ro test ./dev test -R containers.documented
says "0 passed, 1 failed, 0 skipped"

title "who owns the files"
# A copy of this folder. If root owns this folder, an ordinary user owns the copy.
owned=build/docker/owned
rm -rf $owned
mkdir -p $owned
tar -c --exclude ./build --exclude ./.git . | tar -x -C $owned
caller=$EUID
if ((EUID == 0)); then
  caller=1000
  chown -R 1000:1000 $owned
fi
in_copy=(docker compose --project-directory "$owned" -f "$owned/compose.yaml")
fed() { echo "through the pipe" | "$@"; }
all_of_it_is_the_callers() { [[ -z $(find $owned ! -uid "$caller" -print -quit) ]]; }
expect 0 "${in_copy[@]}" run --rm -T dev ./dev demo --preset release
expect 0 "${in_copy[@]}" run --rm -T dev bash -c 'id -u && touch by_owner'
says "$caller"
holds "what was written through the mount is there" test -e $owned/by_owner
expect 0 "${in_copy[@]}" run --rm -T -e RUN_AS=root dev bash -c 'id -u && touch by_root'
says 0
holds "what root wrote is there" test -e $owned/by_root
holds "all of it belongs to the folder's owner" all_of_it_is_the_callers
expect 3 "${in_copy[@]}" run --rm -T -e RUN_AS=root dev bash -c 'exit 3'
for run_as in owner root; do
  expect 0 fed "${in_copy[@]}" run --rm -T -e RUN_AS=$run_as dev bash -c 'grep SigIgn /proc/self/status && cat'
  says "SigIgn:	0000000000000000" "through the pipe"
done
# bpftrace is root's alone; its owner's measurement asks sudo for it.
expect 0 "${in_copy[@]}" run --rm -T dev build/release/bin/demo_batched_writes --profile bpftrace --bpf syslat --quick \
  --syscost_bpf_sudo --csv build/by_sudo.csv
says "backend ebpf" "write, as counted"
says_not "NOT as counted"
holds "what bpftrace's measurement wrote belongs to the folder's owner" all_of_it_is_the_callers
rm -rf $owned

title "bpftrace, as root and by sudo"
mkdir -p build/docker
rm -f build/docker/*.csv
expect 0 docker compose run --rm -T -e RUN_AS=root dev bpftrace -e \
  'tracepoint:syscalls:sys_enter_write /comm == "head"/ { @calls = count(); }' -c '/usr/bin/head -c 1 /dev/zero'
says "@calls: "
expect 0 docker compose run --rm -T -e RUN_AS=root dev bash -c \
  "build/release/bin/demo_batched_writes --profile bpftrace --bpf syslat --quick --csv build/docker/bpftrace.csv"
says "syslat: " "write, as counted"
says_not "NOT as counted"
expect 0 docker compose run --rm -T dev build/release/bin/bench show build/docker/bpftrace.csv ManySmallWrites
says "bpftrace"
# What is missing is found before bpftrace is started, and named with the line that grants it.
looked_at="$demo --syscost_profile bpftrace --syscost_bpf syslat --syscost_csv /tmp/out.csv"
expect 2 docker run --rm -e RUN_AS=root "${mounted[@]}" "${grant[@]}" syscost-dev bash -c "$looked_at"
says "no tracefs at /sys/kernel/tracing" 'volumes: ["/sys/kernel/tracing:/sys/kernel/tracing:ro"]'
expect 2 docker run --rm -e RUN_AS=root "${mounted[@]}" "${tracefs[@]}" --cap-add BPF syscost-dev bash -c "$looked_at"
says "was not granted CAP_PERFMON" "cap_add: [PERFMON]"
expect 2 docker run --rm "${mounted[@]}" "${tracefs[@]}" "${grant[@]}" --user 1000:1000 syscost-dev bash -c "$looked_at"
says "this process is not root" "--syscost_bpf_sudo"

title "ebpf as an ordinary user: ambient capabilities, capabilities of the file"
expect 0 docker compose run --rm -T -e RUN_AS=root dev bash -c \
  "setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps +bpf,+perfmon --ambient-caps +bpf,+perfmon \
     build/release/bin/demo_batched_writes --syscost_backend ebpf --syscost_profile syscalls"
says "backend ebpf" "1024 write"
by_file="cp $demo /tmp/tests && setcap cap_bpf,cap_perfmon+ep /tmp/tests"
expect 0 docker compose run --rm -T -e RUN_AS=root dev bash -c \
  "$by_file && $as_user /tmp/tests --syscost_backend ebpf --syscost_profile syscalls"
says "backend ebpf" "1024 write"
expect 2 docker compose run --rm -T -e RUN_AS=root dev bash -c \
  "$as_user $demo --syscost_backend ebpf --csv /tmp/neither.csv"
says "was granted them, but this process lacks CAP_BPF and CAP_PERFMON" "setcap cap_bpf,cap_perfmon+ep"

title "the right backend, and the missing piece by its name"
expect 0 docker compose run --rm -T dev build/release/bin/demo_batched_writes --syscost_doctor
says "container of Docker: CAP_BPF granted, CAP_PERFMON granted" "auto would take ebpf"
says "shares its BPF programs with other measured processes"
says_not "without tracefs"
# Without an init the command is what orphans come to.
doctor 0 "${grant[@]}"
says "auto would take ebpf" '"/sys/kernel/tracing:/sys/kernel/tracing:ro"'
says "runs BPF programs of its own: this process adopts orphans"
expect 0 docker run --rm "${mounted[@]}" "${grant[@]}" syscost-dev $demo --syscost_backend ebpf --syscost_profile syscalls
says "backend ebpf" "1024 write"
doctor 0 "${grant[@]}" --init
says "shares its BPF programs with other measured processes"
doctor 0 "${grant[@]}" --read-only --cap-drop ALL
says "auto would take ebpf"
doctor 0 "${grant[@]}" --read-only
says "auto would take ebpf"
doctor 0 "${grant[@]}" --pid host
says "auto would take ebpf"
# Nothing granted, under Docker's own seccomp profile.
doctor 0
says "this Docker container was not granted CAP_BPF and CAP_PERFMON" "cap_add: [BPF, PERFMON]" "seccomp profile on"
says "auto would take $ordinary"
doctor 0 --cap-add BPF
says "was not granted CAP_PERFMON" "cap_add: [PERFMON]" "--cap-add PERFMON" "auto would take $ordinary"
doctor 0 --cap-add PERFMON
says "was not granted CAP_BPF" "cap_add: [BPF]"
doctor 0 "${grant[@]}" --user 1000:1000
says "was granted them, but this process lacks" "setcap cap_bpf,cap_perfmon+ep /src/build/release/libexec/syscost/syscost-ebpf-helper" "--ambient-caps +bpf,+perfmon"
doctor 0 "${grant[@]}" --user 1000:1000 --security-opt no-new-privileges
says "a file's capabilities would be ignored" "--ambient-caps +bpf,+perfmon"
says_not "setcap"
doctor 0 -e KUBERNETES_SERVICE_HOST=10.96.0.1
says "this Kubernetes container" "securityContext: {capabilities: {add: [BPF, PERFMON]}}"
# Profiles that deny the first call of a backend even with the capabilities: bpf(2), prctl's number 59 (Syscall User
# Dispatch), seccomp(2).
no_bpf='{"names": ["bpf"], "action": "SCMP_ACT_ERRNO"}'
no_dispatch='{"names": ["prctl"], "action": "SCMP_ACT_ERRNO", "args": [{"index": 0, "value": 59, "op": "SCMP_CMP_EQ"}]}'
no_seccomp='{"names": ["seccomp"], "action": "SCMP_ACT_ERRNO"}'
profile() { printf '{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [%s]}\n' "$2" >"build/docker/$1.json"; }
profile no_bpf "$no_bpf"
profile no_dispatch "$no_bpf, $no_dispatch"
profile nothing "$no_bpf, $no_dispatch, $no_seccomp"
doctor 0 "${grant[@]}" --security-opt seccomp=build/docker/no_bpf.json
says "allow bpf" "security_opt: [seccomp=unconfined]" "auto would take $ordinary"
doctor 0 "${grant[@]}" --security-opt seccomp=build/docker/no_dispatch.json
says "auto would take seccomp"
[[ $ordinary == seccomp ]] || says "allow prctl in the container's seccomp profile"
doctor 1 "${grant[@]}" --security-opt seccomp=build/docker/nothing.json
says "allow seccomp and prctl in the container's seccomp profile" "Nothing can count here"
expect 0 docker compose run --rm -T unprivileged build/release/bin/demo_batched_writes --syscost_doctor
says "was not granted CAP_BPF and CAP_PERFMON" "user id ${SYSCOST_UID:-1000}" "auto would take $ordinary"
holds "docs/containers.md shows what it said" documented_doctor
# And it counts.
expect 0 docker compose run --rm -T unprivileged build/release/bin/demo_batched_writes --syscost_profile syscalls
says "backend $ordinary" "1024 write"
expect 0 docker compose run --rm -T unprivileged "$demo" --syscost_profile syscalls --syscost_backend seccomp
says "backend seccomp" "1024 write"

title "bench, on CSVs made inside"
slow=build/demo/csv/slow.csv fast=build/demo/csv/fast.csv
expect 0 docker compose run --rm -T dev build/release/bin/bench compare build/demo/csv/slow.csv build/demo/csv/fast.csv
says "1024 -> 1"
expect 1 docker compose run --rm -T dev build/release/bin/bench compare $fast $slow

title "the runtime image, and an image upon it"
expect 0 docker compose build runtime
expect 0 docker compose run --rm -T runtime bench compare build/demo/csv/slow.csv build/demo/csv/fast.csv
says "1024 -> 1"
expect 1 docker compose run --rm -T runtime bench compare $fast $slow
expect 0 docker build -t syscost-example -f docker/example.Dockerfile .
expect 0 docker run --rm --cap-add BPF --cap-add PERFMON --cap-drop ALL --read-only --init syscost-example
says "backend ebpf" "[ SYSCOST  ]"
expect 0 docker run --rm "${grant[@]}" --init syscost-example my_tests --syscost_doctor
says "auto would take ebpf" "shares its BPF programs with other measured processes"
expect 0 docker run --rm --user 1000:1000 --cap-drop ALL --read-only syscost-example
says "backend $ordinary" "[ SYSCOST  ]"
expect 0 docker run --rm --user 1000:1000 --cap-drop ALL --read-only syscost-example my_tests --syscost_backend seccomp

# shellcheck source=tools/docker_podman_steps.sh
source tools/docker_podman_steps.sh

title "a GPU"
if docker info --format '{{json .Runtimes}}' | grep -q '"nvidia"'; then
  expect 0 env SYSCOST_CUDA_IMAGE=syscost-dev docker compose run --rm -T dev-cuda nvidia-smi
else
  # Asked with the image that is there: it is the engine that refuses.
  expect failure env SYSCOST_CUDA_IMAGE=syscost-dev docker compose run --rm -T dev-cuda true
  says 'could not select device driver "nvidia"'
fi
if [[ $with_cuda == yes ]]; then
  expect 0 docker compose --profile cuda build dev-cuda
  # Compiling needs no GPU, and a program that finds none skips its tests.
  expect 0 docker run --rm -v "$PWD:/src" syscost-dev-cuda ./dev build release demo_gpu_sum_cuda
  expect 0 docker run --rm -v "$PWD:/src" syscost-dev-cuda build/release/bin/demo_gpu_sum_cuda
  says "no GPU that CUDA can use"
  # This image lacks the toolkit of the other one, so the build folder that both see is configured anew.
  expect 0 docker compose run --rm -T dev ./dev build
  says "configuring it anew" "demo_gpu_sum_cuda is left out"
else
  skip "the CUDA image (./dev docker --cuda): a download of 1.6 GB"
fi

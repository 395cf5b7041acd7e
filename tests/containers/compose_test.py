#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compose_test.py REPOSITORY: compose.yaml grants what its services need and no more, with either parser.

If Compose is installed, it resolves the file (without an engine). Otherwise PyYAML reads it, which merges the anchors
as compose does.
"""
import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

try:
    import yaml
except ImportError:
    print("skipped: no PyYAML; apt-get install python3-yaml")
    sys.exit(77)

REPOSITORY = Path(sys.argv.pop()).resolve()
COMPOSE = ["docker", "compose"]


def resolved_by_compose() -> dict | None:
    try:
        subprocess.run([*COMPOSE, "version"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    command = [*COMPOSE, "--profile", "cuda", "--profile", "runtime", "config", "--format", "json"]
    result = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise AssertionError(f"compose refuses the file: {result.stderr}")
    return json.loads(result.stdout)


def targets(service: dict) -> dict[str, bool]:
    """Mount points, and whether each is read-only."""
    found = {}
    for volume in service.get("volumes", []):
        if isinstance(volume, str):
            parts = volume.split(":")
            found[parts[1]] = parts[-1] == "ro"
        else:
            found[volume["target"]] = volume.get("read_only", False)
    return found


# Keys that do not change a process's rights.
HARMLESS = {"build", "command", "entrypoint", "environment", "image", "init", "networks", "profiles", "tmpfs", "working_dir"}


def rights_of(service: dict) -> set[str]:
    """What the service's processes may do that an ordinary user's in a container with nothing granted may not."""
    rights = {f"cap_add {name}" for name in service.get("cap_add", [])}
    rights |= {f"mount of {target}" for target in targets(service) if target != "/src"}
    options = set(service.get("security_opt", []))
    rights |= {f"security_opt {option}" for option in options - {"no-new-privileges:true"}}
    if service.get("user", "0").partition(":")[0] in ("", "0", "root"):
        rights.add("root")
    if service.get("cap_drop") != ["ALL"]:
        rights.add("the engine's usual capabilities")
    if "no-new-privileges:true" not in options:
        rights.add("programs that raise their privileges")
    if not service.get("read_only"):
        rights.add("a root file system that can be written")
    known = HARMLESS | {"cap_add", "cap_drop", "read_only", "security_opt", "user", "volumes"}
    return rights | {f"{key}: {value}" for key, value in service.items() if key not in known and value}


class ComposeFile(unittest.TestCase):
    text = (REPOSITORY / "compose.yaml").read_text(encoding="utf-8")
    parsed = yaml.safe_load(text)

    def each_reading(self):
        """The services as PyYAML reads them, and as compose does where it is installed."""
        yield "yaml", self.parsed["services"]
        if (resolved := resolved_by_compose()) is not None:
            yield "compose", resolved["services"]

    def test_every_service_is_there(self):
        for reader, services in self.each_reading():
            with self.subTest(reader):
                self.assertEqual(set(services), {"dev", "dev-cuda", "test", "unprivileged", "runtime"})

    def test_plain_up_needs_no_gpu_and_builds_no_runtime(self):
        for reader, services in self.each_reading():
            with self.subTest(reader):
                self.assertEqual({name for name, service in services.items() if service.get("profiles")},
                                 {"dev-cuda", "runtime"})

    def test_measuring_services_are_granted_two_capabilities_and_nothing_is_privileged(self):
        for reader, services in self.each_reading():
            for name, service in services.items():
                with self.subTest(f"{reader}: {name}"):
                    self.assertFalse(service.get("privileged", False))
                    granted = set(service.get("cap_add", []))
                    self.assertEqual(granted, set() if name == "unprivileged" else {"BPF", "PERFMON"})

    def test_no_service_makes_its_command_the_one_that_orphans_come_to(self):
        for reader, services in self.each_reading():
            for name, service in services.items():
                with self.subTest(f"{reader}: {name}"):
                    self.assertIs(service.get("init"), True)

    def test_unprivileged_has_nothing(self):
        for reader, services in self.each_reading():
            with self.subTest(reader):
                service = dict(services["unprivileged"])
                # compose.yaml takes the number from the shell; an ordinary user's is not 0.
                service["user"] = re.sub(r"\$\{\w+:-(\d+)\}", r"\1", service["user"])
                self.assertEqual(rights_of(service), set())

    def test_a_right_that_somebody_grants_it_would_be_found(self):
        plain = dict(self.parsed["services"]["unprivileged"], user="1000:1000")
        for key, value in {"privileged": True, "pid": "host", "network_mode": "host", "devices": ["/dev/kmsg"], "user": "0",
                           "cap_add": ["BPF"], "cap_drop": [], "security_opt": ["seccomp:unconfined"], "read_only": False,
                           "group_add": ["docker"], "deploy": {"resources": {}},
                           "volumes": ["/var/run/docker.sock:/var/run/docker.sock"]}.items():
            with self.subTest(key):
                self.assertNotEqual(rights_of(dict(plain, **{key: value})), set())

    def test_tracefs_is_read_only_and_the_compiler_cache_a_volume(self):
        for reader, services in self.each_reading():
            for name in ("dev", "test", "dev-cuda"):
                with self.subTest(f"{reader}: {name}"):
                    mounts = targets(services[name])
                    self.assertIs(mounts["/sys/kernel/tracing"], True)
                    self.assertIs(mounts["/src"], False)
                    self.assertIn("/ccache", mounts)
        self.assertIn("compiler-cache", self.parsed["volumes"])

    def test_a_gpu_is_reserved_in_the_way_that_fails_without_one(self):
        for reader, services in self.each_reading():
            with self.subTest(reader):
                self.assertNotIn("gpus", services["dev-cuda"])
                device, = services["dev-cuda"]["deploy"]["resources"]["reservations"]["devices"]
                self.assertEqual(device["driver"], "nvidia")
                self.assertIn("gpu", device["capabilities"])

    def test_the_base_image_is_a_build_argument_of_every_image(self):
        for reader, services in self.each_reading():
            for name, service in services.items():
                with self.subTest(f"{reader}: {name}"):
                    self.assertIn("BASE_IMAGE", service["build"]["args"])
                    self.assertTrue((REPOSITORY / service["build"]["dockerfile"]).is_file())


if __name__ == "__main__":
    unittest.main(verbosity=2)

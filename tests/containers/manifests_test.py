#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""manifests_test.py REPOSITORY: the manifests hold only fields that the Kubernetes API has, and grant what they say.

Each document goes through the Kubernetes client's own types, which are generated from the API's description, and back. A
field that the API does not know, or a value of another type, is lost or changed on the way, and so is found.
"""
import json
import sys
import unittest
from pathlib import Path

try:
    import yaml
    from kubernetes import client
except ImportError as error:
    print(f"skipped: {error}; apt-get install python3-yaml python3-kubernetes")
    sys.exit(77)

FOLDER = Path(sys.argv.pop()).resolve() / "docker"
FILES = ["kubernetes/tests.yaml", "kubernetes/unprivileged.yaml", "podman/unprivileged.yaml"]
TYPES = {("v1", "Namespace"): "V1Namespace", ("batch/v1", "Job"): "V1Job", ("v1", "Pod"): "V1Pod"}


class Answer:
    """What the client would have got from a server."""

    def __init__(self, document: dict):
        self.data = json.dumps(document)


def through_the_api(document: dict) -> dict:
    api = client.ApiClient(client.Configuration())
    kind = TYPES[document["apiVersion"], document["kind"]]
    return api.sanitize_for_serialization(api.deserialize(Answer(document), kind))


def documents(name: str) -> list[dict]:
    return list(yaml.safe_load_all((FOLDER / name).read_text(encoding="utf-8")))


# The volumes that the Pod Security level `restricted` allows.
ALLOWED_VOLUMES = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"}


def beyond_restricted(workload: dict) -> set[str]:
    """What a namespace with the Pod Security level `restricted` refuses of it, by the fields' names."""
    spec = spec_of(workload)
    found = {field for field in ("hostNetwork", "hostPID", "hostIPC") if spec.get(field)}
    found |= {f"volume {kind}" for volume in spec.get("volumes", []) for kind in set(volume) - {"name"} - ALLOWED_VOLUMES}
    for container in spec["containers"] + spec.get("initContainers", []):
        context = {**spec.get("securityContext", {}), **container.get("securityContext", {})}
        added = context.get("capabilities", {}).get("add", [])
        is_refused = {
            "privileged": context.get("privileged", False),
            "allowPrivilegeEscalation": context.get("allowPrivilegeEscalation", True),
            "runAsNonRoot": not context.get("runAsNonRoot", False),
            "runAsUser": context.get("runAsUser") == 0,
            "seccompProfile": context.get("seccompProfile", {}).get("type") not in ("RuntimeDefault", "Localhost"),
            "capabilities.drop": "ALL" not in context.get("capabilities", {}).get("drop", []),
            "capabilities.add": bool(set(added) - {"NET_BIND_SERVICE"}),
            "hostPort": any("hostPort" in port for port in container.get("ports", [])),
        }
        found |= {field for field, refused in is_refused.items() if refused}
    return found


def spec_of(workload: dict) -> dict:
    return workload["spec"]["template"]["spec"] if workload["kind"] == "Job" else workload["spec"]


def workload_of(name: str) -> dict:
    return next(document for document in documents(name) if document["kind"] in ("Job", "Pod"))


def container_in(workload: dict) -> dict:
    container, = spec_of(workload)["containers"]
    return container


def container_of(name: str) -> dict:
    return container_in(workload_of(name))


class Manifests(unittest.TestCase):
    def test_the_api_knows_every_field(self):
        self.assertEqual(sorted(str(file.relative_to(FOLDER)) for file in FOLDER.rglob("*.yaml")), FILES)
        for name in FILES:
            for document in documents(name):
                with self.subTest(f"{name}: {document['kind']}"):
                    self.assertEqual(through_the_api(document), document)

    def test_a_field_that_the_api_does_not_know_would_be_found(self):
        for name in FILES:
            with self.subTest(name):
                document = workload_of(name)
                context = container_in(document)["securityContext"]
                context["capabilties"] = context.pop("capabilities")
                self.assertNotEqual(through_the_api(document), document)

    def test_a_field_at_another_level_would_be_found(self):
        document = workload_of("kubernetes/tests.yaml")
        container = container_in(document)
        container["capabilities"] = container["securityContext"].pop("capabilities")
        self.assertNotEqual(through_the_api(document), document)

    def test_a_value_of_another_type_would_be_found(self):
        document = workload_of("kubernetes/tests.yaml")
        container_in(document)["securityContext"]["privileged"] = "no"
        self.assertNotEqual(through_the_api(document), document)

    def test_a_missing_field_would_be_found(self):
        document = workload_of("kubernetes/tests.yaml")
        del container_in(document)["name"]
        with self.assertRaisesRegex(ValueError, "name"):
            through_the_api(document)

    def test_a_job_is_in_the_namespace_of_its_file(self):
        for name in ("kubernetes/tests.yaml", "kubernetes/unprivileged.yaml"):
            namespace, job = documents(name)
            self.assertEqual(job["metadata"]["namespace"], namespace["metadata"]["name"])

    def test_the_tests_are_granted_two_capabilities_and_see_tracefs_read_only(self):
        context = container_of("kubernetes/tests.yaml")["securityContext"]
        self.assertEqual(context["capabilities"], {"drop": ["ALL"], "add": ["BPF", "PERFMON"]})
        self.assertFalse(context["privileged"])
        mounts = {mount["mountPath"]: mount.get("readOnly", False) for mount
                  in container_of("kubernetes/tests.yaml")["volumeMounts"]}
        self.assertEqual(mounts, {"/out": False, "/sys/kernel/tracing": True})

    def test_a_namespace_admits_its_job_and_one_of_a_stricter_level_would_not(self):
        for name in ("kubernetes/tests.yaml", "kubernetes/unprivileged.yaml"):
            namespace, job = documents(name)
            level = namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"]
            with self.subTest(name):
                self.assertEqual(level, "privileged" if beyond_restricted(job) else "restricted")

    def test_only_the_job_that_counts_by_ebpf_needs_more(self):
        self.assertEqual(beyond_restricted(workload_of("kubernetes/unprivileged.yaml")), set())
        self.assertEqual(beyond_restricted(workload_of("kubernetes/tests.yaml")), {
            "allowPrivilegeEscalation", "capabilities.add", "runAsNonRoot", "runAsUser", "volume hostPath"})
        # Rootless Podman has a seccomp profile without being asked, and its root is an ordinary user.
        self.assertEqual(beyond_restricted(workload_of("podman/unprivileged.yaml")), {"runAsNonRoot", "seccompProfile"})

    def test_each_thing_that_the_level_refuses_would_be_found(self):
        context = {"privileged": True, "allowPrivilegeEscalation": True, "runAsNonRoot": False, "runAsUser": 0,
                   "seccompProfile": {"type": "Unconfined"}, "capabilities": {"drop": ["ALL"], "add": ["BPF"]}}
        spec = {"hostNetwork": True, "hostPID": True, "volumes": [{"name": "root", "hostPath": {"path": "/"}}]}
        for where, changes in (spec_of, spec), (lambda job: container_in(job)["securityContext"], context):
            for field, value in changes.items():
                job = workload_of("kubernetes/unprivileged.yaml")
                where(job)[field] = value
                with self.subTest(field):
                    self.assertEqual(len(beyond_restricted(job)), 1)
        job = workload_of("kubernetes/unprivileged.yaml")
        del container_in(job)["securityContext"]
        self.assertGreater(len(beyond_restricted(job)), 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)

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


def workload_of(name: str) -> dict:
    return next(document for document in documents(name) if document["kind"] in ("Job", "Pod"))


def container_in(workload: dict) -> dict:
    spec = workload["spec"]
    container, = (spec["template"]["spec"] if workload["kind"] == "Job" else spec)["containers"]
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

    def test_the_unprivileged_job_meets_the_restricted_level(self):
        context = container_of("kubernetes/unprivileged.yaml")["securityContext"]
        self.assertTrue(context["runAsNonRoot"])
        self.assertNotEqual(context["runAsUser"], 0)
        self.assertFalse(context["allowPrivilegeEscalation"])
        self.assertEqual(context["capabilities"], {"drop": ["ALL"]})
        self.assertEqual(context["seccompProfile"], {"type": "RuntimeDefault"})

    def test_the_rootless_pod_is_granted_nothing(self):
        context = container_of("podman/unprivileged.yaml")["securityContext"]
        self.assertEqual(context["capabilities"], {"drop": ["ALL"]})
        self.assertFalse(context["allowPrivilegeEscalation"])


if __name__ == "__main__":
    unittest.main(verbosity=2)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""manifests_test.py REPOSITORY: the Kubernetes manifests hold only fields that the API has, and grant what they say.

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

FOLDER = Path(sys.argv.pop()).resolve() / "docker" / "kubernetes"
TYPES = {("v1", "Namespace"): "V1Namespace", ("batch/v1", "Job"): "V1Job"}


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


def job_of(name: str) -> dict:
    return next(document for document in documents(name) if document["kind"] == "Job")


def container_of(name: str) -> dict:
    container, = job_of(name)["spec"]["template"]["spec"]["containers"]
    return container


class Manifests(unittest.TestCase):
    def test_the_api_knows_every_field(self):
        files = sorted(FOLDER.glob("*.yaml"))
        self.assertEqual([file.name for file in files], ["tests.yaml", "unprivileged.yaml"])
        for file in files:
            for document in documents(file.name):
                with self.subTest(f"{file.name}: {document['kind']}"):
                    self.assertEqual(through_the_api(document), document)

    def test_a_field_that_the_api_does_not_know_would_be_found(self):
        document = job_of("tests.yaml")
        container = document["spec"]["template"]["spec"]["containers"][0]
        container["securityContext"]["capabilties"] = container["securityContext"].pop("capabilities")
        self.assertNotEqual(through_the_api(document), document)

    def test_a_job_is_in_the_namespace_of_its_file(self):
        for name in ("tests.yaml", "unprivileged.yaml"):
            namespace, job = documents(name)
            self.assertEqual(job["metadata"]["namespace"], namespace["metadata"]["name"])

    def test_the_tests_are_granted_two_capabilities_and_see_tracefs_read_only(self):
        context = container_of("tests.yaml")["securityContext"]
        self.assertEqual(context["capabilities"], {"drop": ["ALL"], "add": ["BPF", "PERFMON"]})
        self.assertFalse(context["privileged"])
        mounts = {mount["mountPath"]: mount.get("readOnly", False) for mount in container_of("tests.yaml")["volumeMounts"]}
        self.assertEqual(mounts, {"/out": False, "/sys/kernel/tracing": True})

    def test_the_unprivileged_job_meets_the_restricted_level(self):
        context = container_of("unprivileged.yaml")["securityContext"]
        self.assertTrue(context["runAsNonRoot"])
        self.assertNotEqual(context["runAsUser"], 0)
        self.assertFalse(context["allowPrivilegeEscalation"])
        self.assertEqual(context["capabilities"], {"drop": ["ALL"]})
        self.assertEqual(context["seccompProfile"], {"type": "RuntimeDefault"})


if __name__ == "__main__":
    unittest.main(verbosity=2)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pod_of_job.py MANIFEST [unconfined]: prints the pod that a manifest's Job would start.

There is no cluster to apply the manifests to, and Podman runs pods but no Jobs. So ./dev docker lets Podman run what is in
them, `unconfined` where Podman's own seccomp profile denies what a cluster's allows. (It is told by an annotation: Podman
4.3 does not look at seccompProfile.)
"""
import sys

import yaml

with open(sys.argv[1], encoding="utf-8") as file:
    job, = (document for document in yaml.safe_load_all(file) if document["kind"] == "Job")
metadata = {"name": job["metadata"]["name"]}
if len(sys.argv) > 2:
    metadata["annotations"] = {"seccomp.security.alpha.kubernetes.io/pod": sys.argv[2]}
pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": job["spec"]["template"]["spec"]}
yaml.safe_dump(pod, sys.stdout, sort_keys=False)

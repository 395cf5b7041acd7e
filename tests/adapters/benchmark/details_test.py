# SPDX-License-Identifier: MIT
"""--syscost_detail of benchmarks: the process that writes the rows names what another one has counted."""
import os

from benchmark_case import BIN, BenchmarkCase, main

DRIVER_REQUESTS = os.path.join(BIN, "benchmark_driver_requests")


class Details(BenchmarkCase):
    def test_requests_of_a_driver_have_names(self):
        self.needs("ebpf")
        [test] = self.measured("BM_AsksADriver", program=DRIVER_REQUESTS, flags=["--syscost_detail=ioctl"]).values()
        if test["outcome"] != "passed":
            self.skipTest("mknod of a device is not allowed here; run as root outside of a container")
        calls = {row["detail"]: int(row["calls"]) for row in self.rows(record="syscall", test="BM_AsksADriver", syscall="ioctl")}
        self.assertEqual(set(calls), {"dri/renderD128 DRM_VERSION", "dri/renderD128 DRM_GET_CAP"})
        self.assertEqual(calls["dri/renderD128 DRM_VERSION"], 2 * calls["dri/renderD128 DRM_GET_CAP"])


if __name__ == "__main__":
    main()

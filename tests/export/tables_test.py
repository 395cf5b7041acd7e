#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The text that `bench export --format` prints, as other programs read it: tables_test.py WHAT BENCH SOURCE WORK

WHAT is one of:
  prometheus    Prometheus itself: promtool makes blocks of the text, and a server scrapes it; both have all samples
  openmetrics   prometheus_client, a parser that is not ours, reads the text; its samples are those of the table
  duckdb        the queries of docs/many-machines.md, with the npm package below, against sums of this program
  pandas        the program of docs/many-machines.md, against the same sums
A tool that is missing skips its test with a reason.
"""
import collections
import csv
import http.server
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import urllib.parse
import urllib.request

DUCKDB = ("@duckdb/node-api", "1.5.6-r.1")
SKIPPED = 77
NAMES = ["groups.csv", "main.csv", "bytes.csv", "unseen.csv", "google_scale.json", "seccomp.csv"]


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, (command, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


def export(bench, path, form, *options):
    return run([bench, "export", path, "--format", form, *options])


def rows_of(text):
    rows = list(csv.DictReader(text.splitlines()))
    assert rows and all(None not in row and None not in row.values() for row in rows), "a line has other columns than the header"
    return rows


def blocks_of(page):
    """The files that the page shows."""
    with open(page, encoding="utf-8") as file:
        return dict(re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", file.read(), re.DOTALL))


def check_openmetrics(bench, source, _work):
    try:
        from prometheus_client.openmetrics.parser import text_string_to_metric_families
    except ImportError:
        skip("there is no prometheus_client for this Python (Debian: python3-prometheus-client, for /usr/bin/python3)")
    for name in NAMES:
        path = os.path.join(source, "tests/cli/data", name)
        for options in ([], ["--fine"]):
            text = export(bench, path, "openmetrics", *options)
            assert text.endswith("\n# EOF\n")
            families = {family.name: family for family in text_string_to_metric_families(text)}
            found = collections.Counter()
            seen = set()
            for family in families.values():
                assert family.documentation, family.name
                assert not family.unit or family.name.endswith("_" + family.unit), family.name
                for sample in family.samples:
                    key = (sample.name, tuple(sorted(sample.labels.items())))
                    assert key not in seen, f"{name}: twice: {key}"
                    seen.add(key)
                    if family.name == "syscost_run":
                        continue
                    assert sample.timestamp is not None
                    found[sample.name] += int(sample.value)
            # The table of the same run.
            expected = collections.Counter()
            units = {"kernel_time_ns", "total_kernel_time_ns", "wall_time_ns", "overhead_estimate_ns"}
            for row in rows_of(export(bench, path, "csv", *options)):
                metric, value = row["metric"], int(row["value"])
                if metric in ("user_time_ns", "system_time_ns", "cpu_time_ns"):
                    expected["syscost_cpu_time_nanoseconds"] += value
                elif metric in units:
                    expected["syscost_" + metric[:-3] + "_nanoseconds"] += value
                elif metric == "latency":
                    expected["syscost_latency_nanoseconds_count"] += value
                else:
                    expected["syscost_" + metric] += value
            for metric, value in expected.items():
                assert found[metric] == value, (name, metric, found[metric], value)
            print(f"{name} {options}: {len(seen)} samples of {len(families)} families")


SAMPLE = re.compile(r'^(\w+)\{((?:\w+="(?:[^"\\\\]|\\\\.)*",?)*)\} (\S+) (\S+)$')


def samples_of(text):
    """Value and time of each sample, by its name and labels."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, labels, value, time = SAMPLE.match(line).groups()
        unescaped = {key: re.sub(r"\\(.)", r"\1", one) for key, one in re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels)}
        found[name, tuple(sorted(unescaped.items()))] = (value, float(time))
    return found


class Prometheus:
    """A server on the loopback interface that reads the blocks in `folder` and scrapes `target`."""

    def __init__(self, folder, target):
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.address = "127.0.0.1:%d" % one.getsockname()[1]
        config = os.path.join(folder, "prometheus.yml")
        with open(config, "w", encoding="utf-8") as file:
            file.write("scrape_configs:\n- job_name: syscost\n  scrape_interval: 1s\n  honor_timestamps: false\n"
                       f"  static_configs: [{{targets: ['{target}']}}]\n")
        self.log = open(os.path.join(folder, "prometheus.log"), "w+b")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/blocks", f"--web.listen-address={self.address}",
             "--storage.tsdb.retention.time=100y", "--query.lookback-delta=1h"], stdout=self.log, stderr=self.log)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log.close()

    def ask(self, query, time=None):
        """The samples of a query, as samples_of() has them, without their times."""
        asked = {"query": query} | ({} if time is None else {"time": str(time)})
        url = f"http://{self.address}/api/v1/query?{urllib.parse.urlencode(asked)}"
        for _ in range(600):
            assert self.process.poll() is None, open(self.log.name, encoding="utf-8").read()[-2000:]
            try:
                with urllib.request.urlopen(url, timeout=60) as answer:
                    result = json.load(answer)["data"]["result"]
            except OSError:  # it is not ready yet
                result = []
            if result:
                break
            self.process_wait()
        found = {}
        for one in result:
            labels = {key: value for key, value in one["metric"].items() if key not in ("__name__", "job", "instance")}
            found[one["metric"]["__name__"], tuple(sorted(labels.items()))] = one["value"][1]
        return found

    def process_wait(self):
        try:
            self.process.wait(0.2)
        except subprocess.TimeoutExpired:
            pass


def check_prometheus(bench, source, work):
    if shutil.which("prometheus") is None or shutil.which("promtool") is None:
        skip("there is no Prometheus (Debian: prometheus)")
    for name in NAMES[:3]:
        folder = os.path.join(work, name)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        text = export(bench, os.path.join(source, "tests/cli/data", name), "openmetrics")
        path = os.path.join(folder, "run.om")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        run(["promtool", "tsdb", "create-blocks-from", "openmetrics", path, os.path.join(folder, "blocks")])
        expected = {key: value for key, (value, _) in samples_of(text).items()}
        last = max(time for _, time in samples_of(text).values())

        class Page(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            with Prometheus(folder, f"127.0.0.1:{server.server_port}") as prometheus:
                everything = '{__name__=~"syscost_.*"}'
                for way, time in (("blocks", last + 1), ("scraped", None)):
                    found = prometheus.ask(everything, time)
                    assert found.keys() == expected.keys(), (name, way, sorted(found.keys() ^ expected.keys())[:4], len(found), len(expected))
                    for key, value in expected.items():
                        assert float(found[key]) == float(value), (name, way, key, found[key], value)
                    print(f"{name}, {way}: {len(found)} samples")
            server.shutdown()


def sums_of(rows):
    """What the queries of the page should find."""
    of_tests = [row for row in rows if row["kind"] == "test" and row["origin"] == "syscost"]
    most = collections.Counter()
    for row in of_tests:
        if row["metric"] == "total_calls":
            most[row["test"]] = max(most[row["test"]], int(row["value"]))
    tests = sorted(most.items(), key=lambda one: (-one[1], one[0]))[:3]
    values = collections.defaultdict(set)
    for row in of_tests:
        if row["metric"] == "calls":
            values[row["test"], row["syscall"]].add(int(row["value"]))
    commits = sorted((test, syscall, min(all_), max(all_)) for (test, syscall), all_ in values.items() if len(all_) > 1)
    buckets = collections.Counter()
    for row in of_tests:
        if row["metric"] == "latency" and row["syscall"] == "openat":
            buckets[int(row["upper_ns"])] += int(row["value"])
    up_to = 0
    for upper, calls in sorted(buckets.items()):
        up_to += calls
        if 2 * up_to >= sum(buckets.values()):
            return tests, commits, upper
    raise AssertionError("no openat")


def table_for_queries(bench, source, work):
    """runs.csv in `work`: two runs, of which the counts of some tests differ."""
    data = os.path.join(source, "tests/cli/data")
    os.makedirs(work, exist_ok=True)
    text = run([bench, "export", os.path.join(data, "groups.csv"), os.path.join(data, "scale_old.csv"),
                os.path.join(data, "scale_new.csv"), "--format", "csv"])
    with open(os.path.join(work, "runs.csv"), "w", encoding="utf-8") as file:
        file.write(text)
    return rows_of(text)


def check_pandas(bench, source, work):
    if subprocess.run(["/usr/bin/python3", "-c", "import pandas"], capture_output=True, check=False).returncode != 0:
        skip("/usr/bin/python3 has no pandas (Debian: python3-pandas)")
    rows = table_for_queries(bench, source, work)
    with open(os.path.join(work, "tests.py"), "w", encoding="utf-8") as file:
        file.write(blocks_of(os.path.join(source, "docs/many-machines.md"))["tests.py"])
    printed = run(["/usr/bin/python3", "tests.py"], cwd=work).splitlines()
    calls = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows:
        if row["kind"] == "test" and row["origin"] == "syscost" and row["metric"] == "calls":
            calls[row["test"]][row["syscall"]].append(int(row["value"]))
    median = lambda all_: (sorted(all_)[len(all_) // 2] + sorted(all_)[(len(all_) - 1) // 2]) / 2
    totals = {test: int(sum(median(all_) for all_ in of_test.values())) for test, of_test in calls.items()}
    assert [int(line.split()[-1]) for line in printed[:3]] == sorted(totals.values(), reverse=True)[:3], (printed, totals)
    assert printed[3] == "int64 int64 UTC", printed


def modules(work):
    """A folder from which node finds DuckDB."""
    if not shutil.which("node") or not shutil.which("npm"):
        skip("there is no node and npm to run DuckDB with (Debian: nodejs npm)")
    folder = os.path.join(work, "modules")
    marker = os.path.join(folder, "node_modules", DUCKDB[0], "package.json")
    if not os.path.exists(marker):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        with open(os.path.join(folder, "package.json"), "w", encoding="ascii") as file:
            file.write('{"private": true}\n')
        try:
            done = subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1", "@".join(DUCKDB)],
                                  cwd=folder, capture_output=True, text=True, timeout=120, check=False)
        except subprocess.TimeoutExpired:
            skip("npm did not install DuckDB within two minutes")
        if done.returncode != 0 or not os.path.exists(marker):
            skip(f"npm cannot install DuckDB here: {done.stderr.strip().splitlines()[-1:] or 'it gives no reason'}")
    return os.path.join(folder, "node_modules")


def check_duckdb(bench, source, work):
    path = modules(work)
    rows = table_for_queries(bench, source, work)
    queries = {name: text for name, text in blocks_of(os.path.join(source, "docs/many-machines.md")).items() if name.endswith(".sql")}
    queries["types.sql"] = "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM 'runs.csv');"
    queries["count.sql"] = "SELECT count(*) AS lines, sum(value) AS sum FROM 'runs.parquet';"
    program = """
const { DuckDBInstance } = require('@duckdb/node-api');
(async () => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const results = {};
  for (const [name, query] of Object.entries(JSON.parse(require('fs').readFileSync(0, 'utf8')))) {
    results[name] = (await connection.runAndReadAll(query)).getRowObjectsJson();
  }
  console.log(JSON.stringify(results));
})();
"""
    results = json.loads(run(["node", "-e", program], input=json.dumps(queries), cwd=work,
                             env={**os.environ, "NODE_PATH": path}))
    tests, commits, median = sums_of(rows)
    assert [(row["test"], int(row["calls"])) for row in results["tests.sql"]] == tests, (results["tests.sql"], tests)
    found = [(row["test"], row["syscall"], int(row["least"]), int(row["most"])) for row in results["commits.sql"]]
    assert found == commits, (found, commits)
    assert [int(row["median_at_most_ns"]) for row in results["latency.sql"]] == [median], (results["latency.sql"], median)
    types = {row["column_name"]: row["column_type"] for row in results["types.sql"]}
    for column, kind in types.items():
        expected = ("BIGINT" if column in ("pid", "repetition", "upper_ns", "value")
                    else "TIMESTAMP" if column == "started_at" else "VARCHAR")
        # DuckDB calls a time with a zone by another name.
        assert kind.startswith(expected), (column, kind)
    [count] = results["count.sql"]
    assert int(count["lines"]) == len(rows) and int(count["sum"]) == sum(int(row["value"]) for row in rows), count
    print(f"{len(rows)} lines, {len(queries)} queries")


def main():
    what, bench, source, work = sys.argv[1:5]
    {"openmetrics": check_openmetrics, "prometheus": check_prometheus, "duckdb": check_duckdb,
     "pandas": check_pandas}[what](bench, source, work)


main()

// SPDX-License-Identifier: MIT
//
// Reads what `bench export --otlp FILE` wrote with an implementation of the protocol that is not ours:
// node decode.js FILE...
//
// Each line goes from JSON to the protocol's messages, to protobuf and back. If that returns all that the line holds, each
// field has a name and a type that the protocol has: fields that it does not have are dropped on the way.
"use strict";

const assert = require("node:assert");
const fs = require("node:fs");

const { opentelemetry } = require("@opentelemetry/otlp-transformer/build/src/generated/root.js");
const { trace, metrics } = opentelemetry.proto.collector;

const hexIds = ["traceId", "spanId", "parentSpanId"];

// The protocol's JSON differs from protobuf's in its ids: hexadecimal, not base64.
function withIds(value, from, to) {
  if (Array.isArray(value)) return value.map((one) => withIds(one, from, to));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [
    name, hexIds.includes(name) ? Buffer.from(one, from).toString(to) : withIds(one, from, to)]));
}

let spans = 0;
let points = 0;
for (const path of process.argv.slice(2)) {
  for (const line of fs.readFileSync(path, "utf8").split("\n").filter((one) => one !== "")) {
    const given = JSON.parse(line);
    const type = "resourceSpans" in given ? trace.v1.ExportTraceServiceRequest
                                          : metrics.v1.ExportMetricsServiceRequest;
    const message = type.fromObject(withIds(given, "hex", "base64"));
    assert.strictEqual(type.verify(message), null);
    const read = type.decode(type.encode(message).finish());
    const back = withIds(type.toObject(read, { longs: String, bytes: String }), "base64", "hex");
    assert.deepStrictEqual(JSON.parse(JSON.stringify(back)), given);

    for (const resource of given.resourceSpans ?? []) {
      for (const scope of resource.scopeSpans) {
        for (const span of scope.spans) {
          assert.match(span.traceId, /^[0-9a-f]{32}$/);
          assert.match(span.spanId, /^[0-9a-f]{16}$/);
          assert.ok(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano));
          spans += 1;
        }
      }
    }
    for (const resource of given.resourceMetrics ?? []) {
      for (const scope of resource.scopeMetrics) {
        for (const metric of scope.metrics) {
          for (const point of (metric.gauge ?? metric.histogram).dataPoints) {
            if (metric.histogram) {
              assert.strictEqual(point.bucketCounts.length, point.explicitBounds.length + 1);
              assert.strictEqual(point.bucketCounts.reduce((sum, one) => sum + BigInt(one), 0n), BigInt(point.count));
            }
            points += 1;
          }
        }
      }
    }
  }
}
assert.ok(spans > 0 && points > 0);
console.log(`${spans} spans and ${points} data points`);

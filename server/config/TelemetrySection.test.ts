import { describe, expect, it } from "vitest";
import { configFolder, least } from "../../properties/LoadedConfig.ts";
import { takeOver } from "./ConfigChanges.ts";

const { accepted, folder, problems } = configFolder();
const telemetry = (yaml: string): string => `${least}telemetry: ${yaml}\n`;

describe("the section for telemetry", () => {
  it("is off by default, and on with an address alone", async () => {
    expect((await accepted(least)).telemetry).toBeUndefined();
    const defaults = { inClear: false, signals: ["traces", "metrics"], samplingRatio: 1, exportIntervalMillis: 10_000 };
    expect((await accepted(telemetry('{otlp-endpoint: "https://otel.example/base/"}'))).telemetry).toEqual({
      otlpEndpoint: "https://otel.example/base",
      ...defaults,
    });
    const env = {
      CUSTODY_TELEMETRY_OTLP_ENDPOINT: "http://127.0.0.1:4318",
      CUSTODY_TELEMETRY_SAMPLING_RATIO: "0.25",
      CUSTODY_TELEMETRY_SIGNALS: "traces",
    };
    expect((await accepted(least, env)).telemetry).toEqual({
      otlpEndpoint: "http://127.0.0.1:4318",
      ...defaults,
      signals: ["traces"],
      samplingRatio: 0.25,
    });
    const all =
      '{otlp-endpoint: "https://o", headers-file: h, signals: [metrics], sampling-ratio: 0, export-interval: 1h, in-clear: true}';
    expect((await accepted(telemetry(all))).telemetry).toEqual({
      otlpEndpoint: "https://o",
      headersFile: `${folder}/h`,
      signals: ["metrics"],
      samplingRatio: 0,
      exportIntervalMillis: 3_600_000,
      inClear: true,
    });
  });

  it("goes without TLS to loopback, or with a word for it, and then with no secret", async () => {
    const far = "http://collector.monitoring:4318";
    expect((await accepted(telemetry(`{otlp-endpoint: "${far}", in-clear: true}`))).telemetry?.inClear).toBe(true);
    expect(await problems(telemetry(`{otlp-endpoint: "${far}"}`))).toEqual([
      expect.stringMatching(/^telemetry\.otlp-endpoint: has no TLS and is not a loopback address; use https:/),
    ]);
    expect(await problems(telemetry(`{otlp-endpoint: "${far}", in-clear: true, headers-file: h}`))).toEqual([
      "telemetry.headers-file: would be sent without TLS; use https:// in otlp-endpoint",
    ]);
    expect(await accepted(telemetry('{otlp-endpoint: "http://127.0.0.1:4318", headers-file: h}'))).toBeDefined();
  });

  it.each([
    ["{}", "telemetry.otlp-endpoint: is required; set it in the file or as CUSTODY_TELEMETRY_OTLP_ENDPOINT"],
    ['{otlp-endpoint: "otel.example:4318"}', "telemetry.otlp-endpoint: must begin with https://; write such a URL"],
    [
      '{otlp-endpoint: "https://u:hunter2@otel.example"}',
      "telemetry.otlp-endpoint: must not hold credentials; remove them from the URL",
    ],
    [
      '{otlp-endpoint: "https://otel.example?token=hunter2"}',
      "telemetry.otlp-endpoint: must hold no query; remove the part from ? on",
    ],
    [
      '{otlp-endpoint: "https://o", sampling-ratio: 1.1}',
      "telemetry.sampling-ratio: must be a number from 0 to 1; write for example 0.1",
    ],
    [
      '{otlp-endpoint: "https://o", sampling-ratio: all}',
      "telemetry.sampling-ratio: must be a number from 0 to 1; write for example 0.1",
    ],
    [
      '{otlp-endpoint: "https://o", export-interval: 999ms}',
      "telemetry.export-interval: must be a duration from 1s to 1h, such as 10s or 5m; write a number and a unit",
    ],
    [
      '{otlp-endpoint: "https://o", signals: []}',
      "telemetry.signals: must be a list of 1 to 2 different entries; write it as a list and remove repetitions",
    ],
    [
      '{otlp-endpoint: "https://o", signals: [logs]}',
      "telemetry.signals.0: must be one of traces, metrics; write one of them",
    ],
    [
      '{otlp-endpoint: "https://o", headers: {authorization: hunter2}}',
      "telemetry.headers: unknown key; remove it or use one of otlp-endpoint, in-clear, headers-file, signals, sampling-ratio, export-interval",
    ],
  ])("%s is refused by name", async (yaml, problem) => {
    expect(await problems(telemetry(yaml))).toEqual([problem]);
  });

  it("takes effect with the next start", async () => {
    const running = await accepted(least);
    const fresh = await accepted(telemetry('{otlp-endpoint: "https://o", export-interval: 5s}'));
    expect(takeOver(running, fresh).needsRestart).toContain("telemetry.otlp-endpoint");
    expect(takeOver(running, fresh).config.telemetry).toBeUndefined();
  });
});

import { createHash } from "node:crypto";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { describe, expect, it } from "vitest";
import type { BodyFault } from "../../../core/base/Rejection.ts";
import { Place, type Shape } from "../../../core/codec/Shape.ts";
import type { JsonValue } from "../../../core/codec/StrictJson.ts";
import { errorKinds } from "../Problems.ts";
import { routes } from "../Routes.ts";
import { anywhere, holesOf, problemsOf } from "./Endpoint.ts";
import { endpoints, namedEndpoints } from "./Endpoints.ts";
import { openApi } from "./OpenApi.ts";
import { referenceHeaders, referencePage } from "./Reference.ts";

const description = openApi("1.2.3");
const text = JSON.stringify(description);
const member = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
const at = (...names: ReadonlyArray<string>): unknown => names.reduce<unknown>(member, description);

/** A value as the strict reader has it. */
const jsonOf = (value: unknown): JsonValue =>
  Array.isArray(value)
    ? value.map(jsonOf)
    : typeof value === "object" && value !== null
      ? new Map(Object.entries(value).map(([name, each]) => [name, jsonOf(each)]))
      : (value as JsonValue);
const faultsOf = (shape: Shape<unknown>, value: unknown): ReadonlyArray<BodyFault> => {
  const faults: Array<BodyFault> = [];
  shape.read(jsonOf(value), new Place(undefined, "", faults));
  return faults;
};

const lint = async (source: string) => {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const found = await lintFromString({ source, absoluteRef: "/openapi.json", config });
  return found.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`);
};

describe("the description", () => {
  it("is clean under the strictest rules of Redocly, which find what is wrong", async () => {
    expect(await lint(text)).toEqual([]);
    expect(await lint(text.replaceAll('"operationId":"unseal"', '"operationId":"seal"'))).not.toEqual([]);
  });

  it("has the paths and methods of the router, and no others", () => {
    const served = [...routes].flatMap(([path, methods]) => [...methods.keys()].map((method) => `${method} ${path}`));
    const described = Object.entries(at("paths") ?? {}).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.toSorted()).toEqual(served.toSorted());
    expect(described).toContain("GET /v1/custody/approvers/{ref}");
  });

  it("has every code that there is, and each endpoint those that it can answer", () => {
    const told = new Set([...namedEndpoints.flatMap(([, each]) => problemsOf(each)), ...anywhere]);
    const missing = Object.keys(errorKinds).filter((code) => ![...told].some((each) => each === code));
    // Where there is no endpoint.
    expect(missing.toSorted()).toEqual(["METHOD_NOT_ALLOWED"]);
    expect(problemsOf(endpoints.readHealth)).toEqual([]);
    expect(problemsOf(endpoints.registerApprover)).toContain("ACCESS_DENIED");
    expect(problemsOf(endpoints.finishEnrollment)).not.toContain("ACCESS_DENIED");
    expect(at("paths", "/v1/custody/system/health", "get", "security")).toEqual([]);
    expect(at("paths", "/v1/custody/approvers", "post", "security")).toEqual([
      { token: ["service.approvers.register"] },
    ]);
    expect(at("paths", "/v1/custody/system/status", "get", "security")).toEqual([{}, { token: [] }]);
  });

  it("has headers of answers, and null where it can be", () => {
    const created = at("paths", "/v1/custody/approvers", "post", "responses", "201", "headers");
    expect(Object.keys(created ?? {})).toEqual(["X-Request-Id", "ETag"]);
    expect(Object.keys(at("components", "responses", "UNAUTHENTICATED", "headers") ?? {})).toContain(
      "WWW-Authenticate",
    );
    expect(Object.keys(at("components", "responses", "elsewhere", "headers") ?? {})).toContain("Allow");
    expect(text).toContain('"incarnation":{"type":["integer","null"]');
  });

  it("closes what callers send, and leaves open what they are sent", () => {
    expect(at("components", "schemas", "Registration", "additionalProperties")).toBe(false);
    expect(Object.keys(at("components", "schemas", "Status") ?? {})).not.toContain("additionalProperties");
  });

  it.each(namedEndpoints)("has examples of %s that the shapes read", (_, { body, answers, path, parameters = [] }) => {
    if (body !== undefined) expect(faultsOf(body.shape, body.example)).toEqual([]);
    for (const { shape, example } of Object.values(answers)) {
      expect(example === undefined).toBe(shape === undefined);
      if (shape !== undefined) expect(faultsOf(shape, example)).toEqual([]);
    }
    const holes = parameters.filter((each) => each.in === "path").map(({ name }) => name);
    expect(holes).toEqual(holesOf(path));
  });
});

describe("the reference", () => {
  const page = referencePage(description);

  it("tells of every operation, schema and code", () => {
    for (const [name] of namedEndpoints) expect(page).toContain(`<section id="${name}">`);
    for (const name of Object.keys(at("components", "schemas") ?? {})) expect(page).toContain(`id="schema-${name}"`);
    for (const code of Object.keys(errorKinds)) expect(page).toContain(`<code>${code}</code>`);
    const links = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    expect(links.filter((id) => !page.includes(`id="${id}"`))).toEqual([]);
  });

  it("has no script, asks for nothing, and its one style is the one that is allowed", () => {
    expect(page).not.toMatch(/<script|<link|<img|<iframe|\ssrc=|\son\w+=|\sstyle=|@import|url\(/i);
    const [, style = ""] = /<style>([^<]*)<\/style>/.exec(page) ?? [];
    const hash = createHash("sha256").update(style).digest("base64");
    expect(referenceHeaders["content-security-policy"]).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
  });

  it("writes what it is given as text", () => {
    const hostile = referencePage({ ...description, info: { title: "<b>&", version: '"', description: "`<i>`" } });
    expect(hostile).toContain("&lt;b&gt;&amp; &quot;: API");
    expect(hostile).toContain("<code>&lt;i&gt;</code>");
    expect(hostile).not.toContain("<i>");
  });
});

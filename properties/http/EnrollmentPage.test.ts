/** The enrollment page as a peer serves it, and as a person uses it in a real browser; the service's answers are played. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CAPACITIES } from "../../core/base/Capacities.ts";
import { Limits } from "../../core/base/Limits.ts";
import { absentBrowser, browserIsAbsent, openTab, startBrowser, type Tab } from "../Browser.ts";
import { enrolling, type Invitation, linkOf, originOf } from "./Enrollment.ts";
import { ServerCluster } from "./ServerCluster.ts";

const token = "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ0ZXN0In0.c2lnbmF0dXJl";
const ref = `alice@sha256:${"3f".repeat(32)}`;
const finishPath = "/v1/custody/approvers/webauthn/registration/finish";

let cluster: ServerCluster;
let browser: Browser | undefined;
beforeAll(async () => {
  cluster = await ServerCluster.start(1, enrolling());
  if (!browserIsAbsent) browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await cluster.close();
});

const secret = (byte: number): string => Buffer.alloc(32, byte).toString("base64url");

const publicKey = (more: object = {}) => ({
  rp: { id: "localhost", name: "Test Custody" },
  user: { id: secret(2), name: "alice", displayName: "alice" },
  challenge: secret(3),
  pubKeyCredParams: [{ type: "public-key", alg: -7 }],
  timeout: 300_000,
  excludeCredentials: [],
  authenticatorSelection: { residentKey: "preferred", requireResidentKey: false, userVerification: "required" },
  attestation: "none",
  extensions: { credProps: true },
  ...more,
});

const invitation = (more: Partial<Invitation> = {}): Invitation => ({
  invitation: secret(1),
  expiresAt: Date.now() + 300_000,
  publicKey: publicKey(),
  ...more,
});

const file = async (path: string, method = "GET") => {
  const response = await fetch(`${cluster.server(1).url}${path}`, { method });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

describe("the files of the page", () => {
  it("forbid whatever the page does not do, and are kept by nobody", async () => {
    const { status, headers } = await file("/enroll");
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "permissions-policy": "publickey-credentials-create=(self)",
    });
  });

  it("name each other and nothing outside, and hold no code of their own", async () => {
    const { text } = await file("/enroll");
    const named = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url ?? "");
    expect(named.length).toBeGreaterThan(2);
    for (const url of named) expect(url).toMatch(/^\/enroll\//);
    expect(text).not.toMatch(/<style|style="|<script(?! type="module" src)|\son\w+="|javascript:/);
    const seen = new Set<string>();
    const follow = async (path: string): Promise<void> => {
      if (seen.has(path)) return;
      seen.add(path);
      const { status, headers, text: body } = await file(path);
      expect([path, status]).toEqual([path, 200]);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      if (path.endsWith(".js")) expect(headers.get("content-type")).toBe("text/javascript; charset=utf-8");
      expect(body).not.toMatch(/https?:\/\/(?!www\.w3\.org\/2000\/svg")/);
      await Promise.all([...body.matchAll(/from "\.\/(\w+\.js)"/g)].map(([, name]) => follow(`/enroll/${name}`)));
    };
    await Promise.all(named.map(follow));
    expect(seen.size).toBe(9);
  });

  it("are nothing else than files, for GET and HEAD alone", async () => {
    for (const path of ["/enroll/", "/enroll/enroll.html", "/enroll/../config", "/enroll/%2e%2e/x", "/enrollment"])
      expect([path, (await file(path)).status]).toEqual([path, 404]);
    expect(await file("/enroll", "HEAD")).toMatchObject({ status: 200, text: "" });
    const posted = await file("/enroll", "POST");
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });
});

interface Answer {
  readonly status: number;
  readonly body: object;
}

const registered: Answer = { status: 201, body: { id: "alice", ref } };
const problem = (status: number, code: string, more: object = {}): Answer => ({
  status,
  body: { status, code, title: `The title of ${code}`, detail: "The detail.", hint: "The hint.", ...more },
});

interface Visit extends Tab {
  /** The requests to the service, in order. */
  readonly sent: ReadonlyArray<{ readonly token: string | undefined; readonly body: string }>;
}

/** Opens a link in a tab of its own; fails on any request to others, error, or violation of the page's policy. */
const visit = async (url: string, answers: ReadonlyArray<Answer | "cut"> = []): Promise<Visit> => {
  if (browser === undefined) throw new Error("no browser was started");
  const tab = await openTab(browser);
  const { page } = tab;
  const sent: Array<{ readonly token: string | undefined; readonly body: string }> = [];
  page.on("pageerror", (error) => expect.unreachable(error.message));
  // The page is not to blame for the browser's own remarks, about refused answers and about ES256 alone.
  page.on("console", (message) => {
    if (!/^Failed to load resource|^publicKey\.pubKeyCredParams/.test(message.text()))
      expect.unreachable(message.text());
  });
  page.on("request", (request) => expect(new URL(request.url()).origin).toBe(new URL(url).origin));
  await page.route(`**${finishPath}`, async (route) => {
    const request = route.request();
    const answer = answers[sent.length];
    sent.push({ token: (await request.allHeaders())["x-jwt-token"], body: request.postData() ?? "" });
    if (answer === undefined || answer === "cut") return route.abort();
    return route.fulfill({ status: answer.status, body: JSON.stringify(answer.body) });
  });
  await page.goto(url);
  await page.waitForSelector("html[data-ready]");
  return { ...tab, sent };
};

/** Another link in the same tab changes only what stands behind #, and loads nothing. */
const paste = (page: Page, link: string): Promise<unknown> =>
  page.evaluate(`location.hash = ${JSON.stringify(link.slice(link.indexOf("#")))}`);

const problemText = async (page: Page): Promise<string> => {
  await page.waitForSelector("#problem:not([hidden])");
  return (await page.locator("#problem").innerText()).replace(/\s+/g, " ");
};

describe("the page in a browser", () => {
  it("shows for whom and until when, sends the passkey with the holder's token, and shows the ref", async ({
    skip,
  }) => {
    skip(browserIsAbsent, absentBrowser);
    const asked = invitation();
    const { page, sent, close } = await visit(linkOf(originOf(cluster, 1), asked), [registered]);
    expect(page.url()).toBe(`${originOf(cluster, 1)}/enroll`);
    expect(await page.locator("#approver").innerText()).toBe("alice");
    expect(await page.locator("#service-name").innerText()).toBe("Test Custody");
    expect(await page.locator("#service-id").innerText()).toBe("(localhost)");
    expect(await page.locator("#deadline").getAttribute("datetime")).toBe(
      new Date(Number(asked.expiresAt)).toISOString(),
    );
    expect(await page.getByLabel("Your access token").getAttribute("type")).toBe("password");
    // Screen readers tell changes of a region only that was there before, empty or not.
    expect(await page.getByRole("status").count()).toBe(1);
    // By keyboard alone.
    await page.keyboard.press("Tab");
    expect(await page.locator("#token:focus").count()).toBe(1);
    await page.keyboard.type(token);
    await page.keyboard.press("Enter");
    await page.waitForSelector("#registered:not([hidden])");
    expect(await page.locator("#registered-title:focus").count()).toBe(1);
    expect(await page.locator("#ref").innerText()).toBe(ref);
    expect(await page.locator("#registered-notice").isVisible()).toBe(false);
    expect(sent.map((each) => each.token)).toEqual([token]);
    const body = JSON.parse(sent[0]?.body ?? "");
    expect(Object.keys(body)).toEqual(["invitation", "credential"]);
    expect(body).toMatchObject({
      invitation: asked.invitation,
      credential: {
        type: "public-key",
        response: { transports: ["internal"] },
        clientExtensionResults: { credProps: {} },
      },
    });
    expect(body.credential.rawId).toBe(body.credential.id);
    const clientData = JSON.parse(Buffer.from(body.credential.response.clientDataJSON, "base64url").toString());
    expect(clientData).toMatchObject({ challenge: secret(3), origin: originOf(cluster, 1), crossOrigin: false });
    // Nothing is kept: not in the field, the tab's history, or any store.
    expect(await page.inputValue("#token")).toBe("");
    expect(
      await page.evaluate(
        "[localStorage.length, sessionStorage.length, document.cookie, JSON.stringify(history.state)]",
      ),
    ).toEqual([0, 0, "", "null"]);
    await page.reload();
    expect(await problemText(page)).toContain("There is no invitation here");
    await close();
  });

  it("keeps the passkey over a refused token and a silent service, and sends it again as it was", async ({ skip }) => {
    skip(browserIsAbsent, absentBrowser);
    const answers = [
      problem(401, "UNAUTHENTICATED"),
      "cut",
      problem(503, "SEALED", { retryable: true }),
      registered,
    ] as const;
    const { page, sent, close } = await visit(linkOf(originOf(cluster, 1), invitation()), answers);
    await page.click("#submit");
    expect(await page.locator("#token-problem").innerText()).toBe("Paste your token here, on one line.");
    expect(await page.locator("#token").getAttribute("aria-invalid")).toBe("true");
    await page.fill("#token", "old");
    await page.click("#submit");
    expect(await problemText(page)).toBe("The title of UNAUTHENTICATED The detail. The hint.");
    expect(await page.locator("#token:focus").count()).toBe(1);
    await page.fill("#token", token);
    await page.getByRole("button", { name: "Send the passkey again" }).click();
    await expect.poll(() => problemText(page)).toContain("The service did not answer");
    await page.click("#submit");
    await expect.poll(() => problemText(page)).toContain("The title of SEALED The detail. Your passkey is kept");
    await page.click("#submit");
    await page.waitForSelector("#registered:not([hidden])");
    expect(sent.map((each) => each.token)).toEqual(["old", token, token, token]);
    expect(new Set(sent.map(({ body }) => body)).size).toBe(1);
    await close();
  });

  it("makes another passkey when one is refused, and none when the link is used up", async ({ skip }) => {
    skip(browserIsAbsent, absentBrowser);
    const errors = [{ pointer: "/credential", code: "user_verification", detail: "<b>Nobody</b> was verified." }];
    const refused = problem(400, "INVALID_CEREMONY", { errors, requestId: "r-1" });
    const answers = [refused, problem(410, "REGISTRATION_EXPIRED")];
    const { page, sent, close } = await visit(linkOf(originOf(cluster, 1), invitation()), answers);
    await page.fill("#token", token);
    await page.click("#submit");
    expect(await problemText(page)).toMatch(/<b>Nobody<\/b> was verified\. The link is still good\. .* r-1$/);
    await page.getByRole("button", { name: "Create passkey" }).click();
    await expect.poll(() => problemText(page)).toContain("The title of REGISTRATION_EXPIRED");
    expect(await page.locator("#invited").isVisible()).toBe(false);
    expect(await page.inputValue("#token")).toBe("");
    expect(new Set(sent.map(({ body }) => body)).size).toBe(2);
    await close();
  });

  it("says plainly when no passkey is made, and sends nothing", async ({ skip }) => {
    skip(browserIsAbsent, absentBrowser);
    const { page, sent, devtools, close } = await visit(linkOf(originOf(cluster, 1), invitation()), [registered]);
    await devtools.send("WebAuthn.disable");
    await page.evaluate("navigator.credentials.create = () => Promise.reject(new DOMException('', 'NotAllowedError'))");
    await page.fill("#token", token);
    await page.click("#submit");
    expect(await problemText(page)).toContain("No passkey was made");
    await page.evaluate(
      "navigator.credentials.create = () => Promise.reject(new DOMException('', 'InvalidStateError'))",
    );
    await page.click("#submit");
    await expect.poll(() => problemText(page)).toContain("This device has a passkey here already");
    expect(sent).toEqual([]);
    await close();
  });

  it("warns when the service registered another id than the link said", async ({ skip }) => {
    skip(browserIsAbsent, absentBrowser);
    const other: Answer = { status: 201, body: { id: "mallory", ref } };
    const { page, close } = await visit(linkOf(originOf(cluster, 1), invitation()), [other]);
    await page.fill("#token", token);
    await page.click("#submit");
    await page.waitForSelector("#registered:not([hidden])");
    expect(await page.locator("#registered-id").innerText()).toBe("mallory");
    expect(await page.locator("#registered-notice").innerText()).toMatch(/The link said alice\. Tell the operator/);
    await close();
  });

  it("opens a link that names as many and as long credentials as a service lists", async ({ skip }) => {
    skip(browserIsAbsent, absentBrowser);
    const id = Buffer.alloc(Limits.credentialIdBytes, 9).toString("base64url");
    const excludeCredentials = Array.from({ length: CAPACITIES.excludedVersions }, () => ({ type: "public-key", id }));
    const link = linkOf(originOf(cluster, 1), invitation({ publicKey: publicKey({ excludeCredentials }) }));
    const { page, close } = await visit(link);
    expect(await page.locator("#invited").isVisible()).toBe(true);
    await close();
  });

  it("takes a second link in the same tab, and leaves none in the address bar", async ({ skip }) => {
    skip(browserIsAbsent, absentBrowser);
    const origin = originOf(cluster, 1);
    const { page, close } = await visit(`${origin}/enroll`);
    expect(await problemText(page)).toContain("There is no invitation here");
    const user = { id: secret(2), name: "bob", displayName: "bob" };
    const link = linkOf(origin, invitation({ publicKey: publicKey({ user }) }));
    await paste(page, link);
    await page.waitForSelector("#invited:not([hidden])");
    expect(await page.locator("#approver").innerText()).toBe("bob");
    expect(page.url()).toBe(`${origin}/enroll`);
    await close();
  });

  it("refuses every link but one of this service, whole and unchanged", async ({ skip }) => {
    skip(browserIsAbsent, absentBrowser);
    const origin = originOf(cluster, 1);
    const whole = invitation();
    const link = linkOf(origin, whole);
    const raw = (json: string): string => `${origin}/enroll#${Buffer.from(json).toString("base64url")}`;
    const json = JSON.stringify(whole);
    const bad: ReadonlyArray<string> = [
      link.slice(0, -5),
      `${link}=`,
      `${link}AAAA`,
      `${origin}/enroll#${"A".repeat(65_537)}`,
      raw("null"),
      raw(`[${json}]`),
      raw(json.slice(0, -1).concat(',"more":1}')),
      raw(`\ufeff${json}`),
      linkOf(origin, invitation({ invitation: secret(1).slice(1) })),
      linkOf(origin, invitation({ invitation: `${secret(1).slice(0, -1)}F` })),
      linkOf(origin, invitation({ expiresAt: "soon" })),
      linkOf(origin, invitation({ expiresAt: 1.5 })),
      ...[
        { challenge: secret(3).slice(2) },
        { more: 1 },
        { rp: { id: "localhost" } },
        { rp: { id: "localhost", name: "a\u202eb" } },
        { user: { id: secret(2), name: "alice", displayName: "bob" } },
        { user: { id: secret(2), name: "<b>", displayName: "<b>" } },
        { pubKeyCredParams: [{ type: "public-key", alg: -257 }] },
        {
          authenticatorSelection: {
            residentKey: "preferred",
            requireResidentKey: false,
            userVerification: "discouraged",
          },
        },
        { extensions: { credProps: true, prf: {} } },
        { excludeCredentials: [{ type: "public-key", id: "" }] },
        { attestation: "enterprise" },
        { timeout: -1 },
      ].map((more) => linkOf(origin, invitation({ publicKey: publicKey(more) }))),
    ];
    const { page, close } = await visit(link);
    expect(await page.locator("#invited").isVisible()).toBe(true);
    for (const each of bad) {
      await paste(page, each);
      await expect.poll(() => problemText(page), { message: each }).toContain("This link is not complete");
      expect(await page.locator("#invited").isVisible()).toBe(false);
      await paste(page, link);
      await page.waitForSelector("#invited:not([hidden])");
    }
    const elsewhere = linkOf(
      origin,
      invitation({ publicKey: publicKey({ rp: { id: "example.com", name: "Example" } }) }),
    );
    await paste(page, elsewhere);
    await expect.poll(() => problemText(page)).toContain("It is for example.com, and this page is at localhost:");
    await close();
  });

  it("is never shown inside another page", async ({ skip }) => {
    skip(browserIsAbsent, absentBrowser);
    if (browser === undefined) return expect.unreachable("no browser was started");
    const { page, close } = await openTab(browser);
    const forbidden = page.waitForEvent("console", { predicate: (message) => /frame-ancestors/.test(message.text()) });
    await page.setContent(`<iframe src="${originOf(cluster, 1)}/enroll"></iframe>`);
    expect((await forbidden).text()).toContain("frame-ancestors 'none'");
    await close();
  });
});

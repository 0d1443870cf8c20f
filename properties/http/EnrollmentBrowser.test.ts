/** Passkeys of a real browser, through a real cluster: the ceremony takes, or refuses, what a browser sends. */
import { createServer, type Server } from "node:http";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { absentBrowser, type Authenticator, browserIsAbsent, openTab, startBrowser } from "../Browser.ts";
import { Enrollees, leftBehind, linkOf, type Offered, originOf } from "./Enrollment.ts";
import { ServerCluster } from "./ServerCluster.ts";

let browser: Browser | undefined;
let cluster: ServerCluster;
let enrollees: Enrollees;
/** A page of an application, on an origin of the relying party, and a page of another origin with it in a frame. */
let application: Server;
let surroundings: Server;
let origin = "";

const serve = (body: () => string): Promise<Server> =>
  new Promise((resolve) => {
    const server = createServer((_request, response) => {
      const page = `<!doctype html><title>An application</title>${body()}`;
      response.writeHead(200, { "content-type": "text/html" }).end(page);
    });
    server.listen(0, "127.0.0.1", () => resolve(server));
  });

const portOf = (server: Server): number => {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server does not listen");
  return address.port;
};

beforeAll(async () => {
  if (browserIsAbsent) return;
  application = await serve(() => "");
  surroundings = await serve(() => `<iframe src="${origin}/" allow="publickey-credentials-create *"></iframe>`);
  const port = portOf(application);
  origin = `http://localhost:${port}`;
  cluster = await ServerCluster.found(3, (ports) => {
    const origins = [...ports, port].map((each) => `"http://localhost:${each}"`).join(", ");
    return `webauthn: {enabled: true, rp-id: localhost, rp-name: Test Custody, origins: [${origins}], attestation: direct}`;
  });
  enrollees = new Enrollees(cluster);
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await cluster?.close();
  application?.close();
  surroundings?.close();
});

const tabWith = (authenticator: Authenticator = {}) => {
  if (browser === undefined) throw new Error("no browser was started");
  return openTab(browser, authenticator);
};

/** An application's own script: options in, `toJSON()` out. */
const create = (frame: Pick<Page, "evaluate">, offered: Offered, changes: object = {}): Promise<unknown> => {
  const options = JSON.stringify({ ...Object(offered.json["publicKey"]), ...changes });
  return frame.evaluate(
    `navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(${options}) }).then((made) => made.toJSON())`,
  );
};

/** Options from one peer, a credential from the browser, finished at another peer, read at the third. */
const enrollAt = async (page: Page, id: string) => {
  const offered = await enrollees.options(1, { id });
  const credential = await create(page, offered);
  const created = await enrollees.finish(2, { invitation: offered.invitation, credential });
  const read = await cluster.read(3, String(created.json["ref"]));
  return { created, read, credential };
};

describe("a browser's passkey", () => {
  it("is enrolled through the page of one peer, with options of another, and read at the third", async ({ skip }) => {
    skip(browserIsAbsent, absentBrowser);
    const offered = await enrollees.options(1, { id: "alice", metadata: { team: "a" } });
    const { page, close } = await tabWith();
    const { invitation, json } = offered;
    await page.goto(
      linkOf(originOf(cluster, 2), { invitation, expiresAt: json["expiresAt"], publicKey: json["publicKey"] }),
    );
    await page.waitForSelector("#invited:not([hidden])");
    await page.fill("#token", await enrollees.token([]));
    await page.click("#submit");
    await page.waitForSelector("#registered:not([hidden])");
    const ref = await page.locator("#ref").innerText();
    const read = await cluster.read(3, ref);
    expect(read.json).toMatchObject({ id: "alice", ref, metadata: { team: "a" }, credential: { type: "WEBAUTHN" } });
    await close();
  });

  it("is taken as toJSON() writes it, with the direct attestation that was asked for", async ({ skip }) => {
    skip(browserIsAbsent, absentBrowser);
    const { page, close } = await tabWith();
    await page.goto(origin);
    const { created, read, credential } = await enrollAt(page, "direct");
    expect(created.status).toBe(201);
    expect(read.text).toBe(created.text);
    const { response } = Object(credential);
    expect(Object.keys(response).toSorted()).toEqual([
      "attestationObject",
      "authenticatorData",
      "clientDataJSON",
      "publicKey",
      "publicKeyAlgorithm",
      "transports",
    ]);
    const attestation = Buffer.from(response.attestationObject, "base64url").toString("latin1");
    expect(attestation).toContain("packed");
    expect(attestation).toContain("x5c");
    expect(Object(created.json["credential"]).backupEligible).toBe(false);
    await close();
  });

  it("may be one that is backed up, and then says so", async ({ skip }) => {
    skip(browserIsAbsent, absentBrowser);
    const { page, close } = await tabWith({ defaultBackupEligibility: true, defaultBackupState: true });
    await page.goto(origin);
    const { created } = await enrollAt(page, "synced");
    expect(created.json).toMatchObject({ credential: { backupEligible: true }, observations: { backupState: true } });
    await close();
  });

  it("is refused out of a frame of another origin, and the invitation is good afterwards", async ({ skip }) => {
    skip(browserIsAbsent, absentBrowser);
    const { page, close } = await tabWith();
    const offered = await enrollees.options(3, { id: "framed" });
    await page.goto(`http://localhost:${portOf(surroundings)}/`);
    const frame = page.frames().find((each) => each.url().startsWith(origin));
    if (frame === undefined) return expect.unreachable("the frame was not loaded");
    const credential = await create(frame, offered);
    const refused = await enrollees.finish(1, { invitation: offered.invitation, credential });
    const { clientDataJSON } = Object(credential).response;
    const clientData = JSON.parse(Buffer.from(clientDataJSON, "base64url").toString());
    expect(clientData).toMatchObject({ origin, crossOrigin: true, topOrigin: expect.stringContaining("localhost") });
    // It says so twice, and either is enough.
    expect(refused.json).toMatchObject({ status: 400, code: "INVALID_CEREMONY", errors: [{ code: "top_origin" }] });
    await page.goto(origin);
    const own = await create(page, offered);
    expect((await enrollees.finish(1, { invitation: offered.invitation, credential: own })).status).toBe(201);
    await close();
  });

  it("is refused when nobody was verified, whatever the script asked for", async ({ skip }) => {
    skip(browserIsAbsent, absentBrowser);
    const { page, close } = await tabWith({ hasUserVerification: false, isUserVerified: false });
    await page.goto(origin);
    const offered = await enrollees.options(2, { id: "unverified" });
    const authenticatorSelection = { userVerification: "discouraged", residentKey: "discouraged" };
    const credential = await create(page, offered, { authenticatorSelection });
    const refused = await enrollees.finish(3, { invitation: offered.invitation, credential });
    expect(refused.json).toMatchObject({
      status: 400,
      code: "INVALID_CEREMONY",
      errors: [{ code: "user_verification" }],
    });
    await close();
  });

  it("leaves neither invitation nor token in a database, the audit or a log", ({ skip }) => {
    skip(browserIsAbsent, absentBrowser);
    expect(enrollees.invitations.length).toBeGreaterThanOrEqual(5);
    expect(enrollees.secretsIn(leftBehind(cluster))).toEqual([]);
  });
});

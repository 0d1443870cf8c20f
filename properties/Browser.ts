/** A real browser with a virtual authenticator (WebAuthn Level 3 11, "Virtual Authenticators"). */
import { existsSync } from "node:fs";
import { type Browser, type BrowserContextOptions, type CDPSession, chromium, type Page } from "playwright-core";

const program = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

/** Whether tests in a browser must be skipped, and the reason to give. */
export const browserIsAbsent = !existsSync(program);
export const absentBrowser = `there is no browser at ${program}; CHROMIUM names another`;

/** Starts it without a window. */
export const startBrowser = (): Promise<Browser> =>
  // Inside a container root has no namespaces for the browser's own sandbox; the pages are ours.
  chromium.launch({ executablePath: program, chromiumSandbox: false });

export interface Authenticator {
  readonly hasUserVerification?: boolean;
  readonly isUserVerified?: boolean;
  readonly defaultBackupEligibility?: boolean;
  readonly defaultBackupState?: boolean;
}

export interface Tab {
  readonly page: Page;
  readonly devtools: CDPSession;
  readonly close: () => Promise<void>;
}

/** A tab of its own, with an authenticator that consents to everything unless told otherwise. */
export const openTab = async (
  browser: Browser,
  authenticator: Authenticator | undefined = {},
  options: BrowserContextOptions = {},
): Promise<Tab> => {
  const context = await browser.newContext({ viewport: { width: 900, height: 900 }, ...options });
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      ctap2Version: "ctap2_1",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
      ...authenticator,
    },
  });
  return { page, devtools, close: () => context.close() };
};

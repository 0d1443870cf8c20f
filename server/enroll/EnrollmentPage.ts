/**
 * The page on which a holder makes a passkey: a few files that every peer serves itself, so that no other
 * host is asked for anything, and headers that forbid everything the page does not do.
 */
import { readFileSync } from "node:fs";

const types = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
} as const;

const documentName = "enroll.html";
const fileNames = [
  documentName,
  "enroll.css",
  "icon.svg",
  "Base64Url.js",
  "Deadline.js",
  "Link.js",
  "Main.js",
  "Passkey.js",
  "Service.js",
  "View.js",
] as const;

export interface PageFile {
  readonly type: string;
  readonly body: string;
}

/** The files by the path they are served under. */
export type EnrollmentPage = ReadonlyMap<string, PageFile>;

/** Where the page is; enrollment links are this path with a fragment. */
export const ENROLL_PATH = "/enroll";

/** Only files of this origin and calls to it; no inline code, no frame around it, no markup made by a script. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** The headers of every file of the page, beside those of every answer. */
export const pageHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": policy,
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "publickey-credentials-create=(self)",
};

const read = (name: (typeof fileNames)[number]): PageFile => {
  const [, ending = ""] = name.split(".");
  const type = Object.entries(types).find(([each]) => each === ending)?.[1] ?? "";
  return { type, body: readFileSync(new URL(`./page/${name}`, import.meta.url), "utf8") };
};

/**
 * Reads the files that lie beside this program, in a checkout, in the built package and in the one file of
 * `npm start`. Throws where they are missing, which is a fault of the build.
 */
export const readEnrollmentPage = (): EnrollmentPage =>
  new Map(
    fileNames.map((name) => [name === documentName ? ENROLL_PATH : `${ENROLL_PATH}/${name}`, read(name)] as const),
  );

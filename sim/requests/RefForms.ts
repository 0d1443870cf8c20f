/** Ways to write the ref of a version (contract 2.2): it names that version, another one, or nothing at all. */

/** What a peer must take it for. */
export type RefKind = "exact" | "another" | "none";

interface RefForm {
  readonly how: string;
  readonly kind: RefKind;
  readonly of: (id: string, hash: string) => string;
}

const SEPARATOR = "@sha256:";

const form = (kind: RefKind, how: string, of: RefForm["of"]): RefForm => ({ kind, how, of });

const forms: ReadonlyArray<RefForm> = [
  form("exact", "whole", (id, hash) => `${id}${SEPARATOR}${hash}`),
  form(
    "another",
    "of another hash",
    (id, hash) => `${id}${SEPARATOR}${hash.startsWith("0") ? "1" : "0"}${hash.slice(1)}`,
  ),
  form("another", "of another id", (id, hash) => `${id.slice(0, 120)}-else${SEPARATOR}${hash}`),
  form("none", "an id alone", (id) => id),
  form("none", "without a hash", (id) => `${id}${SEPARATOR}`),
  form("none", "a shorter hash", (id, hash) => `${id}${SEPARATOR}${hash.slice(1)}`),
  form("none", "a hash of eight digits", (id, hash) => `${id}${SEPARATOR}${hash.slice(0, 8)}`),
  form("none", "a longer hash", (id, hash) => `${id}${SEPARATOR}${hash}0`),
  form("none", "a capital in the hash", (id, hash) => `${id}${SEPARATOR}A${hash.slice(1)}`),
  form("none", "another digest", (id, hash) => `${id}@sha512:${hash}`),
  form("none", "a space behind it", (id, hash) => `${id}${SEPARATOR}${hash} `),
  form("none", "no id", (_id, hash) => `${SEPARATOR}${hash}`),
  form("none", "an id that is none", (id, hash) => `.${id}${SEPARATOR}${hash}`),
  form("none", "the latest", (id) => `${id}@latest`),
];

export const refFormNames: ReadonlyArray<string> = forms.map(({ how }) => how);

/** Forms that are no ref, by their names. */
export const malformedRefs: ReadonlyArray<string> = forms.flatMap(({ kind, how }) => (kind === "none" ? [how] : []));

/** A ref as such a form writes it, and what that is; a form of an unknown name is the whole ref. */
export const refAs = (ref: string, how: string): { readonly text: string; readonly kind: RefKind } => {
  const [id = "", hash = ""] = ref.split(SEPARATOR);
  const found = forms.find((each) => each.how === how);
  return found === undefined ? { text: ref, kind: "exact" } : { text: found.of(id, hash), kind: found.kind };
};

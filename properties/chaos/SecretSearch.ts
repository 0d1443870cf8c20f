/** Looks for any of very many secrets, in every form in which one might be written, in one pass over bytes. */

/** One of fewer different bytes is no secret, and would be found by chance. */
const LEAST_DIFFERENT = 8;
/** So many bytes of a form are told apart at first sight. */
const HEAD_BYTES = 8;
const PLACES_PER_FORM = 4;
/** Bits of the table that most positions are passed by. */
const SIEVE_BITS = 24;

/** In Base64 behind so many bytes of something else: the characters that stand for the secret alone. */
const base64Behind = (lead: number) => (secret: Buffer) =>
  Buffer.concat([Buffer.alloc(lead), secret])
    .toString("base64")
    .slice(Math.ceil((lead * 4) / 3), Math.floor(((lead + secret.length) * 4) / 3));

const url = (text: string): string => text.replaceAll("+", "-").replaceAll("/", "_");
const backwards = (secret: Buffer): Buffer => Buffer.from(secret.toReversed());

const forms: ReadonlyArray<readonly [name: string, write: (secret: Buffer) => Buffer | string]> = [
  ["bytes", (secret) => secret],
  ["bytes, the last first", backwards],
  ["digits", (secret) => secret.toString("hex")],
  ["digits, the last byte first", (secret) => backwards(secret).toString("hex")],
  ["capital digits", (secret) => secret.toString("hex").toUpperCase()],
  ["a list of numbers", (secret) => secret.join(",")],
  ...[0, 1, 2].flatMap((lead) => [
    ["Base64", base64Behind(lead)] as const,
    ["Base64url", (secret: Buffer) => url(base64Behind(lead)(secret))] as const,
  ]),
];

export interface Found {
  /** The place of the secret among those that are looked for. */
  readonly index: number;
  readonly form: string;
  readonly at: number;
}

const wordAt = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);

const mixed = (high: number, low: number): number => {
  const sum = Math.imul(high, 0x9e3779b1) ^ Math.imul(low, 0x85ebca77);
  return (sum ^ (sum >>> 15)) >>> 0;
};

export class SecretSearch {
  readonly #secrets: ReadonlyArray<Buffer>;
  readonly #sieve = new Uint8Array(1 << (SIEVE_BITS - 3));
  readonly #mask: number;
  /** An open table: the first words of a form, and one more than the number of the secret and its form. */
  readonly #high: Int32Array;
  readonly #low: Int32Array;
  readonly #entries: Int32Array;

  /** Throws RangeError for a secret of less than 8 different bytes. */
  constructor(secrets: ReadonlyArray<Uint8Array>) {
    this.#secrets = secrets.map((each) => Buffer.from(each));
    const wanted = Math.max(1, this.#secrets.length * forms.length * PLACES_PER_FORM);
    const places = 1 << Math.ceil(Math.log2(wanted));
    this.#mask = places - 1;
    this.#high = new Int32Array(places);
    this.#low = new Int32Array(places);
    this.#entries = new Int32Array(places);
    for (const [index, secret] of this.#secrets.entries()) {
      if (new Set(secret).size < LEAST_DIFFERENT) throw new RangeError("this is no secret");
      for (let form = 0; form < forms.length; form++) this.#add(index, form);
    }
  }

  #written(index: number, form: number): Buffer {
    return Buffer.from(forms[form]?.[1](this.#secrets[index] ?? Buffer.alloc(0)) ?? "");
  }

  #add(index: number, form: number): void {
    const written = this.#written(index, form);
    const [high, low] = [wordAt(written, 0), wordAt(written, 4)];
    const hash = mixed(high, low);
    const bit = hash & ((1 << SIEVE_BITS) - 1);
    this.#sieve[bit >>> 3] = (this.#sieve[bit >>> 3] ?? 0) | (1 << (bit & 7));
    let place = hash & this.#mask;
    while (this.#entries[place] !== 0) place = (place + 1) & this.#mask;
    this.#high[place] = high;
    this.#low[place] = low;
    this.#entries[place] = 1 + index * forms.length + form;
  }

  /** The first of them that is in these bytes, or in this text; undefined where none is. */
  findIn(hay: Uint8Array | string): Found | undefined {
    const bytes = typeof hay === "string" ? Buffer.from(hay) : hay;
    const bits = (1 << SIEVE_BITS) - 1;
    let [high, low] = [wordAt(bytes, 0), wordAt(bytes, 4)];
    for (let at = 0; at + HEAD_BYTES <= bytes.length; at++) {
      const hash = mixed(high, low);
      const bit = hash & bits;
      if (((this.#sieve[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0) {
        const found = this.#foundAt(bytes, at, hash, high, low);
        if (found !== undefined) return found;
      }
      high = (high << 8) | (low >>> 24);
      low = (low << 8) | (bytes[at + HEAD_BYTES] ?? 0);
    }
    return undefined;
  }

  #foundAt(bytes: Uint8Array, at: number, hash: number, high: number, low: number): Found | undefined {
    for (let place = hash & this.#mask; this.#entries[place] !== 0; place = (place + 1) & this.#mask) {
      if (this.#high[place] !== high || this.#low[place] !== low) continue;
      const entry = (this.#entries[place] ?? 1) - 1;
      const [index, form] = [Math.floor(entry / forms.length), entry % forms.length];
      const written = this.#written(index, form);
      if (written.equals(bytes.subarray(at, at + written.length))) return { index, form: forms[form]?.[0] ?? "", at };
    }
    return undefined;
  }
}

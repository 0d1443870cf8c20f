import { generateKeyPairSync, KeyObject } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { CurveName } from "../../core/webauthn/CeremonyCrypto.ts";
import { pointImportFor } from "./PointImport.ts";

const curves: ReadonlyArray<CurveName> = ["P-256", "P-384", "P-521"];

const pointBytes: { readonly [C in CurveName]: number } = { "P-256": 65, "P-384": 97, "P-521": 133 };

/** The end of its DER. (Exporting a new key as JWK stops Node 20.19.0 for ever if the collector runs meanwhile.) */
const pointOf = (curve: CurveName, key: KeyObject): Uint8Array =>
  key.export({ format: "der", type: "spki" }).subarray(-pointBytes[curve]);

const freshKey = (curve: CurveName): KeyObject => generateKeyPairSync("ec", { namedCurve: curve }).publicKey;

const withByte = (bytes: Uint8Array, at: number, value: number): Uint8Array => {
  const copy = Uint8Array.from(bytes);
  copy[at] = value;
  return copy;
};

// Other lines of Node have no import of points; that they are left alone is tested below, everywhere.
describe.skipIf(!process.version.startsWith("v20."))("on Node 20", () => {
  const importPoint = pointImportFor(process.version);

  it.each(curves)("makes of a point of %s the key that JWK makes", (curve) => {
    for (let round = 0; round < 20; round += 1) {
      const key = freshKey(curve);
      const imported = importPoint?.(curve, pointOf(curve, key));
      expect(imported).toBeInstanceOf(KeyObject);
      expect(imported?.type).toBe("public");
      expect(imported?.asymmetricKeyDetails).toEqual(key.asymmetricKeyDetails);
      expect(imported?.equals(key)).toBe(true);
    }
  });

  it.each(curves)("takes nothing else for a point of %s", (curve) => {
    const point = pointOf(curve, freshKey(curve));
    const last = point.length - 1;
    const [x, parity] = [point.subarray(1, (last >> 1) + 1), (point[last] ?? 0) & 1];
    const refused: ReadonlyArray<readonly [string, Uint8Array]> = [
      ["no bytes", new Uint8Array(0)],
      ["the point at infinity", Uint8Array.of(0)],
      ["a prefix alone", Uint8Array.of(4)],
      ["zeros", new Uint8Array(point.length)],
      ["zeros after the prefix", withByte(new Uint8Array(point.length), 0, 4)],
      ["coordinates beyond the field", withByte(new Uint8Array(point.length).fill(0xff), 0, 4)],
      ["a point off the curve", withByte(point, last, (point[last] ?? 0) ^ 1)],
      ["a compressed point", Buffer.concat([Buffer.of(2 + parity), x])],
      ["a hybrid point", withByte(point, 0, 6 + parity)],
      ["a byte too few", point.subarray(0, last)],
      ["a byte too many", Buffer.concat([point, Buffer.of(0)])],
    ];
    expect(refused.filter(([, bytes]) => importPoint?.(curve, bytes) !== undefined)).toEqual([]);
  });

  it("takes no point of another curve", () => {
    const points = curves.map((curve) => pointOf(curve, freshKey(curve)));
    const taken = curves.flatMap((curve) => points.map((point) => importPoint?.(curve, point) !== undefined));
    expect(taken).toEqual([true, false, false, false, true, false, false, false, true]);
  });

  it("leaves earlier keys as they were", () => {
    const keys = [freshKey("P-256"), freshKey("P-256")];
    const imported = keys.map((key) => importPoint?.("P-256", pointOf("P-256", key)));
    expect(imported.map((key, at) => keys[at] && key?.equals(keys[at]))).toEqual([true, true]);
  });
});

it.each(["v18.20.8", "v2.0.0", "v21.7.3", "v22.23.3", "v24.21.0", "v200.0.0", ""])(
  "leaves release %j to the public interface",
  (release) => {
    expect(pointImportFor(release)).toBeUndefined();
  },
);

it("is not used where the known key comes out as another", () => {
  expect(pointImportFor("v20.0.0", freshKey("P-256"))).toBeUndefined();
});

it("is not used where a key object has another shape inside", () => {
  const shapes: ReadonlyArray<KeyObject> = [
    Object.create(null),
    Object.create(KeyObject.prototype),
    Object.assign(Object.create(KeyObject.prototype), { [Symbol("kHandle")]: { initECRaw: () => true } }),
    Object.assign(Object.create(KeyObject.prototype), { [Symbol("kHandle")]: { initECRaw: undefined } }),
  ];
  for (const shape of shapes) expect(pointImportFor("v20.0.0", shape)).toBeUndefined();
});

it("is not used where the known point is refused", () => {
  class Handle {
    readonly initECRaw = (): boolean => false;
  }
  const shape = Object.assign(Object.create(KeyObject.prototype), { [Symbol("kHandle")]: new Handle() });
  expect(pointImportFor("v20.0.0", shape)).toBeUndefined();
});

import { Decrypter, generateIdentity, identityToRecipient, armor } from "age-encryption";
import { Either } from "effect";
import { decrypt, generateKey, readMessage } from "openpgp";
import { describe, expect, it } from "vitest";
import { recipientOf } from "./Recipients.ts";

const share = "AQEBAQEBAQEBAQEBAQEBAQ==";
const problem = async (text: string) => Either.getOrThrow(Either.flip(await recipientOf(text)));

describe("a share for its holder", () => {
  it("is opened by the holder's age key alone", async () => {
    const [identity, other] = [await generateIdentity(), await generateIdentity()];
    const key = await identityToRecipient(identity);
    const recipient = Either.getOrThrow(await recipientOf(`${key}\n`));
    const text = await recipient.encrypt(share);
    expect([recipient.name, text.split("\n")[0]]).toEqual([key, "-----BEGIN AGE ENCRYPTED FILE-----"]);
    const open = (by: string) => {
      const decrypter = new Decrypter();
      decrypter.addIdentity(by);
      return decrypter.decrypt(armor.decode(text), "text");
    };
    expect(await open(identity)).toBe(share);
    await expect(open(other)).rejects.toThrow();
  });

  it("is opened by the holder's PGP key", async () => {
    const { privateKey, publicKey } = await generateKey({ userIDs: [{ name: "Olga" }], format: "object" });
    const recipient = Either.getOrThrow(await recipientOf(publicKey.armor()));
    const armoredMessage = await recipient.encrypt(share);
    expect(recipient.name).toBe(publicKey.getFingerprint());
    const { data } = await decrypt({ message: await readMessage({ armoredMessage }), decryptionKeys: privateKey });
    expect(data).toBe(share);
  });

  it("is refused for what is no usable public key, before anything is made", async () => {
    expect(await problem("AGE-SECRET-KEY-1QQQ")).toMatch(/^this is no public key/);
    expect(await problem("age1qqqq")).toMatch(/cannot be encrypted to/);
    expect(await problem("-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n-----END PGP PUBLIC KEY BLOCK-----")).toMatch(
      /cannot be encrypted to/,
    );
    const expired = await generateKey({
      userIDs: [{ name: "Olga" }],
      date: new Date("2020-01-01"),
      keyExpirationTime: 60,
      format: "object",
    });
    expect(await problem(expired.publicKey.armor())).toMatch(/not expired/);
  });
});

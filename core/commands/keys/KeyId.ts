/** The id of a key, and the paths and permissions that name it. */
import { text } from "../../codec/Shape.ts";
import { Limits } from "../../base/Limits.ts";

export const KEYS_PATH = "/v1/custody/keys";

/** Lower case, so that no two ids differ by letters that look alike, and nothing that a permission gives a meaning to. */
const KEY_ID = /^[a-z0-9]+(?:[-_][a-z0-9]+)*$/;

export const isKeyId = (id: string): boolean => id.length <= Limits.keyIdCharacters && KEY_ID.test(id);

export const keyIdShape = text({
  shortest: 1,
  longest: Limits.keyIdCharacters,
  pattern: KEY_ID,
  rule: `A key id is 1 to ${Limits.keyIdCharacters} lower-case letters and digits, with single - or _ between them.`,
});

/** What can be asked about a key that exists. */
export const keyActs = ["rotate", "refresh", "destroy", "sign", "verify", "repair", "public"] as const;
export type KeyAct = (typeof keyActs)[number];

export const keyPath = (keyId: string, act: KeyAct): string => `${KEYS_PATH}/${keyId}/${act}`;

/** The key that a path of this act names; undefined for any other path, and for an id that is none. */
export const keyIdIn = (path: string, act: KeyAct): string | undefined => {
  const suffix = `/${act}`;
  if (!path.startsWith(`${KEYS_PATH}/`) || !path.endsWith(suffix)) return undefined;
  const id = path.slice(KEYS_PATH.length + 1, -suffix.length);
  return isKeyId(id) ? id : undefined;
};

/** The permission to do something with one key (contract 5.5). */
export const keyPermission = (keyId: string, act: KeyAct): string => `service.key.${keyId}.${act}`;
export const CREATE_PERMISSION = "service.dkg.create";
export const ROTATE_PERMISSION = "service.dkg.rotate";
export const REFRESH_PERMISSION = "service.dkg.refresh";
export const REPAIR_PERMISSION = "service.recover";
export const INVENTORY_PERMISSION = "service.compliance.inventory";

/** Under this name a key is in the owner index of approvers' keys, where no approver's id has a colon. */
export const custodyOwner = (keyId: string): string => `custody:${keyId}`;

/** The one authority of keys so far: any bytes are signed. */
export const ARBITRARY = "arbitrary";

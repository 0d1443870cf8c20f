/** An observer that ignores everything, for observers that care about a part only. */
import type { Observer } from "./Observer.ts";

const nothing = (): void => undefined;

export const silent: Observer = {
  began: nothing,
  noted: nothing,
  sent: nothing,
  transmitted: () => 0,
  arriving: nothing,
  missed: nothing,
  asked: nothing,
  replied: nothing,
  forgot: nothing,
  acted: nothing,
  flushing: nothing,
  stepped: nothing,
  counted: nothing,
  healed: nothing,
  ticked: nothing,
};

/** Every endpoint of the public listener, by the name of its operation. What is not here is not served (Routes.ts). */
import type { Endpoint } from "./Endpoint.ts";
import { identityEndpoints } from "./IdentityEndpoints.ts";
import { keyEndpoints } from "./KeyEndpoints.ts";
import { pageEndpoints } from "./PageEndpoints.ts";
import { policyEndpoints } from "./PolicyEndpoints.ts";
import { registryEndpoints } from "./RegistryEndpoints.ts";
import { systemEndpoints } from "./SystemEndpoints.ts";

export const endpoints = {
  ...registryEndpoints,
  ...keyEndpoints,
  ...identityEndpoints,
  ...policyEndpoints,
  ...systemEndpoints,
  ...pageEndpoints,
};

export type EndpointName = keyof typeof endpoints;

/** In the order in which they are described. */
export const namedEndpoints: ReadonlyArray<readonly [EndpointName, Endpoint]> = Object.entries(endpoints).map(
  // The keys of an object literal are those of its type.
  ([name, each]) => [name as EndpointName, each],
);

/** Why another program gives no answer, and what to do about it, by the name that Node or its TLS gives the fault. */
export const whyBroken = (code: string | undefined): string => {
  switch (code) {
    case "ECONNREFUSED":
      return "nothing listens there; start it, or correct the address";
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "the host name is not known; correct the address, or look at the name service";
    case "CERT_HAS_EXPIRED":
      return "its certificate has expired; renew it there, and send that peer SIGHUP";
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return "its certificate is for another address; have it issued for this one, or correct the address";
    default:
      return `${code ?? "the connection broke"}; check the address, the firewall and the certificates of both`;
  }
};

export const whyLate = (millis: number): string =>
  `no answer within ${millis / 1000} s; check the address and the firewall`;

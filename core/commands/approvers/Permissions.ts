/** The permissions that the bearer of a request needs (contract 5.6). */
export const REGISTER_PERMISSION = "service.approvers.register";
export const METADATA_PERMISSION = "service.approvers.metadata";
export const READ_PERMISSION = "service.approvers.read";

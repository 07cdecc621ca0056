/**
 * Browsers cannot set headers of a WebSocket: the token is sent as a sub-protocol instead, in base64url without padding
 * (https://github.com/kubernetes/kubernetes/pull/47740).
 */

/** The prefix of a sub-protocol that carries a bearer token. */
export const tokenProtocol = 'base64url.bearer.authorization.k8s.io.'

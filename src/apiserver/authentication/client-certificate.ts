/** Client certificates (x509): the common name is the user, organizations are groups, and there may be a UID. Only those that our CA signed count. */
import type { PeerCertificate } from 'node:tls'
import type { Request, UserInfo } from '../http/exchange.ts'
import { type Authenticator, authenticated, type Verdict } from './authenticator.ts'
import { type Bundle, type SignedBy, signedBy } from './signed-by.ts'

const list = (value: string | string[] | undefined): string[] => (value === undefined ? [] : Array.isArray(value) ? value : [value])

/** Kubernetes' own, for the UID of a user. */
const uidAttribute = '1.3.6.1.4.1.57683.2'

const users = new WeakMap<PeerCertificate, UserInfo>()

/** Certificates that `clientCA` did not sign, that are for servers, or that have expired, are 401. */
export const clientCertificate = (clientCA: Bundle): Authenticator => {
  const isUser = signedBy(clientCA)
  return (request) => userOf(request, isUser)
}

function userOf(request: Request, isUser: SignedBy): Verdict {
  const peer = request.clientCertificate()
  if (!peer) return undefined
  if (!peer.authorized || !isUser(peer.certificate)) return 'invalid'
  let user = users.get(peer.certificate)
  if (!user) {
    const { CN, O, [uidAttribute]: UID } = peer.certificate.subject as Readonly<Record<string, string | string[] | undefined>>
    // Of several the last one counts, as in Go; who checks requests for certificates must see the same.
    const name = list(CN).at(-1)
    const [uid, ...more] = list(UID)
    if (!name || uid === '' || more.length > 0) return 'invalid'
    user = { name, ...(uid && { uid }), groups: authenticated(list(O)), extra: credentialOf(peer.certificate) }
    users.set(peer.certificate, user)
  }
  return user
}

/** Tells one certificate of a user from another, in audit events and reviews. */
const credentialOf = ({ fingerprint256 }: PeerCertificate): UserInfo['extra'] => ({
  'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint256.replaceAll(':', '').toLowerCase()}`],
})

/** Client certificates (x509): the common name is the user, organizations are groups, and there may be a UID. Only those that our CA signed count. */
import type { PeerCertificate } from 'node:tls'
import type { Request, UserInfo } from '../http/exchange.ts'
import { type Authenticator, authenticated, type Verdict } from './authenticator.ts'
import { type Bundle, type SignedBy, signedBy } from './signed-by.ts'

const list = (value: string | string[] | undefined): string[] => (value === undefined ? [] : Array.isArray(value) ? value : [value])

/** Kubernetes' own, for the UID of a user. */
const uidAttribute = '1.3.6.1.4.1.57683.2'

interface Known {
  readonly user: UserInfo
  /** When the certificate ends, ms since 1970. */
  readonly endMs: number
}

const users = new WeakMap<PeerCertificate, Known>()

/** Told how long a certificate holds that somebody has shown, in seconds. */
export type Remaining = (seconds: number) => void

/** Certificates that `clientCA` did not sign, that are for servers, or that have expired, are 401. */
export const clientCertificate = (clientCA: Bundle, remaining: Remaining = () => {}): Authenticator => {
  const isUser = signedBy(clientCA)
  return (request) => userOf(request, isUser, remaining)
}

function userOf(request: Request, isUser: SignedBy, remaining: Remaining): Verdict {
  const peer = request.clientCertificate()
  if (!peer) return undefined
  if (!peer.authorized || !isUser(peer.certificate)) return 'invalid'
  let known = users.get(peer.certificate)
  if (!known) {
    const { CN, O, [uidAttribute]: UID } = peer.certificate.subject as Readonly<Record<string, string | string[] | undefined>>
    // Of several the last one counts, as in Go; who checks requests for certificates must see the same.
    const name = list(CN).at(-1)
    const [uid, ...more] = list(UID)
    if (!name || uid === '' || more.length > 0) return 'invalid'
    const user = { name, ...(uid && { uid }), groups: authenticated(list(O)), extra: credentialOf(peer.certificate) }
    known = { user, endMs: Date.parse(peer.certificate.valid_to) }
    users.set(peer.certificate, known)
  }
  remaining((known.endMs - Date.now()) / 1000)
  return known.user
}

/** Tells one certificate of a user from another, in audit events and reviews. */
const credentialOf = ({ fingerprint256 }: PeerCertificate): UserInfo['extra'] => ({
  'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint256.replaceAll(':', '').toLowerCase()}`],
})

/**
 * Client certificates (x509): the common name is the user, organizations are groups, and there may be a UID. Only those
 * that our CA signed count.
 */
import type { PeerCertificate } from 'node:tls'
import { type Bundle, bundleText, signedBy } from '../certificates/signed-by.ts'
import type { UserInfo } from '../request-info/user-info.ts'
import { type Authenticator, authenticated, type Verdict } from './authenticator.ts'

const list = (value: string | string[] | undefined): string[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value]

/** Kubernetes' own, for the UID of a user. */
const uidAttribute = '1.3.6.1.4.1.57683.2'

interface Known {
  /** If the certificate holds. */
  readonly verdict: Verdict
  /** When the certificate ends, ms since 1970. */
  readonly endMs: number
}

const known = new WeakMap<PeerCertificate, Known>()

/** Told how long a certificate holds that somebody has shown, in seconds; of one that has ended, too. */
export type Remaining = (seconds: number) => void

/**
 * Certificates that `clientCA` did not sign, that are for servers, or that have expired, are 401; those without a name,
 * and all where there is no authority yet, are as good as none.
 */
export const clientCertificate = (
  clientCA: Bundle,
  remaining: Remaining = () => {},
  readsUid = true,
): Authenticator => {
  const isUser = signedBy(clientCA)
  return (request) => {
    const peer = request.clientCertificate()
    if (!peer || bundleText(clientCA) === '') return undefined
    const { verdict: found, endMs } = read(peer.certificate)
    const verdict = readsUid || typeof found !== 'object' ? found : { ...found, uid: undefined }
    remaining((endMs - Date.now()) / 1000)
    return peer.authorized && isUser(peer.certificate) ? verdict : 'invalid'
  }
}

function read(certificate: PeerCertificate): Known {
  const before = known.get(certificate)
  if (before) return before
  const now = { verdict: userOf(certificate), endMs: Date.parse(certificate.valid_to) }
  known.set(certificate, now)
  return now
}

function userOf(certificate: PeerCertificate): Verdict {
  const { CN, O, [uidAttribute]: UID } = certificate.subject as Readonly<Record<string, string | string[] | undefined>>
  // Of several the last one counts, as in Go; who checks requests for certificates must see the same.
  const name = list(CN).at(-1)
  if (!name) return undefined
  const [uid, ...more] = list(UID)
  if (uid === '' || more.length > 0) return 'invalid'
  return { name, ...(uid && { uid }), groups: authenticated(list(O)), extra: credentialOf(certificate) }
}

/** Tells one certificate of a user from another, in audit events and reviews. */
const credentialOf = ({ fingerprint256 }: PeerCertificate): UserInfo['extra'] => ({
  'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint256.replaceAll(':', '').toLowerCase()}`],
})

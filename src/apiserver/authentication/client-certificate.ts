/**
 * Client certificates (x509): the common name is the user name, organizations are groups, and an attribute may hold the
 * UID. Only certificates of the client CA are accepted.
 */
import type { PeerCertificate } from 'node:tls'
import { type Bundle, bundleText, signedBy } from '../certificates/signed-by.ts'
import type { UserInfo } from '../request-info/user-info.ts'
import { type Authenticator, authenticated, type Verdict } from './authenticator.ts'

const list = (value: string | string[] | undefined): string[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value]

/** The object identifier that Kubernetes uses for the UID of a user. */
const uidAttribute = '1.3.6.1.4.1.57683.2'

interface Known {
  /** The user, if the certificate is valid. */
  readonly verdict: Verdict
  /** The end of the certificate's validity, ms since 1970. */
  readonly endMs: number
}

const known = new WeakMap<PeerCertificate, Known>()

/** Called with the remaining lifetime in seconds of each certificate used, negative if it has expired. */
export type Remaining = (seconds: number) => void

/**
 * Certificates that `clientCA` did not sign, that are for servers, or that have expired are 401. Certificates without a
 * name are ignored, and all certificates while there is no CA yet.
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
  // As in Go, the last of several common names counts. Checks of signing requests must do the same.
  const name = list(CN).at(-1)
  if (!name) return undefined
  const [uid, ...more] = list(UID)
  if (uid === '' || more.length > 0) return 'invalid'
  return { name, ...(uid && { uid }), groups: authenticated(list(O)), extra: credentialOf(certificate) }
}

/** Identifies the certificate in audit events and reviews. */
const credentialOf = ({ fingerprint256 }: PeerCertificate): UserInfo['extra'] => ({
  'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint256.replaceAll(':', '').toLowerCase()}`],
})

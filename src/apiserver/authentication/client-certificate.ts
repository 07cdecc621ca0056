/** Client certificates (x509): the common name is the user, organizations are groups. Only those that our CA signed count. */
import type { PeerCertificate } from 'node:tls'
import type { UserInfo } from '../http/exchange.ts'
import { type Authenticator, authenticated } from './authenticator.ts'

const list = (value: string | string[] | undefined): string[] => (value === undefined ? [] : Array.isArray(value) ? value : [value])

const users = new WeakMap<PeerCertificate, UserInfo>()

/** Certificates that the listener's CA did not sign, or that have expired, are 401. */
export const clientCertificate = (): Authenticator => (request) => {
  const peer = request.clientCertificate()
  if (!peer) return undefined
  if (!peer.authorized) return 'invalid'
  let user = users.get(peer.certificate)
  if (!user) {
    const { CN, O } = peer.certificate.subject as { CN?: string | string[]; O?: string | string[] }
    const name = list(CN)[0]
    if (!name) return 'invalid'
    user = { name, groups: authenticated(list(O)) }
    users.set(peer.certificate, user)
  }
  return user
}

/** Chooses a certificate by the server name that the client requests (SNI). */
import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { NamedPair, ServingPair } from './transport.ts'

/**
 * By name, including wildcards. Configured names take precedence over those in certificates, and the first of two pairs
 * wins.
 */
export function pairsByName(named: readonly NamedPair[]): ReadonlyMap<string, ServingPair> {
  const byName = new Map<string, ServingPair>()
  const add = (name: string, pair: ServingPair): void => void (byName.has(name) || byName.set(name, pair))
  for (const { pair, names } of named) for (const name of names) add(name.toLowerCase(), pair)
  for (const { pair, names } of named)
    if (names.length === 0) for (const name of certificateNames(pair)) add(name.toLowerCase(), pair)
  return byName
}

/**
 * A whole name takes precedence over a wildcard, which matches the first label only. Undefined: use the default
 * certificate.
 */
export function pairFor(byName: ReadonlyMap<string, ServingPair>, server: string): ServingPair | undefined {
  const name = server.toLowerCase().replace(/\.$/, '')
  return byName.get(name) ?? byName.get(name.replace(/^[^.]*/, '*'))
}

/** Common name and DNS names, without IP addresses. */
function certificateNames({ cert }: ServingPair): readonly string[] {
  const { subject, subjectAltName = '' } = new X509Certificate(cert)
  const [, common = ''] = /^CN=(.*)$/m.exec(subject ?? '') ?? []
  const alternative = subjectAltName
    .split(', ')
    .flatMap((one) => (one.startsWith('DNS:') ? [one.slice('DNS:'.length)] : []))
  return [
    ...(isIP(common) === 0 && /^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(common) ? [common] : []),
    ...alternative,
  ]
}

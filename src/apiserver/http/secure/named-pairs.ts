/** Which certificate a client gets that names the server it wants (SNI). */
import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { NamedPair, ServingPair } from './transport.ts'

/**
 * By name, wildcards among them. Names that somebody has given beat those of certificates, and of two the first one
 * counts.
 */
export function pairsByName(named: readonly NamedPair[]): ReadonlyMap<string, ServingPair> {
  const byName = new Map<string, ServingPair>()
  const add = (name: string, pair: ServingPair): void => void (byName.has(name) || byName.set(name, pair))
  for (const { pair, names } of named) for (const name of names) add(name.toLowerCase(), pair)
  for (const { pair, names } of named)
    if (names.length === 0) for (const name of certificateNames(pair)) add(name.toLowerCase(), pair)
  return byName
}

/** A whole name beats a wildcard, which stands for the first label alone. Undefined: the usual certificate will do. */
export function pairFor(byName: ReadonlyMap<string, ServingPair>, server: string): ServingPair | undefined {
  const name = server.toLowerCase().replace(/\.$/, '')
  return byName.get(name) ?? byName.get(name.replace(/^[^.]*/, '*'))
}

/** Common name and DNS names; addresses are no names. */
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

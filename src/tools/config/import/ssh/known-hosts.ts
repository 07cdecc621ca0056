/** known_hosts (sshd(8)) with hashed names, patterns and revoked keys. */
import { createHash, createHmac, randomBytes } from 'node:crypto'

export interface KnownHost {
  readonly marker: 'revoked' | 'cert-authority' | undefined
  /** The names, as written in the line. */
  readonly names: string
  readonly type: string
  readonly key: Buffer
  readonly file: string
  readonly line: number
}

/** The verdict on a host key. */
export type Verdict =
  | { readonly is: 'known' }
  /** `authority` is a line that trusts certificates of the host, which are not supported. */
  | { readonly is: 'unknown'; readonly authority: KnownHost | undefined }
  | { readonly is: 'changed'; readonly known: KnownHost }
  | { readonly is: 'revoked'; readonly known: KnownHost }

/** Parses a file; ignores invalid lines, as ssh does. */
export function parseKnownHosts(text: string, file: string): KnownHost[] {
  return text.split('\n').flatMap((content, index) => {
    const [, marker, names, type, key] =
      /^\s*(?:@(revoked|cert-authority)\s+)?([^\s#@]\S*)\s+(\S+)\s+([A-Za-z0-9+/=]+)/.exec(content) ?? []
    if (!names || !type || !key) return []
    return [
      { marker: marker as KnownHost['marker'], names, type, key: Buffer.from(key, 'base64'), file, line: index + 1 },
    ]
  })
}

/** The name of a host in known_hosts: with the port, unless it is 22. */
export const knownHostName = (host: string, port: number): string =>
  port === 22 ? host.toLowerCase() : `[${host.toLowerCase()}]:${port}`

/** The lines that match a host. */
export const linesFor = (lines: readonly KnownHost[], name: string): KnownHost[] =>
  lines.filter(({ names }) => matches(names, name))

/** Judges the host's key with the lines that match the host. */
export function judge(lines: readonly KnownHost[], key: Buffer): Verdict {
  const revoked = lines.find((line) => line.marker === 'revoked' && line.key.equals(key))
  if (revoked) return { is: 'revoked', known: revoked }
  const plain = lines.filter(({ marker }) => marker === undefined)
  if (plain.some((line) => line.key.equals(key))) return { is: 'known' }
  const [first] = plain.filter(({ type }) => type === keyType(key)).concat(plain)
  // A key of another type does not prove that the host is the same.
  if (first) return { is: 'changed', known: first }
  return { is: 'unknown', authority: lines.find(({ marker }) => marker === 'cert-authority') }
}

/** Formats a line. */
export function knownHostLine(name: string, key: Buffer, hashed: boolean): string {
  return `${hashed ? hashedName(name, randomBytes(20)) : name} ${keyType(key)} ${key.toString('base64')}\n`
}

/** The type of a key blob (RFC 4253, 6.6): `ssh-ed25519`. */
export function keyType(key: Buffer): string {
  const length = key.length >= 4 ? key.readUInt32BE(0) : 0
  return key.subarray(4, 4 + length).toString('latin1')
}

/** As ssh-keygen -l shows it. */
export const keyFingerprint = (key: Buffer): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`

function matches(names: string, name: string): boolean {
  if (names.startsWith('|1|')) {
    const salt = Buffer.from(names.split('|')[2] ?? '', 'base64')
    return hashedName(name, salt) === names
  }
  const patterns = names.toLowerCase().split(',')
  if (patterns.some((pattern) => pattern.startsWith('!') && wildcard(pattern.slice(1), name))) return false
  return patterns.some((pattern) => wildcard(pattern, name))
}

const hashedName = (name: string, salt: Buffer): string =>
  `|1|${salt.toString('base64')}|${createHmac('sha1', salt).update(name).digest('base64')}`

/** Matches `*` and `?` in time proportional to pattern length times text length. */
function wildcard(pattern: string, text: string): boolean {
  const open = (at: number, into: Set<number>): void => {
    into.add(at)
    if (pattern[at] === '*') open(at + 1, into)
  }
  let states = new Set<number>()
  open(0, states)
  for (const letter of text) {
    const next = new Set<number>()
    for (const at of states) {
      if (pattern[at] === '*') open(at, next)
      else if (pattern[at] === '?' || pattern[at] === letter) open(at + 1, next)
    }
    states = next
  }
  return states.has(pattern.length)
}

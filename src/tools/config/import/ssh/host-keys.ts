/** Verifies host keys with known_hosts; asks about unknown hosts and stores the answer. */
import { appendFileSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ExplainedError, errorCode, reasonOf } from '../../../../lib/explained-error.ts'
import { makeDirectory } from '../../../../lib/files/make-directory.ts'
import type { Asker } from './asker.ts'
import {
  judge,
  type KnownHost,
  keyFingerprint,
  keyType,
  knownHostLine,
  knownHostName,
  linesFor,
  parseKnownHosts,
} from './known-hosts.ts'
import type { SshSettings } from './settings/ssh-settings.ts'

export interface HostKeys {
  /** Types of keys that known_hosts has for the host. */
  readonly knownTypes: readonly string[]
  /** Resolves if the host is trusted. Rejects with an ExplainedError. */
  trust(key: Buffer, asker: Asker | undefined): Promise<void>
}

/** Reads the known keys of a host. Throws an ExplainedError for an unreadable file. */
export function hostKeys(settings: SshSettings): HostKeys {
  const name = settings.hostKeyAlias ?? knownHostName(settings.hostName, settings.port)
  const lines = linesFor(
    settings.knownHostsFiles.flatMap((file) => parseKnownHosts(textAt(file), file)),
    name,
  )
  return {
    knownTypes: [...new Set(lines.filter(({ marker }) => marker === undefined).map(({ type }) => type))],
    async trust(key, asker) {
      const verdict = judge(lines, key)
      switch (verdict.is) {
        case 'known':
          return
        case 'revoked':
          throw new ExplainedError(
            `the key of ${name} (${fingerprintOf(key)}) is revoked at ${placeOf(verdict.known)}: do not trust ` +
              'this machine; contact its administrator',
          )
        case 'changed':
          throw new ExplainedError(
            `the key of ${name} has changed: it is ${fingerprintOf(key)}, but ${placeOf(verdict.known)} has ` +
              `${fingerprintOf(verdict.known.key)}; this may be an attack: if the change is expected, remove the ` +
              `old key with ssh-keygen -R '${name}' -f ${verdict.known.file}`,
          )
        case 'unknown':
          await unknown(settings, name, key, verdict.authority, asker)
      }
    },
  }
}

async function unknown(
  settings: SshSettings,
  name: string,
  key: Buffer,
  authority: KnownHost | undefined,
  asker: Asker | undefined,
): Promise<void> {
  const signed = authority
    ? ` (${placeOf(authority)} trusts it with a certificate authority, but t8s does not support host certificates)`
    : ''
  const [file = ''] = settings.knownHostsFiles
  if (settings.unknownHosts === 'reject') {
    throw new ExplainedError(
      `the host ${name} is unknown${signed}, and StrictHostKeyChecking is yes: compare its key ` +
        `${fingerprintOf(key)}, then add it to ${file} with ssh-keyscan`,
    )
  }
  if (settings.unknownHosts === 'ask') {
    if (!asker) {
      throw new ExplainedError(
        `the host ${name} is unknown${signed}, and there is no terminal to confirm its key ` +
          `${fingerprintOf(key)}: connect once with ssh, or compare it and add it to ${file} with ssh-keyscan`,
      )
    }
    const agreed = await asker.confirm(
      `The host ${name} is unknown${signed}. Its key is ${fingerprintOf(key)}. Trust it permanently?`,
      false,
    )
    if (!agreed) throw new ExplainedError(`${name} was not trusted: nothing was changed`)
  }
  try {
    makeDirectory(dirname(file), 0o700)
    const present = textAt(file)
    appendFileSync(
      file,
      `${present === '' || present.endsWith('\n') ? '' : '\n'}${knownHostLine(name, key, settings.hashKnownHosts)}`,
      { mode: 0o600 },
    )
  } catch (error) {
    throw new ExplainedError(
      `cannot add ${name} to ${file}: ${reasonOf(error)}; make it writable, or set UserKnownHostsFile`,
      { cause: error },
    )
  }
}

const fingerprintOf = (key: Buffer): string => `${keyType(key)} ${keyFingerprint(key)}`
const placeOf = ({ file, line }: KnownHost): string => `${file}:${line}`

function textAt(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return ''
    throw new ExplainedError(`cannot read ${file}: ${reasonOf(error)}; it lists the trusted hosts`, { cause: error })
  }
}

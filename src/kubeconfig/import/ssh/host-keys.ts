/** Decides whether a host is the one that it should be, asks about one that nobody knows, and remembers the answer. */
import { appendFileSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ExplainedError, errorCode, reasonOf } from '../../../lib/explained-error.ts'
import { makeDirectory } from '../../../lib/files/make-directory.ts'
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
import type { SshSettings } from './ssh-settings.ts'

export interface HostKeys {
  /** Kinds of keys that are known of the host: it should show one of these. */
  readonly knownTypes: readonly string[]
  /** Resolves if the host may be trusted. Rejects with an ExplainedError that says what to do. */
  trust(key: Buffer, asker: Asker | undefined): Promise<void>
}

/** What is known of a host now. Throws an ExplainedError for a file that cannot be read. */
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
              'this machine; ask who runs it',
          )
        case 'changed':
          throw new ExplainedError(
            `the key of ${name} has changed: it shows ${fingerprintOf(key)}, and ${placeOf(verdict.known)} says ` +
              `${fingerprintOf(verdict.known.key)}; somebody may be in between: if the change is right, remove the ` +
              `old key by ssh-keygen -R '${name}' -f ${verdict.known.file}`,
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
    ? ` (${placeOf(authority)} trusts it by a certificate authority, and t8s does not read certificates of hosts)`
    : ''
  const [file = ''] = settings.knownHostsFiles
  if (settings.unknownHosts === 'refuse') {
    throw new ExplainedError(
      `${name} is not known${signed}, and StrictHostKeyChecking is yes: add its key ${fingerprintOf(key)} to ` +
        `${file}, by ssh-keyscan, after comparing it`,
    )
  }
  if (settings.unknownHosts === 'ask') {
    if (!asker) {
      throw new ExplainedError(
        `${name} is not known${signed}, and nobody is at a terminal to be asked about its key ` +
          `${fingerprintOf(key)}: connect once by ssh, or add it to ${file} by ssh-keyscan after comparing it`,
      )
    }
    const agreed = await asker.confirm(
      `${name} is not known${signed}. Its key is ${fingerprintOf(key)}. Trust it from now on?`,
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
      `cannot add ${name} to ${file}: ${reasonOf(error)}; make it writable, or name another file by UserKnownHostsFile`,
      {
        cause: error,
      },
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
    throw new ExplainedError(`cannot read ${file}: ${reasonOf(error)}; who is trusted stands there`, { cause: error })
  }
}

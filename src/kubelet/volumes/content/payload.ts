/** The files of a volume, and the rules for their paths. */
import { normalize } from 'node:path/posix'

export interface PayloadFile {
  readonly data: Uint8Array
  /** Permission bits. */
  readonly mode: number
  /** The UID of its owner. Default: the kubelet's. */
  readonly owner?: number
}

/** Files by their path in the volume. */
export type Payload = ReadonlyMap<string, PayloadFile>

const maxNameLength = 255
const maxPathLength = 4096

/** The payload with clean paths. Throws an Error with upstream's message for a path that leaves the volume. */
export function validPayload(payload: Payload): Map<string, PayloadFile> {
  const valid = new Map<string, PayloadFile>()
  for (const [path, file] of payload) {
    checkPath(path)
    valid.set(normalize(path).replace(/\/$/, ''), file)
  }
  return valid
}

/** Names that begin with `..` are reserved for the folders of versions. */
function checkPath(path: string): void {
  if (path === '') throw new Error('invalid path: must not be empty: ""')
  if (path.startsWith('/')) throw new Error(`invalid path: must be relative path: ${path}`)
  if (path.length > maxPathLength)
    throw new Error(`invalid path: must be less than or equal to ${maxPathLength} characters`)
  const names = path.split('/')
  for (const name of names) {
    if (name === '..') throw new Error(`invalid path: must not contain '..': ${path}`)
    if (name.length > maxNameLength)
      throw new Error(`invalid path: filenames must be less than or equal to ${maxNameLength} characters`)
  }
  if (names[0]!.startsWith('..')) throw new Error(`invalid path: must not start with '..': ${path}`)
  // Such as `a/..b` cannot hide a version, but `./..b` would.
  if (normalize(path).startsWith('..')) throw new Error(`invalid path: must not start with '..': ${path}`)
  if (normalize(path) === '.' || normalize(path) === './') throw new Error(`invalid path: must not be empty: ${path}`)
}

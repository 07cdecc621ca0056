/**
 * Leases protect content that no image refers to yet, such as the layers of a running pull, from collection. A lease
 * ends with its process.
 */
import { randomBytes } from 'node:crypto'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { bootId, startTimeOf } from '../../../lib/process/start-time.ts'
import type { Digest } from '../formats/digest.ts'
import { withStoreLock } from './store-lock.ts'
import type { StorePaths } from './store-paths.ts'

export interface Lease {
  /** Protects blobs and layers, present or not. After it, a check for presence holds until the lease is released. */
  add(digests: readonly Digest[]): Promise<void>
  release(): void
}

export function createLease(paths: StorePaths): Lease {
  mkdirSync(paths.leases, { recursive: true, mode: 0o700 })
  const file = join(paths.leases, `${ownName()}.${randomBytes(6).toString('hex')}`)
  return {
    // The lock, because a collection that has read the leases must not remove what is added now.
    add: (digests) =>
      withStoreLock(paths.lock, () =>
        appendFileSync(file, digests.map((digest) => `${digest}\n`).join(''), { mode: 0o600 }),
      ),
    release: () => rmSync(file, { force: true }),
  }
}

/** The digests of all leases; removes those of dead processes. Call it while the store is locked. */
export function leasedDigests({ leases }: StorePaths): Set<Digest> {
  const digests = new Set<Digest>()
  mkdirSync(leases, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(leases)) {
    const file = join(leases, name)
    if (isAlive(name)) for (const digest of readFileSync(file, 'utf8').split('\n')) digests.add(digest)
    else rmSync(file, { force: true })
  }
  return digests
}

/** A name for files of this process. It differs from those of later processes with the same pid. */
export const ownName = (): string => nameOf(process.pid)

/** True if the process that chose a file's name with `ownName` still runs. */
export function isAlive(name: string): boolean {
  const [owner = ''] = name.split('.')
  return nameOf(Number(owner.split('-')[0])) === owner
}

const nameOf = (pid: number): string => `${pid}-${startTimeOf(pid)?.replace(/\W/g, '') ?? ''}-${bootId().slice(0, 8)}`

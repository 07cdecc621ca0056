/** Runs the torture of several API servers on one etcd in namespaces of its own, which need root. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from '../api/server-process.ts'
import { findsFault } from '../namespaces.ts'
import type { FaultName } from './faults.ts'

export interface EtcdTortureRun {
  /** The number of faults. */
  readonly faults: number
  /** Those that may happen. */
  readonly kinds: readonly FaultName[]
  readonly writers: number
  /** The longest time until servers are well again that is no fault, in ms. Default: any. */
  readonly recoveryMs?: number
  readonly seed: number
}

/** Resolves with true if a promise was broken; then the folder with data and logs is kept. */
export async function tortureEtcd(run: EtcdTortureRun): Promise<boolean> {
  build()
  const folder = mkdtempSync(join(tmpdir(), 't8s-torture-etcd-'))
  const main = [join(import.meta.dirname, 'main.ts'), JSON.stringify({ ...run, folder })]
  return findsFault(main, folder)
}

/**
 * Kills and restarts a runtime, or a whole cluster, under pods that write, run commands and exit, and looks for what is
 * lost or left.
 */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findsFault } from '../namespaces.ts'

export interface RuntimeTorture {
  /** `runtime`: `t8s runtime`. `node`: `t8s up` with a real node. */
  readonly target: 'runtime' | 'node'
  readonly kills: number
  /** Pods at a time. */
  readonly pods: number
  readonly seed: number
}

/**
 * Resolves with true if there was a fault. The output names each. Runs in namespaces of its own, which need root; the
 * folder with logs is kept after a fault.
 */
export async function tortureRuntime({ target, kills, pods, seed }: RuntimeTorture): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), `t8s-torture-${target}-`))
  const main = [join(import.meta.dirname, 'main.ts'), target, folder, ...[kills, pods, seed].map(String)]
  return findsFault(main, folder)
}

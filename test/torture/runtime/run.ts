/**
 * Kills and restarts a runtime, or a whole cluster, under pods that write, run commands and exit, and looks for what is
 * lost or left.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

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
  const namespaces = ['--pdeathsig', 'KILL', 'unshare', '-n', '-m', '-p', '-f', '--mount-proc', '--kill-child']
  const main = [join(import.meta.dirname, 'main.ts'), target, folder, ...[kills, pods, seed].map(String)]
  const child = spawn('setpriv', [...namespaces, process.execPath, ...process.execArgv, ...main], { stdio: 'inherit' })
  const code = await new Promise((resolve) => child.once('close', resolve))
  if (code === 0) rmSync(folder, { recursive: true, force: true })
  else console.log(`the files are in ${folder}`)
  return code !== 0
}

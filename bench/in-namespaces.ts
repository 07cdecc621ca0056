/** Runs measurements that need a node, in namespaces of their own. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Runs a script in network, mount and process namespaces, which end with the process. Rejects if it fails, and without
 * root; `flag` is the flag of the benchmark.
 */
export async function measureInNamespaces(script: string, flag: string): Promise<void> {
  if (process.getuid?.() !== 0) throw new Error(`${flag} needs root: run it as root on Linux`)
  const enter = ['-n', '-m', '-p', '-f', '--mount-proc', '--kill-child']
  // Runtimes leave mounts behind, which end with the namespaces.
  const folder = mkdtempSync(join(tmpdir(), 't8s-bench-'))
  const child = spawn('unshare', [...enter, process.execPath, ...process.execArgv, script], {
    env: { ...process.env, T8S_TEST_NAMESPACES: '1', TMPDIR: folder },
    stdio: 'inherit',
  })
  const [code] = await once(child, 'exit')
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  if (code !== 0) throw new Error(`the measurement has ended with ${code}`)
}

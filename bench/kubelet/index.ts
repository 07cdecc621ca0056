/**
 * `npm run bench -- --kubelet`: a kubelet on Debian's containerd, beside upstream's numbers and containerd's own share.
 * Needs root. Asserts nothing.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Measures in network, mount and process namespaces of its own, which end with the process. */
export async function benchKubelet(): Promise<void> {
  if (process.getuid?.() !== 0) throw new Error('--kubelet needs root: run it as root on Linux with containerd')
  const enter = ['-n', '-m', '-p', '-f', '--mount-proc', '--kill-child']
  const script = join(import.meta.dirname, 'measure.ts')
  // containerd leaves mounts behind, which end with the namespaces.
  const folder = mkdtempSync(join(tmpdir(), 't8s-bench-kubelet-'))
  const child = spawn('unshare', [...enter, process.execPath, ...process.execArgv, script], {
    env: { ...process.env, T8S_TEST_NAMESPACES: '1', TMPDIR: folder },
    stdio: 'inherit',
  })
  const [code] = await once(child, 'exit')
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  if (code !== 0) throw new Error(`the measurement has ended with ${code}`)
}

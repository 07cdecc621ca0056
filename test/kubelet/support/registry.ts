/** Starts a registry in the network namespace of a runtime. */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { layerOf, writeFiles, writeImage } from './oci-image.ts'
import type { NodeRuntime } from './runtimes/node-runtime.ts'

export interface Registry {
  /** Lines such as `GET app:1 200`, one for each manifest that was read. */
  readonly requests: readonly string[]
  stop(): void
}

const port = 5000

export const registryHost = `127.0.0.1:${port}`
export const registryLogin = { username: 'somebody', password: 'pass:word' } as const

/** Serves one small image by several names without the host, such as `app:1`. */
export async function startRegistry({ pid }: NodeRuntime, names: readonly string[]): Promise<Registry> {
  const folder = mkdtempSync(join(tmpdir(), 't8s-registry-'))
  const archive = join(folder, 'image.tar')
  const layer = layerOf((root) => writeFiles(root, { 'etc/passwd': 'web:x:1000:1000::/:/bin/sh\n' }))
  const complete = names.map((name) => `${registryHost}/${name}`)
  writeImage(archive, complete, [layer], { Cmd: ['/nothing'], User: '1000' })
  execFileSync('tar', ['-xf', archive, '-C', folder])
  const script = join(import.meta.dirname, 'registry-process.ts')
  const login = `${registryLogin.username}:${registryLogin.password}`
  const args = ['-t', String(pid), '-n', process.execPath, script, String(port), folder, login]
  const child = spawn('nsenter', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const requests: string[] = []
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the registry has ended with ${code}`)))
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      requests.push(...text.split('\n').filter((line) => line !== '' && line !== 'ready'))
      if (text.includes('ready')) resolve()
    })
  })
  return {
    requests,
    stop() {
      child.kill()
      rmSync(folder, { recursive: true })
    },
  }
}

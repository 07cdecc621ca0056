/**
 * A server in a child process with the V8 flags that `t8s` sets, so that its memory and event loop can be measured.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { AttackedOptions, StartedServer } from './serve.ts'

export const token = 'test-token'

export interface AttackedServer extends StartedServer {
  readonly url: string
  /** Resident memory, MB. */
  resident(): number
  /** Open files and sockets. */
  descriptors(): number
}

const flags = ['--max-semi-space-size=8', '--heap-growing-percent=100', '--min-semi-space-size=2', '--v8-pool-size=1']

/**
 * Starts a server and stops it after the test. Any log line of the server fails the test, as attacks are not server
 * errors.
 */
export async function attackedServer(t: TestContext, options: AttackedOptions = {}): Promise<AttackedServer> {
  const child = fork(join(import.meta.dirname, 'serve.ts'), [JSON.stringify(options)], {
    execArgv: flags,
    env: { ...process.env, MALLOC_ARENA_MAX: '1' },
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  })
  let logged = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    logged += text
  })
  t.after(async () => {
    if (child.exitCode === null) {
      child.disconnect()
      await once(child, 'exit')
    }
    if (logged) throw new Error(`the server logged: ${logged}`)
  })
  const [started] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`the server ended with ${code}: ${logged}`)
    }),
  ])) as [StartedServer]
  const resident = (): number =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024
  const descriptors = (): number => readdirSync(`/proc/${child.pid}/fd`).length
  return { ...started, url: `https://127.0.0.1:${started.port}`, resident, descriptors }
}

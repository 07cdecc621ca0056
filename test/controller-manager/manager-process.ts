/** `t8s controller-manager` as a separate process, for tests. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Lifetime } from '../support/reachable-cluster.ts'
import { waitFor } from '../support/wait-for.ts'

const launcher = join(import.meta.dirname, '../../t8s')

export interface ManagerProcess {
  readonly process: ChildProcess
  readonly output: () => string
  readonly exited: Promise<unknown>
  /** The URL of its port, once it is logged. */
  url(): Promise<string>
}

/** Starts a manager, which is killed after the test. */
export function managerProcess(t: Lifetime, args: readonly string[]): ManagerProcess {
  const child = spawn(launcher, ['controller-manager', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  t.after(() => child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  return {
    process: child,
    output: () => output,
    exited: once(child, 'close'),
    url: async () =>
      `https://127.0.0.1:${await waitFor('the port', () => /health and metrics on port (\d+)/.exec(output)?.[1])}`,
  }
}

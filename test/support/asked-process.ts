/** A process that a test starts and asks: each message that it is sent is answered with one. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Lifetime } from './reachable-cluster.ts'

export interface AskedProcess {
  /** Rejects when the process has ended. */
  ask<T>(message: object): Promise<T>
  /** Ends it at once; resolves when it is gone. */
  stop(): Promise<void>
}

/** Starts `file`; it ends with the test at the latest. */
export function askedProcess(t: Lifetime, file: string): AskedProcess {
  const child = fork(file, { execArgv: [] })
  const exited = once(child, 'exit')
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
  }
  t.after(stop)
  return {
    async ask<T>(message: object) {
      child.send(message)
      const [answer] = await Promise.race([
        once(child, 'message'),
        exited.then(([code]) => {
          throw new Error(`the process ended with ${code}`)
        }),
      ])
      return answer as T
    },
    stop,
  }
}

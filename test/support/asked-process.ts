/** A child process of a test that answers each message with one message. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Lifetime } from './reachable-cluster.ts'

export interface AskedProcess {
  /** Sends a message and resolves with the answer. Rejects if the process ends. */
  ask<T>(message: object): Promise<T>
  /** Kills the process. Resolves when it has ended. */
  stop(): Promise<void>
}

/** Starts `file`. It ends with the test at the latest. */
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

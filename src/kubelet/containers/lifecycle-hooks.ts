/** Lifecycle hooks of containers: postStart after the start, preStop before the end. */
import { setTimeout as delay } from 'node:timers/promises'
import { goQuote } from '../../lib/go/go-quote.ts'
import type { CriRuntime } from '../cri/runtime.ts'
import type { Container, Pod } from '../pod-types.ts'
import type { PodEvents } from './container-events.ts'

type Handler = NonNullable<NonNullable<Container['lifecycle']>['preStop']>

/** Sends the request of an HTTP hook; rejects if it fails. */
export type SendHook = (pod: Pod, container: Container, action: NonNullable<Handler['httpGet']>) => Promise<void>

export interface HookOptions {
  readonly runtime: Pick<CriRuntime, 'exec'>
  readonly sendHttp: SendHook
  readonly events: PodEvents
}

/** A hook has failed; the message is that of the event. */
export class HookError extends Error {}

export class LifecycleHooks {
  readonly #options: HookOptions

  constructor(options: HookOptions) {
    this.#options = options
  }

  /** Resolves when the hook has ended. Rejects with a HookError, after an event: the container must be killed. */
  async postStart(pod: Pod, container: Container, id: string): Promise<void> {
    const handler = container.lifecycle?.postStart
    if (!handler) return
    try {
      await this.#run(pod, container, id, handler)
    } catch (error) {
      this.#options.events.ofContainer(pod, container, 'Warning', 'FailedPostStartHook', 'PostStartHook failed')
      throw new HookError((error as Error).message)
    }
  }

  /** Resolves when the hook has ended or its time is over. A failure is an event only: the container ends anyway. */
  async preStop(pod: Pod, container: Container, id: string, graceSeconds: number): Promise<void> {
    const handler = container.lifecycle?.preStop
    if (!handler) return
    const timeout = new AbortController()
    try {
      await Promise.race([
        this.#run(pod, container, id, handler),
        delay(graceSeconds * 1000, undefined, { signal: timeout.signal }),
      ])
    } catch {
      // The error may contain secrets of a server.
      this.#options.events.ofContainer(pod, container, 'Warning', 'FailedPreStopHook', 'PreStopHook failed')
    } finally {
      timeout.abort()
    }
  }

  async #run(pod: Pod, container: Container, id: string, { exec, httpGet, sleep }: Handler): Promise<void> {
    const failed = (kind: string, action: string, reason: string): Error => {
      const { name, namespace, uid } = pod.metadata
      const place = `Container ${goQuote(container.name)} in Pod ${goQuote(`${name}_${namespace}(${uid})`)}`
      return new Error(`${kind} lifecycle hook (${action}) for ${place} failed - error: ${reason}`)
    }
    if (exec) {
      const command = exec.command ?? []
      const { reason, output } = await this.#runCommand(id, command)
      if (reason !== undefined) throw failed('Exec', `[${command.join(' ')}]`, `${reason}, message: ${goQuote(output)}`)
    } else if (httpGet)
      await this.#options.sendHttp(pod, container, httpGet).catch((error: Error) => {
        throw failed('HTTP', httpGet.path ?? '', error.message)
      })
    else if (sleep) await delay(sleep.seconds * 1000)
  }

  /** Resolves with the output, and with a reason if the command has failed. */
  async #runCommand(
    id: string,
    command: readonly string[],
  ): Promise<{ readonly output: string; readonly reason?: string }> {
    try {
      const { exitCode, stdout, stderr } = await this.#options.runtime.exec(id, command)
      const output = Buffer.concat([stdout, stderr]).toString()
      if (exitCode === 0) return { output }
      return { output, reason: `command '${command.join(' ')}' exited with ${exitCode}: ${Buffer.from(stderr)}` }
    } catch (error) {
      return { output: '', reason: (error as Error).message }
    }
  }
}

/** The health of the kubelet: `/healthz` and its checks, in the format of Kubernetes' components. */
import { messageOf } from '../../../lib/message-of.ts'
import type { Page } from '../../../node/server/served-nodes.ts'

export interface HealthCheck {
  readonly name: string
  /** Throws or rejects with an Error if the check fails. */
  readonly check: () => void | Promise<void>
}

/** The sync loop of the kubelet is stuck after this time, in ms, at least. */
const minStuckMs = 5 * 60_000

/** Fails when the sync loop has not run for max(2 × `resyncMs`, 5 min). */
export function syncLoopCheck(lastRun: () => number, resyncMs: number, now: () => number): HealthCheck {
  const stuckMs = Math.max(2 * resyncMs, minStuckMs)
  return {
    name: 'syncloop',
    check() {
      // Before its first run it is starting.
      const last = lastRun()
      if (last > 0 && now() - last > stuckMs) throw new Error('sync Loop took longer than expected')
    },
  }
}

const alwaysHealthy = (name: string): HealthCheck => ({ name, check: () => {} })

export class Health {
  readonly #checks: readonly HealthCheck[]
  readonly #log: (line: string) => void

  constructor(checks: readonly HealthCheck[], log: (line: string) => void) {
    this.#checks = [alwaysHealthy('ping'), alwaysHealthy('log'), ...checks]
    this.#log = log
  }

  /** The page of `/healthz` or `/healthz/CHECK`; undefined for another path. */
  async page(path: string, query: URLSearchParams): Promise<Page | undefined> {
    if (path === '/healthz' || path === '/healthz/') return this.#all(query)
    const check = this.#checks.find(({ name }) => path === `/healthz/${name}`)
    if (!check) return undefined
    const error = await failureOf(check)
    return error === undefined ? plain('ok') : plain(`internal server error: ${error}\n`, 500)
  }

  async #all(query: URLSearchParams): Promise<Page> {
    const excluded = new Set(query.getAll('exclude'))
    const lines: string[] = []
    const failed: string[] = []
    for (const check of this.#checks) {
      if (excluded.has(check.name)) {
        lines.push(`[+]${check.name} excluded: ok\n`)
        continue
      }
      const error = await failureOf(check)
      if (error === undefined) lines.push(`[+]${check.name} ok\n`)
      else {
        failed.push(check.name)
        this.#log(`healthz check ${check.name} failed: ${error}`)
        lines.push(`[-]${check.name} failed: reason withheld\n`)
      }
    }
    if (failed.length > 0) return plain(`${lines.join('')}healthz check failed\n`, 500)
    return plain(query.has('verbose') ? `${lines.join('')}healthz check passed\n` : 'ok')
  }
}

async function failureOf({ check }: HealthCheck): Promise<string | undefined> {
  try {
    await check()
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

const plain = (text: string, status = 200): Page => ({ status, type: 'text/plain; charset=utf-8', text })

/** V8's inspector, of this thread, for as long as a profile is taken. */
import type { Session } from 'node:inspector/promises'

export class ProfilingInUseError extends Error {
  constructor(what: string) {
    super(`${what} profiling already in use`)
    this.name = 'ProfilingInUseError'
  }
}

/** Profiles of one kind are taken one after the other: V8 has one profiler of each. */
export class Exclusive {
  readonly #what: string
  #busy = false

  constructor(what: string) {
    this.#what = what
  }

  /** Rejects with a ProfilingInUseError while another one is under way. */
  async run<T>(take: () => Promise<T>): Promise<T> {
    if (this.#busy) throw new ProfilingInUseError(this.#what)
    this.#busy = true
    try {
      return await take()
    } finally {
      this.#busy = false
    }
  }
}

/** Opens a session, and closes it whatever happens, which ends its profilers. */
export async function inSession<T>(use: (session: Session) => Promise<T>): Promise<T> {
  const { Session } = await import('node:inspector/promises')
  const session = new Session()
  session.connect()
  try {
    return await use(session)
  } finally {
    session.disconnect()
  }
}

/** Resolves after some time, or when `signal` is aborted. */
export function waited(ms: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (signal?.aborted) return Promise.resolve()
  const timer = setTimeout(resolve, ms)
  signal?.addEventListener('abort', () => resolve(), { once: true })
  return promise.finally(() => clearTimeout(timer))
}

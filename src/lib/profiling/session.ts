/** Sessions of V8's inspector for this thread, for the duration of a profile. */
import type { Session } from 'node:inspector/promises'

export class ProfilingInUseError extends Error {
  constructor(what: string) {
    super(`${what} profiling already in use`)
    this.name = 'ProfilingInUseError'
  }
}

/** Allows one profile of a kind at a time, since V8 has one profiler per kind. */
export class Exclusive {
  readonly #what: string
  #busy = false

  constructor(what: string) {
    this.#what = what
  }

  /** Rejects with a ProfilingInUseError while another profile is taken. */
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

/** Opens a session for `use`, and always closes it, which stops its profilers. */
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

/** Resolves after `ms`, or when `signal` is aborted. */
export function abortableDelay(ms: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (signal?.aborted) return Promise.resolve()
  const timer = setTimeout(resolve, ms)
  signal?.addEventListener('abort', () => resolve(), { once: true })
  return promise.finally(() => clearTimeout(timer))
}

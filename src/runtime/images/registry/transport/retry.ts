/** Retries requests to registries that fail for a while. */
import { setTimeout as delay } from 'node:timers/promises'
import { ImageError } from '../../image-error.ts'
import { canceled } from './http-exchange.ts'
import { RegistryError } from './registry-error.ts'

export interface RetryOptions {
  /** Attempts without progress. Default: 5. */
  readonly attempts?: number
  /** The first pause in ms; each one is twice as long as the one before. Default: 250. */
  readonly firstPauseMs?: number
  readonly signal?: AbortSignal
}

/** A registry that asks for a longer pause has to wait for the next pull, in ms. */
const maxPauseMs = 30_000

/**
 * Calls `attempt` until it succeeds, fails with an error that will remain, or has failed too often. It calls `progress`
 * when it has received something, which makes further attempts worthwhile.
 */
export async function withRetries<Result>(
  attempt: (progress: () => void) => Promise<Result>,
  { attempts = 5, firstPauseMs = 250, signal }: RetryOptions,
): Promise<Result> {
  let failed = 0
  for (;;)
    try {
      return await attempt(() => {
        failed = 0
      })
    } catch (error) {
      if (signal?.aborted) throw canceled(signal)
      const pause = pauseMs(error, firstPauseMs * 2 ** failed)
      if (++failed >= attempts || pause === undefined) throw error
      await delay(pause, undefined, { signal }).catch(() => {})
    }
}

/** The pause before the next attempt; undefined if none is worthwhile. */
function pauseMs(error: unknown, usual: number): number | undefined {
  if (error instanceof RegistryError) {
    if (!error.isTransient || (error.retryAfterMs ?? 0) > maxPauseMs) return undefined
    return Math.max(jittered(usual), error.retryAfterMs ?? 0)
  }
  return error instanceof ImageError && error.code === 'Unavailable' ? jittered(usual) : undefined
}

const jittered = (ms: number): number => Math.min(maxPauseMs, ms) * (0.5 + Math.random() / 2)

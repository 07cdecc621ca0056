/** Locks kubeconfigs as kubectl does: with FILE.lock, which is created exclusively. */
import { closeSync, openSync, rmSync, statSync, watch } from 'node:fs'
import { dirname } from 'node:path'
import { ExplainedError, errorCode, reasonOf } from '../../../lib/explained-error.ts'
import { makeDirectory } from '../../../lib/files/make-directory.ts'

export interface LockOptions {
  /** Time to wait for another writer, in ms. Default: 3,000. */
  readonly timeoutMs?: number
}

const defaultTimeoutMs = 3000
const interruptions = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs `action` while all `files` are locked, in sorted order to avoid deadlocks. Rejects with an ExplainedError if a
 * lock is held or cannot be created.
 */
export async function withLocks<T>(
  files: readonly string[],
  action: () => T,
  { timeoutMs = defaultTimeoutMs }: LockOptions = {},
): Promise<T> {
  const held: string[] = []
  // A signal must not leave locks behind: it ends the wait, but not a change that has begun.
  const interrupted = new AbortController()
  const interrupt = (): void => interrupted.abort()
  for (const signal of interruptions) process.on(signal, interrupt)
  const deadline = performance.now() + timeoutMs
  try {
    for (const file of [...files].sort()) {
      const lock = `${file}.lock`
      await acquire(lock, file, deadline, interrupted.signal)
      held.push(lock)
    }
    return action()
  } finally {
    for (const lock of held) rmSync(lock, { force: true })
    for (const signal of interruptions) process.off(signal, interrupt)
  }
}

async function acquire(lock: string, file: string, deadline: number, interrupted: AbortSignal): Promise<void> {
  for (;;) {
    if (interrupted.aborted)
      throw new ExplainedError(`interrupted while ${file} was locked by another program: nothing was changed`)
    if (tryCreate(lock, file)) return
    const remainingMs = deadline - performance.now()
    if (remainingMs <= 0) throw heldLock(lock, file)
    await released(lock, remainingMs, interrupted)
  }
}

/** Creates the lock file; returns false if it exists. */
function tryCreate(lock: string, file: string): boolean {
  try {
    makeDirectory(dirname(file), 0o700)
    closeSync(openSync(lock, 'wx', 0o600))
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST' && statSync(dirname(file), { throwIfNoEntry: false })?.isDirectory()) return false
    throw new ExplainedError(
      `cannot lock ${file}: ${reasonOf(error)}; nothing was changed: make its folder writable, or set ` +
        'KUBECONFIG to another file',
      { cause: error },
    )
  }
}

/** Resolves when the lock is released, on a signal, or after `ms`. */
async function released(lock: string, ms: number, interrupted: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  interrupted.addEventListener('abort', () => resolve(), { once: true })
  const check = (): void => {
    if (!statSync(lock, { throwIfNoEntry: false })) resolve()
  }
  const watcher = watch(dirname(lock), check).on('error', check)
  // It may have been released before the watch started.
  check()
  try {
    await promise
  } finally {
    clearTimeout(timer)
    watcher.close()
  }
}

function heldLock(lock: string, file: string): ExplainedError {
  const createdMs = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
  const seconds = Math.max(0, Math.round((Date.now() - createdMs) / 1000))
  return new ExplainedError(
    `${file} is locked by another program (${lock} is ` +
      `${seconds < 120 ? `${seconds} seconds` : `${Math.round(seconds / 60)} minutes`} old): nothing was changed; ` +
      `try again, or remove ${lock} if no program is writing`,
  )
}

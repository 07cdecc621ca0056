/** Keeps a second writer away from kubeconfigs as kubectl does it: by FILE.lock, which only one can make. */
import { closeSync, openSync, rmSync, statSync, watch } from 'node:fs'
import { dirname } from 'node:path'
import { ExplainedError, errorCode, reasonOf } from '../../lib/explained-error.ts'
import { makeDirectory } from '../../lib/files/make-directory.ts'

export interface LockOptions {
  /** How long another writer is waited for, in ms; 3,000 unless said. */
  readonly patienceMs?: number
}

const usualPatienceMs = 3000
const interruptions = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs `action` while all of `files` are locked. They are locked in one order, so that two writers do not wait for each
 * other. Rejects with an ExplainedError where a lock is held or cannot be made.
 */
export async function withLocks<T>(
  files: readonly string[],
  action: () => T,
  { patienceMs = usualPatienceMs }: LockOptions = {},
): Promise<T> {
  const held: string[] = []
  // Who interrupts must not leave locks behind: waiting ends, and a change that has begun takes no longer than writing
  // its files.
  const interrupted = new AbortController()
  const interrupt = (): void => interrupted.abort()
  for (const signal of interruptions) process.on(signal, interrupt)
  const deadline = performance.now() + patienceMs
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
    if (made(lock, file)) return
    const left = deadline - performance.now()
    if (left <= 0) throw heldLock(lock, file)
    await gone(lock, left, interrupted)
  }
}

/** Whether the lock is ours now. */
function made(lock: string, file: string): boolean {
  try {
    makeDirectory(dirname(file), 0o700)
    closeSync(openSync(lock, 'wx', 0o600))
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST' && statSync(dirname(file), { throwIfNoEntry: false })?.isDirectory()) return false
    throw new ExplainedError(
      `cannot lock ${file}: ${reasonOf(error)}; nothing was changed: make its folder writable, or name another ` +
        'file by KUBECONFIG',
      {
        cause: error,
      },
    )
  }
}

/** Resolves when the lock has gone, when somebody interrupts, or after `ms`. */
async function gone(lock: string, ms: number, interrupted: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  interrupted.addEventListener('abort', () => resolve(), { once: true })
  const look = (): void => {
    if (!statSync(lock, { throwIfNoEntry: false })) resolve()
  }
  const watcher = watch(dirname(lock), look).on('error', look)
  // It may have gone before the watch began.
  look()
  try {
    await promise
  } finally {
    clearTimeout(timer)
    watcher.close()
  }
}

function heldLock(lock: string, file: string): ExplainedError {
  const made = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
  const seconds = Math.max(0, Math.round((Date.now() - made) / 1000))
  return new ExplainedError(
    `${file} is locked by another program (${lock} is ` +
      `${seconds < 120 ? `${seconds} seconds` : `${Math.round(seconds / 60)} minutes`} old): nothing was changed; ` +
      `try again, or remove ${lock} if no program is writing`,
  )
}

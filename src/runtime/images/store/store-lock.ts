/** Serialises changes of an image store, among the calls of this process and among processes. */
import { mkdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { KeyedQueue } from '../../../lib/flow/keyed-queue.ts'
import { acquire, type Owner } from '../../../storage/log/owner.ts'
import { StoreOpenError } from '../../../storage/store.ts'
import { ImageError } from '../image-error.ts'

const queue = new KeyedQueue()
const retryMs = 5
/** Changes take a few ms; a process that holds the lock for longer has been stopped. */
const timeoutMs = 60_000

/**
 * Runs an action while no other process changes the store. The lock of a dead process is void. Rejects if another
 * process holds it for a minute.
 */
export const withStoreLock = <Result>(folder: string, action: () => Promise<Result> | Result): Promise<Result> =>
  queue.run(folder, async () => {
    const owner = await waitForLock(folder)
    try {
      return await action()
    } finally {
      owner.release()
    }
  })

async function waitForLock(folder: string): Promise<Owner> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const deadline = performance.now() + timeoutMs
  for (;;)
    try {
      return acquire(folder)
    } catch (error) {
      if (!(error instanceof StoreOpenError)) throw error
      if (performance.now() > deadline)
        throw new ImageError('Unavailable', `another process has locked the image store in ${folder}`, { cause: error })
      await delay(retryMs)
    }
}

/**
 * The other clients of an attacked server: a worker that asks small things all the time and notes how long answers
 * take.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { Worker } from 'node:worker_threads'
import type { Latencies } from './asking.ts'
import type { AttackedServer } from './attacked-server.ts'

/**
 * Runs an attack while others are served: every request of theirs is answered with 200, none later than after
 * `longestMs`. Prints their p99 and the highest resident memory of the server.
 */
export async function whileOthersAreServed<T>(
  t: TestContext,
  server: AttackedServer,
  attack: () => Promise<T>,
  longestMs = 10_000,
): Promise<T> {
  const worker = new Worker(new URL('./asking.ts', import.meta.url), { workerData: { url: server.url, ca: server.ca } })
  await once(worker, 'message')
  let highest = server.resident()
  const looking = setInterval(() => {
    highest = Math.max(highest, server.resident())
  }, 50)
  try {
    return await attack()
  } finally {
    clearInterval(looking)
    worker.postMessage('stop')
    const [latencies] = (await once(worker, 'message')) as [Latencies]
    await worker.terminate()
    const { count, median, p99, longest, failures } = latencies
    t.diagnostic(
      `others: ${count} requests, median ${median.toFixed(1)} ms, p99 ${p99.toFixed(0)} ms, longest ` +
        `${longest.toFixed(0)} ms`,
    )
    t.diagnostic(`resident memory: ${highest.toFixed(0)} MB at most, ${server.resident().toFixed(0)} MB at the end`)
    assert.deepEqual(failures, [])
    assert.ok(count > 0, 'others are answered')
    assert.ok(longest < longestMs, `others waited ${longest.toFixed(0)} ms`)
  }
}

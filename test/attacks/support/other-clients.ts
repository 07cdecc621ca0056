/**
 * The other clients of an attacked server: a worker that sends small requests all the time and measures their
 * latencies.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { Worker } from 'node:worker_threads'
import type { AttackedServer } from './attacked-server.ts'
import type { Latencies } from './probe-worker.ts'

/**
 * Runs an attack and checks that other clients are served meanwhile: all their requests get a 200 within
 * `maxLatencyMs`. Prints their p99 and the highest resident memory of the server.
 */
export async function whileOthersAreServed<T>(
  t: TestContext,
  server: AttackedServer,
  attack: () => Promise<T>,
  maxLatencyMs = 10_000,
): Promise<T> {
  const worker = new Worker(new URL('./probe-worker.ts', import.meta.url), {
    workerData: { url: server.url, ca: server.ca },
  })
  await once(worker, 'message')
  let highest = server.resident()
  const sampling = setInterval(() => {
    highest = Math.max(highest, server.resident())
  }, 50)
  try {
    return await attack()
  } finally {
    clearInterval(sampling)
    worker.postMessage('stop')
    const [latencies] = (await once(worker, 'message')) as [Latencies]
    await worker.terminate()
    const { count, median, p99, longest, failures } = latencies
    t.diagnostic(
      `other clients: ${count} requests, median ${median.toFixed(1)} ms, p99 ${p99.toFixed(0)} ms, longest ` +
        `${longest.toFixed(0)} ms`,
    )
    t.diagnostic(`resident memory: ${highest.toFixed(0)} MB at most, ${server.resident().toFixed(0)} MB at the end`)
    assert.deepEqual(failures, [])
    assert.ok(count > 0, 'no request of another client was answered')
    assert.ok(longest < maxLatencyMs, `another client waited ${longest.toFixed(0)} ms`)
  }
}

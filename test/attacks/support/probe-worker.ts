/** The worker of `other-clients.ts`: sends small requests in sequence on one HTTP/2 connection until it is stopped. */
import { connect } from 'node:http2'
import { setTimeout as delay } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { token } from './attacked-server.ts'

/** Latencies of requests, in ms. */
export interface Latencies {
  readonly count: number
  readonly median: number
  readonly p99: number
  readonly longest: number
  /** Statuses that were not 200, and errors. */
  readonly failures: readonly string[]
}

const { url, ca } = workerData as { url: string; ca: string }
const session = connect(url, { ca })
const took: number[] = []
const failures: string[] = []
let stopped = false

const ask = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const stream = session.request({ ':path': '/api/v1/namespaces/default', authorization: `Bearer ${token}` })
    let status = 0
    stream.on('response', (headers) => {
      status = headers[':status'] ?? 0
    })
    stream.on('error', reject)
    stream.on('close', () => resolve(status))
    stream.resume()
  })

session.on('error', () => {})
await ask()
parentPort?.on('message', () => {
  stopped = true
})
parentPort?.postMessage('started')
while (!stopped) {
  const started = performance.now()
  try {
    const status = await ask()
    if (status !== 200) failures.push(String(status))
  } catch (error) {
    failures.push(String(error))
    break
  }
  took.push(performance.now() - started)
  await delay(5)
}
session.destroy()
took.sort((a, b) => a - b)
const at = (share: number): number => took[Math.floor((took.length - 1) * share)] ?? 0
parentPort?.postMessage({
  count: took.length,
  median: at(0.5),
  p99: at(0.99),
  longest: at(1),
  failures,
} satisfies Latencies)

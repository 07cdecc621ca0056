import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../machinery/object.ts'
import { tooManyRequests } from '../../machinery/status-error.ts'
import { ConnectionLost } from '../connection/connection-lost.ts'
import { FailureLog } from '../controller/failure-log.ts'
import { configMaps } from '../kinds.ts'
import type { RestClient } from '../rest/rest-client.ts'
import { Reflector } from './reflector.ts'

/** The reflector's back-off after each of six watches that last `watchMs`, send no events and end with `error`. */
async function pausesAfter(watchMs: number, error: () => Error): Promise<number[]> {
  const stopping = new AbortController()
  const pauses: number[] = []
  let now = 0
  const time = {
    now: () => now,
    async pause(ms: number) {
      pauses.push(ms)
      if (pauses.length === 6) stopping.abort()
    },
  }
  const client = {
    // biome-ignore lint/correctness/useYield: it sends no events.
    async *watch() {
      now += watchMs
      throw error()
    },
  } as unknown as RestClient
  const sink = { transform: (object: KubeObject) => object, replace() {}, setVersion() {}, set() {}, remove() {} }
  await new Reflector({ client, resource: configMaps, sink, failures: new FailureLog(() => {}), time }).run(
    stopping.signal,
  )
  return pauses
}

const within = (pauses: readonly number[], least: readonly number[]): void => {
  for (const [i, pause] of pauses.entries()) assert.ok(pause >= least[i]! && pause <= least[i]! * 2, `${pauses}`)
}
const lost = (reached: boolean) => () =>
  new ConnectionLost('GET /api/v1/configmaps?watch=1: the answer broke off', reached)

test('a watch without events that breaks off is resumed without a growing back-off', async () => {
  within(await pausesAfter(2000, lost(true)), Array(6).fill(200))
})

test('the back-off grows if the server is unreachable, rejects, or ends watches immediately', async () => {
  const less = [200, 400, 800, 1600, 3200, 6400]
  within(await pausesAfter(2000, lost(false)), less)
  within(await pausesAfter(10, lost(true)), less)
  within(await pausesAfter(2000, () => tooManyRequests('later', 1)), less)
})

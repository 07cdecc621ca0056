import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inTurns, type Limits, type Machine } from './turns.ts'

/** A machine whose time passes in steps of 100 ms while somebody waits. */
function machine(idleProcessors: () => number): Machine {
  let [now, idle] = [0, 0]
  const waits = new Set<() => void>()
  const step = (): void => {
    now += 100
    idle += 100 * idleProcessors()
    for (const check of waits) check()
    if (waits.size > 0) setImmediate(step)
  }
  return {
    now: () => now,
    idleMs: () => idle,
    wait(ms) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const end = now + ms
      const check = (): void => {
        if (now >= end && waits.delete(check)) resolve()
      }
      if (waits.size === 0) setImmediate(step)
      waits.add(check)
      return promise
    },
  }
}

/** Resolves with the largest number of files that ran at the same time. Each takes 10 s. */
async function most(files: number, limits: Limits, idleProcessors: (running: number) => number): Promise<number> {
  let [running, largest] = [0, 0]
  const fake = machine(() => idleProcessors(running))
  const order: string[] = []
  const names = Array.from({ length: files }, (_, i) => `${i}.test.ts`)
  const perform = async (file: string): Promise<void> => {
    order.push(file)
    largest = Math.max(largest, ++running)
    await fake.wait(10_000)
    running--
  }
  await inTurns(names, perform, limits, fake)
  assert.deepEqual(order, names)
  return largest
}

const limits: Limits = { always: 2, more: 2 }

test('on a busy machine, as many files run as always', async () => {
  assert.equal(await most(6, limits, () => 0.4), 2)
})

test('more files begin while a processor is idle, up to the limit', async () => {
  assert.equal(await most(8, limits, () => 1.5), 4)
  // Each of them uses six tenths of one of two processors.
  assert.equal(await most(8, limits, (running) => 2 - running * 0.6), 3)
})

test('alone, one file runs at a time', async () => {
  assert.equal(await most(3, { always: 1, more: 0 }, () => 2), 1)
})

test('an error of the runner rejects', async () => {
  const failing = () => Promise.reject(new Error('no process'))
  await assert.rejects(
    inTurns(
      ['a', 'b', 'c'],
      failing,
      limits,
      machine(() => 0),
    ),
    /no process/,
  )
})

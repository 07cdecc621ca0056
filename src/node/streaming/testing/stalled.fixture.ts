/** Data and waits for tests of back-pressure. */
import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'

const pollMs = 50
const deadlineMs = 60_000
/** The number does not change for this number of polls. */
const steadyPolls = 6

/** Resolves with a number that grows, when it grows no more. */
export async function stalled(count: () => number): Promise<number> {
  const deadline = Date.now() + deadlineMs
  let before = -1
  for (let steady = 0; steady < steadyPolls; steady++) {
    assert.ok(Date.now() < deadline, 'the number grows on')
    await wait(pollMs)
    if (count() !== before || before <= 0) steady = 0
    before = count()
  }
  return before
}

/** Bytes whose order can be checked: numbers, each of four bytes. */
export function countingBytes(length: number): Buffer {
  const bytes = Buffer.alloc(length)
  for (let i = 0; i < length; i += 4) bytes.writeUInt32LE(i, i)
  return bytes
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findFreePort, parsePortRange } from './port-range.ts'

function drain(text: string): number[] {
  const taken = new Set<number>()
  for (;;) {
    const port = findFreePort(
      parsePortRange(text),
      (one) => taken.has(one),
      () => 0,
    )
    if (!port) return [...taken]
    taken.add(port)
  }
}

test('node ports are allocated from the upper band first', () => {
  const ports = drain('30000-32767')
  assert.equal(ports.length, 2768)
  assert.equal(ports[0], 30086)
  assert.equal(ports.at(-86), 30000)
})

test('all ports of a small range are allocated', () => assert.deepEqual(drain('30000-30002'), [30000, 30001, 30002]))

test('an invalid port range is an error', () => {
  for (const text of ['', '30000', '5-4', '0-10', '60000-70000']) assert.throws(() => parsePortRange(text), Error)
})

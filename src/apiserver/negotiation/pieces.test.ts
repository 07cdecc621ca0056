import assert from 'node:assert/strict'
import { test } from 'node:test'
import { enclosed, gathered, pieceBytes } from './pieces.ts'

function* parts(count: number, made: { count: number } = { count: 0 }): Generator<Buffer, void> {
  for (let i = 0; i < count; i++) {
    made.count++
    yield Buffer.alloc(1000, i % 251)
  }
}

test('parts that fit into one piece become one buffer', () => {
  assert.deepEqual(gathered(parts(5)), [Buffer.concat([...parts(5)])])
  assert.deepEqual(gathered(parts(0)), [])
})

test('larger lists are generated while they are read', () => {
  const made = { count: 0 }
  const pieces = gathered(parts(1000, made))
  assert.ok(made.count * 1000 < 3 * pieceBytes)
  const all = [...pieces]
  assert.ok(all.every(({ length }) => length < 2 * pieceBytes))
  assert.ok(Buffer.concat(all).equals(Buffer.concat([...parts(1000)])))
})

test('the size includes head and tail', () => {
  const body = enclosed(
    Buffer.from('['),
    { size: 2, [Symbol.iterator]: () => [Buffer.from('ab')].values() },
    Buffer.from(']'),
  )
  assert.deepEqual([body.size, Buffer.concat([...body]).toString()], [4, '[ab]'])
})

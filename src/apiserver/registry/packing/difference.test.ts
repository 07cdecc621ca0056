import assert from 'node:assert/strict'
import { test } from 'node:test'
import { difference, restored } from './difference.ts'

const pod = (name: string, ip: string, more = '') =>
  Buffer.from(
    `{"kind":"Pod","metadata":{"name":"${name}","labels":{"app":"web","ø":"…"}},` +
      `"spec":{"containers":[{"name":"web","image":"web:1"}]},` +
      `"status":{"podIP":"${ip}"${more},"phase":"Running","qosClass":"Burstable"}}`,
  )

function check(pattern: Buffer, bytes: Buffer, most = 32 * 1024): string {
  const text = difference(pattern, bytes, most)
  assert.ok(text !== undefined)
  assert.deepEqual(restored(pattern, text), bytes)
  return text
}

test('only differences from the pattern are stored', () => {
  const pattern = pod('web-1', '10.0.0.1')
  assert.ok(check(pattern, pod('web-2', '10.0.0.2')).length < 25)
  assert.ok(check(pattern, pod('web-30', '10.0.130.22')).length < 30)
  assert.ok(
    check(pattern, pod('web-3', '10.0.0.3', ',"podIPs":[{"ip":"10.0.0.3"}]')).length < 60,
    'with something more',
  )
  assert.ok(
    check(pod('web-3', '10.0.0.3', ',"podIPs":[{"ip":"10.0.0.3"}]'), pattern).length < 30,
    'with something less',
  )
  assert.ok(check(pattern, pattern).length < 10)
})

test('any bytes are restored completely', () => {
  const pattern = pod('web-1', '10.0.0.1')
  for (const text of ['', 'a', '"', '""""""""""""""""""', '{}', 'x'.repeat(1000), `${'"abcdefgh'.repeat(200)}`]) {
    check(pattern, Buffer.from(text))
    check(Buffer.from(text), pattern)
  }
  let seed = 7
  const random = (below: number) => (seed = (seed * 48271) % 2147483647) % below
  for (let i = 0; i < 500; i++) {
    const bytes = Buffer.from(pattern)
    for (let changes = random(12); changes > 0; changes--)
      bytes[random(bytes.length)] = random(3) === 0 ? 0x22 : random(256)
    const cut = random(bytes.length)
    check(pattern, Buffer.concat([bytes.subarray(cut), bytes.subarray(0, random(bytes.length))]))
  }
})

test('bytes that differ too much or are too large are not encoded', () => {
  const bytes = pod('web-1', '10.0.0.1')
  const other = Buffer.from(JSON.stringify({ data: 'y'.repeat(bytes.length) }))
  assert.equal(difference(bytes, other, bytes.length / 4), undefined)
  const large = Buffer.alloc(33 * 1024, 'x')
  assert.equal(difference(large, large, 8 * 1024), undefined)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contentOf, elementsOf, octets, oid, sequence, time, utf8 } from './der.ts'

test('lengths from 128 on are preceded by their number of bytes', () => {
  for (const [length, head] of [
    [127, '047f'],
    [128, '048180'],
    [255, '0481ff'],
    [256, '04820100'],
    [70_000, '0483011170'],
  ] as const) {
    const written = octets(Buffer.alloc(length, 7))
    assert.equal(written.subarray(0, head.length / 2).toString('hex'), head)
    assert.equal(contentOf(written).length, length)
  }
})

test('numbers of an object identifier take as many bytes as they need', () => {
  assert.equal(oid('2.5.29.14').toString('hex'), '0603551d0e')
  assert.equal(oid('1.2.840.113549.1.1.11').toString('hex'), '06092a864886f70d01010b')
})

test('elementsOf returns the elements of a sequence', () => {
  const parts = [utf8('größer'), octets(Buffer.alloc(300)), sequence()]
  assert.deepEqual(elementsOf(sequence(...parts)), parts)
})

test('truncated elements are errors', () => {
  const whole = sequence(utf8('text'))
  for (const end of [1, 3, whole.length - 1]) assert.throws(() => elementsOf(whole.subarray(0, end)), RangeError)
})

test('years are written in two digits up to 2049', () => {
  assert.equal(contentOf(time(new Date('2049-12-31T23:59:59.999Z'))).toString(), '491231235959Z')
  assert.equal(contentOf(time(new Date('2050-01-01T00:00:00Z'))).toString(), '20500101000000Z')
})

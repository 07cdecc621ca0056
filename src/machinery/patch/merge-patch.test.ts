import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StatusError } from '../status-error.ts'
import { mergePatch } from './merge-patch.ts'

test('members are merged, null removes, lists are replaced', () => {
  const object = { a: { b: 1, c: 2 }, list: [1, 2], gone: 1 }
  assert.deepEqual(mergePatch(object, { a: { c: null, d: 3 }, list: [3], gone: null, absent: null }), {
    a: { b: 1, d: 3 },
    list: [3],
  })
  assert.deepEqual(object, { a: { b: 1, c: 2 }, list: [1, 2], gone: 1 })
})

test('null members are removed from objects in new lists, but not from lists that replace an object', () => {
  assert.deepEqual(mergePatch({}, { list: [{ a: null, b: [{ c: null }] }, null] }), { list: [{ b: [{}] }, null] })
  assert.deepEqual(mergePatch({ x: [1] }, { x: [{ a: null }] }), { x: [{}] })
  assert.deepEqual(mergePatch<object>({ x: { y: 1 } }, { x: [{ a: null }] }), { x: [{ a: null }] })
  assert.deepEqual(mergePatch({}, { x: { y: { z: null } } }), { x: { y: {} } })
})

test('a patch without changes returns the object itself, and unchanged parts are shared', () => {
  const object = { a: { b: 1 }, c: {} }
  assert.equal(mergePatch(object, { a: { b: 1 }, d: null }), object)
  assert.equal(mergePatch(object, { a: { b: 2 } }).c, object.c)
})

test('a patch that is not an object fails with 400, and __proto__ is a normal member', () => {
  for (const patch of [[], 'text', null, 1])
    assert.throws(
      () => mergePatch({}, patch),
      (e: StatusError) => e.code === 400 && e.reason === 'BadRequest',
    )
  const patched = mergePatch(
    {},
    JSON.parse('{"__proto__": {"polluted": true}, "a": {"__proto__": {"polluted": true}}}'),
  )
  assert.equal((patched as { polluted?: boolean }).polluted, undefined)
  assert.equal(JSON.stringify(patched), '{"__proto__":{"polluted":true},"a":{"__proto__":{"polluted":true}}}')
})

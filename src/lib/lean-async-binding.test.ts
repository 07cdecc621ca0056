import assert from 'node:assert/strict'
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'
import { test } from 'node:test'
import { bindLeanly } from './lean-async-binding.ts'

test('what is bound runs in its resource, with its arguments and its this, and has no accessor of its own', (t) => {
  const before = Object.getOwnPropertyDescriptor(AsyncResource.prototype, 'bind')!
  t.after(() => Object.defineProperty(AsyncResource.prototype, 'bind', before))
  bindLeanly()
  const storage = new AsyncLocalStorage<string>()
  function told(this: unknown, ...values: readonly number[]): unknown[] {
    return [this, values, storage.getStore()]
  }
  const given = { who: 'given' }
  const toGiven = storage.run('inside', () => AsyncResource.bind(told, 'Test', given))
  assert.deepEqual(toGiven(1, 2), [given, [1, 2], 'inside'])
  const caller = { bound: storage.run('inside', () => new AsyncResource('Test').bind(told)) }
  assert.deepEqual(caller.bound(3), [caller, [3], 'inside'])
  assert.ok(!Object.hasOwn(caller.bound, 'asyncResource'))
})

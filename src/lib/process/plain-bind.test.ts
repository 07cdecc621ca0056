import assert from 'node:assert/strict'
import { AsyncLocalStorage, AsyncResource, executionAsyncId } from 'node:async_hooks'
import { test } from 'node:test'
import { plainBind } from './plain-bind.ts'

type Bind = typeof plainBind

/** The context of a function that was bound inside of an async context and is called outside. */
function contextOf(bind: Bind, thisArg?: unknown): unknown {
  const storage = new AsyncLocalStorage<string>()
  const resource = storage.run('inside', () => new AsyncResource('test'))
  const report = function (this: unknown, ...args: unknown[]) {
    return { store: storage.getStore(), isInResource: executionAsyncId() === resource.asyncId(), self: this, args }
  }
  return bind.call(resource, report, thisArg).call('caller', 1, 2)
}

for (const thisArg of [undefined, 'given']) {
  test(`plainBind behaves like Node's bind with this = ${thisArg}`, () => {
    const expected = { store: 'inside', isInResource: true, self: thisArg ?? 'caller', args: [1, 2] }
    assert.deepEqual(contextOf(plainBind, thisArg), expected)
    assert.deepEqual(contextOf(AsyncResource.prototype.bind as Bind, thisArg), expected)
  })
}

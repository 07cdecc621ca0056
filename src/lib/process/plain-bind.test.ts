import assert from 'node:assert/strict'
import { AsyncLocalStorage, AsyncResource, executionAsyncId } from 'node:async_hooks'
import { test } from 'node:test'
import { plainBind } from './plain-bind.ts'

type Bind = typeof plainBind

/** What a function sees that was bound inside of a context and is called outside of it. */
function seen(bind: Bind, thisArg?: unknown): unknown {
  const storage = new AsyncLocalStorage<string>()
  const resource = storage.run('inside', () => new AsyncResource('test'))
  const look = function (this: unknown, ...args: unknown[]) {
    return { store: storage.getStore(), isInResource: executionAsyncId() === resource.asyncId(), self: this, args }
  }
  return bind.call(resource, look, thisArg).call('caller', 1, 2)
}

for (const thisArg of [undefined, 'given']) {
  test(`what is bound runs as if Node had bound it, to ${thisArg}`, () => {
    const expected = { store: 'inside', isInResource: true, self: thisArg ?? 'caller', args: [1, 2] }
    assert.deepEqual(seen(plainBind, thisArg), expected)
    assert.deepEqual(seen(AsyncResource.prototype.bind as Bind, thisArg), expected)
  })
}

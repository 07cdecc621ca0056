/**
 * Gives functions that are bound to an `AsyncResource` no property `asyncResource`, which Node has deprecated (DEP0172). It is an accessor of its
 * own for each function, so V8 makes a hidden class of its own, and those are born old: whatever the function can reach stays until the next full
 * collection. Node's HTTP/2 client binds one for each request: 3 KB of each stayed, and the request and its answer with it.
 */
import { AsyncResource } from 'node:async_hooks'

/** For threads of our own: it is Node's class that is changed, for all who use it. */
export function bindLeanly(): void {
  Object.defineProperty(AsyncResource.prototype, 'bind', { value: bind, writable: true, configurable: true })
}

function bind<This, Arguments extends unknown[], Result>(
  this: AsyncResource,
  act: (this: This, ...args: Arguments) => Result,
  thisArgument?: This,
): (this: This, ...args: Arguments) => Result {
  const run = (self: This, args: Arguments): Result => this.runInAsyncScope(act, thisArgument ?? self, ...args)
  return function (...args) {
    return run(this, args)
  }
}

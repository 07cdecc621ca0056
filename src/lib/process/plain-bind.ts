/**
 * Replaces AsyncResource.bind, which Node's HTTP/2 client calls for each request. Functions bound by Node have a
 * deprecated property (DEP0172) whose accessors keep the request alive until the old generation is collected
 * (docs/decisions/0049).
 */
import { AsyncResource } from 'node:async_hooks'
import { isStartedByLauncher } from './launcher.ts'

type Anything = (this: unknown, ...args: unknown[]) => unknown

/** Installs `plainBind` in this thread. Does nothing in programs without the launcher. */
export function installPlainBind(): void {
  if (isStartedByLauncher) AsyncResource.prototype.bind = plainBind as AsyncResource['bind']
}

/** As Node's bind without the property: `fn` runs in the resource's context, with `thisArg` or the caller's `this`. */
export function plainBind(this: AsyncResource, fn: Anything, thisArg?: unknown): Anything {
  const resource = this
  return function bound(...args) {
    return resource.runInAsyncScope(fn, thisArg === undefined ? this : thisArg, ...args)
  }
}

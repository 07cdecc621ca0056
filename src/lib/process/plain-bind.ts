/**
 * Node's HTTP/2 client binds a function to an AsyncResource for each request. What `bind` returns has a property that
 * is deprecated (DEP0172), made of functions with prototypes of their own: V8 keeps those, and the request with them,
 * until all of the old generation is collected (docs/decisions/0049).
 */
import { AsyncResource } from 'node:async_hooks'
import { isLaunched } from './launched.ts'

type Anything = (this: unknown, ...args: unknown[]) => unknown

/** Leaves the property away, in this thread; in others' programs it does nothing. */
export function bindPlainly(): void {
  if (isLaunched) AsyncResource.prototype.bind = plainBind as AsyncResource['bind']
}

/** As Node's: `fn` runs in the resource's context, with `thisArg`, or the caller's `this` where that is undefined. */
export function plainBind(this: AsyncResource, fn: Anything, thisArg?: unknown): Anything {
  const resource = this
  return function bound(...args) {
    return resource.runInAsyncScope(fn, thisArg === undefined ? this : thisArg, ...args)
  }
}

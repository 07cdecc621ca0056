/**
 * Access to objects whose keys come from clients. Objects inherit names such as `constructor` and `toString`, and
 * `__proto__` is an accessor; these functions read and write own members of any name. See
 * docs/decisions/0012-names-of-javascript.md.
 */

/** Returns an own member, or undefined if there is none or no object. */
export function own<T>(object: { readonly [name: string]: T } | null | undefined, name: string): T | undefined {
  const value = object?.[name]
  // Inherited members are functions or the prototype: only then check hasOwn.
  return (typeof value === 'function' || value === Object.prototype) && !Object.hasOwn(object!, name)
    ? undefined
    : value
}

/** Sets an own member. */
export function setOwn<T>(object: { [name: string]: T }, name: string, value: T): void {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
  else object[name] = value
}

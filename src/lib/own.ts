/**
 * Objects as dictionaries whose keys others choose. Every object inherits `constructor`, `toString` and a dozen more
 * names, and `__proto__` is no property but a switch: these two read and write what is the object's own, whatever it is
 * called. See docs/decisions/0012-names-of-javascript.md.
 */

/** The object's own member; undefined when it has none, or when there is no object. */
export function own<T>(object: { readonly [name: string]: T } | null | undefined, name: string): T | undefined {
  const value = object?.[name]
  // What is inherited is a function, or the prototype: only then it has to be asked.
  return (typeof value === 'function' || value === Object.prototype) && !Object.hasOwn(object!, name)
    ? undefined
    : value
}

/** Sets the object's own member. */
export function setOwn<T>(object: { [name: string]: T }, name: string, value: T): void {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
  else object[name] = value
}

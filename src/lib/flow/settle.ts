/**
 * Calls `done` with what `start` gives, or `failed` with what it throws: at once, or where it gives a promise, when
 * that is settled. As `after()`, but errors are seen too.
 */
export function settle<T, R>(
  start: () => T | Promise<T>,
  done: (value: T) => R | Promise<R>,
  failed: (error: unknown) => R | Promise<R>,
): R | Promise<R> {
  let value: T | Promise<T>
  try {
    value = start()
  } catch (error) {
    return failed(error)
  }
  return value instanceof Promise ? value.then(done, failed) : done(value)
}

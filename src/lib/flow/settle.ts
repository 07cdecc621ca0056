/**
 * Calls `done` with the result of `start`, or `failed` with its error: synchronously, or after the promise settles. As
 * `after()`, with error handling.
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

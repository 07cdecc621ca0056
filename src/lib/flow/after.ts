/**
 * Calls `next` with a value: synchronously, or after the promise if it is one. Avoids the cost of `await` for steps
 * that seldom wait.
 */
export function after<T, R>(value: T | Promise<T>, next: (value: T) => Promise<R>): Promise<R>
export function after<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R>
export function after<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/**
 * Calls `next` with a value: at once if it is there, later if it is a promise. Steps that seldom have to wait cost
 * nothing this way, where `await` would put off all that follows.
 */
export function after<T, R>(value: T | Promise<T>, next: (value: T) => Promise<R>): Promise<R>
export function after<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R>
export function after<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** Typed arguments of library functions. A wrong type is an error of the expression. */
import { noSuchOverload } from '../evaluation/equality.ts'
import { CelError, CelList, type OpaqueValue, type Value } from '../values.ts'

export function textOf(value: Value | undefined): string {
  if (typeof value !== 'string') throw noSuchOverload()
  return value
}

export function intOf(value: Value | undefined): bigint {
  if (typeof value !== 'bigint') throw noSuchOverload()
  return value
}

export function boolOf(value: Value | undefined): boolean {
  if (typeof value !== 'boolean') throw noSuchOverload()
  return value
}

export function listOf(value: Value | undefined): CelList {
  if (!(value instanceof CelList)) throw noSuchOverload()
  return value
}

/** Returns the value as one of a library's own class. Throws CelError if it is not. */
export function expectInstance<T extends OpaqueValue>(
  kind: abstract new (...args: never[]) => T,
  value: Value | undefined,
): T {
  if (!(value instanceof kind)) throw noSuchOverload()
  return value
}

/** Runs `read`, and converts errors of the class `Fault` to CelErrors. */
export function rethrowAsCelError<T>(
  Fault: abstract new (...args: never[]) => Error,
  read: () => T,
  format: (message: string) => string = (message) => message,
): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof Fault) throw new CelError(format(error.message))
    throw error
  }
}

/** Returns true if `read` does not throw a CelError. */
export function succeeds(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch (error) {
    if (error instanceof CelError) return false
    throw error
  }
}

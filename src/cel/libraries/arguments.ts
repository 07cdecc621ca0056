/**
 * How libraries' functions take their arguments: checked, so that a wrong one is a fault of the expression, and typed.
 */
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

/** The value as one of a library's own. */
export function own<T extends OpaqueValue>(kind: abstract new (...args: never[]) => T, value: Value | undefined): T {
  if (!(value instanceof kind)) throw noSuchOverload()
  return value
}

/** What `read` says is wrong with a text, of the kind `Fault`, becomes a fault of the expression. */
export function readAs<T>(
  Fault: abstract new (...args: never[]) => Error,
  read: () => T,
  tell: (message: string) => string = (message) => message,
): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof Fault) throw new CelError(tell(error.message))
    throw error
  }
}

/** Whether `read` finds nothing wrong. */
export function succeeds(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch (error) {
    if (error instanceof CelError) return false
    throw error
  }
}

/** Reads the JSON of answers. Fields of a wrong type are read as if they were missing. */
import { own } from '../../lib/own.ts'

export const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const texts = (value: unknown): string[] => list(value).map(String)
export const nodeNames = (value: unknown): string[] =>
  list(fieldsOf(value)('items')).map((node) => String(fieldsOf(fieldsOf(node)('metadata'))('name')))
export const reasons = (value: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(record(value)).map(([node, reason]) => [node, String(reason)]))

/** Reads fields without regard to case, as Go does: extenders write `nodeNames` and `NodeNames`. */
export function fieldsOf(value: unknown): (name: string) => unknown {
  const given = record(value)
  return (name) => {
    const exact = own(given, name)
    if (exact !== undefined) return exact
    const key = Object.keys(given).find((one) => one.toLowerCase() === name.toLowerCase())
    return key === undefined ? undefined : own(given, key)
  }
}

/** Throws the error that the extender answered with, if any. */
export function throwError(field: (name: string) => unknown): void {
  const error = field('error')
  if (typeof error === 'string' && error) throw new Error(error)
}

/** Readers of decoded YAML. As in Go, an absent or null value is the zero value, and unknown fields are errors. */

/** Throws an Error that names the path of a value of another type. */
export type Reader<T> = (value: unknown, path: string) => T

const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null

export const text: Reader<string> = (value, path) => {
  if (isAbsent(value)) return ''
  if (typeof value !== 'string') throw new Error(`${path} is not a string`)
  return value
}

export const boolean: Reader<boolean> = (value, path) => {
  if (isAbsent(value)) return false
  if (typeof value !== 'boolean') throw new Error(`${path} is not true or false`)
  return value
}

export const integer: Reader<number> = (value, path) => {
  if (isAbsent(value)) return 0
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new Error(`${path} is not an integer`)
  return value
}

/** Of 32 bits. */
export const unsigned: Reader<number> = (value, path) => {
  const number = integer(value, path)
  if (number < 0 || number > 0xffff_ffff) throw new Error(`${path} is not between 0 and 4294967295`)
  return number
}

export const optional =
  <T>(reader: Reader<T>): Reader<T | undefined> =>
  (value, path) =>
    isAbsent(value) ? undefined : reader(value, path)

export const listOf =
  <T>(reader: Reader<T>): Reader<readonly T[]> =>
  (value, path) => {
    if (isAbsent(value)) return []
    if (!Array.isArray(value)) throw new Error(`${path} is not a list`)
    return value.map((item, index) => reader(item, `${path}[${index}]`))
  }

export const textMap: Reader<Readonly<Record<string, string>>> = (value, path) =>
  Object.fromEntries(Object.entries(fieldsOf(value, path)).map(([key, one]) => [key, text(one, `${path}.${key}`)]))

export const objectOf = <T>(readers: { readonly [K in keyof T]: Reader<T[K]> }): Reader<T> => {
  const names = Object.keys(readers) as (keyof T & string)[]
  return (value, path) => {
    const fields = fieldsOf(value, path)
    const pathOf = (name: string): string => (path === '' ? name : `${path}.${name}`)
    const unknown = Object.keys(fields).find((name) => !Object.hasOwn(readers, name))
    if (unknown !== undefined) throw new Error(`unknown field ${JSON.stringify(pathOf(unknown))}`)
    return Object.fromEntries(names.map((name) => [name, readers[name](fields[name], pathOf(name))])) as T
  }
}

function fieldsOf(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (isAbsent(value)) return {}
  if (typeof value !== 'object' || Array.isArray(value)) throw new Error(`${path || 'the document'} is not an object`)
  return value as Readonly<Record<string, unknown>>
}

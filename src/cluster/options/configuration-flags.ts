/** Flags that are fields of a configuration file of the same program. */
import type { Flag, FlagType } from '../../apiserver/serving-flags/flag.ts'
import type { FlagValues } from '../../apiserver/serving-flags/parse.ts'

export interface ConfigFlag extends Flag {
  /** The field, such as `authentication.anonymous.enabled`. */
  readonly field: string
  /** Reads a value that has a syntax of its own. Throws a FlagError. */
  readonly read?: (values: FlagValues, name: string) => unknown
}

/** Returns the fields of the given flags. Throws a FlagError for values with a wrong syntax. */
export function fieldsOfFlags(flags: readonly ConfigFlag[], values: FlagValues): Readonly<Record<string, unknown>> {
  const written: Record<string, unknown> = {}
  const given = new Set(values.given.map(({ name }) => name))
  for (const flag of flags) {
    if (!given.has(flag.name)) continue
    const value = (flag.read ?? readerOf(flag.type))(values, flag.name)
    if (value !== undefined) setField(written, flag.field.split('.'), value)
  }
  return written
}

function readerOf(type: FlagType): (values: FlagValues, name: string) => unknown {
  switch (type) {
    case 'bool':
      return (values, name) => values.bool(name)
    case 'int':
      return (values, name) => values.int(name)
    case 'float':
      return (values, name) => values.float(name)
    case 'strings':
      return (values, name) => values.list(name)
    case 'stringToString':
      return (values, name) => Object.fromEntries(values.map(name) ?? [])
    default:
      return (values, name) => values.text(name)
  }
}

function setField(object: Record<string, unknown>, [name = '', ...more]: readonly string[], value: unknown): void {
  if (more.length === 0) object[name] = value
  else {
    const inner = { ...(object[name] as Record<string, unknown> | undefined) }
    setField(inner, more, value)
    object[name] = inner
  }
}

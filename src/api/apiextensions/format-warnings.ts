/**
 * Warnings about formats in schemas that are not validated: misspelt ones, and those of other types (since 1.34; for
 * all types since 1.36).
 */
import { goQuote } from '../../lib/go/go-quote.ts'
import { anySchema, isCheckedFormat, type SchemaSource } from '../../machinery/structural-schema/index.ts'
import type { Definition } from './definition.ts'

/** Returns one warning for each format that `old` does not have. */
export function formatWarnings(definition: Definition, old: Definition | undefined): readonly string[] {
  const before = old && uncheckedFormats(old)
  return [...uncheckedFormats(definition)]
    .filter((format) => !before?.has(format))
    .map((format) => `unrecognized format ${goQuote(format)}`)
}

function uncheckedFormats({ spec }: Definition): ReadonlySet<string> {
  const formats = new Set<string>()
  const collect = ({ type, format }: SchemaSource): boolean => {
    if (format && !isCheckedFormat(type ?? '', format)) formats.add(format)
    return false
  }
  for (const { schema } of spec.versions ?? [])
    if (schema?.openAPIV3Schema) anySchema(schema.openAPIV3Schema as SchemaSource, collect)
  return formats
}

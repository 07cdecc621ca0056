/**
 * The protobuf field numbers of kinds, from the messages of Kubernetes 1.28 to 1.36. The source is
 * `protobuf-numbers.json`; see `machinery/protobuf/`.
 */
import { readFileSync } from 'node:fs'
import { own } from '../../lib/own.ts'
import { generatedFile } from './location.ts'

let numbers: Readonly<Record<string, string>> | undefined

/**
 * Returns the field numbers of a definition (`io.k8s.api.core.v1.Volume` → `name:1 +VolumeSource:2`), or undefined if
 * it has no protobuf form. The file is read on first use.
 */
export function protobufNumbers(definition: string): string | undefined {
  numbers ??= JSON.parse(readFileSync(generatedFile('protobuf.json'), 'utf8')) as Record<string, string>
  return own(numbers, definition)
}

/** Resolves an embedded struct, whose name has a package only if it is another one. */
const innerDefinition = (definition: string, name: string): string =>
  name.includes('.') ? name : `${definition.slice(0, definition.lastIndexOf('.'))}.${name}`

/**
 * Returns Go's names of the embedded structs of a definition that contain a field, outermost first: `fc` of a Volume →
 * VolumeSource.
 */
export function embeddedStructs(definition: string, field: string): readonly string[] {
  const entries = protobufNumbers(definition)?.split(' ') ?? []
  for (const entry of entries) {
    if (!entry.startsWith('+')) continue
    const name = entry.slice(1, entry.indexOf(':'))
    const inner = innerDefinition(definition, name)
    const hasField =
      protobufNumbers(inner)
        ?.split(' ')
        .some((one) => one.split(/[/:]/, 1)[0] === field) ?? false
    const deeper = hasField ? [] : embeddedStructs(inner, field)
    if (hasField || deeper.length > 0) return [name.slice(name.lastIndexOf('.') + 1), ...deeper]
  }
  return []
}

/** Returns the fields of a definition by number; those of embedded structs have the position of the struct. */
export function numberedFields(definition: string): readonly string[] {
  const entries = protobufNumbers(definition)?.split(' ') ?? []
  const placed = entries.map((entry): [name: string, number: number] => {
    const colon = entry.indexOf(':')
    return [entry.slice(0, colon), Number(entry.slice(colon + 1))]
  })
  placed.sort(([, a], [, b]) => a - b)
  return placed.flatMap(([name]) =>
    name.startsWith('+') ? numberedFields(innerDefinition(definition, name.slice(1))) : [name.split('/', 1)[0]!],
  )
}

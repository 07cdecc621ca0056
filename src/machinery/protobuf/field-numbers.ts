/** The field numbers of messages, as `api/schema/protobuf-numbers.json` has them. */

import type { StructType } from '../schema.ts'

/**
 * Returns the field numbers of a definition's message: `NAME:NUMBER`, separated by spaces. `+TYPE:NUMBER` is a message
 * whose fields are inlined in JSON (`+VolumeSource:2`; with its package if that differs). `NAME/FORM:NUMBER` names a
 * form that the schema does not have (see `SchemaForm`; `object`: a message without fields). Returns undefined if the
 * protobuf form is unknown.
 */
export type FieldNumbers = (definition: string) => string | undefined

/** True for the set of fields in an entry of managedFields: sets are shared. */
export const isFieldSet = ({ definition }: StructType, name: string): boolean =>
  name === 'fieldsV1' && definition === 'io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry'

/** One field of a message. */
export interface NumberedField {
  readonly number: number
  /** The name in JSON; empty if `inlined` is set. */
  readonly name: string
  readonly form: string | undefined
  /** The definition of the message whose fields are inlined in JSON. */
  readonly inlined: string | undefined
}

/** Parses the field numbers of a definition. Returns an empty list if they are unknown. */
export function numberedFieldsOf(definition: string, numbersOf: FieldNumbers): readonly NumberedField[] {
  const numbers = numbersOf(definition)
  if (!numbers) return []
  return numbers.split(' ').map((entry) => {
    const colon = entry.lastIndexOf(':')
    const number = Number(entry.slice(colon + 1))
    const [name = '', form] = entry.slice(0, colon).split('/')
    if (!name.startsWith('+')) return { number, name, form, inlined: undefined }
    return { number, name: '', form: undefined, inlined: definitionOf(name.slice(1), definition) }
  })
}

/** The full name of an inlined message: in the package of the outer one, unless it has a package. */
const definitionOf = (name: string, outer: string): string =>
  name.includes('.') ? name : `${outer.slice(0, outer.lastIndexOf('.'))}.${name}`

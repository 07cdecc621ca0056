/**
 * The objects of a resource that a request selects: a namespace, a label selector and a field selector, checked
 * together.
 */
import type { FieldSelector } from '../../../machinery/selectors/field-selector.ts'
import { type Selector, selectorText } from '../../../machinery/selectors/label-selector.ts'
import type { StoredObject } from '../stored-object.ts'

export interface Selection {
  /** Equal keys mean equal selections: watches with equal selections share their work. */
  readonly key: string
  /** True if every object of the namespace (or of all namespaces) is selected. */
  readonly selectsAll: boolean
  matches(object: StoredObject): boolean
}

const fieldsText = ({ requirements }: FieldSelector): string =>
  requirements.map(({ field, equal, value }) => `${field}${equal ? '=' : '!='}${JSON.stringify(value)}`).join(',')

const fieldOf = (object: StoredObject, field: string): string =>
  field === 'metadata.name'
    ? object.name
    : field === 'metadata.namespace'
      ? object.namespace
      : (object.summary.fields[field] ?? '')

/** A selection by labels and fields within the keys that start with `prefix`. */
export function selection(prefix: string, labels: Selector | undefined, fields: FieldSelector | undefined): Selection {
  return {
    key: `${prefix}\0${labels ? selectorText(labels) : ''}\0${fields ? fieldsText(fields) : ''}`,
    selectsAll: !labels && !fields,
    matches: (object) =>
      object.key.startsWith(prefix) &&
      (!labels || labels.matches(object.summary.labels)) &&
      (!fields || fields.matches((field) => fieldOf(object, field))),
  }
}

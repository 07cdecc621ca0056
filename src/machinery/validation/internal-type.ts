/**
 * Values of Kubernetes' internal types, as messages show them. Most built-in kinds are validated as internal types,
 * which have no JSON names: Go's encoding/json writes all their fields, with Go's names and in Go's order.
 */
import { isObject, sortMembers } from '../fields/json.ts'

/** Converts a value from its wire form to the form in messages. */
export type ToInternal = (value: unknown) => unknown

/** The fields of a struct, by their Go names and in their order. */
export type Shape = Readonly<Record<string, ToInternal>>

export const text: ToInternal = (value) => value ?? ''
export const number: ToInternal = (value) => value ?? 0
export const flag: ToInternal = (value) => value ?? false
/** Pointers, lists of scalars, times: null if absent. */
export const optional: ToInternal = (value) => value ?? null
/** A map, with sorted keys. */
export const map: ToInternal = (value) => sortMembers(value ?? null)

export const struct =
  (shape: Shape): ToInternal =>
  (value) => {
    const fields = isObject(value) ? value : {}
    return Object.fromEntries(Object.entries(shape).map(([name, show]) => [name, show(fields[jsonName(name)])]))
  }

/** A pointer to a struct. */
export const pointer =
  (shape: Shape): ToInternal =>
  (value) =>
    isObject(value) ? struct(shape)(value) : null

/** A list of structs. */
export const list =
  (shape: Shape): ToInternal =>
  (value) =>
    Array.isArray(value) ? value.map(struct(shape)) : null

/** Returns the JSON name of a Go field: `apiGroup` for `APIGroup`, `seLinuxOptions` for `SELinuxOptions`. */
export function jsonName(name: string): string {
  if (/^[A-Z]+s?$/.test(name)) return name.toLowerCase()
  return name.replace(/^[A-Z]+(?=[A-Z])|^[A-Z]/, (capitals) => capitals.toLowerCase())
}

/** Sorts the members into the order of Go's fields. Omits those that are absent or undefined. */
const orderMembers = (value: object, names: readonly string[]): object => {
  const members = value as Readonly<Record<string, unknown>>
  return Object.fromEntries(names.flatMap((name) => (members[name] === undefined ? [] : [[name, members[name]]])))
}

/** A LabelSelector. Types of `meta/v1` have JSON names. */
export const labelSelector: ToInternal = (value) => {
  if (!isObject(value)) return null
  const { matchLabels, matchExpressions } = value
  const expressions = Array.isArray(matchExpressions) ? matchExpressions : []
  return {
    ...(isObject(matchLabels) && Object.keys(matchLabels).length > 0 && { matchLabels: sortMembers(matchLabels) }),
    ...(expressions.length > 0 && {
      matchExpressions: expressions.map((one) => orderMembers(one as object, ['key', 'operator', 'values'])),
    }),
  }
}

const metaFields = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
]

/** An ObjectMeta. */
export const objectMeta: ToInternal = (value) => {
  const { labels, annotations, ...rest } = isObject(value) ? value : {}
  return orderMembers(
    {
      ...rest,
      ...(labels !== undefined && { labels: sortMembers(labels) }),
      ...(annotations !== undefined && { annotations: sortMembers(annotations) }),
    },
    metaFields,
  )
}

/**
 * Values of Kubernetes' internal types as messages show them. Most built-in kinds are validated as internal types,
 * which have no JSON names: Go's encoding/json writes them with the names of Go's fields, in their order, with nothing
 * left out.
 */
import { isObject, sortMembers } from '../fields/json.ts'

/** Turns a value as it is sent into the one that is shown. */
export type Show = (value: unknown) => unknown

/** The fields of a struct, by their Go names and in their order. */
export type Shape = Readonly<Record<string, Show>>

export const text: Show = (value) => value ?? ''
export const number: Show = (value) => value ?? 0
export const flag: Show = (value) => value ?? false
/** Pointers, lists of plain values, times: null if absent. */
export const optional: Show = (value) => value ?? null
/** A map: its keys are sorted. */
export const map: Show = (value) => sortMembers(value ?? null)

export const struct =
  (shape: Shape): Show =>
  (value) => {
    const fields = isObject(value) ? value : {}
    return Object.fromEntries(Object.entries(shape).map(([name, show]) => [name, show(fields[jsonName(name)])]))
  }

/** A pointer to a struct. */
export const pointer =
  (shape: Shape): Show =>
  (value) =>
    isObject(value) ? struct(shape)(value) : null

/** A list of structs. */
export const list =
  (shape: Shape): Show =>
  (value) =>
    Array.isArray(value) ? value.map(struct(shape)) : null

/** The JSON name of a Go field: `apiGroup` of `APIGroup`, `seLinuxOptions` of `SELinuxOptions`, `cidrs` of `CIDRs`. */
export function jsonName(name: string): string {
  if (/^[A-Z]+s?$/.test(name)) return name.toLowerCase()
  return name.replace(/^[A-Z]+(?=[A-Z])|^[A-Z]/, (capitals) => capitals.toLowerCase())
}

/** The members in the order of Go's fields; those that are absent or undefined are left out. */
const inOrder = (value: object, names: readonly string[]): object => {
  const members = value as Readonly<Record<string, unknown>>
  return Object.fromEntries(names.flatMap((name) => (members[name] === undefined ? [] : [[name, members[name]]])))
}

/** A LabelSelector: types of `meta/v1` keep their JSON names. */
export const labelSelector: Show = (value) => {
  if (!isObject(value)) return null
  const { matchLabels, matchExpressions } = value
  const expressions = Array.isArray(matchExpressions) ? matchExpressions : []
  return {
    ...(isObject(matchLabels) && Object.keys(matchLabels).length > 0 && { matchLabels: sortMembers(matchLabels) }),
    ...(expressions.length > 0 && {
      matchExpressions: expressions.map((one) => inOrder(one as object, ['key', 'operator', 'values'])),
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
export const objectMeta: Show = (value) => {
  const { labels, annotations, ...rest } = isObject(value) ? value : {}
  return inOrder(
    {
      ...rest,
      ...(labels !== undefined && { labels: sortMembers(labels) }),
      ...(annotations !== undefined && { annotations: sortMembers(annotations) }),
    },
    metaFields,
  )
}

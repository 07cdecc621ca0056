/**
 * Removes fields of disabled features from written objects, as upstream's `dropDisabledFields`. Compiled at the start
 * into one walk for all fields of a kind.
 */
import { own } from '../../../lib/own.ts'
import type { FeatureGates } from '../feature-gates.ts'
import { type FieldPath, type FieldWithDefault, type GatedFields, gatedFields, podSpecs } from './gated-fields.ts'

/** Changes `object`; `old` is the stored one, undefined on create. */
export type RemoveFields = (object: object, old: object | undefined) => void

type Container = Record<string, unknown>
type Through = 'field' | 'list' | 'map'

/** A present field: its location and its rule. */
interface Found {
  readonly rule: Rule
  readonly role: 'field' | 'inUse' | 'onlyWith'
  readonly parent: Container
  readonly key: string
  /** The parent of `parent` and its key, if `parent` is removed when empty. */
  readonly holder?: { readonly parent: Container; readonly key: string }
}

interface Rule {
  readonly hasInUse: boolean
  readonly hasOnlyWith: boolean
}

interface End {
  readonly rule: Rule
  readonly role: Found['role']
  readonly allowed?: string
}

/** A trie of all paths. */
interface Branch {
  readonly key: string
  readonly through: Through
  readonly removesEmpty: boolean
  readonly ends: End[]
  readonly branches: Branch[]
}

export interface Kind {
  readonly group: string
  readonly version: string
  readonly plural: string
}

/** Returns undefined for kinds without fields of disabled features. */
export function fieldRemover(kind: Kind, features: FeatureGates): RemoveFields | undefined {
  const lines = entriesOf(kind).filter(({ gates }) => !gates.every((gate) => features.isEnabled(gate)))
  if (lines.length === 0) return undefined
  const branches: Branch[] = []
  for (const { fields, inUse, onlyWith } of lines) {
    const rule: Rule = { hasInUse: inUse !== undefined, hasOnlyWith: onlyWith !== undefined }
    for (const field of fields) insertPath(branches, field, { rule, role: 'field' })
    for (const field of inUse ?? []) insertPath(branches, field, { rule, role: 'inUse' })
    for (const field of onlyWith ?? []) insertPath(branches, field, { rule, role: 'onlyWith' })
  }
  return (object, old) => {
    const found = findFields(object as Container, branches)
    if (found) removeUnused(found, old && findFields(old as Container, branches))
  }
}

/** Returns the entries of a kind, with paths from its root and in the shape of its version. */
function entriesOf({ group, version, plural }: Kind): GatedFields[] {
  const key = group ? `${group}/${plural}` : plural
  const spec = podSpecs[key]
  const own = gatedFields.filter(({ kind }) => kind === key)
  const ofPods =
    spec === undefined
      ? []
      : gatedFields.filter(({ kind }) => kind === 'podSpec').map((line) => mapPaths(line, (path) => `${spec}.${path}`))
  const isFlat = group === 'resource.k8s.io' && version === 'v1beta1'
  return [...own, ...ofPods].map((line) => (isFlat ? mapPaths(line, flatPath) : line))
}

function mapPaths(line: GatedFields, change: (path: FieldPath) => FieldPath): GatedFields {
  const { fields, inUse, onlyWith } = line
  return {
    ...line,
    fields: fields.map((field) => (typeof field === 'string' ? change(field) : { ...field, path: change(field.path) })),
    ...(inUse && { inUse: inUse.map(change) }),
    ...(onlyWith && { onlyWith: onlyWith.map(change) }),
  }
}

/** In resource.k8s.io/v1beta1 requests lack `exactly`, and devices have `basic`. */
const flatPath = (path: FieldPath): FieldPath =>
  path.replace('.exactly.', '.').replace('spec.devices[].', 'spec.devices[].basic.')

function insertPath(branches: Branch[], field: FieldPath | FieldWithDefault, end: End): void {
  const { path, allowed } = typeof field === 'string' ? { path: field, allowed: undefined } : field
  let level = branches
  let last: Branch | undefined
  for (const segment of path.split('.')) {
    const [, key = '', suffix = ''] = /^(.*?)(\[\]|\{\}|\?)?$/.exec(segment) ?? []
    const through: Through = suffix === '[]' ? 'list' : suffix === '{}' ? 'map' : 'field'
    last = level.find((branch) => branch.key === key && branch.through === through)
    if (!last) level.push((last = { key, through, removesEmpty: suffix === '?', ends: [], branches: [] }))
    level = last.branches
  }
  last?.ends.push({ ...end, allowed })
}

/** Returns undefined if no field is present, as in most objects. */
function findFields(root: Container, branches: readonly Branch[]): Found[] | undefined {
  let found: Found[] | undefined
  const walk = (parent: Container, level: readonly Branch[], holder?: Found['holder']): void => {
    for (const { key, through, removesEmpty, ends, branches: below } of level) {
      const value = own(parent, key)
      if (value === undefined || value === null) continue
      for (const { rule, role, allowed } of ends)
        if (allowed === undefined || value !== allowed) (found ??= []).push({ rule, role, parent, key, holder })
      if (typeof value !== 'object') continue
      if (through === 'field') walk(value as Container, below, removesEmpty ? { parent, key } : undefined)
      else
        for (const item of through === 'list' ? (value as unknown[]) : Object.values(value))
          if (item) walk(item as Container, below)
    }
  }
  walk(root, branches)
  return found
}

function removeUnused(found: readonly Found[], old: readonly Found[] | undefined): void {
  const used = new Set(
    old?.filter(({ rule, role }) => role === (rule.hasInUse ? 'inUse' : 'field')).map(({ rule }) => rule),
  )
  const accompanied = new Set(found.filter(({ role }) => role === 'onlyWith').map(({ rule }) => rule))
  for (const { rule, role, parent, key, holder } of found) {
    if (role !== 'field' || used.has(rule) || (rule.hasOnlyWith && !accompanied.has(rule))) continue
    delete parent[key]
    if (holder && Object.keys(parent).length === 0) delete holder.parent[holder.key]
  }
}

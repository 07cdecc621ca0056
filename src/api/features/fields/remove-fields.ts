/**
 * Removes fields of features that are off from objects that are written: upstream's `dropDisabledFields`. Compiled at
 * the start, into one walk for all fields of a kind; kinds without such fields have none.
 */
import { own } from '../../../lib/own.ts'
import type { FeatureGates } from '../feature-gates.ts'
import { type FieldPath, type FieldWithDefault, type GatedFields, gatedFields, podSpecs } from './gated-fields.ts'

/** Changes `object`; `old` is the stored one, undefined on create. */
export type RemoveFields = (object: object, old: object | undefined) => void

type Container = Record<string, unknown>
type Through = 'field' | 'list' | 'map'

/** A field that is there: where, and what goes with it. */
interface Found {
  readonly rule: Rule
  readonly role: 'field' | 'inUse' | 'onlyWith'
  readonly parent: Container
  readonly key: string
  /** The parent of `parent` and its key, where an empty parent goes too. */
  readonly holder?: { readonly parent: Container; readonly key: string }
}

interface Rule {
  readonly hasOwnSigns: boolean
  readonly needsCompany: boolean
}

interface End {
  readonly rule: Rule
  readonly role: Found['role']
  readonly allowed?: string
}

/** All paths, joined where they begin alike. */
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

/** Undefined for kinds whose fields are all on. */
export function fieldRemover(kind: Kind, features: FeatureGates): RemoveFields | undefined {
  const lines = linesOf(kind).filter(({ gates }) => !gates.every((gate) => features.isOn(gate)))
  if (lines.length === 0) return undefined
  const branches: Branch[] = []
  for (const { fields, inUse, onlyWith } of lines) {
    const rule: Rule = { hasOwnSigns: inUse !== undefined, needsCompany: onlyWith !== undefined }
    for (const field of fields) plant(branches, field, { rule, role: 'field' })
    for (const field of inUse ?? []) plant(branches, field, { rule, role: 'inUse' })
    for (const field of onlyWith ?? []) plant(branches, field, { rule, role: 'onlyWith' })
  }
  return (object, old) => {
    const found = find(object as Container, branches)
    if (found) removeUnused(found, old && find(old as Container, branches))
  }
}

/** The lines of a kind, with paths from its root and in the shape of its version. */
function linesOf({ group, version, plural }: Kind): GatedFields[] {
  const key = group ? `${group}/${plural}` : plural
  const spec = podSpecs[key]
  const own = gatedFields.filter(({ of }) => of === key)
  const ofPods =
    spec === undefined
      ? []
      : gatedFields.filter(({ of }) => of === 'podSpec').map((line) => mapped(line, (path) => `${spec}.${path}`))
  const isFlat = group === 'resource.k8s.io' && version === 'v1beta1'
  return [...own, ...ofPods].map((line) => (isFlat ? mapped(line, flatPath) : line))
}

function mapped(line: GatedFields, change: (path: FieldPath) => FieldPath): GatedFields {
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

function plant(branches: Branch[], field: FieldPath | FieldWithDefault, end: End): void {
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

/** Undefined where nothing is found: most objects. */
function find(root: Container, branches: readonly Branch[]): Found[] | undefined {
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
    old?.filter(({ rule, role }) => role === (rule.hasOwnSigns ? 'inUse' : 'field')).map(({ rule }) => rule),
  )
  const accompanied = new Set(found.filter(({ role }) => role === 'onlyWith').map(({ rule }) => rule))
  for (const { rule, role, parent, key, holder } of found) {
    if (role !== 'field' || used.has(rule) || (rule.needsCompany && !accompanied.has(rule))) continue
    delete parent[key]
    if (holder && Object.keys(parent).length === 0) delete holder.parent[holder.key]
  }
}

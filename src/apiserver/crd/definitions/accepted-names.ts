/** Accepts the names of a definition that no other of its group uses (upstream's naming controller). */
import type { V1CustomResourceDefinitionNames } from '@kubernetes/client-node'
import type { Wire } from '../../../machinery/object.ts'
import type { Verdict } from './conditions.ts'

export type Names = Wire<V1CustomResourceDefinitionNames>

/** Names that a resource or definition uses. */
type Claim = { readonly [Field in 'plural' | 'singular' | 'kind' | 'listKind']?: string } & {
  readonly shortNames?: readonly string[]
}

/** Names in use in a group: names of resources (in paths and commands) and kinds. */
export interface UsedNames {
  readonly resources: ReadonlySet<string>
  readonly kinds: ReadonlySet<string>
}

export function usedNames(all: Iterable<Claim>): UsedNames {
  const resources = new Set<string>()
  const kinds = new Set<string>()
  for (const { plural, singular, shortNames = [], kind, listKind } of all) {
    for (const name of [plural, singular, ...shortNames]) if (name) resources.add(name)
    for (const name of [kind, listKind]) if (name) kinds.add(name)
  }
  return { resources, kinds }
}

export interface AcceptedNames {
  readonly names: Names
  readonly condition: Verdict
}

/** `used` may include the definition's own accepted names. The condition reports the last of several conflicts. */
export function acceptNames(requested: Names, accepted: Partial<Names>, used: UsedNames): AcceptedNames {
  const names: Names = { ...accepted, plural: accepted.plural ?? '', kind: accepted.kind ?? '' }
  let condition: Verdict = {
    type: 'NamesAccepted',
    status: 'True',
    reason: 'NoConflicts',
    message: 'no conflicts found',
  }
  const conflict = (reason: string, message: string): void => {
    condition = { type: 'NamesAccepted', status: 'False', reason, message }
  }
  const accept = (
    field: 'plural' | 'singular' | 'kind' | 'listKind',
    taken: ReadonlySet<string>,
    reason: string,
  ): void => {
    const name = requested[field]
    if (name && name !== accepted[field] && taken.has(name)) conflict(reason, inUse(name))
    else if (name !== undefined) names[field] = name
  }
  accept('plural', used.resources, 'PluralConflict')
  accept('singular', used.resources, 'SingularConflict')
  const taken = (requested.shortNames ?? [])
    .filter((name) => !accepted.shortNames?.includes(name) && used.resources.has(name))
    .map(inUse)
  if (taken.length > 0)
    conflict('ShortNamesConflict', taken.length > 1 ? `[${[...new Set(taken)].join(', ')}]` : taken[0]!)
  else setOrDelete(names, 'shortNames', requested.shortNames)
  accept('kind', used.kinds, 'KindConflict')
  accept('listKind', used.kinds, 'ListKindConflict')
  setOrDelete(names, 'categories', requested.categories)
  return { names, condition }
}

const inUse = (name: string): string => `${JSON.stringify(name)} is already in use`

function setOrDelete(names: Names, field: 'shortNames' | 'categories', value: string[] | undefined): void {
  if (value?.length) names[field] = value
  else delete names[field]
}

/** The subresources of a resource as discovery lists them. */
import type { ResourceDefinition } from '../../api/resource.ts'

export interface Subresource {
  readonly name: string
  readonly responseKind: { readonly group: string; readonly version: string; readonly kind: string }
  readonly verbs: readonly string[]
}

const readAndWrite = ['get', 'patch', 'update']

/** Sorted by name; in custom resources, status comes before scale. */
export function subresourcesOf({ group, version, kind, custom, subresources = {} }: ResourceDefinition): Subresource[] {
  const found: Subresource[] = (subresources.special ?? []).map((special) => ({
    name: special.name,
    responseKind: { group: special.group ?? group, version: special.version ?? version, kind: special.kind },
    verbs: special.verbs,
  }))
  if (subresources.status) found.push({ name: 'status', responseKind: { group, version, kind }, verbs: readAndWrite })
  if (subresources.scale)
    found.push({
      name: 'scale',
      responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      verbs: readAndWrite,
    })
  return custom ? found : found.sort((a, b) => (a.name < b.name ? -1 : 1))
}

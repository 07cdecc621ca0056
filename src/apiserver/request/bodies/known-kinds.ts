/**
 * Which kinds Kubernetes has anywhere: a body of one of them in the wrong place is told in other words than one of no
 * known kind.
 */
import type { ResourceDefinition } from '../../../api/resource.ts'
import type { KnowsKind } from './decode-object.ts'

export function knowsKind(resources: readonly ResourceDefinition[]): KnowsKind {
  const kinds = new Set(
    resources.flatMap(({ group, version, kind, listKind }) =>
      [kind, listKind ?? `${kind}List`].map((name) => `${group ? `${group}/` : ''}${version} ${name}`),
    ),
  )
  return (groupVersion, kind) => kinds.has(`${groupVersion} ${kind}`)
}

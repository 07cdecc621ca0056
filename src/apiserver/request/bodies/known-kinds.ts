/**
 * The kinds that Kubernetes has: a body of one of them at the wrong endpoint gets another error message than one of an
 * unknown kind.
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

/** Names of groups and kinds in OpenAPI documents. */
import type { ResourceDefinition } from '../../../api/resource.ts'
import { schemaOf } from '../../../api/schema/index.ts'

/** `rbac.authorization.k8s.io` → `RbacAuthorization`, `` → `Core`, `rp-access.example.com` → `RpAccessExampleCom`. */
export const groupName = (group: string): string =>
  (group || 'core')
    .replace(/\.k8s\.io$/, '')
    .split(/[.-]/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('')

/** Capitalizes the first letter. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** The tag that groups operations: `rbacAuthorization_v1`, or `rbacAuthorization` without a version. */
export const groupTag = (group: string, version?: string): string => {
  const name = groupName(group)
  return name.charAt(0).toLowerCase() + name.slice(1) + (version ? `_${version}` : '')
}

/** The definition name of a kind: built-in, or built from the reversed group for custom resources. */
export function kindDefinition({
  group,
  version,
  kind,
  model,
}: Pick<ResourceDefinition, 'group' | 'version' | 'kind' | 'model'>): string {
  const own = schemaOf({ group, version, kind, model })
  return own ? own.definition : `${group.split('.').reverse().join('.')}.${version}.${kind}`
}

/** The definition name of a resource's list; custom resources may define another kind for it. */
export function listDefinition(
  resource: Pick<ResourceDefinition, 'group' | 'version' | 'kind' | 'model' | 'listKind' | 'custom'>,
): string {
  const { group, version, kind, listKind = `${kind}List`, custom } = resource
  return custom ? kindDefinition({ group, version, kind: listKind }) : `${kindDefinition(resource)}List`
}

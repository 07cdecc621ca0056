/** Maps names of definitions (`io.k8s.api.rbac.v1.Role`) to API groups (`rbac.authorization.k8s.io`) and back. */

type GroupVersionKind = { readonly group: string; readonly version: string; readonly kind: string }

/** Groups by the last part of their Go package. Other groups have the name of the package. */
const groupOfPackage: Readonly<Record<string, string>> = {
  core: '',
  admissionregistration: 'admissionregistration.k8s.io',
  apiserverinternal: 'internal.apiserver.k8s.io',
  authentication: 'authentication.k8s.io',
  authorization: 'authorization.k8s.io',
  certificates: 'certificates.k8s.io',
  coordination: 'coordination.k8s.io',
  discovery: 'discovery.k8s.io',
  events: 'events.k8s.io',
  flowcontrol: 'flowcontrol.apiserver.k8s.io',
  networking: 'networking.k8s.io',
  node: 'node.k8s.io',
  rbac: 'rbac.authorization.k8s.io',
  resource: 'resource.k8s.io',
  scheduling: 'scheduling.k8s.io',
  storage: 'storage.k8s.io',
  storagemigration: 'storagemigration.k8s.io',
  apiextensions: 'apiextensions.k8s.io',
  apiregistration: 'apiregistration.k8s.io',
}

const metaPackage = 'io.k8s.apimachinery.pkg.apis.meta.v1.'

/** Top-level kinds of the meta package, all in v1 of the core group. */
const metaKinds = new Set(['APIGroup', 'APIGroupList', 'APIResourceList', 'APIVersions', 'Status'])

/** Returns the name of a kind's definition: `rbac.authorization.k8s.io`, `v1`, `Role` → `io.k8s.api.rbac.v1.Role`. */
export function definitionName(group: string, version: string, kind: string): string {
  if (group === 'apiextensions.k8s.io')
    return `io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.${version}.${kind}`
  if (group === 'apiregistration.k8s.io') return `io.k8s.kube-aggregator.pkg.apis.apiregistration.${version}.${kind}`
  const known = Object.entries(groupOfPackage).find(([, name]) => name === group)
  return `io.k8s.api.${known ? known[0] : group}.${version}.${kind}`
}

/**
 * Returns group, version and kind of a definition of top-level objects (`isObject` is true if it has kind, apiVersion
 * and metadata).
 */
export function groupVersionKindsOf(definition: string, isObject: boolean): readonly GroupVersionKind[] {
  if (definition.startsWith(metaPackage)) {
    const kind = definition.slice(metaPackage.length)
    return metaKinds.has(kind) ? [{ group: '', kind, version: 'v1' }] : []
  }
  if (!isObject) return []
  const [kind = '', version = '', name = ''] = definition.split('.').reverse()
  return [{ group: groupOfPackage[name] ?? name, kind, version }]
}

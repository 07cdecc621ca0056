/** Permissions of all nodes. Those that depend on the node are decided separately. */

interface NodeRule {
  readonly group: string
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

const read = ['get', 'list', 'watch']

const rules: readonly NodeRule[] = [
  { group: 'authentication.k8s.io', resources: ['tokenreviews'], verbs: ['create'] },
  {
    group: 'authorization.k8s.io',
    resources: ['subjectaccessreviews', 'localsubjectaccessreviews'],
    verbs: ['create'],
  },
  { group: '', resources: ['services'], verbs: read },
  { group: '', resources: ['events'], verbs: ['create', 'update', 'patch'] },
  { group: '', resources: ['endpoints'], verbs: ['get'] },
  // Kubelets request certificates for themselves.
  {
    group: 'certificates.k8s.io',
    resources: ['certificatesigningrequests'],
    verbs: ['create', 'get', 'list', 'watch'],
  },
  { group: 'certificates.k8s.io', resources: ['clustertrustbundles'], verbs: read },
  { group: 'storage.k8s.io', resources: ['csidrivers'], verbs: read },
  { group: 'node.k8s.io', resources: ['runtimeclasses'], verbs: read },
]

const allowed = new Set(
  rules.flatMap(({ group, resources, verbs }) =>
    resources.flatMap((resource) => verbs.map((verb) => `${group}/${resource}/${verb}`)),
  ),
)

/** `resource` includes the subresource: `pods/status`. */
export const everyNodeMay = (group: string, resource: string, verb: string): boolean =>
  allowed.has(`${group}/${resource}/${verb}`)

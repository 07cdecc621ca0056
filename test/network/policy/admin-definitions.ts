/** Definitions of the Network Policy API's kinds without schemas: names, versions and status, and any fields. */

const group = 'policy.networking.k8s.io'

const definition = (kind: string, plural: string, version: string): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: `${plural}.${group}`,
    // Required for groups of *.k8s.io.
    annotations: { 'api-approved.kubernetes.io': 'unapproved, for tests' },
  },
  spec: {
    group,
    scope: 'Cluster',
    names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
})

export const adminDefinitions: readonly object[] = [
  definition('AdminNetworkPolicy', 'adminnetworkpolicies', 'v1alpha1'),
  definition('BaselineAdminNetworkPolicy', 'baselineadminnetworkpolicies', 'v1alpha1'),
  definition('ClusterNetworkPolicy', 'clusternetworkpolicies', 'v1alpha2'),
]

/** Definitions of the Gateway API's kinds without schemas: names, versions and status, and any fields. */

const group = 'gateway.networking.k8s.io'

const definition = (kind: string, plural: string, scope: string, version = 'v1'): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: `${plural}.${group}`,
    // Required for groups of *.k8s.io.
    annotations: { 'api-approved.kubernetes.io': 'unapproved, for tests' },
  },
  spec: {
    group,
    scope,
    names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
})

export const gatewayDefinitions: readonly object[] = [
  definition('GatewayClass', 'gatewayclasses', 'Cluster'),
  definition('Gateway', 'gateways', 'Namespaced'),
  definition('HTTPRoute', 'httproutes', 'Namespaced'),
  definition('GRPCRoute', 'grpcroutes', 'Namespaced'),
  definition('ReferenceGrant', 'referencegrants', 'Namespaced', 'v1beta1'),
]

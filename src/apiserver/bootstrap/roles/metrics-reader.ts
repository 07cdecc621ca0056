/** The role that lets viewers read usage, as metrics-server installs it: clusters without kubelets do not have it. */
import type { ServedResource } from '../../registry/served-resource.ts'
import type { Writer } from '../../registry/write/write-context.ts'
import { ensureObjects } from '../ensure-objects.ts'

const apiGroup = 'rbac.authorization.k8s.io'

const reader = {
  kind: 'ClusterRole',
  apiVersion: `${apiGroup}/v1`,
  metadata: {
    name: 'system:aggregated-metrics-reader',
    labels: Object.fromEntries(['admin', 'edit', 'view'].map((role) => [`${apiGroup}/aggregate-to-${role}`, 'true'])),
  },
  rules: [{ apiGroups: ['metrics.k8s.io'], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] }],
}

/** Creates the role if it is missing. */
export const ensureMetricsReader = (
  clusterRoles: ServedResource,
  writer: Writer,
  log: (line: string) => void,
): Promise<void> => ensureObjects({ writer, resource: clusterRoles, objects: [structuredClone(reader)], log })

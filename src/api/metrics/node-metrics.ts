/** NodeMetrics: the usage of a node. */
import type { KubeObject } from '../../machinery/object.ts'
import { resource } from '../resource.ts'
import { type Measured, measuredProperties, type UsageList, usageColumns, usageProperty } from './usage.ts'

export interface NodeMetrics extends KubeObject, Measured {
  readonly usage: UsageList
}

export const nodeMetrics = resource<NodeMetrics>({
  group: 'metrics.k8s.io',
  version: 'v1beta1',
  kind: 'NodeMetrics',
  plural: 'nodes',
  singular: '',
  scope: 'Cluster',
  verbs: ['get', 'list'],
  virtual: true,
  storagePath: 'metrics.k8s.io/nodes',
  schema: {
    description: 'The usage of a node.',
    type: 'object',
    required: ['timestamp', 'window', 'usage'],
    properties: { ...measuredProperties, ...usageProperty },
  },
  columns: usageColumns(({ usage }) => [usage]),
})

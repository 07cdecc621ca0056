/** PodMetrics: the usage of a pod's running containers. */
import type { KubeObject } from '../../machinery/object.ts'
import { resource } from '../resource.ts'
import { type Measured, measuredProperties, type UsageList, usageColumns, usageProperty } from './usage.ts'

export interface PodMetrics extends KubeObject, Measured {
  readonly containers: readonly { readonly name: string; readonly usage: UsageList }[]
}

export const podMetrics = resource<PodMetrics>({
  group: 'metrics.k8s.io',
  version: 'v1beta1',
  kind: 'PodMetrics',
  plural: 'pods',
  singular: '',
  scope: 'Namespaced',
  verbs: ['get', 'list'],
  virtual: true,
  storagePath: 'metrics.k8s.io/pods',
  schema: {
    description: 'The usage of a pod.',
    type: 'object',
    required: ['timestamp', 'window', 'containers'],
    properties: {
      ...measuredProperties,
      containers: {
        description: 'The usage of each running container.',
        type: 'array',
        items: {
          type: 'object',
          required: ['name', 'usage'],
          properties: { name: { description: 'The name of the container.', type: 'string' }, ...usageProperty },
        },
      },
    },
  },
  columns: usageColumns(({ containers }) => containers.map(({ usage }) => usage)),
})

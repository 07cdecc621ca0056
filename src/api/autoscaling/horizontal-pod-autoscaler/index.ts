/** HorizontalPodAutoscalers: scale pods with their load. Stored as v2; v1 is converted. */
import type { KubeObject } from '../../../machinery/object.ts'
import { resource } from '../../resource.ts'
import { autoscalerColumns } from './columns.ts'
import { type AutoscalerV1, fromV1, hasOtherMetrics, toV1 } from './conversion.ts'
import { autoscalerDefaults } from './defaults.ts'
import { type Autoscaler, autoscalerRules, autoscalerStatusRules } from './rules.ts'

const shared = {
  group: 'autoscaling',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  shortNames: ['hpa'],
  categories: ['all'],
  scope: 'Namespaced',
  subresources: { status: true },
} as const

export const horizontalPodAutoscalers = resource<Autoscaler>({
  ...shared,
  version: 'v2',
  defaults: [autoscalerDefaults],
  prepare: {
    create: (scaler) => {
      scaler.status = { currentMetrics: null as never, desiredReplicas: 0 }
    },
  },
  validate: { create: (scaler) => autoscalerRules(scaler), update: autoscalerRules, status: autoscalerStatusRules },
  columns: autoscalerColumns,
})

const full = (scaler: AutoscalerV1): Autoscaler => fromV1(structuredClone(scaler))

export const horizontalPodAutoscalersV1 = resource<AutoscalerV1>({
  ...shared,
  version: 'v1',
  storedAs: {
    resource: 'autoscaling/v2/horizontalpodautoscalers',
    toStorage: (scaler) => {
      const stored = fromV1(scaler)
      autoscalerDefaults(stored)
      return stored
    },
    fromStorage: (scaler: KubeObject) => toV1(scaler as Autoscaler),
  },
  defaults: [
    (scaler) => {
      if (scaler.spec) {
        scaler.spec.minReplicas ??= 1
        if (!hasOtherMetrics(scaler)) scaler.spec.targetCPUUtilizationPercentage ??= 80
      }
      scaler.status ??= { currentReplicas: 0, desiredReplicas: 0 }
      scaler.status.currentReplicas ??= 0
      scaler.status.desiredReplicas ??= 0
    },
  ],
  prepare: {
    create: (scaler) => {
      scaler.status = { currentReplicas: 0, desiredReplicas: 0 }
    },
  },
  validate: {
    create: (scaler) => autoscalerRules(full(scaler)),
    update: (scaler, old) => autoscalerRules(full(scaler), full(old)),
    status: (scaler) => autoscalerStatusRules(full(scaler)),
  },
  columns: autoscalerColumns.map((column) => ({
    ...column,
    cell: (scaler: AutoscalerV1) => column.cell(full(scaler)),
  })),
})

/** The parts that the kinds of metrics.k8s.io have in common: amounts of resources, their columns and schemas. */
import type { KubeObject } from '../../machinery/object.ts'
import { addQuantities } from '../../machinery/values/quantity.ts'
import { type Column, column } from '../resource.ts'

/** Quantities by resource. Kubelets of old releases report no swap. */
export interface UsageList {
  readonly cpu: string
  readonly memory: string
  readonly swap?: string
}

export interface Measured {
  /** The time of the measurement, in RFC 3339. */
  readonly timestamp: string
  /** The duration over which the CPU usage was measured, as Go writes it. */
  readonly window: string
}

/** The columns of metrics-server: a sum for each resource, and the window. */
export const usageColumns = <T extends KubeObject & Measured>(
  usages: (object: T) => readonly UsageList[],
): readonly Column<T>[] => [
  column('Name', ({ metadata }) => metadata.name ?? '', { format: 'name', description: 'Name of the resource' }),
  ...(['cpu', 'memory', 'swap'] as const).map((resource) =>
    column<T>(resource, (object) => sumOf(usages(object), resource), { format: 'quantity' }),
  ),
  column('Window', ({ window }) => window, { format: 'duration' }),
]

const sumOf = (usages: readonly UsageList[], resource: keyof UsageList): string =>
  usages.reduce((sum, usage) => addQuantities(sum, usage[resource] ?? '0'), '0')

const quantities = {
  description: 'The amounts by resource: cpu, memory (the working set) and swap.',
  type: 'object',
  additionalProperties: {
    type: 'string',
    description: 'A fixed-point number with a unit suffix, such as 500m or 2Gi.',
  },
}

export const usageProperty = { usage: quantities } as const

/** The schemas of the fields of `Measured`. */
export const measuredProperties = {
  timestamp: { description: 'The time of the measurement.', type: 'string', format: 'date-time' },
  window: { description: 'The duration over which the CPU usage was measured.', type: 'string' },
} as const

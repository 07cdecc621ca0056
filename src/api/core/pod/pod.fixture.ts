/** Pods for tests. */
import type { Cell, ResourceDefinition } from '../../resource.ts'
import { podColumns } from './columns.ts'
import { podDefaults } from './defaults/pod-defaults.ts'
import { pods } from './index.ts'
import type { Pod, PodSpec } from './model.ts'
import { podSpec } from './validation/spec.ts'

export const kind = pods as unknown as ResourceDefinition & {
  prepare: { create: (pod: Pod) => void; status: (pod: Pod, old: Pod) => void }
}
export const pod = (spec: object = {}, status?: object, metadata: object = {}): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', ...metadata },
    spec: { containers: [{ name: 'c', image: 'app:1' }], ...spec },
    status,
  }) as unknown as Pod
export const withDefaults = (spec: object): Pod => {
  const completed = structuredClone(pod(spec))
  podDefaults(completed)
  return completed
}
/** The errors of a pod's spec. */
export const specErrors = (spec: object): string[] =>
  podSpec(withDefaults(spec).spec as PodSpec, 'spec').map(({ field, message }) => `${field}: ${message}`)
export const container = (over: object = {}): object => ({ name: 'c', image: 'app:1', ...over })
/** The cells of READY, STATUS and RESTARTS. */
export const statusCells = (listed: Pod): Cell[] => podColumns.slice(1, 4).map((column) => column.cell(listed))

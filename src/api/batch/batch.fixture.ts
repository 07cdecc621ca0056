/** Jobs and CronJobs for tests, and what the definitions of their kinds make of them. */
import type { KubeObject } from '../../machinery/object.ts'
import type { Cell, ResourceDefinition } from '../resource.ts'
import { resources } from './index.ts'

export const kind = (plural: string): ResourceDefinition =>
  resources.find((one) => one.plural === plural) as ResourceDefinition
export const template = (spec: object = {}, metadata?: object): object => ({
  metadata,
  spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'app:1' }], ...spec },
})
export const job = (spec: object = {}, status: object = {}, metadata: object = {}): KubeObject =>
  structuredClone({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'j', uid: 'u', ...metadata },
    spec: { template: template(), ...spec },
    status,
  }) as KubeObject
export const cron = (spec: object = {}, status: object = {}): KubeObject =>
  structuredClone({
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'c' },
    spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: { template: template() } }, ...spec },
    status,
  }) as KubeObject
const plural = (object: KubeObject): string => (object.kind === 'Job' ? 'jobs' : 'cronjobs')
/** Returns the object after defaults and preparation. */
export const prepared = (object: KubeObject): KubeObject & { spec: Record<string, unknown> } => {
  const { defaults, prepare } = kind(plural(object))
  for (const entry of defaults ?? []) if (typeof entry === 'function') entry(object)
  prepare?.create?.(object, { name: 'me', groups: [] })
  return object as KubeObject & { spec: Record<string, unknown> }
}
export const errorMessages = (errors: readonly { field: string; message: string }[] = []): string[] =>
  errors.map(({ field, message }) => `${field}: ${message}`)
export function validationErrors(object: KubeObject): string[] {
  const { validate } = kind(plural(object))
  prepared(object)
  return errorMessages([...(validate?.object?.(object) ?? []), ...(validate?.create?.(object) ?? [])])
}
export const cells = (object: KubeObject): Cell[] =>
  (kind(plural(object)).columns ?? []).map((column) => column.cell(object))

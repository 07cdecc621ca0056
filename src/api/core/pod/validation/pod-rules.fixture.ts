/** Validates pods in tests. */
import type { FieldError } from '../../../../machinery/validation/field-error.ts'
import { podSpecDefaults } from '../defaults/pod-defaults.ts'
import { pods } from '../index.ts'
import type { Pod, PodSpec } from '../model.ts'

export const errorMessages = (errors: readonly FieldError[]): string[] =>
  errors.map(({ field, message }) => `${field}: ${message}`)

export function pod(spec: object, annotations?: Record<string, string>): Pod {
  const whole = { containers: [container()], ...structuredClone(spec) } as unknown as PodSpec
  podSpecDefaults(whole)
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'n', annotations }, spec: whole }
}
export const container = (over: object = {}): object => ({ name: 'c', image: 'app:1', ...over })
/** Returns the errors of a new pod's spec. */
export function validationErrors(spec: object, annotations?: Record<string, string>): string[] {
  const { spec: rules, create } = pods.validate ?? {}
  const one = pod(spec, annotations)
  return errorMessages([...(rules?.(one) ?? []), ...(create?.(one) ?? [])]).map((line) => line.replace(/^spec\./, ''))
}
export const oneContainer = (over: object): string[] =>
  validationErrors({ containers: [container(over)] }).map((line) => line.replace(/^containers\[0\]\./, ''))

/** A fixture for tests of pod plug-ins: attributes of writes, without a server. */
import assert from 'node:assert/strict'
import { pods as definition } from '../../../api/core/pod/index.ts'
import type { Pod, PodSpec } from '../../../api/core/pod/model.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { ServedResource } from '../../registry/served-resource.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import type { AdmissionPlugin, Step } from '../plugin.ts'

export const pods = new ServedResource(definition)

export const podOf = (spec: object): Pod & { spec: PodSpec } => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'n' },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
})

export const writeOf = (object: KubeObject, more: Partial<AdmissionAttributes> = {}): AdmissionAttributes => ({
  operation: 'CREATE',
  resource: pods,
  subresource: '',
  namespace: 'n',
  name: object.metadata.name ?? '',
  user: { name: 'u', groups: [] },
  object,
  dryRun: false,
  options: { dryRun: false, fieldManager: '', fieldValidation: 'Strict', force: false },
  warn: () => {},
  annotate: () => {},
  ...more,
})

/** Returns the pod's spec after both steps of the plug-in. Throws the plug-in's error. */
export function admitted(
  { mutate, validate }: AdmissionPlugin,
  spec: object,
  more: Partial<AdmissionAttributes> = {},
): PodSpec {
  const pod = podOf(spec)
  for (const step of [mutate, validate]) runStep(step, writeOf(pod, more))
  return pod.spec
}

/** Runs a step that must be synchronous. */
export function runStep(step: Step | undefined, attributes: AdmissionAttributes): void {
  assert.equal(step?.(attributes), undefined)
}

/** For tests of plug-ins about pods: writes as they see them, without a server. */
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

/** The pod's spec after the plug-in has changed and looked at it. Throws what the plug-in throws. */
export function admitted(
  { mutate, validate }: AdmissionPlugin,
  spec: object,
  more: Partial<AdmissionAttributes> = {},
): PodSpec {
  const pod = podOf(spec)
  for (const step of [mutate, validate]) taken(step, writeOf(pod, more))
  return pod.spec
}

/** A step of a plug-in that waits for nothing. */
export function taken(step: Step | undefined, attributes: AdmissionAttributes): void {
  assert.equal(step?.(attributes), undefined)
}

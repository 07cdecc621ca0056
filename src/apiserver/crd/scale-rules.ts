/** Validates the fields behind `/scale` of a custom resource. */
import type { V1CustomResourceSubresourceScale } from '@kubernetes/client-node'
import { jsonPath } from '../../machinery/json-path/index.ts'
import type { KubeObject } from '../../machinery/object.ts'
import { type FieldError, invalidValue } from '../../machinery/validation/field-error.ts'

/** Numbers of replicas must be non-negative 32-bit integers. */
export function scaleFaults(
  object: KubeObject,
  { specReplicasPath, statusReplicasPath }: V1CustomResourceSubresourceScale,
): readonly FieldError[] {
  return [specReplicasPath, statusReplicasPath].flatMap((path) => {
    const [value] = jsonPath(path)(object) ?? []
    if (typeof value !== 'number' && typeof value !== 'bigint') return []
    return value < 0
      ? [invalidValue(path, value, 'should be a non-negative integer')]
      : value > 2147483647
        ? [invalidValue(path, value, 'should be less than or equal to 2147483647')]
        : []
  })
}

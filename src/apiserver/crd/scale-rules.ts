/** What the fields behind `/scale` of a custom resource have to be. */
import type { V1CustomResourceSubresourceScale } from '@kubernetes/client-node'
import { jsonPath } from '../../machinery/json-path/index.ts'
import type { KubeObject } from '../../machinery/object.ts'
import { type FieldError, invalidValue } from '../../machinery/validation/field-error.ts'

/** Numbers of replicas are whole and not negative. */
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

/**
 * The fields that a new object gives to its manager. Objects are made from templates: many have the same shape, and so the
 * same FieldsV1, which is worked out once.
 */
import { sorted } from '../../machinery/fields/field-set.ts'
import { typedNode } from '../../machinery/fields/typed-node.ts'
import type { FieldsV1, KubeObject } from '../../machinery/object.ts'
import type { StructType } from '../../machinery/schema.ts'
import { Shape, shapeOf } from './shape.ts'

/** Some 200 shapes of pods, 2 MB; then all are forgotten. */
const maxPoints = 25_000

let starts = new WeakMap<StructType, Shape<FieldsV1>>()
const points = { made: 0 }

/** `compute` is asked for shapes that were not seen lately. The sets are shared: they must not be changed. */
export function createdFields(object: KubeObject, type: StructType, resetFields: readonly string[], compute: () => FieldsV1): FieldsV1 {
  let start = starts.get(type)
  if (!start) starts.set(type, (start = new Shape()))
  const shape = shapeOf(object, typedNode(type), start.after(resetFields.join(), points), points)
  const fields = (shape.value ??= sorted(compute()))
  if (points.made > maxPoints) {
    starts = new WeakMap()
    points.made = 0
  }
  return fields
}

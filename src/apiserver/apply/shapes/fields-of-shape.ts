/**
 * The fields that an object gives to its manager, new or applied. Objects are made from templates: many have the same
 * shape, and so the same FieldsV1, which is worked out once.
 */
import type { Steps } from '../../../lib/flow/pauses.ts'
import { sortFieldSet } from '../../../machinery/fields/field-set.ts'
import { typedNode } from '../../../machinery/fields/typed-node.ts'
import type { FieldsV1, KubeObject } from '../../../machinery/object.ts'
import type { StructType } from '../../../machinery/schema.ts'
import { Shape, shapeOf, TooManyPoints } from './shape.ts'

/** Some 200 shapes of pods, 2 MB; then all are forgotten. */
const maxPoints = 25_000

/** A shape of more points is no template's: it is not kept. */
const maxPointsOfOne = 2000

let starts = new WeakMap<StructType, Shape<FieldsV1>>()
const points = { made: 0, most: 0 }

/**
 * `compute` is asked for shapes that were not seen lately; what it tells of a shape follows from the type and the
 * `purpose`. The sets are shared: they must not be changed.
 */
export function* fieldsOfShape(
  object: KubeObject,
  type: StructType,
  purpose: string,
  compute: () => Steps<FieldsV1>,
): Steps<FieldsV1> {
  let start = starts.get(type)
  if (!start) starts.set(type, (start = new Shape()))
  points.most = points.made + maxPointsOfOne
  const shape = endOf(object, type, start.after(purpose, points))
  if (points.made > maxPoints) {
    starts = new WeakMap()
    points.made = 0
  }
  if (shape?.value) return shape.value
  const fields = yield* compute()
  yield
  const set = sortFieldSet(fields)
  if (shape) shape.value = set
  return set
}

/** Undefined for an object whose shape is not kept. */
function endOf(object: KubeObject, type: StructType, start: Shape<FieldsV1>): Shape<FieldsV1> | undefined {
  try {
    return shapeOf(object, typedNode(type), start, points)
  } catch (error) {
    if (error instanceof TooManyPoints) return undefined
    throw error
  }
}

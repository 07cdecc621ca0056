/**
 * The fields that the manager of a new or applied object owns. Many objects come from one template and have the same
 * shape, so their FieldsV1 is computed once and cached.
 */
import type { Steps } from '../../../lib/flow/steps.ts'
import { sortFieldSet } from '../../../machinery/fields/field-set.ts'
import { typedNode } from '../../../machinery/fields/typed-node.ts'
import type { FieldsV1, KubeObject } from '../../../machinery/object.ts'
import type { StructType } from '../../../machinery/schema.ts'
import { Shape, shapeOf, TooManyPoints } from './shape.ts'

/** About 200 shapes of pods, 2 MB; beyond that the cache is cleared. */
const maxPoints = 25_000

/** A larger shape is unlikely to come from a template and is not cached. */
const maxPointsPerShape = 2000

let starts = new WeakMap<StructType, Shape<FieldsV1>>()
const points = { created: 0, limit: 0 }

/**
 * Calls `compute` for shapes that are not cached; its result must depend on the type, the shape and `purpose` only.
 * The returned sets are shared: do not change them.
 */
export function* fieldsOfShape(
  object: KubeObject,
  type: StructType,
  purpose: string,
  compute: () => Steps<FieldsV1>,
): Steps<FieldsV1> {
  let start = starts.get(type)
  if (!start) starts.set(type, (start = new Shape()))
  points.limit = points.created + maxPointsPerShape
  const shape = cachedShape(object, type, start.child(purpose, points))
  if (points.created > maxPoints) {
    starts = new WeakMap()
    points.created = 0
  }
  if (shape?.value) return shape.value
  const fields = yield* compute()
  yield
  const set = sortFieldSet(fields)
  if (shape) shape.value = set
  return set
}

/** Undefined for an object that is too large to cache. */
function cachedShape(object: KubeObject, type: StructType, start: Shape<FieldsV1>): Shape<FieldsV1> | undefined {
  try {
    return shapeOf(object, typedNode(type), start, points)
  } catch (error) {
    if (error instanceof TooManyPoints) return undefined
    throw error
  }
}

/**
 * The fields that a new object gives to its manager. Objects are made from templates: many have the same shape, that is
 * the same fields, keys and list elements, and so the same FieldsV1, which is worked out once.
 */
import { sorted } from '../../machinery/fields/field-set.ts'
import { itemsByElement, memberOf, type TypedNode, typedNode } from '../../machinery/fields/typed-node.ts'
import type { FieldsV1, KubeObject } from '../../machinery/object.ts'
import type { StructType } from '../../machinery/schema.ts'

const keptPerType = 200
/** Shapes longer than this are rare, and not worth their memory. */
const maxShapeLength = 8192

const known = new WeakMap<StructType, Map<string, FieldsV1>>()

/** `compute` is asked for shapes that were not seen lately. The sets are shared: they must not be changed. */
export function createdFields(object: KubeObject, type: StructType, resetFields: readonly string[], compute: () => FieldsV1): FieldsV1 {
  const shape = `${resetFields.join()}\n${shapeOf(object, typedNode(type))}`
  if (shape.length > maxShapeLength) return compute()
  let shapes = known.get(type)
  if (!shapes) known.set(type, (shapes = new Map()))
  let fields = shapes.get(shape)
  if (!fields) {
    fields = sorted(compute())
    if (shapes.size >= keptPerType) shapes.delete(shapes.keys().next().value!)
    shapes.set(shape, fields)
  }
  return fields
}

/** Empty values may be what Go holds anyhow, and then nobody sets them. */
function leafShape(value: unknown): string {
  if (typeof value !== 'object') return value ? '.' : '-'
  if (value === null) return '0'
  for (const _ in value) return '.'
  return '_'
}

/** Tells apart all values whose sets of fields differ. Names are quoted where they could be taken for something else. */
function shapeOf(value: unknown, node: TypedNode): string {
  if (node.kind === 'leaf' || typeof value !== 'object' || value === null) return leafShape(value)
  if (Array.isArray(value)) {
    if (node.kind !== 'set' && node.kind !== 'list') return '.'
    let shape = '['
    for (const [element, same] of itemsByElement(node, value)) shape += `${element}\n${same.length > 1 ? '*' : shapeOf(same[0], node.items)}`
    return `${shape}]`
  }
  if (node.kind === 'set' || node.kind === 'list') return '.'
  let shape = '{'
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name]
    if (member === undefined) continue
    const below = memberOf(node, name)
    if (below) shape += `${name.includes('\n') ? JSON.stringify(name) : name}\n${shapeOf(member, below)}`
  }
  return `${shape}}`
}

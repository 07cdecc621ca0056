/** Updates field sets that were stored with an older schema in which some atomic fields were granular. */
import type { FieldsV1 } from '../object.ts'
import type { StructType } from '../schema.ts'
import { isEmpty, leaf } from './field-set.ts'
import { memberOf, type TypedNode, typedNode } from './typed-node.ts'

/**
 * Returns the set with one field for each list, map or struct that has become atomic, or the set itself if there is
 * none (structured-merge-diff's ReconcileFieldSetWithSchema). Fields that have become granular are not changed.
 */
export const reconcileFieldSet = (set: FieldsV1, type: StructType): FieldsV1 => reconcile(set, typedNode(type))

function reconcile(set: FieldsV1, node: TypedNode): FieldsV1 {
  if (node.kind === 'deduced') return set
  if (node.kind === 'leaf') return isScalar(node) ? set : leaf
  let out: FieldsV1 | undefined
  for (const element in set) {
    const below = set[element]!
    if (isEmpty(below)) continue
    const type = nodeBelow(node, element)
    const fields = type ? reconcile(below, type) : below
    if (fields === below) continue
    out ??= { ...set }
    out[element] = fields
  }
  return out ?? set
}

const isScalar = ({ type }: Extract<TypedNode, { kind: 'leaf' }>): boolean =>
  !['array', 'map', 'struct', 'any'].includes(type.kind)

function nodeBelow(node: Exclude<TypedNode, { kind: 'leaf' }>, element: string): TypedNode | undefined {
  if (node.kind === 'set' || node.kind === 'list') return node.items
  return element.startsWith('f:') ? memberOf(node, element.slice(2)) : undefined
}

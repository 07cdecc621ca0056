/** The lists, maps and structs in an object that apply would replace as a whole. */
import type { StructType } from '../schema.ts'
import { isObject } from './json.ts'
import { memberOf, type TypedNode, typedNode } from './typed-node.ts'

/** Returns their paths, such as `.spec.template.spec.containers[0].args`. */
export function atomicFields(object: unknown, type: StructType): string[] {
  const found: string[] = []
  walk(object, typedNode(type), '', found)
  return found
}

function walk(value: unknown, node: TypedNode, path: string, found: string[]): void {
  if (Array.isArray(value)) {
    if (node.kind === 'leaf' || node.kind === 'deduced') found.push(path)
    else if (node.kind === 'set' || node.kind === 'list')
      for (const [at, item] of value.entries()) walk(item, node.items, `${path}[${at}]`, found)
  } else if (isObject(value)) {
    if (node.kind === 'leaf') found.push(path)
    else if (node.kind !== 'set' && node.kind !== 'list') {
      for (const name of Object.keys(value)) {
        const below = memberOf(node, name)
        if (below) walk(value[name], below, `${path}.${name}`, found)
      }
    }
  }
}

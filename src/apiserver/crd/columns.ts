/** Printer columns of custom resources: values found by JSONPath, formatted by the type of the column. */

import type { V1CustomResourceColumnDefinition } from '@kubernetes/client-node'
import type { Cell, Column } from '../../api/resource.ts'
import { descriptionsOf } from '../../api/schema/index.ts'
import { writeJson } from '../../lib/exact-json.ts'
import { type JsonPath, jsonPath } from '../../machinery/json-path/index.ts'
import type { KubeObject } from '../../machinery/object.ts'

type ColumnDefinition = V1CustomResourceColumnDefinition

const ageColumn: ColumnDefinition = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }

/** The columns of a version: the name, then its own columns or, without any, the age. */
export function customColumns(columns: readonly ColumnDefinition[] | undefined): readonly Column<KubeObject>[] {
  const { name = '', creationTimestamp = '' } = descriptionsOf('V1ObjectMeta')
  const first = {
    name: 'Name',
    type: 'string',
    format: 'name',
    description: name,
    priority: 0,
    cell: ({ metadata }: KubeObject) => metadata.name ?? '',
  }
  return [
    first,
    ...(columns ?? [{ ...ageColumn, description: creationTimestamp }]).map(columnOf),
  ] as readonly Column<KubeObject>[]
}

function columnOf({ name, type, format = '', description = '', priority = 0, jsonPath: path }: ColumnDefinition) {
  let find: JsonPath | undefined
  return {
    name,
    type,
    format,
    description: description || `Custom resource definition column (in JSONPath format): ${path}`,
    priority,
    cell: (object: KubeObject): Cell => {
      const found = (find ??= jsonPath(path))(object)
      return found && found.length > 0 ? cellOf(type, found) : null
    },
  }
}

/** A column shows the first value that its path finds, as upstream's table convertor does. */
function cellOf(type: string, found: readonly unknown[]): Cell {
  const [value] = found
  switch (type) {
    case 'string':
      return textOf(value)
    case 'integer':
      return typeof value === 'bigint' ? value : typeof value === 'number' ? Math.trunc(value) : null
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint' ? value : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'date':
      if (typeof value !== 'string') return null
      return Number.isNaN(Date.parse(value)) ? '<invalid>' : { since: value }
    default:
      return null
  }
}

const textOf = (value: unknown): string =>
  value === null ? '' : typeof value === 'object' ? writeJson(sorted(value)) : String(value)

/** Sorts members by name, as Go writes maps. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  )
}

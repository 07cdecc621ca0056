/** Rows of tables: cells are computed once per object revision; only ages are filled in when a row is printed. */

import { type Column, defaultColumns, type Elapsed } from '../../../api/resource.ts'
import { writeJson } from '../../../lib/exact-json.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { humanDuration } from '../../../machinery/values/duration.ts'
import type { ServedResource } from '../served-resource.ts'

/** JSON of the cells with the ages between them: `text[0] + age(since[0]) + text[1] + …`. */
export interface RowTemplate {
  readonly text: readonly string[]
  readonly moments: readonly { readonly since: number; readonly prefix: string; readonly suffix: string }[]
  /** `,"conditions":[…]` or empty. */
  readonly conditions: string
}

export const columnsOf = (resource: ServedResource): readonly Column<KubeObject>[] =>
  resource.definition.columns ?? defaultColumns

const isElapsed = (cell: unknown): cell is Elapsed => typeof cell === 'object' && cell !== null && 'since' in cell

/** JSON text without its quotes, to be put inside a string. */
const inner = (text = ''): string => JSON.stringify(text).slice(1, -1)

export function rowTemplate(resource: ServedResource, object: KubeObject): RowTemplate {
  const text: string[] = []
  const moments: { since: number; prefix: string; suffix: string }[] = []
  let pending = '['
  columnsOf(resource).forEach(({ cell }, i) => {
    if (i > 0) pending += ','
    const value = cell(object)
    if (!isElapsed(value)) {
      pending += writeJson(value)
      return
    }
    text.push(pending)
    moments.push({
      since: value.since === undefined ? Number.NaN : Date.parse(value.since),
      prefix: inner(value.prefix),
      suffix: inner(value.suffix),
    })
    pending = ''
  })
  text.push(`${pending}]`)
  const conditions = resource.definition.rowConditions?.(object) ?? []
  return { text, moments, conditions: conditions.length ? `,"conditions":${JSON.stringify(conditions)}` : '' }
}

/** The cells as JSON at the time `now` (ms). */
export function cellsAt({ text, moments }: RowTemplate, now: number): string {
  let cells = text[0]!
  for (let i = 0; i < moments.length; i++) {
    const { since, prefix, suffix } = moments[i]!
    cells += `"${prefix}${Number.isNaN(since) ? '<unknown>' : humanDuration(now - since)}${suffix}"${text[i + 1]!}`
  }
  return cells
}

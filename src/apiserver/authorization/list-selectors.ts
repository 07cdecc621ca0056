/** The selectors of a list, a watch or a deletecollection, as authorizers see them (KEP-4601). */
import { parseFieldSelector } from '../../machinery/selectors/field-selector.ts'
import { parseRequirements } from '../../machinery/selectors/label-selector-parser.ts'
import type { Request } from '../http/exchange.ts'
import type { AccessAttributes, SelectorRequirement } from './authorizer.ts'

const selecting: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection'])

/** The request itself, where it selects nothing: it is what most requests are decided by. */
export function withSelectors(request: Request): AccessAttributes {
  const { info, user, query } = request
  if (!selecting.has(info.verb) || !request.rawQuery.includes('Selector=')) return request
  const fieldSelector = read(query.get('fieldSelector'), fieldRequirements)
  const labelSelector = read(query.get('labelSelector'), labelRequirements)
  return { info, user, ...(fieldSelector && { fieldSelector }), ...(labelSelector && { labelSelector }) }
}

/** What cannot be read gives no rights; that it is wrong is told later. */
function read(text: string | null, parse: (text: string) => readonly SelectorRequirement[]): readonly SelectorRequirement[] | undefined {
  if (!text) return undefined
  try {
    return parse(text)
  } catch {
    return undefined
  }
}

const fieldRequirements = (text: string): SelectorRequirement[] =>
  parseFieldSelector(text).requirements.map(({ field, equal, value }) => ({ key: field, operator: equal ? 'In' : 'NotIn', values: [value] }))

const operators = { '=': 'In', '==': 'In', in: 'In', '!=': 'NotIn', notin: 'NotIn', exists: 'Exists', '!': 'DoesNotExist' } as const

/** Comparisons of numbers cannot be told to authorizers: they are left out, so that more is asked for than is selected. */
const labelRequirements = (text: string): SelectorRequirement[] =>
  parseRequirements(text).flatMap(({ key, operator, values }) =>
    operator === '>' || operator === '<' ? [] : [{ key, operator: operators[operator], ...(values.length > 0 && { values }) }],
  )

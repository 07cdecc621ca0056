/**
 * The selectors of lists, watches and deletions of collections as authorizers see them (KEP-4601): of requests, and of
 * access reviews. What cannot be read is left out, which asks for more rights, never for fewer.
 */
import { parseFieldSelector } from '../../machinery/selectors/field-selector.ts'
import { parseLabelSelector } from '../../machinery/selectors/label-selector.ts'
import { StatusError } from '../../machinery/status-error.ts'
import type { Request } from '../http/exchange.ts'
import type { AccessAttributes, SelectorRequirement } from './authorizer.ts'

/** As access reviews carry a selector. */
export interface SelectorAttributes {
  readonly rawSelector?: string
  readonly requirements?: readonly SelectorRequirement[]
}

export interface ReadSelector {
  /** Undefined if none is left. */
  readonly requirements?: readonly SelectorRequirement[]
  /** Something was left out. */
  readonly faulty: boolean
}

const operators: Readonly<Record<string, string>> = {
  '=': 'In',
  '==': 'In',
  in: 'In',
  '!=': 'NotIn',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
}
const withSelectors = new Set(['list', 'watch', 'deletecollection'])

/** What a request asks for. Most have no selectors: they are their own attributes. */
export function attributesOf(request: Request): AccessAttributes {
  const { info, query, rawQuery } = request
  if (rawQuery === '' || !info.isResourceRequest || !withSelectors.has(info.verb)) return request
  const fields = query.get('fieldSelector')
  const labels = query.get('labelSelector')
  return fields || labels ? new SelectingAttributes(request, fields, labels) : request
}

/** Selectors are read when an authorizer looks at them: RBAC does not. */
class SelectingAttributes implements AccessAttributes {
  readonly #fields: string | null
  readonly #labels: string | null
  readonly user: Request['user']
  readonly info: Request['info']

  constructor({ user, info }: Request, fields: string | null, labels: string | null) {
    this.user = user
    this.info = info
    this.#fields = fields
    this.#labels = labels
  }

  get fieldSelector(): readonly SelectorRequirement[] | undefined {
    return this.#fields ? fieldRequirements({ rawSelector: this.#fields }).requirements : undefined
  }

  get labelSelector(): readonly SelectorRequirement[] | undefined {
    return this.#labels ? labelRequirements({ rawSelector: this.#labels }).requirements : undefined
  }
}

export function fieldRequirements({ rawSelector, requirements = [] }: SelectorAttributes): ReadSelector {
  if (rawSelector)
    return readable(() =>
      parseFieldSelector(rawSelector).requirements.map(({ field, equal, value }) => ({
        key: field,
        operator: equal ? 'In' : 'NotIn',
        values: [value],
      })),
    )
  return kept(
    requirements,
    ({ operator, values }) => (operator === 'In' || operator === 'NotIn') && values?.length === 1,
  )
}

export function labelRequirements({ rawSelector, requirements = [] }: SelectorAttributes): ReadSelector {
  if (rawSelector)
    return readable(() =>
      parseLabelSelector(rawSelector).requirements.flatMap(({ key, operator, values }) => {
        const shown = operators[operator]
        return shown ? { key, operator: shown, ...(values.length > 0 && { values }) } : []
      }),
    )
  return kept(
    requirements,
    ({ operator }) => operator === 'In' || operator === 'NotIn' || operator === 'Exists' || operator === 'DoesNotExist',
  )
}

function readable(parse: () => SelectorRequirement[]): ReadSelector {
  try {
    const requirements = parse()
    return requirements.length > 0 ? { requirements, faulty: false } : { faulty: false }
  } catch (error) {
    if (error instanceof StatusError) return { faulty: true }
    throw error
  }
}

function kept(
  all: readonly SelectorRequirement[],
  isRead: (requirement: SelectorRequirement) => boolean,
): ReadSelector {
  const requirements = all.filter(isRead)
  const faulty = requirements.length < all.length
  return requirements.length > 0 ? { requirements, faulty } : { faulty }
}

/**
 * The selectors of lists, watches and collection deletes for authorizers (KEP-4601), from requests and access reviews.
 * Unreadable requirements are dropped: that needs more permissions, never fewer.
 */
import { parseFieldSelector } from '../../machinery/selectors/field-selector.ts'
import { parseLabelSelector } from '../../machinery/selectors/label-selector.ts'
import { StatusError } from '../../machinery/status-error.ts'
import type { Request } from '../http/exchange.ts'
import type { AccessAttributes, SelectorRequirement } from './authorizer.ts'

/** A selector in an access review. */
export interface SelectorAttributes {
  readonly rawSelector?: string
  readonly requirements?: readonly SelectorRequirement[]
}

export interface ReadSelector {
  /** Undefined if none remains. */
  readonly requirements?: readonly SelectorRequirement[]
  /** True if a requirement was dropped. */
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

/** The attributes of a request. Without selectors, the request itself is used. */
export function attributesOf(request: Request): AccessAttributes {
  const { info, query, rawQuery } = request
  if (rawQuery === '' || !info.isResourceRequest || !withSelectors.has(info.verb)) return request
  const fields = query.get('fieldSelector')
  const labels = query.get('labelSelector')
  return fields || labels ? new SelectingAttributes(request, fields, labels) : request
}

/** Parses selectors on first access: RBAC does not use them. */
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
  return supportedRequirements(
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
  return supportedRequirements(
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

function supportedRequirements(
  all: readonly SelectorRequirement[],
  isRead: (requirement: SelectorRequirement) => boolean,
): ReadSelector {
  const requirements = all.filter(isRead)
  const faulty = requirements.length < all.length
  return requirements.length > 0 ? { requirements, faulty } : { faulty }
}

/**
 * Label selectors in text form (`labelSelector=app=web,tier in (a,b),!old`) and as objects (matchLabels,
 * matchExpressions). Both become a Selector. Grammar and error messages are upstream's (k8s.io/apimachinery `labels`).
 */

import { own } from '../../lib/own.ts'
import { type FieldError, forbiddenField, invalidValue, required } from '../validation/field-error.ts'
import { validateLabels } from '../validation/metadata.ts'
import { labelValue, qualifiedName } from '../validation/names.ts'
import { parseRequirements } from './label-selector-parser.ts'
import type { Operator, Requirement } from './requirement.ts'

export type Labels = Readonly<Record<string, string>>

export interface Selector {
  /** Sorted by key. Empty for `everything` and `nothing`. */
  readonly requirements: readonly Requirement[]
  readonly matches: (labels: Labels | undefined) => boolean
  /** True if the selector matches every object. */
  readonly everything: boolean
}

/** The LabelSelector kind of `meta/v1`. */
export interface LabelSelector {
  matchLabels?: Record<string, string>
  matchExpressions?: { key: string; operator: string; values?: string[] }[]
}

/** Matches every object. */
export const everything: Selector = { requirements: [], matches: () => true, everything: true }

/** Matches no object, as a missing LabelSelector does. */
export const nothing: Selector = { requirements: [], matches: () => false, everything: false }

/** Parses the text form. Throws 400 with upstream's message. */
export const parseLabelSelector = (text: string): Selector => selectorOf(parseRequirements(text))

/** Combines requirements. */
export function selectorOf(requirements: readonly Requirement[]): Selector {
  if (requirements.length === 0) return everything
  const sorted = requirements.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  const tests = sorted.map(testOf)
  const [only] = tests
  const matches =
    tests.length === 1 && only
      ? (labels: Labels | undefined) => only(labels ?? noLabels)
      : (labels: Labels | undefined) => tests.every((holds) => holds(labels ?? noLabels))
  return { requirements: sorted, matches, everything: false }
}

const noLabels: Labels = {}
const integer = /^[+-]?\d+$/

function testOf({ key, operator, values }: Requirement): (labels: Labels) => boolean {
  const [first = ''] = values
  const listed = new Set(values)
  switch (operator) {
    case '=':
    case '==':
      return (labels) => own(labels, key) === first
    case '!=':
      return (labels) => own(labels, key) !== first
    case 'in':
      return (labels) => listed.has(own(labels, key) as string)
    case 'notin':
      return (labels) => !listed.has(own(labels, key) as string)
    case 'exists':
      return (labels) => own(labels, key) !== undefined
    case '!':
      return (labels) => own(labels, key) === undefined
    case '>':
    case '<': {
      const bound = BigInt(first)
      return (labels) => {
        const value = own(labels, key)
        if (value === undefined || !integer.test(value)) return false
        return operator === '>' ? BigInt(value) > bound : BigInt(value) < bound
      }
    }
    default:
      return operator satisfies never
  }
}

/** Formats a selector as upstream does: `app=web,!old,tier in (a,b)`. Empty for everything and nothing. */
export const selectorText = ({ requirements }: Selector): string => requirements.map(requirementText).join(',')

function requirementText({ key, operator, values }: Requirement): string {
  switch (operator) {
    case 'exists':
      return key
    case '!':
      return `!${key}`
    case 'in':
    case 'notin':
      return `${key} ${operator} (${values.join(',')})`
    default:
      return `${key}${operator}${values[0] ?? ''}`
  }
}

const objectOperators: Readonly<Record<string, Operator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
}

/** Converts a LabelSelector. A missing one matches nothing, an empty one everything. Throws an Error if invalid. */
export function labelSelectorOf(selector: LabelSelector | undefined | null): Selector {
  if (!selector) return nothing
  const requirements: Requirement[] = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({
    key,
    operator: '=',
    values: [value],
  }))
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    const known = own(objectOperators, operator)
    if (!known) throw new Error(`"${operator}" is not a valid label selector operator`)
    requirements.push({ key, operator: known, values: [...new Set(values)].sort() })
  }
  return selectorOf(requirements)
}

/** Formats a LabelSelector for tables: `app=web,!old`, or `<none>` if it has no requirements. */
export function labelSelectorText(selector: LabelSelector | undefined | null): string {
  try {
    return selectorText(labelSelectorOf(selector)) || '<none>'
  } catch {
    return '<error>'
  }
}

/** Formats a map of labels for tables: `a=b,c=d`, or `<none>` if it is empty. */
export const labelsText = (labels: Labels | undefined | null): string =>
  Object.entries(labels ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${value}`)
    .join(',') || '<none>'

/** Validates a LabelSelector at `path`. */
export function validateLabelSelector(selector: LabelSelector | undefined, path: string): FieldError[] {
  if (!selector) return []
  const errors = validateLabels(selector.matchLabels, `${path}.matchLabels`)
  selector.matchExpressions?.forEach(({ key, operator, values: given }, at) => {
    const values = given ?? []
    const entryPath = `${path}.matchExpressions[${at}]`
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length === 0)
        errors.push(required(`${entryPath}.values`, "must be specified when `operator` is 'In' or 'NotIn'"))
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values.length > 0)
        errors.push(
          forbiddenField(`${entryPath}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
        )
    } else errors.push(invalidValue(`${entryPath}.operator`, operator ?? '', 'not a valid selector operator'))
    for (const message of qualifiedName(key ?? '')) errors.push(invalidValue(`${entryPath}.key`, key ?? '', message))
    values.forEach((value, index) => {
      for (const message of labelValue(value))
        errors.push(invalidValue(`${entryPath}.values[${index}]`, value, message))
    })
  })
  return errors
}

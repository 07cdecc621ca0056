/** JSONPath for printer columns, selectable fields and the paths of `/scale`. A path is compiled once. */
import { own } from '../../lib/own.ts'
import { type Operand, type Operator, parseSteps, type Step } from './parse.ts'

/**
 * Returns all values at a path, in order, without missing ones. Returns undefined if a step does not fit the value,
 * such as an index of an object.
 */
export type JsonPath = (value: unknown) => readonly unknown[] | undefined

/** Compiles a path. Throws JsonPathError. */
export function jsonPath(path: string): JsonPath {
  const steps = parseSteps(path)
  const names = steps.flatMap((step) => (step.kind === 'field' ? [step.name] : []))
  // Nearly all paths consist of names only.
  if (names.length === steps.length) return (value) => fieldsOf(value, names)
  return (value) => follow([value], steps)
}

function fieldsOf(value: unknown, names: readonly string[]): readonly unknown[] | undefined {
  let at = value
  for (const name of names) {
    if (!isObject(at)) return isMissing(at) ? [] : undefined
    at = own(at, name)
    if (at === undefined) return []
  }
  return [at]
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isMissing = (value: unknown): boolean => value === null || value === undefined

function follow(values: readonly unknown[], steps: readonly Step[]): readonly unknown[] | undefined {
  let current = values
  // After `..`, descendants that the next step does not fit are skipped.
  let lenient = false
  for (const step of steps) {
    const next: unknown[] = []
    for (const value of current) {
      const found = take(value, step)
      if (found) next.push(...found)
      else if (!lenient) return undefined
    }
    current = next
    lenient = step.kind === 'descend'
  }
  return current
}

function take(value: unknown, step: Step): readonly unknown[] | undefined {
  switch (step.kind) {
    case 'field':
      return fieldsOf(value, [step.name])
    case 'all':
      return Array.isArray(value) ? value : isObject(value) ? Object.values(value) : []
    case 'descend':
      return descendants(value)
    case 'index': {
      if (!Array.isArray(value)) return isMissing(value) ? [] : undefined
      const item = value.at(step.at)
      return item === undefined ? undefined : [item]
    }
    case 'slice':
      return Array.isArray(value) ? slice(value, step) : isMissing(value) ? [] : undefined
    case 'union':
      return step.of.flatMap((one) => follow([value], one) ?? [])
    case 'filter':
      return Array.isArray(value) ? value.filter((item) => holds(item, step)) : isMissing(value) ? [] : undefined
    default:
      return step satisfies never
  }
}

function descendants(value: unknown): unknown[] {
  const found: unknown[] = []
  const waiting = [value]
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (typeof next !== 'object' || next === null) continue
    found.push(next)
    waiting.unshift(...Object.values(next).filter((member) => member !== undefined))
  }
  return found
}

function slice(
  items: readonly unknown[],
  { from = 0, to = items.length, by }: Extract<Step, { kind: 'slice' }>,
): readonly unknown[] | undefined {
  if (by <= 0) return undefined
  const start = from < 0 ? from + items.length : from
  const end = to < 0 ? to + items.length : Math.min(to, items.length)
  return items.slice(Math.max(start, 0), end).filter((_, at) => at % by === 0)
}

function holds(item: unknown, { left, operator, right }: Extract<Step, { kind: 'filter' }>): boolean {
  const found = valuesOf(item, left)
  if (!operator || !right) return found.length > 0
  const against = valuesOf(item, right)
  return found.length === 1 && against.length === 1 && compare(found[0], operator, against[0])
}

const valuesOf = (item: unknown, operand: Operand): readonly unknown[] =>
  'path' in operand ? (follow([item], operand.path) ?? []) : [operand.literal]

const isNumber = (value: unknown): value is number | bigint => typeof value === 'number' || typeof value === 'bigint'

function compare(a: unknown, operator: Operator, b: unknown): boolean {
  if (operator === '==') return a === b
  if (operator === '!=') return a !== b
  const areTexts = typeof a === 'string' && typeof b === 'string'
  if (!areTexts && !(isNumber(a) && isNumber(b))) return false
  const [x, y] = [a, b] as readonly [number, number]
  return operator === '<' ? x < y : operator === '>' ? x > y : operator === '<=' ? x <= y : x >= y
}

/** Conditions of a wait: the words of `kubectl wait --for`, or functions. */
import { ExplainedError } from '../../lib/explained-error.ts'
import { type JsonPath, jsonPath } from '../../machinery/json-path/index.ts'
import type { KubeObject, Unstructured } from '../../machinery/object.ts'

/**
 * - `Ready`, `Available=False`, `condition=Ready=True`: a condition of `status.conditions`, for the current generation
 * - `jsonpath={.status.phase}=Running`, or without a value: the field exists
 * - `create`, `delete`: the object exists, does not exist
 * - a function of the object, or of undefined while it does not exist
 */
export type WaitCondition = string | ((object: Unstructured | undefined) => boolean)

/** Returns true if an object, or undefined for none, meets the condition. */
export type Check = (object: Unstructured | undefined) => boolean

interface Condition {
  readonly type: string
  readonly status: string
  readonly observedGeneration?: number
}

interface WithStatus extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[]; readonly observedGeneration?: number }
}

/** Compiles a condition. Throws an ExplainedError for a text that is none. */
export function compileCondition(condition: WaitCondition): Check {
  if (typeof condition === 'function') return condition
  const text = condition.trim()
  if (/^create$/i.test(text)) return (object) => object !== undefined
  if (/^deleted?$/i.test(text)) return (object) => object === undefined
  const path = /^(?:jsonpath=)?['"]?(\{.*?\})['"]?(?:=(.*))?$/s.exec(text)
  if (path) return pathCheck(path[1] ?? '', path[2])
  const named = /^(?:condition=)?([A-Za-z][\w./-]*)(?:=(\w+))?$/.exec(text)
  if (!named)
    throw new ExplainedError(
      `${JSON.stringify(condition)} is no condition: use the type of a condition such as Ready, ` +
        'jsonpath={.path}=value, create, delete, or a function.',
    )
  return conditionCheck(named[1] ?? '', named[2] ?? 'True')
}

/** As kubectl: types and statuses are compared without case, and conditions of an older generation do not count. */
const conditionCheck =
  (type: string, wanted: string): Check =>
  (object) => {
    const { status = {}, metadata } = (object ?? { metadata: {} }) as WithStatus
    const { conditions = [], observedGeneration } = status
    const found = conditions.find((one) => equalFold(one.type, type))
    const observed = found?.observedGeneration ?? observedGeneration
    if (!found || (observed !== undefined && observed < (metadata.generation ?? 0))) return false
    return equalFold(found.status, wanted)
  }

const equalFold = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

function pathCheck(expression: string, value: string | undefined): Check {
  const find = compilePath(expression)
  return (object) => {
    const found = find(object)
    if (!found || found.length === 0) return false
    if (value === undefined) return found.some((one) => one !== undefined && one !== null)
    if (found.length > 1)
      throw new ExplainedError(`The path ${expression} has ${found.length} values: choose one, such as with [0].`)
    const [one] = found
    if (typeof one === 'object' && one !== null)
      throw new ExplainedError(`The path ${expression} leads to ${JSON.stringify(one)}, which is no single value.`)
    return String(one) === value.replace(/^(['"])(.*)\1$/s, '$2').trim()
  }
}

function compilePath(expression: string): JsonPath {
  const inner = expression.slice(1, -1).trim()
  try {
    return jsonPath(/^[.[$@]/.test(inner) ? inner : `.${inner}`)
  } catch (error) {
    throw new ExplainedError(
      `The path ${expression} is no JSONPath: ${error instanceof Error ? error.message : String(error)}.`,
      { cause: error },
    )
  }
}

/** The condition as a sentence shows it. */
export const nameOfCondition = (condition: WaitCondition): string =>
  typeof condition === 'string' ? condition : condition.name || 'the condition'

/** Compiles a MutatingAdmissionPolicy and evaluates its mutations. */
import type { V1MutatingAdmissionPolicySpec } from '@kubernetes/client-node'
import { admissionEnvironment, jsonPatchType } from '../../../../cel/admission/environment.ts'
import { compileExpression, type Expression } from '../../../../cel/admission/expression.ts'
import { jsonValue, misplacedType } from '../../../../cel/admission/json-value.ts'
import { compileConditions, type MatchConditions } from '../../../../cel/admission/match-conditions.ts'
import { requestCostLimit, runExpressions } from '../../../../cel/admission/run.ts'
import { compileVariables, type Variables, withVariables } from '../../../../cel/admission/variables.ts'
import type { Bindings } from '../../../../cel/index.ts'
import { listType } from '../../../../cel/types.ts'
import { CelError, CelList, CelMap, type Value } from '../../../../cel/values.ts'
import { atomicFields } from '../../../../machinery/fields/atomic-fields.ts'
import { mergeTyped } from '../../../../machinery/fields/merge-typed.ts'
import { typeErrors, typeErrorText } from '../../../../machinery/fields/validate-typed.ts'
import type { KubeObject, Wire } from '../../../../machinery/object.ts'
import { applyOperations, FailedTest, PatchError } from '../../../../machinery/patch/json-patch.ts'
import type { StructType } from '../../../../machinery/schema.ts'

export type MutatingSpec = Wire<V1MutatingAdmissionPolicySpec>

export interface Mutation {
  readonly patchType: 'ApplyConfiguration' | 'JSONPatch'
  readonly expression: Expression
}

export interface MutatingEvaluator {
  readonly variables: Variables
  readonly conditions: MatchConditions | undefined
  readonly mutations: readonly Mutation[]
  readonly reinvocationPolicy: string
}

/** An evaluated mutation: returns the changed object. Throws an Error if it cannot be applied. */
export type Change = (object: KubeObject, type: StructType) => KubeObject

const configurationType = { kind: 'object', name: 'Object', fields: new Map() } as const

export function compileMutating(spec: MutatingSpec): MutatingEvaluator {
  const base = admissionEnvironment({ params: spec.paramKind !== undefined, authorizer: true, patches: true })
  const variables = compileVariables(base, spec.variables)
  const all = withVariables(base, variables.type)
  const { matchConditions: conditions, failurePolicy = 'Fail', mutations = [], reinvocationPolicy = 'Never' } = spec
  return {
    variables,
    conditions: conditions?.length
      ? { conditions: compileConditions(all, conditions), failurePolicy, variables }
      : undefined,
    mutations: mutations.map(({ patchType, applyConfiguration, jsonPatch }) =>
      patchType === 'JSONPatch'
        ? { patchType, expression: compileExpression(all, jsonPatch?.expression ?? '', [listType(jsonPatchType)]) }
        : {
            patchType: 'ApplyConfiguration',
            expression: compileExpression(all, applyConfiguration?.expression ?? '', [configurationType]),
          },
    ),
    reinvocationPolicy,
  }
}

/** Evaluates a mutation. Has no side effects, so that it can be repeated. Throws an Error with upstream's message. */
export function evaluateMutation(
  { variables }: MutatingEvaluator,
  { patchType, expression }: Mutation,
  bindings: Bindings,
): Change {
  if (!expression.program) throw new Error(expression.fault)
  const run = runExpressions([expression], bindings, requestCostLimit, variables)
  if ('exhausted' in run) throw new Error(run.exhausted)
  const [result] = run.results
  if (!result || 'error' in result) throw new Error(result?.error ?? '')
  try {
    return patchType === 'JSONPatch' ? patchChange(result.value) : configurationChange(result.value)
  } catch (error) {
    throw error instanceof CelError ? new Error(error.message) : error
  }
}

function configurationChange(value: Value): Change {
  const fault = misplacedType(value, 'Object')
  if (fault) throw new Error(`type mismatch: ${fault}`)
  const configuration = jsonValue(value) as object
  return (object, type) => {
    const applied = { ...configuration, apiVersion: object.apiVersion, kind: object.kind }
    const errors = typeErrors(applied, type)
    if (errors.length > 0)
      throw new Error(`error applying patch: failed to convert patch object to typed object: ${typeErrorText(errors)}`)
    const atomics = atomicFields(applied, type)
    if (atomics.length > 0)
      throw new Error(
        'error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ' +
          `${atomics.join(', ')}`,
      )
    return mergeTyped(object, applied, type)
  }
}

interface Operation {
  readonly op: string
  readonly [member: string]: unknown
}

function patchChange(value: Value): Change {
  if (!(value instanceof CelList)) throw new Error('type mismatch: JSONPatchType.expression should evaluate to array')
  const operations = [...value].map(operationOf)
  return (object) => {
    try {
      return applyOperations(object, operations)
    } catch (error) {
      // A failed test operation means that the patch does not apply.
      if (error instanceof FailedTest) return object
      throw error instanceof PatchError ? new Error(`JSON Patch: ${error.message}`) : error
    }
  }
}

function operationOf(value: Value): Operation {
  if (!(value instanceof CelMap))
    throw new Error('type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch')
  const text = (name: string): string => {
    const found = value.get(name)
    return typeof found === 'string' ? found : ''
  }
  const given = value.get('value')
  if (given instanceof CelMap && given.objectType) {
    const fault = misplacedType(given, given.objectType.name)
    if (fault) throw new Error(`type mismatch: ${fault}`)
  }
  const from = text('from')
  return {
    op: text('op'),
    path: text('path'),
    ...(from && { from }),
    ...(given !== undefined && { value: jsonValue(given) }),
  }
}

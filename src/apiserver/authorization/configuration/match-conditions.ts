/**
 * Match conditions: CEL expressions over the `spec` of a SubjectAccessReview, named `request`. A webhook is called only
 * if all of them are true.
 */
import { adapt, type Environment, environment, type Program } from '../../../cel/index.ts'
import { kubernetesLibraries } from '../../../cel/libraries/index.ts'
import { boolType, formatType, listType, mapType, objectType, stringType } from '../../../cel/types.ts'
import {
  duplicate,
  type FieldError,
  invalidValue,
  required,
  tooMany,
} from '../../../machinery/validation/field-error.ts'
import type { Matcher } from '../webhook/index.ts'
import type { ResourceAttributes, ReviewSpec, Selector } from '../webhook/review.ts'

const maxConditions = 64

const selector = (name: string) =>
  objectType(name, {
    rawSelector: stringType,
    requirements: listType(
      objectType('kubernetes.SelectorRequirement', {
        key: stringType,
        operator: stringType,
        values: listType(stringType),
      }),
    ),
  })

const requestType = objectType('kubernetes.SubjectAccessReviewSpec', {
  resourceAttributes: objectType('kubernetes.ResourceAttributes', {
    namespace: stringType,
    verb: stringType,
    group: stringType,
    version: stringType,
    resource: stringType,
    subresource: stringType,
    name: stringType,
    fieldSelector: selector('kubernetes.FieldSelectorAttributes'),
    labelSelector: selector('kubernetes.LabelSelectorAttributes'),
  }),
  nonResourceAttributes: objectType('kubernetes.NonResourceAttributes', { path: stringType, verb: stringType }),
  user: stringType,
  groups: listType(stringType),
  extra: mapType(stringType, listType(stringType)),
  uid: stringType,
})

let conditions: Environment | undefined

export interface CompiledConditions {
  /** Undefined without conditions. */
  readonly matcher?: Matcher
  readonly errors: readonly FieldError[]
}

/** `path` is the field path of the webhook. */
export function compileConditions(expressions: readonly string[], path: string): CompiledConditions {
  if (expressions.length === 0) return { errors: [] }
  if (expressions.length > maxConditions)
    return { errors: [tooMany(`${path}.matchConditions`, expressions.length, maxConditions)] }
  const errors: FieldError[] = []
  const programs: Program[] = []
  const unique = new Set<string>()
  for (const [index, expression] of expressions.entries()) {
    const field = `${path}.matchConditions[${index}].expression`
    if (expression.trim() === '') errors.push(required(field))
    else if (unique.has(expression)) errors.push(duplicate(field, expression))
    else {
      unique.add(expression)
      const compiled = compile(expression)
      if (typeof compiled === 'string') errors.push(invalidValue(field, expression, compiled))
      else programs.push(compiled)
    }
  }
  return { errors, ...(programs.length > 0 && { matcher: matcherOf(programs) }) }
}

/** Returns the program, or the error message. */
function compile(expression: string): Program | string {
  conditions ??= environment({ libraries: kubernetesLibraries, variables: { request: requestType } })
  const compiled = conditions.compile(expression)
  if ('errors' in compiled) return `compilation failed: ${compiled.errors}`
  const { type } = compiled.program
  return type.kind === boolType.kind ? compiled.program : `must evaluate to bool but got ${formatType(type)}`
}

const matcherOf =
  (programs: readonly Program[]): Matcher =>
  (spec) => {
    const request = adapt(withEmptyFields(spec), requestType)
    const errors: string[] = []
    for (const { source, evaluate } of programs) {
      const outcome = evaluate({ request })
      if ('error' in outcome)
        errors.push(`cel evaluation error: expression '${source}' resulted in error: ${outcome.error}`)
      // A false condition decides, even if others fail.
      else if (outcome.value !== true) return false
    }
    if (errors.length > 0) return { error: errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]` }
    return true
  }

/** Strings and lists are always present, so that conditions need not test for them. */
function withEmptyFields({
  resourceAttributes,
  nonResourceAttributes,
  user = '',
  groups = [],
  uid = '',
  extra = {},
}: ReviewSpec): object {
  return {
    user,
    groups,
    uid,
    extra,
    ...(resourceAttributes && {
      resourceAttributes: {
        namespace: '',
        verb: '',
        group: '',
        version: '',
        resource: '',
        subresource: '',
        name: '',
        ...withValues(resourceAttributes),
      },
    }),
    ...(nonResourceAttributes && { nonResourceAttributes: { verb: '', path: '', ...nonResourceAttributes } }),
  }
}

function withValues({ fieldSelector, labelSelector, ...others }: ResourceAttributes): object {
  const filled = ({ requirements }: Selector): object => ({
    requirements: requirements.map((each) => ({ values: [], ...each })),
  })
  return {
    ...others,
    ...(fieldSelector && { fieldSelector: filled(fieldSelector) }),
    ...(labelSelector && { labelSelector: filled(labelSelector) }),
  }
}

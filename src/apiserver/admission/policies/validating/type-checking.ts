/** Checks a policy's expressions against the schemas of the kinds that it names. Type errors become warnings. */
import { admissionEnvironment } from '../../../../cel/admission/environment.ts'
import { objectTypeOf } from '../../../../cel/admission/object-types.ts'
import { compileVariables, withVariables } from '../../../../cel/admission/variables.ts'
import type { Environment } from '../../../../cel/index.ts'
import type { ServedApis } from '../../../registry/served-apis.ts'
import type { ServedResource } from '../../../registry/served-resource.ts'
import type { ParamKind } from '../policy-source.ts'
import type { ValidatingSpec } from './validating-evaluator.ts'

export interface ExpressionWarning {
  readonly fieldRef: string
  readonly warning: string
}

/** The maximum number of kinds checked for each rule. */
const maxKinds = 10

type Apis = Pick<ServedApis, 'find' | 'ofKind'>

/** Returns an empty list if there are no errors, or no schemas to check against. */
export function typeWarnings(spec: ValidatingSpec, apis: Apis): ExpressionWarning[] {
  const environments = kindsOf(spec, apis).map((resource) => ({
    kind: kindText(resource),
    environment: typedEnvironment(spec, resource, apis),
  }))
  const check = (source: string | undefined, fieldRef: string): ExpressionWarning[] => {
    if (!source) return []
    const errors = environments.flatMap(({ kind, environment }) => {
      const compiled = environment.compile(source)
      return 'program' in compiled ? [] : [`${kind}: ${compiled.errors}\n`]
    })
    return errors.length > 0 ? [{ fieldRef, warning: errors.join('\n') }] : []
  }
  return (spec.validations ?? []).flatMap(({ expression, messageExpression }, at) => [
    ...check(expression, `spec.validations[${at}].expression`),
    ...check(messageExpression, `spec.validations[${at}].messageExpression`),
  ])
}

function typedEnvironment({ paramKind, variables }: ValidatingSpec, resource: ServedResource, apis: Apis): Environment {
  const params = paramKind && paramResource(paramKind, apis)
  const base = admissionEnvironment({
    params: params !== undefined,
    authorizer: true,
    object: objectTypeOf(resource.type),
    ...(params && { paramsType: objectTypeOf(params.type) }),
  })
  return withVariables(base, compileVariables(base, variables).type)
}

function paramResource({ apiVersion = '', kind = '' }: ParamKind, apis: Apis): ServedResource | undefined {
  const [version = '', group = ''] = apiVersion.split('/').reverse()
  return apis.ofKind(group, version, kind)
}

/** The kinds that rules name without wildcards, sorted by group, version and kind. */
function kindsOf({ matchConstraints }: ValidatingSpec, apis: Apis): ServedResource[] {
  const found = new Set<ServedResource>()
  for (const { apiGroups = [], apiVersions = [], resources = [] } of matchConstraints?.resourceRules ?? []) {
    if ([...apiGroups, ...apiVersions].some((name) => name.includes('*'))) continue
    const named = resources.filter((name) => !/[*/]/.test(name))
    const of = [...apiGroups]
      .sort()
      .flatMap((group) =>
        [...apiVersions]
          .sort()
          .flatMap((version) => [...named].sort().flatMap((plural) => apis.find(group, version, plural) ?? [])),
      )
    for (const resource of of.slice(0, maxKinds)) found.add(resource)
    if (of.length >= maxKinds) break
  }
  return [...found].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
}

const sortKey = ({ definition: { group, version, kind } }: ServedResource): string => `${group}\0${version}\0${kind}`
const kindText = ({ definition: { group, version, kind } }: ServedResource): string =>
  `${group}/${version}, Kind=${kind}`

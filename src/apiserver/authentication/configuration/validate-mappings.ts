/** Validates claim mappings and rules, with upstream's messages. */
import type { Program } from '../../../cel/index.ts'
import { domainPrefixedPathFaults } from '../../../machinery/validation/domain-prefixed-path.ts'
import { duplicate, type FieldError, invalidValue, required } from '../../../machinery/validation/field-error.ts'
import { compileExpression } from '../oidc/expressions.ts'
import type { ClaimOrExpression, JwtIssuer } from '../oidc/jwt-issuer.ts'

interface Found {
  readonly errors: FieldError[]
  /**
   * The compiled expressions of claim rules, of the username and of `extra`: one of them may check that an e-mail
   * address is verified.
   */
  readonly programs: Program[]
}

export function mappingFaults(authenticator: JwtIssuer, path: string): readonly FieldError[] {
  const found: Found = { errors: [], programs: [] }
  claimRules(authenticator, `${path}.claimValidationRules`, found)
  mappings(authenticator, `${path}.claimMappings`, found)
  userRules(authenticator, `${path}.userValidationRules`, found)
  return found.errors
}

function compiled(
  expression: string,
  variable: 'claims' | 'user',
  result: 'bool' | 'any',
  path: string,
  { errors }: Found,
): Program | undefined {
  const program = compileExpression(expression, variable, result)
  if (typeof program !== 'string') return program
  errors.push(invalidValue(path, expression, program))
  return undefined
}

function claimRules({ claimValidationRules: rules = [] }: JwtIssuer, path: string, found: Found): void {
  const { errors, programs } = found
  const claims = new Set<string>()
  const expressions = new Set<string>()
  for (const [index, { claim = '', requiredValue = '', expression = '', message = '' }] of rules.entries()) {
    const field = `${path}[${index}]`
    if (claim && expression) errors.push(invalidValue(field, claim, "claim and expression can't both be set"))
    else if (claim) {
      if (message) errors.push(invalidValue(`${field}.message`, message, 'may not be specified when claim is set'))
      if (claims.has(claim)) errors.push(duplicate(`${field}.claim`, claim))
      claims.add(claim)
    } else if (expression) {
      if (requiredValue)
        errors.push(
          invalidValue(`${field}.requiredValue`, requiredValue, 'may not be specified when expression is set'),
        )
      if (expressions.has(expression)) {
        errors.push(duplicate(`${field}.expression`, expression))
        continue
      }
      expressions.add(expression)
      const program = compiled(expression, 'claims', 'bool', `${field}.expression`, found)
      if (program) programs.push(program)
    } else errors.push(required(field, 'claim or expression is required'))
  }
}

function mappings({ claimMappings = {} }: JwtIssuer, path: string, found: Found): void {
  const { username = {}, groups = {}, uid = {} } = claimMappings
  const { errors, programs } = found
  const name = prefixed(username, `${path}.username`, true, found)
  if (name) programs.push(name)
  prefixed(groups, `${path}.groups`, false, found)
  if (uid.claim && uid.expression)
    errors.push(invalidValue(`${path}.uid`, '', "claim and expression can't both be set"))
  else if (uid.expression) compiled(uid.expression, 'claims', 'any', `${path}.uid.expression`, found)
  extras(claimMappings.extra ?? [], `${path}.extra`, found)
  if (name && reads([name], 'claims.email') && !reads(programs, 'claims.email_verified')) {
    errors.push(
      invalidValue(
        `${path}.username.expression`,
        username.expression,
        'claims.email_verified must be used in claimMappings.username.expression or ' +
          'claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used ' +
          'in claimMappings.username.expression',
      ),
    )
  }
}

const reads = (programs: readonly Program[], field: string): boolean =>
  programs.some(({ fields }) => [...fields].some((path) => path === field || path.startsWith(`${field}.`)))

function prefixed(
  { claim, prefix, expression }: ClaimOrExpression,
  path: string,
  isRequired: boolean,
  found: Found,
): Program | undefined {
  const { errors } = found
  if (claim && expression) errors.push(invalidValue(path, '', "claim and expression can't both be set"))
  else if (expression) {
    if (prefix !== undefined)
      errors.push(invalidValue(`${path}.prefix`, prefix, 'may not be specified when expression is set'))
    const program = compiled(expression, 'claims', 'any', `${path}.expression`, found)
    return prefix === undefined ? program : undefined
  } else if (claim) {
    if (prefix === undefined)
      errors.push(
        required(
          `${path}.prefix`,
          'prefix is required when claim is set. It can be set to an empty string to disable prefixing',
        ),
      )
  } else if (isRequired) errors.push(required(path, 'claim or expression is required'))
  return undefined
}

function extras(
  extra: readonly { readonly key?: string; readonly valueExpression?: string }[],
  path: string,
  found: Found,
): void {
  const { errors, programs } = found
  const keys = new Set<string>()
  for (const [index, { key = '', valueExpression = '' }] of extra.entries()) {
    const field = `${path}[${index}].key`
    errors.push(...domainPrefixedPathFaults(key, field))
    if (key !== key.toLowerCase()) errors.push(invalidValue(field, key, 'must be lowercase'))
    if (/^([^/]*\.)?(kubernetes|k8s)\.io\//.test(key))
      errors.push(
        invalidValue(field, key, 'k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use'),
      )
    if (keys.has(key)) {
      errors.push(duplicate(field, key))
      continue
    }
    keys.add(key)
    if (valueExpression === '') {
      errors.push(required(`${path}[${index}].valueExpression`))
      continue
    }
    const program = compiled(valueExpression, 'claims', 'any', `${path}[${index}].valueExpression`, found)
    if (program) programs.push(program)
  }
}

function userRules({ userValidationRules: rules = [] }: JwtIssuer, path: string, found: Found): void {
  const expressions = new Set<string>()
  for (const [index, { expression = '' }] of rules.entries()) {
    const field = `${path}[${index}].expression`
    if (expression === '') found.errors.push(required(field))
    else if (expressions.has(expression)) found.errors.push(duplicate(field, expression))
    else compiled(expression, 'user', 'bool', field, found)
    expressions.add(expression)
  }
}

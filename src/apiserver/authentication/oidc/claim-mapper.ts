/** Maps the claims of a verified token to a user, by an issuer's mappings and rules. */
import { adapt, type Bindings, type Program } from '../../../cel/index.ts'
import { CelList, type Value } from '../../../cel/values.ts'
import { goQuote } from '../../../lib/go/go-quote.ts'
import type { UserInfo } from '../../request-info/user-info.ts'
import { withEscapedNames } from './escaped-names.ts'
import { claimsType, compileExpression, userType } from './expressions.ts'
import type { ClaimOrExpression, JwtIssuer } from './jwt-issuer.ts'

export type Claims = Readonly<Record<string, unknown>>

/** A claim or an expression result is unusable. The message is for the log. */
export class ClaimError extends Error {}

/** Returns the user; throws a ClaimError if the claims give none. */
export type ClaimMapper = (claims: Claims) => UserInfo

interface Rule {
  readonly program: Program
  readonly message: string
}

/** The issuer must have been validated. */
export function claimMapper({
  claimMappings = {},
  claimValidationRules = [],
  userValidationRules = [],
}: JwtIssuer): ClaimMapper {
  const { username = {}, groups = {}, uid = {}, extra = [] } = claimMappings
  const nameOf = username.expression
    ? nameFromExpression(username.expression, 'username')
    : (claims: Claims) => nameFromClaim(claims, username)
  const groupsOf = groups.expression
    ? groupsFromExpression(groups.expression)
    : (claims: Claims) => groupsFromClaim(claims, groups)
  const uidOf = uid.expression
    ? nameFromExpression(uid.expression, 'uid')
    : (claims: Claims) => uidFromClaim(claims, uid.claim)
  const extras = extra.map(({ key = '', valueExpression = '' }) => ({
    key,
    program: compiled(valueExpression, 'claims', 'any'),
  }))
  const requiredClaims = claimValidationRules.filter(({ claim }) => claim)
  const claimRules = rulesOf(claimValidationRules, 'claims')
  const userRules = rulesOf(userValidationRules, 'user')
  return (claims) => {
    const name = nameOf(claims)
    const groups = groupsOf(claims)
    const uid = uidOf(claims)
    const extra = [
      ...credentialId(claims),
      ...extras.flatMap(({ key, program }) => extraFromExpression(key, program, claims)),
    ]
    for (const { claim = '', requiredValue = '' } of requiredClaims) requireClaim(claims, claim, requiredValue)
    checkRules(claimRules, claimsIn(claims), 'oidc: error evaluating claim validation expression')
    if (userRules.length > 0) {
      const user = { username: name, uid, groups, extra: Object.fromEntries(extra) }
      checkRules(
        userRules,
        { user: withEscapedNames(adapt(user, userType)) },
        'oidc: error evaluating user info validation rule',
      )
    }
    return { name, groups, ...(uid && { uid }), ...(extra.length > 0 && { extra: Object.fromEntries(extra) }) }
  }
}

function compiled(source: string, variable: 'claims' | 'user', result: 'bool' | 'any'): Program {
  const program = compileExpression(source, variable, result)
  if (typeof program === 'string') throw new Error(`${source}: ${program}`)
  return program
}

const rulesOf = (
  rules: readonly { readonly expression?: string; readonly message?: string }[],
  variable: 'claims' | 'user',
): readonly Rule[] =>
  rules.flatMap(({ expression, message = '' }) =>
    expression ? [{ program: compiled(expression, variable, 'bool'), message }] : [],
  )

/** Decodes a claim as Go decodes a string: null is empty. */
function textClaim(claims: Claims, claim: string, wrong: (why: string) => string): string {
  if (!Object.hasOwn(claims, claim)) throw new ClaimError(wrong('claim not present'))
  const value = claims[claim]
  if (value === null) return ''
  if (typeof value !== 'string') throw new ClaimError(wrong(cannot(value, 'string')))
  return value
}

const cannot = (value: unknown, type: string): string =>
  `json: cannot unmarshal ${Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value} ` +
  `into Go value of type ${type}`

function nameFromClaim(claims: Claims, { claim = '', prefix = '' }: ClaimOrExpression): string {
  const name = textClaim(claims, claim, (why) => `oidc: parse username claims ${goQuote(claim)}: ${why}`)
  if (claim === 'email' && Object.hasOwn(claims, 'email_verified')) {
    const verified = claims.email_verified
    if (typeof verified !== 'boolean' && verified !== null)
      throw new ClaimError(`oidc: parse 'email_verified' claim: ${cannot(verified, 'bool')}`)
    if (!verified) throw new ClaimError('oidc: email not verified')
  }
  return prefix + name
}

/** A single group may be a string instead of a list. */
function groupsFromClaim(claims: Claims, { claim, prefix = '' }: ClaimOrExpression): readonly string[] {
  if (!claim || !Object.hasOwn(claims, claim)) return []
  const value = claims[claim]
  if (value === null) return []
  const groups = Array.isArray(value) ? value : [value]
  return groups.map((group: unknown) => {
    if (typeof group !== 'string')
      throw new ClaimError(`oidc: parse groups claim ${goQuote(claim)}: ${cannot(value, 'string')}`)
    return prefix + group
  })
}

const uidFromClaim = (claims: Claims, claim: string | undefined): string =>
  claim ? textClaim(claims, claim, (why) => `oidc: parse uid claim ${goQuote(claim)}: ${why}`) : ''

function requireClaim(claims: Claims, claim: string, requiredValue: string): void {
  if (!Object.hasOwn(claims, claim)) throw new ClaimError(`oidc: required claim ${claim} not present in ID token`)
  const value = textClaim(claims, claim, (why) => `oidc: parse claim ${claim}: ${why}`)
  if (value !== requiredValue)
    throw new ClaimError(`oidc: required claim ${claim} value does not match. Got = ${value}, want = ${requiredValue}`)
}

type Extra = readonly [key: string, values: readonly string[]]

/** Identifies the token in audit events. */
function credentialId({ jti }: Claims): readonly Extra[] {
  return typeof jti === 'string' && jti !== '' ? [['authentication.kubernetes.io/credential-id', [`JTI=${jti}`]]] : []
}

/** Empty values are omitted. As upstream, the error of a failed expression does not name its key. */
function extraFromExpression(key: string, program: Program, claims: Claims): readonly Extra[] {
  const value = evaluated(program, claims, (why) => why)
  const values = textsOf(value, (why) => `oidc: error evaluating extra claim expression: ${program.source}: ${why}`)
  return values.length > 0 ? [[key, values]] : []
}

const claimsIn = (claims: Claims): Bindings => ({ claims: withEscapedNames(adapt(claims, claimsType)) })

function evaluated({ source, evaluate }: Program, claims: Claims, wrong: (why: string) => string): Value {
  const outcome = evaluate(claimsIn(claims))
  if ('error' in outcome) throw new ClaimError(wrong(`expression '${source}' resulted in error: ${outcome.error}`))
  return outcome.value
}

function nameFromExpression(source: string, field: 'username' | 'uid'): (claims: Claims) => string {
  const program = compiled(source, 'claims', 'any')
  const wrong = (why: string): string => `oidc: error evaluating ${field} claim expression: ${why}`
  return (claims) => {
    const value = evaluated(program, claims, wrong)
    if (typeof value !== 'string') throw new ClaimError(wrong(`${field} claim expression must return a string`))
    if (value === '' && field === 'username')
      throw new ClaimError('oidc: empty username via CEL expression is not allowed')
    return value
  }
}

function groupsFromExpression(source: string): (claims: Claims) => readonly string[] {
  const program = compiled(source, 'claims', 'any')
  const wrong = (why: string): string => `oidc: error evaluating group claim expression: ${why}`
  return (claims) => textsOf(evaluated(program, claims, wrong), wrong)
}

/** Decodes a string or a list of strings, without empty ones. */
function textsOf(value: Value, wrong: (why: string) => string): readonly string[] {
  if (value === null) return []
  const values = value instanceof CelList ? [...value] : [value]
  return values.flatMap((each) => {
    if (typeof each !== 'string') throw new ClaimError(wrong('expression must return a string or a list of strings'))
    return each === '' ? [] : [each]
  })
}

function checkRules(rules: readonly Rule[], bindings: Bindings, what: string): void {
  for (const { program, message } of rules) {
    const outcome = program.evaluate(bindings)
    if ('error' in outcome)
      throw new ClaimError(`${what}: expression '${program.source}' resulted in error: ${outcome.error}`)
    if (outcome.value !== true)
      throw new ClaimError(`${what}: validation expression '${program.source}' failed: ${message}`)
  }
}

/** CEL expressions over the claims of a token and over the resulting user, compiled once. */
import { type Environment, environment, type Program } from '../../../cel/index.ts'
import { kubernetesLibraries } from '../../../cel/libraries/index.ts'
import { boolType, dynType, formatType, listType, mapType, objectType, stringType } from '../../../cel/types.ts'

export const claimsType = mapType(stringType, dynType)

export const userType = objectType('kubernetes.UserInfo', {
  username: stringType,
  uid: stringType,
  groups: listType(stringType),
  extra: mapType(stringType, listType(stringType)),
})

const types = { claims: claimsType, user: userType } as const
const environments: { claims?: Environment; user?: Environment } = {}

/** Returns the program, or upstream's error message. `variable` is the variable that the expression reads. */
export function compileExpression(
  source: string,
  variable: 'claims' | 'user',
  result: 'bool' | 'any',
): Program | string {
  environments[variable] ??= environment({ libraries: kubernetesLibraries, variables: { [variable]: types[variable] } })
  const compiled = environments[variable].compile(source)
  if ('errors' in compiled) return `compilation failed: ${compiled.errors}`
  return result === 'any' || formatType(compiled.program.type) === formatType(boolType)
    ? compiled.program
    : 'must evaluate to bool'
}

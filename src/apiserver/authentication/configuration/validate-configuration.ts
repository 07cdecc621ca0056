/** Validates an AuthenticationConfiguration, with upstream's messages. */
import { duplicate, type FieldError, invalidValue, tooMany } from '../../../machinery/validation/field-error.ts'
import type { JwtIssuer } from '../oidc/jwt-issuer.ts'
import type { AuthenticationConfiguration } from './configuration-file.ts'
import { issuerFaults } from './validate-issuer.ts'
import { mappingFaults } from './validate-mappings.ts'

const maxIssuers = 64

/** `disallowed` are issuers that must not be configured: the server itself, for service account tokens. */
export function configurationFaults(
  { jwt = [], anonymous }: AuthenticationConfiguration,
  disallowed: readonly string[],
): readonly FieldError[] {
  if (jwt.length > maxIssuers) return [tooMany('jwt', jwt.length, maxIssuers)]
  const conditions = anonymous?.conditions ?? []
  return [
    ...jwt.flatMap((authenticator, index) => [
      ...issuerFaults(authenticator.issuer ?? {}, disallowed, `jwt[${index}].issuer`),
      ...mappingFaults(authenticator, `jwt[${index}]`),
      ...repeated(jwt, index),
    ]),
    ...(!anonymous?.enabled && conditions.length > 0
      ? [
          invalidValue(
            'anonymous.conditions',
            conditions.map(({ path = '' }) => ({ Path: path })),
            'enabled should be set to true when conditions are defined',
          ),
        ]
      : []),
  ]
}

function repeated(jwt: readonly JwtIssuer[], index: number): FieldError[] {
  const { url, discoveryURL } = jwt[index]?.issuer ?? {}
  const before = jwt.slice(0, index).map(({ issuer }) => issuer)
  const path = `jwt[${index}].issuer`
  return [
    ...(before.some((issuer) => (issuer?.url ?? '') === (url ?? '')) ? [duplicate(`${path}.url`, url ?? '')] : []),
    ...(discoveryURL && before.some((issuer) => issuer?.discoveryURL === discoveryURL)
      ? [duplicate(`${path}.discoveryURL`, discoveryURL)]
      : []),
  ]
}

/** Throws an Error with all faults. `more` are faults found elsewhere. */
export function checkConfiguration(
  configuration: AuthenticationConfiguration,
  disallowed: readonly string[],
  more: readonly FieldError[] = [],
): void {
  const faults = [...configurationFaults(configuration, disallowed), ...more].map(
    ({ field, message }) => `${field}: ${message}`,
  )
  if (faults.length > 0) throw new Error(faults.length === 1 ? faults[0] : `[${faults.join(', ')}]`)
}

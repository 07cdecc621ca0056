/** AuthenticationConfiguration (apiserver.config.k8s.io): the file of `--authentication-config`, decoded strictly. */
import { decodeConfiguration, flag, listOf, structOf, text } from '../../../machinery/decode/configuration.ts'
import { parseYaml } from '../../../machinery/yaml.ts'
import type { JwtIssuer } from '../oidc/jwt-issuer.ts'

export interface AuthenticationConfiguration {
  readonly jwt?: readonly JwtIssuer[]
  readonly anonymous?: {
    readonly enabled?: boolean
    readonly conditions?: readonly { readonly path?: string }[]
  }
}

const group = 'apiserver.config.k8s.io'

const claimOrExpression = structOf('PrefixedClaimOrExpression', { claim: text, prefix: text, expression: text })

const issuer = structOf('Issuer', {
  url: text,
  discoveryURL: text,
  certificateAuthority: text,
  audiences: listOf(text),
  audienceMatchPolicy: text,
  egressSelectorType: text,
})

const claimMappings = structOf('ClaimMappings', {
  username: claimOrExpression,
  groups: claimOrExpression,
  uid: structOf('ClaimOrExpression', { claim: text, expression: text }),
  extra: listOf(structOf('ExtraMapping', { key: text, valueExpression: text })),
})

const authenticator = structOf('JWTAuthenticator', {
  issuer,
  claimValidationRules: listOf(
    structOf('ClaimValidationRule', { claim: text, requiredValue: text, expression: text, message: text }),
  ),
  claimMappings,
  userValidationRules: listOf(structOf('UserValidationRule', { expression: text, message: text })),
})

const anonymous = structOf('AnonymousAuthConfig', {
  enabled: flag,
  conditions: listOf(structOf('AnonymousAuthCondition', { path: text })),
})

/** Throws an Error for an invalid configuration. */
export function parseConfiguration(yaml: string): AuthenticationConfiguration {
  if (yaml.length === 0) throw new Error('empty config data')
  const { value, strict } = parseYaml(yaml)
  const configuration = decodeConfiguration<AuthenticationConfiguration>(value, {
    kind: 'AuthenticationConfiguration',
    versions: [`${group}/v1`, `${group}/v1beta1`, `${group}/v1alpha1`],
    fields: { jwt: listOf(authenticator), anonymous },
  })
  if (strict.length > 0) throw new Error(`strict decoding error: ${strict.join(', ')}`)
  return configuration
}

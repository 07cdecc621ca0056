/** Validates the issuer of a configuration, with upstream's messages. */
import { X509Certificate } from 'node:crypto'
import { duplicate, type FieldError, invalidValue, required } from '../../../machinery/validation/field-error.ts'
import { parseUrl, UrlError } from '../../../machinery/values/go-url.ts'
import type { JwtIssuer } from '../oidc/jwt-issuer.ts'

type Issuer = NonNullable<JwtIssuer['issuer']>

export function issuerFaults(issuer: Issuer, disallowed: readonly string[], path: string): readonly FieldError[] {
  const { url = '', discoveryURL = '', certificateAuthority = '', egressSelectorType = '' } = issuer
  return [
    ...(url === '' ? [required(`${path}.url`)] : urlFaults(url, disallowed, `${path}.url`)),
    ...discoveryFaults(url, discoveryURL, `${path}.discoveryURL`),
    ...audienceFaults(issuer, path),
    ...(certificateAuthority !== '' && !hasCertificate(certificateAuthority)
      ? [
          invalidValue(
            `${path}.certificateAuthority`,
            '<omitted>',
            'data does not contain any valid RSA or ECDSA certificates',
          ),
        ]
      : []),
    ...egressFaults(egressSelectorType, `${path}.egressSelectorType`),
  ]
}

function urlFaults(url: string, disallowed: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = []
  const refuse = (why: string): void => void errors.push(invalidValue(path, url, why))
  if (disallowed.includes(url))
    refuse(`URL must not overlap with disallowed issuers: [${[...disallowed].sort().join(' ')}]`)
  const unreadable = parseFault(url)
  if (unreadable) {
    refuse(unreadable)
    return errors
  }
  const [, fragment = ''] = /#(.*)$/s.exec(url) ?? []
  const [, query = ''] = /^[^?#]*\?([^#]*)/.exec(url) ?? []
  if (!/^https:/i.test(url)) refuse('URL scheme must be https')
  if (/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*@/i.test(url)) refuse('URL must not contain a username or password')
  if (query !== '') refuse('URL must not contain a query')
  if (fragment !== '') refuse('URL must not contain a fragment')
  return errors
}

/** Returns Go's message if Go cannot parse the URL. */
function parseFault(url: string): string | undefined {
  try {
    parseUrl(url)
    return undefined
  } catch (error) {
    if (error instanceof UrlError) return error.message
    throw error
  }
}

function discoveryFaults(url: string, discoveryURL: string, path: string): readonly FieldError[] {
  if (discoveryURL === '') return []
  const bare = (text: string): string => text.replace(/\/+$/, '')
  const isSame = url !== '' && bare(url) === bare(discoveryURL)
  return [
    ...(isSame ? [invalidValue(path, discoveryURL, 'discoveryURL must be different from URL')] : []),
    ...urlFaults(discoveryURL, [], path),
  ]
}

function audienceFaults(
  { audiences = [], audienceMatchPolicy: policy = '' }: Issuer,
  path: string,
): readonly FieldError[] {
  const field = `${path}.audiences`
  if (audiences.length === 0) return [required(field, `at least one ${field} is required`)]
  const several = audiences.length > 1
  return [
    ...audiences.flatMap((audience, index) => [
      ...(audience === '' ? [required(`${field}[${index}]`)] : []),
      ...(audiences.indexOf(audience) < index ? [duplicate(`${field}[${index}]`, audience)] : []),
    ]),
    ...(several && policy !== 'MatchAny'
      ? [
          invalidValue(
            `${path}.audienceMatchPolicy`,
            policy,
            'audienceMatchPolicy must be MatchAny for multiple audiences',
          ),
        ]
      : []),
    ...(!several && policy !== '' && policy !== 'MatchAny'
      ? [
          invalidValue(
            `${path}.audienceMatchPolicy`,
            policy,
            'audienceMatchPolicy must be empty or MatchAny for single audience',
          ),
        ]
      : []),
  ]
}

function hasCertificate(pem: string): boolean {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  try {
    for (const block of blocks) new X509Certificate(block)
    return blocks.length > 0
  } catch {
    return false
  }
}

/** Egress selectors have no effect here: upstream reads `--egress-selector-config-file`, which we ignore. */
function egressFaults(type: string, path: string): readonly FieldError[] {
  if (type === '') return []
  if (type !== 'controlplane' && type !== 'cluster')
    return [invalidValue(path, type, 'egress selector must be either controlplane or cluster')]
  return [
    invalidValue(path, type, 'egress selectors are not supported: remove the field, providers are called directly'),
  ]
}

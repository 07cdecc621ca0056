/** Names with the domain of their owner as a prefix: `example.com/ingress-controller`. */
import { type FieldError, invalidValue, required } from './field-error.ts'
import { dnsSubdomain } from './names.ts'

export function domainPrefixedPathFaults(value: string, field: string): readonly FieldError[] {
  if (value === '') return [required(field)]
  const slash = value.indexOf('/')
  const domain = value.slice(0, slash)
  const path = value.slice(slash + 1)
  if (slash <= 0 || path === '')
    return [invalidValue(field, value, 'must be a domain-prefixed path (such as "acme.io/foo")')]
  return [
    ...dnsSubdomain(domain).map((message) => invalidValue(field, domain, message)),
    ...(/^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(path)
      ? []
      : [invalidValue(field, path, "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')")]),
  ]
}

/** Validation of signer names, such as `example.com/some-path`. */
import { type FieldError, invalidValue, required, tooLong } from '../../../machinery/validation/field-error.ts'
import { all } from '../../../machinery/validation/field-rules.ts'
import { dnsLabel, dnsSubdomain } from '../../../machinery/validation/names.ts'

const longestDomain = 253
/** A subdomain, a label and a separator. */
const longestPath = 253 + 63 + 1

export function signerNameRules(signerName: string, field: string): readonly FieldError[] {
  if (signerName === '') return [required(field)]
  const segments = signerName.split('/')
  const [domain = '', path = ''] = segments
  if (segments.length !== 2)
    return [
      invalidValue(
        field,
        signerName,
        "must be a fully qualified domain and path of the form 'example.com/signer-name'",
      ),
    ]
  const labels = domain.split('.')
  const wrong = (part: string, label: string, message: string): FieldError =>
    invalidValue(field, part, `validating label ${JSON.stringify(label)}: ${message}`)
  return all(
    domain.length > longestDomain ? [tooLong(field, longestDomain)] : [],
    labels.flatMap((label) => dnsLabel(label).map((message) => wrong(domain, label, message))),
    labels.length < 2
      ? [invalidValue(field, domain, 'should be a domain with at least two segments separated by dots')]
      : [],
    path.split('.').flatMap((label) => dnsSubdomain(label).map((message) => wrong(path, label, message))),
    path.length > longestPath ? [tooLong(field, longestPath)] : [],
  )
}

/** Returns true for signers below `kubernetes.io`. */
export function isKubernetesSigner(signerName: string): boolean {
  const [domain = ''] = signerName.split('/')
  return domain === 'kubernetes.io' || domain.endsWith('.kubernetes.io')
}

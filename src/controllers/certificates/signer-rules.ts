/**
 * Which requests each of Kubernetes' own signers signs
 * (kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests).
 */
import type { RequestedSubject } from './signing-request.ts'

export const kubeletClientSigner = 'kubernetes.io/kube-apiserver-client-kubelet'

type Rule = (subject: RequestedSubject, usages: readonly string[]) => string | undefined

const has = (usages: readonly string[], wanted: readonly string[]): boolean =>
  usages.length === wanted.length && wanted.every((usage) => usages.includes(usage))

const ofOtherOrganization = ({ organizations }: RequestedSubject): string | undefined =>
  organizations.length === 1 && organizations[0] === 'system:nodes'
    ? undefined
    : 'subject organization is not system:nodes'

const withOtherName = ({ commonName }: RequestedSubject): string | undefined =>
  commonName.startsWith('system:node:') ? undefined : 'subject common name does not begin with system:node:'

/** What is wrong with a kubelet's request for a client certificate; undefined if all is well. */
export const kubeletClientRule: Rule = (subject, usages) => {
  const stranger = ofOtherOrganization(subject)
  if (stranger) return stranger
  if (subject.dnsNames.length > 0) return 'DNS subjectAltNames are not allowed'
  if (subject.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed'
  if (subject.ipAddresses.length > 0) return 'IP subjectAltNames are not allowed'
  if (subject.uris.length > 0) return 'URI subjectAltNames are not allowed'
  const wrong = withOtherName(subject)
  if (wrong) return wrong
  const fits =
    has(usages, ['digital signature', 'key encipherment', 'client auth']) ||
    has(usages, ['digital signature', 'client auth'])
  return fits ? undefined : 'usages did not match [client auth digital signature key encipherment]'
}

const kubeletServingRule: Rule = (subject, usages) => {
  const stranger = ofOtherOrganization(subject)
  if (stranger) return stranger
  if (subject.dnsNames.length === 0 && subject.ipAddresses.length === 0) return 'DNS or IP subjectAltName is required'
  if (subject.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed'
  if (subject.uris.length > 0) return 'URI subjectAltNames are not allowed'
  const fits =
    has(usages, ['digital signature', 'key encipherment', 'server auth']) ||
    has(usages, ['digital signature', 'server auth'])
  return fits ? withOtherName(subject) : 'usages did not match [digital signature key encipherment server auth]'
}

const clientUsages: readonly string[] = ['digital signature', 'key encipherment', 'client auth']

const clientRule: Rule = (_subject, usages) => {
  const other = usages.find((usage) => !clientUsages.includes(usage))
  if (other) return `invalid usage for client certificate: ${other}`
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth'
}

/** By name of the signer: what it does not sign, and why. */
export const signerRules: Readonly<Record<string, Rule>> = {
  'kubernetes.io/kube-apiserver-client': clientRule,
  [kubeletClientSigner]: kubeletClientRule,
  'kubernetes.io/kubelet-serving': kubeletServingRule,
  'kubernetes.io/legacy-unknown': () => undefined,
}

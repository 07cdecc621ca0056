/**
 * The rules of Kubernetes' built-in signers
 * (kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests).
 */
import type { RequestedSubject } from './signing-request.ts'

export const kubeletClientSigner = 'kubernetes.io/kube-apiserver-client-kubelet'

type Rule = (subject: RequestedSubject, usages: readonly string[]) => string | undefined

const has = (usages: readonly string[], expected: readonly string[]): boolean =>
  usages.length === expected.length && expected.every((usage) => usages.includes(usage))

const organizationError = ({ organizations }: RequestedSubject): string | undefined =>
  organizations.length === 1 && organizations[0] === 'system:nodes'
    ? undefined
    : 'subject organization is not system:nodes'

const commonNameError = ({ commonName }: RequestedSubject): string | undefined =>
  commonName.startsWith('system:node:') ? undefined : 'subject common name does not begin with system:node:'

/** Returns the error of a kubelet's client certificate request; undefined if it is valid. */
export const kubeletClientRule: Rule = (subject, usages) => {
  const wrongOrganization = organizationError(subject)
  if (wrongOrganization) return wrongOrganization
  if (subject.dnsNames.length > 0) return 'DNS subjectAltNames are not allowed'
  if (subject.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed'
  if (subject.ipAddresses.length > 0) return 'IP subjectAltNames are not allowed'
  if (subject.uris.length > 0) return 'URI subjectAltNames are not allowed'
  const wrongName = commonNameError(subject)
  if (wrongName) return wrongName
  const hasValidUsages =
    has(usages, ['digital signature', 'key encipherment', 'client auth']) ||
    has(usages, ['digital signature', 'client auth'])
  return hasValidUsages ? undefined : 'usages did not match [client auth digital signature key encipherment]'
}

const kubeletServingRule: Rule = (subject, usages) => {
  const wrongOrganization = organizationError(subject)
  if (wrongOrganization) return wrongOrganization
  if (subject.dnsNames.length === 0 && subject.ipAddresses.length === 0) return 'DNS or IP subjectAltName is required'
  if (subject.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed'
  if (subject.uris.length > 0) return 'URI subjectAltNames are not allowed'
  const hasValidUsages =
    has(usages, ['digital signature', 'key encipherment', 'server auth']) ||
    has(usages, ['digital signature', 'server auth'])
  return hasValidUsages
    ? commonNameError(subject)
    : 'usages did not match [digital signature key encipherment server auth]'
}

const clientUsages: readonly string[] = ['digital signature', 'key encipherment', 'client auth']

const clientRule: Rule = (_subject, usages) => {
  const other = usages.find((usage) => !clientUsages.includes(usage))
  if (other) return `invalid usage for client certificate: ${other}`
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth'
}

/** Rules by signer name. */
export const signerRules: Readonly<Record<string, Rule>> = {
  'kubernetes.io/kube-apiserver-client': clientRule,
  [kubeletClientSigner]: kubeletClientRule,
  'kubernetes.io/kubelet-serving': kubeletServingRule,
  'kubernetes.io/legacy-unknown': () => undefined,
}

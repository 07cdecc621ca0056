/** Fixtures for tests of admission policies. */
import type { ReachableCluster } from '../../support/reachable-cluster.ts'
import { group } from '../webhooks/webhook.ts'

/** Flags for clusters whose pods need no service account and no token volume. */
export const withoutAccounts = { apiServerFlags: ['--disable-admission-plugins=ServiceAccount'] }

/** Match constraints: creates and updates of config maps, unless overridden. */
export const constraints = (more: object = {}): object => ({
  resourceRules: [
    { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] },
  ],
  ...more,
})

export const validatingPolicy = (name: string, spec: object): object => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name },
  spec: { matchConstraints: constraints(), ...spec },
})

/** Creates a policy and a binding of the same name. Resolves when both are in effect. */
export async function enforce(
  cluster: ReachableCluster,
  name: string,
  spec: object,
  binding: object = {},
): Promise<void> {
  await cluster.call('POST', `${group}/validatingadmissionpolicies`, validatingPolicy(name, spec))
  await bind(cluster, name, name, binding)
}

export async function bind(
  cluster: ReachableCluster,
  name: string,
  policyName: string,
  spec: object = {},
): Promise<void> {
  await cluster.call('POST', `${group}/validatingadmissionpolicybindings`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName, validationActions: ['Deny'], ...spec },
  })
}

/** Creates a mutating policy and a binding of the same name. */
export async function mutate(
  cluster: ReachableCluster,
  name: string,
  spec: object,
  binding: object = {},
): Promise<void> {
  await cluster.call('POST', `${group}/mutatingadmissionpolicies`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingAdmissionPolicy',
    metadata: { name },
    spec: { matchConstraints: constraints(), reinvocationPolicy: 'Never', ...spec },
  })
  await cluster.call('POST', `${group}/mutatingadmissionpolicybindings`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, ...binding },
  })
}

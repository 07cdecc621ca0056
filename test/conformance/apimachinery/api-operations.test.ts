/** Tests of the conformance suite named "should support … API operations" in `test/e2e/apimachinery`. */
import { test } from 'node:test'
import { type ApiUnderTest, supportsOperations } from '../support/api-operations.ts'
import { conformanceClients } from '../support/clients.ts'

const clients = conformanceClients({ controllers: [] })

const flowControl = 'flowcontrol.apiserver.k8s.io/v1'
const admission = 'admissionregistration.k8s.io/v1'
const matchConstraints = {
  resourceRules: [{ operations: ['CREATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] }],
}
const annotations = '{"my-foo-annotation": "myAnnotationValue"}'
const mutatingPolicy = {
  reinvocationPolicy: 'Never',
  mutations: [
    {
      patchType: 'ApplyConfiguration',
      applyConfiguration: { expression: `Object{metadata: Object.metadata{annotations: ${annotations}}}` },
    },
  ],
  matchConstraints,
}
const failurePolicies = { patch: { spec: { failurePolicy: 'Ignore' } }, update: { spec: { failurePolicy: 'Fail' } } }
const sparse = { status: 'False', reason: 'e2e' }
const complete = { ...sparse, message: 'Set from an e2e test', lastTransitionTime: '2024-01-01T00:00:00Z' }
const bound = { policyName: 'replicalimit-policy.example.com' }

const apis: Readonly<Record<string, ApiUnderTest>> = {
  'API priority and fairness should support FlowSchema API operations': {
    groupVersion: flowControl,
    kind: 'FlowSchema',
    plural: 'flowschemas',
    object: () => ({
      spec: {
        matchingPrecedence: 10_000,
        priorityLevelConfiguration: { name: 'global-default' },
        distinguisherMethod: { type: 'ByUser' },
        rules: [
          {
            subjects: [{ kind: 'User', user: { name: 'example-e2e-non-existent-user' } }],
            nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
          },
        ],
      },
    }),
    patch: { spec: { matchingPrecedence: 9999 } },
    update: { spec: { matchingPrecedence: 9000 } },
    condition: sparse,
  },
  'API priority and fairness should support PriorityLevelConfiguration API operations': {
    groupVersion: flowControl,
    kind: 'PriorityLevelConfiguration',
    plural: 'prioritylevelconfigurations',
    object: () => ({
      spec: { type: 'Limited', limited: { nominalConcurrencyShares: 2, limitResponse: { type: 'Reject' } } },
    }),
    patch: { spec: { limited: { nominalConcurrencyShares: 4 } } },
    update: { spec: { limited: { nominalConcurrencyShares: 6 } } },
    condition: sparse,
  },
  'ValidatingAdmissionPolicy should support ValidatingAdmissionPolicy API operations': {
    groupVersion: admission,
    kind: 'ValidatingAdmissionPolicy',
    plural: 'validatingadmissionpolicies',
    object: () => ({ spec: { validations: [{ expression: 'object.spec.replicas <= 100' }], matchConstraints } }),
    ...failurePolicies,
    condition: complete,
  },
  'ValidatingAdmissionPolicy should support ValidatingAdmissionPolicyBinding API operations': {
    groupVersion: admission,
    kind: 'ValidatingAdmissionPolicyBinding',
    plural: 'validatingadmissionpolicybindings',
    object: () => ({ spec: { ...bound, validationActions: ['Deny'] } }),
  },
  'MutatingAdmissionPolicy should support MutatingAdmissionPolicy API operations': {
    groupVersion: admission,
    kind: 'MutatingAdmissionPolicy',
    plural: 'mutatingadmissionpolicies',
    object: () => ({ spec: mutatingPolicy }),
    ...failurePolicies,
  },
  'MutatingAdmissionPolicy should support MutatingAdmissionPolicyBinding API operations': {
    groupVersion: admission,
    kind: 'MutatingAdmissionPolicyBinding',
    plural: 'mutatingadmissionpolicybindings',
    object: () => ({ spec: bound }),
  },
}

for (const [name, api] of Object.entries(apis)) test(name, () => supportsOperations(clients(), api))

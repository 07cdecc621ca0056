import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FlowSchema, mandatoryFlowSchemas, mandatoryPriorityLevels, suggestedFlowSchemas, suggestedPriorityLevels } from './bootstrap-objects.ts'
import { flowSchemas } from './flow-schema.ts'
import { priorityLevelConfigurations } from './priority-level-configuration.ts'

type Rules = NonNullable<FlowSchema['spec']>['rules']

const faults = (rules: Rules): string[] => {
  const schema: FlowSchema = {
    kind: 'FlowSchema',
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    metadata: { name: 's' },
    spec: { priorityLevelConfiguration: { name: 'l' }, matchingPrecedence: 7, rules },
  }
  return (flowSchemas.validate?.object?.(schema) ?? []).map(({ field, message }) => `${field}: ${message}`)
}

test('what the server ships is valid', () => {
  for (const schema of [...mandatoryFlowSchemas, ...suggestedFlowSchemas]) assert.deepEqual(flowSchemas.validate?.object?.(schema), [], schema.metadata.name)
  for (const level of [...mandatoryPriorityLevels, ...suggestedPriorityLevels]) {
    assert.deepEqual(priorityLevelConfigurations.validate?.object?.(level), [], level.metadata.name)
  }
})

test('rules that make no sense are refused in upstream’s words', () => {
  const subjects = [{ kind: 'User', user: { name: 'u' } }]
  const resource = { verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['a'] }
  const verbs = '"create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"'
  const table: readonly (readonly [rule: NonNullable<Rules>[number], words: string])[] = [
    [
      { subjects, resourceRules: [{ ...resource, verbs: ['*', 'get'] }] },
      `resourceRules[0].verbs: Invalid value: ["*","get"]: if '*' is present, must not specify other verbs`,
    ],
    [
      { subjects, resourceRules: [{ ...resource, verbs: ['escalate'] }] },
      `resourceRules[0].verbs: Unsupported value: ["escalate"]: supported values: ${verbs}`,
    ],
    [
      { subjects, resourceRules: [{ ...resource, namespaces: ['*', 'a'] }] },
      `resourceRules[0].namespaces: Invalid value: ["*","a"]: if '*' is present, must not specify other namespaces`,
    ],
    [
      { subjects, nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['x'] }] },
      'nonResourceRules[0].nonResourceURLs[0]: Invalid value: "x": must start with slash',
    ],
    [
      { subjects, nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/a*'] }] },
      'nonResourceRules[0].nonResourceURLs[0]: Invalid value: "/a*": wildcard can only do suffix matching',
    ],
    [
      { subjects: [{ kind: 'User', user: { name: 'u' }, group: { name: 'g' } }], resourceRules: [resource] },
      "subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'",
    ],
    [
      { subjects: [{ kind: 'ServiceAccount', serviceAccount: { name: '*', namespace: '' } }], resourceRules: [resource] },
      'subjects[0].serviceAccount.namespace: Required value: must specify namespace for service account',
    ],
  ]
  for (const [rule, words] of table) assert.deepEqual(faults([rule]), [`spec.rules[0].${words}`])
})

test('queues need no more of a flow’s hash than there is', () => {
  const level = structuredClone(suggestedPriorityLevels[0]!)
  level.spec!.limited!.limitResponse!.queuing = { queues: 1024, handSize: 7, queueLengthLimit: 5 }
  assert.deepEqual(
    priorityLevelConfigurations.validate?.object?.(level).map(({ message }) => message),
    ['Invalid value: 7: required entropy bits of deckSize 1024 and handSize 7 should not be greater than 60'],
  )
})

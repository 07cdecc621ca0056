import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type FlowSchema,
  mandatoryFlowSchemas,
  mandatoryPriorityLevels,
  type PriorityLevelConfiguration,
  suggestedFlowSchemas,
  suggestedPriorityLevels,
} from './bootstrap-objects.ts'
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

test('mandatory and suggested objects are valid', () => {
  for (const schema of [...mandatoryFlowSchemas, ...suggestedFlowSchemas])
    assert.deepEqual(flowSchemas.validate?.object?.(schema), [], schema.metadata.name)
  for (const level of [...mandatoryPriorityLevels, ...suggestedPriorityLevels]) {
    assert.deepEqual(priorityLevelConfigurations.validate?.object?.(level), [], level.metadata.name)
  }
})

test('invalid rules are rejected with the messages of upstream', () => {
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
      { subjects: [{ kind: 'Role', user: { name: 'u' } }], resourceRules: [resource] },
      'subjects[0].kind: Unsupported value: "Role": supported values: "Group", "ServiceAccount", "User"',
    ],
    [
      { subjects: [{ kind: 'Group' }], resourceRules: [resource] },
      "subjects[0].group: Required value: group is required when subject kind is 'Group'",
    ],
    [
      { subjects: [{ kind: 'User', user: { name: '' } }], resourceRules: [resource] },
      'subjects[0].user.name: Required value',
    ],
    [{ subjects: [], resourceRules: [resource] }, 'subjects: Required value: subjects must contain at least one value'],
    [
      { subjects, resourceRules: [{ ...resource, namespaces: [] }] },
      'resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at ' +
        'least one namespace',
    ],
    [
      {
        subjects: [{ kind: 'ServiceAccount', serviceAccount: { name: '*', namespace: '' } }],
        resourceRules: [resource],
      },
      'subjects[0].serviceAccount.namespace: Required value: must specify namespace for service account',
    ],
  ]
  for (const [rule, words] of table) assert.deepEqual(faults([rule]), [`spec.rules[0].${words}`])
})

test('fields of other subject kinds are rejected in the order of upstream', () => {
  const members = { user: { name: 'u' }, group: { name: 'g' }, serviceAccount: { name: 'a', namespace: 'n' } }
  const resourceRules = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['a'] }]
  const refused = (kind: string) =>
    faults([{ subjects: [{ kind, ...members }], resourceRules }]).map(
      (fault) => /subjects\[0\]\.(\w+): Forbidden/.exec(fault)?.[1],
    )
  assert.deepEqual(refused('ServiceAccount'), ['user', 'group'])
  assert.deepEqual(refused('User'), ['serviceAccount', 'group'])
  assert.deepEqual(refused('Group'), ['serviceAccount', 'user'])
})

test('non-resource URLs are absolute paths with an optional trailing wildcard', () => {
  const rule = (url: string) => [
    {
      subjects: [{ kind: 'User', user: { name: 'u' } }],
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: [url] }],
    },
  ]
  for (const url of ['/', '/foo', '/apis/', '/healthz/*']) assert.deepEqual(faults(rule(url)), [], url)
  for (const url of [
    '',
    'foo',
    '//',
    '/////',
    '/healthz/*/foo',
    '/healthz/foo bar',
    '/health*',
    '/health*/foo',
    '/*/*',
  ])
    assert.equal(faults(rule(url)).length, 1, url)
})

type LevelSpec = PriorityLevelConfiguration['spec']

test('invalid priority levels are rejected with the messages of upstream', () => {
  const reject = { type: 'Reject' }
  const queuing = (queues: number, handSize: number): LevelSpec => ({
    type: 'Limited',
    limited: {
      nominalConcurrencyShares: 100,
      limitResponse: { type: 'Queue', queuing: { queues, handSize, queueLengthLimit: 100 } },
    },
  })
  const limited = (more: object): LevelSpec => ({
    type: 'Limited',
    limited: { nominalConcurrencyShares: 1, limitResponse: reject, ...more },
  })
  const hand = 'spec.limited.limitResponse.queuing.handSize: Invalid value'
  const only = "must be 'Exempt' if and only if `name` is 'exempt'"
  const fixed = "spec of 'exempt' except the 'spec.exempt' field must equal the fixed value"
  const table: readonly (readonly [name: string, spec: LevelSpec, words: readonly string[]])[] = [
    ['l', limited({}), []],
    ['l', limited({ nominalConcurrencyShares: 0 }), []],
    [
      'l',
      limited({ nominalConcurrencyShares: -1 }),
      ['spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer'],
    ],
    [
      'l',
      limited({ lendablePercent: 101 }),
      ['spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive'],
    ],
    [
      'l',
      limited({ borrowingLimitPercent: -1 }),
      ['spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer'],
    ],
    ['l', { type: 'Limited' }, ['spec.limited: Required value: must not be empty when type is Limited']],
    [
      'l',
      { type: 'Limited', exempt: {} },
      [
        'spec.exempt: Forbidden: must be nil if the type is Limited',
        'spec.limited: Required value: must not be empty when type is Limited',
      ],
    ],
    [
      'l',
      limited({ limitResponse: { type: 'Reject', queuing: { queues: 512, handSize: 4, queueLengthLimit: 100 } } }),
      ['spec.limited.limitResponse.queuing: Forbidden: must be nil if limited.limitResponse.type is not Limited'],
    ],
    [
      'l',
      limited({ limitResponse: { type: 'Queue' } }),
      [
        'spec.limited.limitResponse.queuing: Required value: must not be empty if limited.limitResponse.type is ' +
          'Limited',
      ],
    ],
    ['l', queuing(512, 4), []],
    ['l', queuing(10_000_000, 2), []],
    [
      'l',
      queuing(512, 8),
      [`${hand}: 8: required entropy bits of deckSize 512 and handSize 8 should not be greater than 60`],
    ],
    [
      'l',
      queuing(128, 10),
      [`${hand}: 10: required entropy bits of deckSize 128 and handSize 10 should not be greater than 60`],
    ],
    ['l', queuing(7, 8), [`${hand}: 8: should not be greater than queues (7)`]],
    [
      'l',
      queuing(2_147_483_647, 3),
      [
        'spec.limited.limitResponse.queuing.queues: Invalid value: 2147483647: must not be greater than 10000000',
        `${hand}: 3: required entropy bits of deckSize 2147483647 and handSize 3 should not be greater than 60`,
      ],
    ],
    ['exempt', { type: 'Exempt', exempt: { nominalConcurrencyShares: 10, lendablePercent: 10 } }, []],
    [
      'exempt',
      { type: 'Exempt', exempt: { nominalConcurrencyShares: -1, lendablePercent: 101 } },
      [
        'spec.exempt.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer',
        'spec.exempt.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive',
      ],
    ],
    ['exempt', limited({}), [`spec.type: Invalid value: "Limited": ${only}`, fixed]],
    [
      'exempt',
      { ...limited({}), type: 'Exempt', exempt: {} },
      ['spec.limited: Forbidden: must be nil if the type is not Limited', fixed],
    ],
    ['catch-all', limited({}), ["spec of 'catch-all' must equal the fixed value"]],
  ]
  for (const [name, spec, words] of table) {
    const level = {
      kind: 'PriorityLevelConfiguration',
      apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
      metadata: { name },
      spec,
    }
    const messages = (priorityLevelConfigurations.validate?.object?.(level) ?? []).map(
      ({ field, message }) => `${field}: ${message}`,
    )
    assert.equal(messages.length, words.length, `${name} ${JSON.stringify(spec)}: ${messages}`)
    for (const [i, word] of words.entries()) assert.ok(messages[i]!.endsWith(word), `${messages[i]} is not ${word}`)
  }
})

test('conditions have unique types', () => {
  const level = suggestedPriorityLevels[0]!
  const messages = (types: readonly string[]): string[] => {
    const conditions = types.map((type) => ({ type }))
    const conditioned: PriorityLevelConfiguration = { ...level, status: { conditions } }
    return (priorityLevelConfigurations.validate?.status?.(conditioned, level) ?? []).map(
      ({ field, message }) => `${field}: ${message}`,
    )
  }
  assert.deepEqual(messages(['a', 'b']), [])
  assert.deepEqual(messages(['1', '1']), ['status.conditions[1].type: Duplicate value: "1"'])
  assert.deepEqual(messages(['']), ['status.conditions[0].type: Required value'])
})

test('queues and handSize must not need more than 60 bits of entropy', () => {
  const level = structuredClone(suggestedPriorityLevels[0]!)
  level.spec!.limited!.limitResponse!.queuing = { queues: 1024, handSize: 7, queueLengthLimit: 5 }
  assert.deepEqual(
    priorityLevelConfigurations.validate?.object?.(level).map(({ message }) => message),
    ['Invalid value: 7: required entropy bits of deckSize 1024 and handSize 7 should not be greater than 60'],
  )
})

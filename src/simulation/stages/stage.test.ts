import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePathExpression } from './path-expression.ts'
import { parseStages } from './stage.ts'

const object = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'a',
    labels: { app: 'web' },
    annotations: { 'x.example.com/delay': '3s', until: '1970-01-01T00:00:09Z' },
  },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Other', status: 'False' },
    ],
    list: [1, 2],
  },
}

test('path expressions find the same values as jq', () => {
  for (const [text, expected] of [
    ['.metadata.name', ['a']],
    ['.metadata.annotations["x.example.com/delay"]', ['3s']],
    ['.status.conditions.[] | select( .type == "Ready" ) | .status', ['True']],
    ['.status.conditions[].type', ['Ready', 'Other']],
    ['.status.list[1]', [2]],
    ['.nothing.[].at.all', []],
  ] as const)
    assert.deepEqual(parsePathExpression(text)(object), expected, text)
  assert.throws(() => parsePathExpression('.a | length'), /is not supported/)
})

const stage = (spec: string): string =>
  `apiVersion: kwok.x-k8s.io/v1alpha1\nkind: Stage\nmetadata: { name: s }\nspec: ${spec}\n`

test('a stage applies to objects that its whole selector matches, after its delay', () => {
  const [one] = parseStages(
    stage(`{ resourceRef: { apiGroup: v1, kind: Pod }, weight: 2,
  selector: { matchLabels: { app: web }, matchExpressions: [
    { key: .metadata.deletionTimestamp, operator: DoesNotExist },
    { jq: { key: '.status.conditions.[] | select(.type == "Ready") | .status', operator: In, values: ["True"] } } ] },
  delay: { durationMilliseconds: 1000, jitterDurationMilliseconds: 5000,
    durationFrom: { expressionFrom: '.metadata.annotations["x.example.com/delay"]' } },
  next: { statusTemplate: "phase: Succeeded" } }`),
  ).pods
  assert.ok(one?.matches(object))
  assert.ok(!one?.matches({ ...object, metadata: { ...object.metadata, labels: {} } }))
  assert.equal(
    one?.delay(object, 0, () => 0),
    3000,
  )
  assert.equal(
    one?.delay(object, 0, () => 0.5),
    4000,
  )
  assert.equal(one?.weight(object), 2)
  assert.deepEqual(
    one?.actions.map(({ kind }) => kind),
    ['patch'],
  )
})

test('a jitter below the delay replaces it, and a stage without a selector matches nothing', () => {
  const withJitter = stage(`{ resourceRef: { kind: Pod }, selector: {}, steps: [{ delete: true }],
  delay: { durationMilliseconds: 1000, jitterDurationFrom: { jq: { expression: .metadata.annotations.until } } } }`)
  const withoutSelector = stage('{ resourceRef: { kind: Pod }, next: { delete: true } }')
  const [deleting, idle] = parseStages(`${withJitter}---\n${withoutSelector}`).pods
  assert.equal(
    deleting?.delay(object, 9000, () => 0.5),
    0,
  )
  assert.equal(
    deleting?.delay(object, 0, () => 0.5),
    5000,
  )
  assert.ok(deleting?.matches(object))
  assert.ok(!idle?.matches(object))
})

test('unsupported features are rejected', () => {
  const parsing =
    (spec: string): (() => unknown) =>
    () =>
      parseStages(stage(`{ resourceRef: { kind: Node }, ${spec} }`))
  assert.throws(
    parsing("selector: { matchExpressions: [{ cel: { expression: 'true' } }] }"),
    /stage s: cel expressions are not supported: use key/,
  )
  assert.throws(parsing('steps: [{ apply: { template: x } }]'), /stage s: apply is not supported/)
})

test('a delay may end at a point in time, and stages of other kinds are ignored', () => {
  const { pods, nodes, others } = parseStages(
    [
      stage(`{ resourceRef: { kind: Pod }, steps: [{ delete: {} }],
  delay: { durationFrom: { jq: { expression: .metadata.annotations.until } } } }`),
      stage('{ resourceRef: { kind: Node } }'),
      stage('{ resourceRef: { kind: Service } }'),
    ].join('---\n'),
  )
  assert.equal(
    pods[0]?.delay(object, 2000, () => 0),
    7000,
  )
  assert.deepEqual(pods[0]?.actions, [{ kind: 'delete' }])
  assert.equal(nodes.length, 1)
  assert.deepEqual(others, ['s (Service)'])
  assert.throws(
    () =>
      parseStages(
        stage('{ resourceRef: { kind: Pod }, selector: { matchExpressions: [{ key: .a, operator: Like }] } }'),
      ),
    /stage s: the operator "Like"/,
  )
})

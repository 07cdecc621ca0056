import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Definition } from '../../../api/apiextensions/custom-resource-definition.ts'
import { usedNames } from './accepted-names.ts'
import { plannedStatus } from './definition-status.ts'

const now = '2026-01-01T00:00:00Z'
const later = '2026-01-02T00:00:00Z'
const nothing = usedNames([])
const taken = usedNames([{ kind: 'Widget' }])

const definition = (
  group = 'example.com',
  annotations?: Record<string, string>,
  status?: Definition['status'],
): Definition => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${group}`, annotations },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true }],
  },
  status: status ?? { storedVersions: ['v1'] },
})

const conditionTexts = (status: Definition['status']): string[] =>
  (status?.conditions ?? []).map(
    ({ type, status, reason, lastTransitionTime }) => `${type} ${status} ${reason} ${String(lastTransitionTime)}`,
  )

test('a definition is established with its names, and then its status needs no change', () => {
  const status = plannedStatus(definition(), nothing, now)
  assert.deepEqual(conditionTexts(status), [
    `NamesAccepted True NoConflicts ${now}`,
    `Established True InitialNamesAccepted ${now}`,
  ])
  assert.deepEqual(status?.acceptedNames, { plural: 'widgets', kind: 'Widget' })
  assert.deepEqual(status?.storedVersions, ['v1'])
  assert.equal(plannedStatus(definition('example.com', undefined, status), nothing, later), undefined)
})

test('a definition whose names are in use is established only when they are free', () => {
  const status = plannedStatus(definition(), taken, now)
  assert.deepEqual(conditionTexts(status), [
    `NamesAccepted False KindConflict ${now}`,
    `Established False NotAccepted ${now}`,
  ])
  const free = plannedStatus(definition('example.com', undefined, status), nothing, later)
  assert.deepEqual(conditionTexts(free), [
    `NamesAccepted True NoConflicts ${later}`,
    `Established True InitialNamesAccepted ${later}`,
  ])
})

test('an established definition stays established when it requests names in use', () => {
  const status = plannedStatus(definition(), nothing, now)
  const renamed = definition('example.com', undefined, status)
  renamed.spec.names.listKind = 'Widgets'
  const planned = plannedStatus(renamed, usedNames([{ kind: 'Widgets' }]), later)
  assert.deepEqual(conditionTexts(planned), [
    `NamesAccepted False ListKindConflict ${later}`,
    `Established True InitialNamesAccepted ${now}`,
  ])
})

const approvals: readonly (readonly [string | undefined, string, string, RegExp])[] = [
  [
    undefined,
    'False',
    'MissingAnnotation',
    /^protected groups must have approval annotation "api-approved\.kubernetes\.io", see https:/,
  ],
  ['https://example.com/1', 'True', 'ApprovedAnnotation', /^approved in https:\/\/example\.com\/1$/],
  ['unapproved, for a test', 'False', 'UnapprovedAnnotation', /^not approved: "unapproved, for a test"$/],
  ['because', 'False', 'InvalidAnnotation', /with either a URL or a reason starting with "unapproved", see https:/],
]

for (const [annotation, status, reason, message] of approvals)
  test(`a protected group with the annotation ${annotation} is ${reason}`, () => {
    const annotations = annotation === undefined ? undefined : { 'api-approved.kubernetes.io': annotation }
    const planned = plannedStatus(definition('apps.k8s.io', annotations), nothing, now)
    const condition = planned?.conditions?.find(({ type }) => type === 'KubernetesAPIApprovalPolicyConformant')
    assert.deepEqual([condition?.status, condition?.reason], [status, reason])
    assert.match(condition?.message ?? '', message)
  })

test('other groups need no approval', () => {
  assert.equal(plannedStatus(definition('myk8s.io'), nothing, now)?.conditions?.length, 2)
})

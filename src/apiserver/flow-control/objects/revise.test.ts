import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  autoUpdateAnnotation,
  mandatoryPriorityLevels,
  type PriorityLevelConfiguration,
  suggestedPriorityLevels,
} from '../../../api/flowcontrol/bootstrap-objects.ts'
import { danglingCondition } from './dangling.ts'
import { revision } from './revise.ts'

const wanted = suggestedPriorityLevels[0]!
const live = (annotation: string | undefined, generation: number, shares: number): PriorityLevelConfiguration => ({
  ...wanted,
  metadata: {
    name: wanted.metadata.name,
    generation,
    annotations: annotation === undefined ? {} : { [autoUpdateAnnotation]: annotation },
  },
  spec: { ...wanted.spec!, limited: { ...wanted.spec!.limited, nominalConcurrencyShares: shares } },
})

test('the server owns a suggested object while its annotation says so, or its spec is unchanged', () => {
  const { spec } = wanted
  const table: readonly (readonly [PriorityLevelConfiguration, ReturnType<typeof revision>])[] = [
    [live('true', 1, 30), undefined],
    [live('true', 3, 7), { annotation: 'true', spec }],
    [live('false', 3, 7), undefined],
    [live(undefined, 1, 30), { annotation: 'true' }],
    [live(undefined, 1, 7), { annotation: 'true', spec }],
    [live(undefined, 2, 7), { annotation: 'false' }],
    [live('perhaps', 2, 7), { annotation: 'false' }],
  ]
  for (const [object, expected] of table) assert.deepEqual(revision(object, wanted, false), expected)
})

test('the server always owns a mandatory object, except for the shares of the exempt level', () => {
  assert.deepEqual(revision(live('false', 3, 7), wanted, true), { annotation: 'true', spec: wanted.spec })
  const exempt = mandatoryPriorityLevels[0]!
  const lending: PriorityLevelConfiguration = {
    ...exempt,
    spec: { type: 'Exempt', exempt: { nominalConcurrencyShares: 5, lendablePercent: 50 } },
  }
  assert.equal(revision(lending, exempt, true), undefined)
})

test('the condition is only written if it changes', () => {
  const schema = {
    kind: 'FlowSchema',
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    metadata: { name: 's' },
    spec: { priorityLevelConfiguration: { name: 'l' } },
  }
  const found = danglingCondition(schema, true, 'now')!
  assert.deepEqual([found.status, found.reason], ['False', 'Found'])
  assert.equal(danglingCondition({ ...schema, status: { conditions: [found] } }, true, 'later'), undefined)
  assert.equal(danglingCondition({ ...schema, status: { conditions: [found] } }, false, 'later')?.status, 'True')
})

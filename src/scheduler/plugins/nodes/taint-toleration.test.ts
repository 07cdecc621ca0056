import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../../../client/kinds.ts'
import { aNode, aPod } from '../../testing/objects.fixture.ts'
import { mayHelp } from '../../testing/try-hint.fixture.ts'
import { filterWith, scoreWith } from '../../testing/try-plugin.fixture.ts'
import { taintToleration } from './taint-toleration.ts'

/** Taints are written as `key=value:effect`. */
const tainted = (name: string, ...taints: readonly string[]): Node =>
  aNode(name, {
    spec: {
      taints: taints.map((taint) => {
        const [, key = '', value, effect = ''] = /^([^=:]+)(?:=(.*))?:(.+)$/.exec(taint) ?? []
        return { key, effect, ...(value && { value }) }
      }),
    },
  })

test('nodes with untolerated taints are rejected', () => {
  const cases: [string, object[] | undefined, string[], string][] = [
    ['no taints', undefined, [], ''],
    ['a taint', undefined, ['a=b:NoSchedule'], 'node(s) had untolerated taint(s)'],
    ['one without a value', undefined, ['a:NoExecute'], 'node(s) had untolerated taint(s)'],
    ['PreferNoSchedule', undefined, ['a=b:PreferNoSchedule'], ''],
    ['tolerated', [{ key: 'a', value: 'b' }], ['a=b:NoSchedule'], ''],
    [
      'tolerated for another value',
      [{ key: 'a', operator: 'Equal', value: 'c' }],
      ['a=b:NoSchedule'],
      'node(s) had untolerated taint(s)',
    ],
    [
      'tolerated for another effect',
      [{ key: 'a', operator: 'Exists', effect: 'NoExecute' }],
      ['a=b:NoSchedule'],
      'node(s) had untolerated taint(s)',
    ],
    ['everything is tolerated', [{ operator: 'Exists' }], ['a=b:NoSchedule', 'c:NoExecute'], ''],
    [
      'one of several',
      [{ key: 'a', operator: 'Exists' }],
      ['a:NoSchedule', 'c=d:NoSchedule', 'e:NoSchedule'],
      'node(s) had untolerated taint(s)',
    ],
    [
      'unknown operators',
      [{ key: 'a', operator: 'Gt', value: '1' }],
      ['a=5:NoSchedule'],
      'node(s) had untolerated taint(s)',
    ],
  ]
  for (const [title, tolerations, taints, expected] of cases)
    assert.deepEqual(
      filterWith(taintToleration, aPod('p', { tolerations }), { nodes: [tainted('n', ...taints)] }),
      { n: expected },
      title,
    )
})

test('nodes with PreferNoSchedule taints score lower', () => {
  const nodes = [
    tainted('none'),
    tainted('one', 'a:PreferNoSchedule', 'x:NoSchedule'),
    tainted('two', 'a:PreferNoSchedule', 'b:PreferNoSchedule'),
  ]
  const cases: [string, object[] | undefined, Record<string, number>][] = [
    ['no tolerations', undefined, { none: 100, one: 50, two: 0 }],
    ['one of them', [{ key: 'a', operator: 'Exists' }], { none: 100, one: 100, two: 0 }],
    [
      'one of them, by effect',
      [{ key: 'a', operator: 'Exists', effect: 'PreferNoSchedule' }],
      { none: 100, one: 100, two: 0 },
    ],
    ['for another effect', [{ operator: 'Exists', effect: 'NoSchedule' }], { none: 100, one: 50, two: 0 }],
    ['all', [{ operator: 'Exists' }], { none: 100, one: 100, two: 100 }],
  ]
  for (const [title, tolerations, expected] of cases)
    assert.deepEqual(scoreWith(taintToleration, aPod('p', { tolerations }), { nodes }), expected, title)
})

test('hints: nodes with tolerated taints, and new tolerations, may help', () => {
  const pod = aPod('p', { tolerations: [{ key: 'a', operator: 'Exists' }] })
  const node = (before: Node | undefined, after: Node) =>
    mayHelp(taintToleration, pod, {
      resource: 'Node',
      action: before ? 'UpdateTaint' : 'Add',
      ...(before && { before }),
      after,
    })
  assert.equal(node(undefined, tainted('n', 'a:NoSchedule')), true)
  assert.equal(node(undefined, tainted('n', 'b:NoSchedule')), false)
  assert.equal(node(tainted('n', 'b:NoSchedule'), tainted('n')), true)
  assert.equal(node(tainted('n', 'a:NoSchedule'), tainted('n')), false)
  assert.equal(node(tainted('n', 'b:NoSchedule', 'c:NoSchedule'), tainted('n', 'b:NoSchedule')), false)
  assert.equal(
    mayHelp(taintToleration, pod, { resource: 'Pod', action: 'UpdateToleration', before: pod, after: pod }),
    true,
  )
  assert.equal(
    mayHelp(taintToleration, aPod('q'), { resource: 'Pod', action: 'UpdateToleration', before: pod, after: pod }),
    false,
  )
})

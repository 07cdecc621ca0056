import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Pod } from '../../../client/kinds.ts'
import { nodeProblem } from './node-problem.ts'

const notReady = 'node.kubernetes.io/not-ready'
const node = (status: string | undefined, effects: readonly string[] = [], labels = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n', labels },
  spec: { taints: effects.map((effect) => ({ key: notReady, effect, timeAdded: '2026-01-01T12:00:00Z' })) },
  status: {
    conditions: status
      ? [
          {
            type: 'Ready',
            status,
            reason: 'KubeletNotReady',
            message: 'no runtime',
            lastTransitionTime: '2026-01-01T11:59:00Z',
          },
        ]
      : [],
  },
})
const pod = (tolerationSeconds?: number | 'none', phase = 'Running'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'default' },
  spec: {
    containers: [],
    tolerations:
      tolerationSeconds === 'none'
        ? []
        : [{ key: notReady, operator: 'Exists', effect: 'NoExecute', tolerationSeconds }],
  },
  status: { phase },
})

test('nodeProblem reports the condition, taints, eviction time and next step of an unready node', () => {
  assert.deepEqual(nodeProblem(pod(300), node('False', ['NoSchedule', 'NoExecute'])), {
    node: 'n',
    ready: { status: 'False', reason: 'KubeletNotReady', message: 'no runtime', since: '2026-01-01T11:59:00Z' },
    taints: [`${notReady}:NoSchedule`, `${notReady}:NoExecute`],
    evictedAt: '2026-01-01T12:05:00Z',
    lines: [
      'the node n is not ready: Ready is False since 2026-01-01T11:59:00Z (KubeletNotReady: no runtime)',
      `its taints: ${notReady}:NoSchedule, ${notReady}:NoExecute`,
      `the pod tolerates ${notReady} for 300 s (tolerationSeconds): it is evicted at 2026-01-01T12:05:00Z, ` +
        'unless the node becomes ready before',
      "next: run kubectl describe node n, and read the kubelet's log there (journalctl -u kubelet)",
    ],
  })
})

test('tolerations decide if a pod is evicted immediately, later or never', () => {
  const line = (...[of, on]: Parameters<typeof nodeProblem>): string => nodeProblem(of, on)?.lines.at(-2) ?? ''
  assert.match(
    line(pod('none'), node('Unknown', ['NoExecute'])),
    /does not tolerate .*not-ready: it is evicted immediately/,
  )
  assert.match(line(pod(), node('Unknown', ['NoExecute'])), /forever: it is not evicted/)
  assert.match(line(pod(300), node('False', ['NoSchedule'])), /it has no NoExecute taint yet: the pod is not evicted/)
})

test('nodeProblem is undefined for ready nodes and ended pods', () => {
  assert.equal(nodeProblem(pod(), node('True', ['NoExecute'])), undefined)
  assert.equal(nodeProblem(pod(300, 'Failed'), node('False')), undefined)
  assert.match(
    nodeProblem(pod(), node(undefined))?.lines[0] ?? '',
    /it has no condition Ready, so no kubelet has reported from it yet/,
  )
  assert.match(
    nodeProblem(pod(), node('False', [], { 'simulation.typernetes.io/node': 'fleet' }))?.lines.at(-1) ?? '',
    /next: t8s node recover n/,
  )
  assert.match(nodeProblem(pod(), node('Unknown'))?.lines.at(-1) ?? '', /check that the machine n runs/)
})

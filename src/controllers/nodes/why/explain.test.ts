import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Pod } from '../../../client/kinds.ts'
import { nodeTrouble } from './explain.ts'

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

test('a node that is not ready: since when and why, its taints, when the pod is evicted, and what to do', () => {
  assert.deepEqual(nodeTrouble(pod(300), node('False', ['NoSchedule', 'NoExecute'])), {
    node: 'n',
    ready: { status: 'False', reason: 'KubeletNotReady', message: 'no runtime', since: '2026-01-01T11:59:00Z' },
    taints: [`${notReady}:NoSchedule`, `${notReady}:NoExecute`],
    evictedAt: '2026-01-01T12:05:00Z',
    lines: [
      'the node n is not ready: Ready is False since 2026-01-01T11:59:00Z (KubeletNotReady: no runtime)',
      `its taints: ${notReady}:NoSchedule, ${notReady}:NoExecute`,
      `the pod tolerates ${notReady} for 300 s (tolerationSeconds): it is evicted at 2026-01-01T12:05:00Z, ` +
        'unless the node is ready before',
      "next: kubectl describe node n, and the kubelet's log there (journalctl -u kubelet): it says what it waits for",
    ],
  })
})

test('pods are evicted at once, later or never, by their tolerations', () => {
  const line = (...[of, on]: Parameters<typeof nodeTrouble>): string => nodeTrouble(of, on)?.lines.at(-2) ?? ''
  assert.match(
    line(pod('none'), node('Unknown', ['NoExecute'])),
    /does not tolerate .*not-ready: it is evicted at once/,
  )
  assert.match(line(pod(), node('Unknown', ['NoExecute'])), /for ever: it stays/)
  assert.match(
    line(pod(300), node('False', ['NoSchedule'])),
    /no taint of it drives pods away \(NoExecute\) yet: the pod stays/,
  )
})

test('nothing is said of nodes that are ready, and of pods that have ended', () => {
  assert.equal(nodeTrouble(pod(), node('True', ['NoExecute'])), undefined)
  assert.equal(nodeTrouble(pod(300, 'Failed'), node('False')), undefined)
  assert.match(
    nodeTrouble(pod(), node(undefined))?.lines[0] ?? '',
    /it has no condition Ready, so no kubelet has reported from it yet/,
  )
  assert.match(
    nodeTrouble(pod(), node('False', [], { 'simulation.typernetes.io/node': 'fleet' }))?.lines.at(-1) ?? '',
    /next: t8s node recover n/,
  )
  assert.match(nodeTrouble(pod(), node('Unknown'))?.lines.at(-1) ?? '', /see that the machine n runs/)
})

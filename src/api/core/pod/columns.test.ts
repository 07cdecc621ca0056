import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '../../resource.ts'
import { podColumns, podRowConditions } from './columns.ts'
import type { Pod } from './model.ts'
import { container, pod, statusCells } from './pod.fixture.ts'

const ago = (seconds: number): string => new Date(Date.now() - seconds * 1000).toISOString()
const state = (name: string, value: object, more: object = {}): object => ({
  name,
  image: 'i',
  imageID: '',
  ready: false,
  restartCount: 0,
  state: value,
  ...more,
})
const running = { running: { startedAt: ago(60) } }
const ready = { ready: true }
const done = (exitCode: number, reason?: string, signal?: number): object => ({
  terminated: { exitCode, reason, signal },
})
const waiting = (reason: string): object => ({ waiting: { reason } })
const two = { containers: [container(), container({ name: 'side' })] }
const inits = { initContainers: [container({ name: 'i1' }), container({ name: 'i2' })] }
const last = { lastState: { terminated: { exitCode: 1, finishedAt: '2024-01-01T00:00:00Z' } } }
const Ready = [{ type: 'Ready', status: 'True' }]

test('READY, STATUS and RESTARTS follow from the container statuses', () => {
  const cases: readonly (readonly [Pod, string, string, Cell])[] = [
    [pod({}, { phase: 'Pending' }), '0/1', 'Pending', '0'],
    [
      pod({}, { phase: 'Pending', containerStatuses: [state('c', waiting('ImagePullBackOff'))] }),
      '0/1',
      'ImagePullBackOff',
      '0',
    ],
    [
      pod({}, { phase: 'Running', containerStatuses: [state('c', running, { ...ready, restartCount: 3 })] }),
      '1/1',
      'Running',
      '3',
    ],
    [
      pod({}, { phase: 'Running', containerStatuses: [state('c', running, { ...ready, restartCount: 3, ...last })] }),
      '1/1',
      'Running',
      { since: '2024-01-01T00:00:00Z', prefix: '3 (', suffix: ' ago)' },
    ],
    [pod({}, { phase: 'Failed', containerStatuses: [state('c', done(3))] }), '0/1', 'ExitCode:3', '0'],
    [pod({}, { phase: 'Failed', containerStatuses: [state('c', done(137, undefined, 9))] }), '0/1', 'Signal:9', '0'],
    [pod({}, { phase: 'Failed', reason: 'Evicted' }), '0/1', 'Evicted', '0'],
    [
      pod(two, {
        phase: 'Running',
        conditions: Ready,
        containerStatuses: [state('c', done(0, 'Completed')), state('side', running, ready)],
      }),
      '1/2',
      'Running',
      '0',
    ],
    [
      pod(two, {
        phase: 'Running',
        containerStatuses: [state('c', done(0, 'Completed')), state('side', running, ready)],
      }),
      '1/2',
      'NotReady',
      '0',
    ],
    [
      pod(two, {
        phase: 'Running',
        containerStatuses: [
          state('c', waiting('CrashLoopBackOff'), { restartCount: 4 }),
          state('side', done(1, 'Error')),
        ],
      }),
      '0/2',
      'CrashLoopBackOff',
      '4',
    ],
    [
      pod(inits, {
        phase: 'Pending',
        initContainerStatuses: [state('i1', done(0, 'Completed')), state('i2', running)],
      }),
      '0/1',
      'Init:1/2',
      '0',
    ],
    [
      pod(inits, {
        phase: 'Pending',
        initContainerStatuses: [state('i1', done(1, 'Error'), { restartCount: 2 })],
        containerStatuses: [state('c', waiting('PodInitializing'), { restartCount: 7 })],
      }),
      '0/1',
      'Init:Error',
      '2',
    ],
    [pod(inits, { phase: 'Pending', initContainerStatuses: [state('i1', done(2))] }), '0/1', 'Init:ExitCode:2', '0'],
    [
      pod(
        { initContainers: [container({ name: 'i', restartPolicy: 'Always' })] },
        {
          phase: 'Running',
          initContainerStatuses: [state('i', running, { ready: true, started: true, restartCount: 1 })],
          containerStatuses: [state('c', running, ready)],
        },
      ),
      '2/2',
      'Running',
      '1',
    ],
    [
      pod({}, { phase: 'Running', containerStatuses: [state('c', running, ready)] }, { deletionTimestamp: ago(1) }),
      '1/1',
      'Terminating',
      '0',
    ],
    [pod({}, { phase: 'Running', reason: 'NodeLost' }, { deletionTimestamp: ago(1) }), '0/1', 'Unknown', '0'],
  ]
  for (const [listed, ...expected] of cases) assert.deepEqual(statusCells(listed), expected)
  assert.equal(podRowConditions(pod({}, { phase: 'Succeeded' }))[0]?.reason, 'Succeeded')
  assert.deepEqual(
    podColumns
      .slice(5)
      .map((column) =>
        column.cell(
          pod(
            { readinessGates: [{ conditionType: 'a' }, { conditionType: 'b' }] },
            { conditions: [{ type: 'a', status: 'True' }] },
          ),
        ),
      ),
    ['<none>', '<none>', '<none>', '1/2'],
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TraceData, TracedObject, TracedRequest, TracedVersion } from '../../trace-data.ts'
import { diffLines, foldSame } from './diff.ts'
import { historiesOf } from './histories.ts'
import { objectLines } from './object-lines.ts'
import { failedOwners, waitingPods } from './pod-waits.ts'
import { messageOf, noFilter, selectRequests } from './request-filter.ts'
import { timeBins } from './time-bins.ts'

const request = (number: number, given: Partial<TracedRequest> = {}): TracedRequest => ({
  ...{ number, time: 1000 + number, verb: 'get', method: 'GET', path: '/api/v1/namespaces/d/pods/web', group: '' },
  ...{ resource: 'pods', subresource: '', namespace: 'd', name: 'web', user: 'admin', userAgent: 'test', code: 200 },
  durationMs: 1,
  ...given,
})
const stored = (resource: string, name: string, revision: number, object?: object): TracedObject => ({
  ...{ group: '', resource, namespace: 'd', name, revision, object },
})
const version = (
  time: number,
  resource: string,
  name: string,
  revision: number,
  object?: object,
  type: 'put' | 'delete' = 'put',
): TracedVersion => ({ ...stored(resource, name, revision, object), time, type })
const data = (parts: Partial<TraceData>): TraceData => ({
  ...{ format: 'typernetes trace', formatVersion: 1, test: { name: 'a' }, begin: 1000, end: 2000 },
  ...{ requests: [], objects: [], versions: [] },
  losses: { requests: 0, bodies: 0, versions: 0, objects: 0, notes: [] },
  ...parts,
})

test('an object is written in lines, without its managed fields', () => {
  const object = {
    kind: 'Pod',
    metadata: { name: 'a', managedFields: [{}], labels: {} },
    spec: { args: ['yes', 'x y', '0'], list: [{ a: 1, b: [2] }, []], text: 'a\nb\n', none: null },
    ...JSON.parse('{"__proto__":true}'),
  }
  assert.deepEqual(objectLines(object), [
    ...['kind: Pod', 'metadata:', '  name: a', '  labels: {}', 'spec:', '  args:', '  - "yes"', '  - "x y"'],
    ...['  - "0"', '  list:', '  - a: 1', '    b:', '    - 2', '  - []', '  text: |', '    a', '    b', '  none: null'],
    '"__proto__": true',
  ])
})

test('a difference has removed and added lines, and hides those that are far away', () => {
  const lines = (text: string): string[] => text.split(' ')
  const signs = { same: '', added: '+', removed: '-' }
  const text = (before: string, after: string): string =>
    diffLines(lines(before), lines(after))
      .map(({ kind, text: line }) => signs[kind] + line)
      .join(' ')
  assert.equal(text('a b c d', 'a x c e d'), 'a -b +x c +e d')
  assert.equal(text('a', 'b'), '-a +b')
  assert.equal(text('a b', 'a b'), 'a b')
  assert.equal(text('a a', 'a'), 'a -a')
  const folded = foldSame(diffLines(lines('1 2 3 4 5 x 6 7 8'), lines('1 2 3 4 5 y 6 7 8')), 1)
  assert.deepEqual(
    folded.map((part) => ('hidden' in part ? part.hidden : part.text)),
    [4, '5', 'x', 'y', '6', 2],
  )
})

test('a version has the request that wrote it, by its revision or by name and time', () => {
  const managed = (manager: string) => ({ metadata: { managedFields: [{ manager, operation: 'Apply' }] } })
  const histories = historiesOf(
    data({
      requests: [
        request(1, { verb: 'update', wrote: 7 }),
        request(2, { verb: 'update', wrote: 8 }),
        request(3, { verb: 'delete', time: 1500 }),
        request(4, { verb: 'delete', time: 1500, code: 409 }),
        request(5, { verb: 'deletecollection', name: '', time: 1700, durationMs: 50 }),
      ],
      objects: [stored('pods', 'web', 5, managed('a')), stored('pods', 'quiet', 3, {})],
      versions: [
        version(1001, 'pods', 'web', 7, managed('b')),
        version(1505, 'pods', 'web', 9, undefined, 'delete'),
        version(1720, 'pods', 'other', 10, undefined, 'delete'),
        version(1990, 'pods', 'third', 11, {}),
      ],
    }),
  )
  assert.deepEqual(
    [...histories.values()].map(({ key, isChanged, versions }) => [
      ...[key, isChanged],
      ...versions.map(({ type, request: writer, managers }) => [type, writer?.number, ...managers]),
    ]),
    [
      ['pods/d/other', true, ['delete', 5]],
      ['pods/d/quiet', false, ['base', undefined]],
      ['pods/d/third', true, ['put', undefined]],
      ['pods/d/web', true, ['base', undefined], ['put', 1, 'b (Apply)'], ['delete', 3]],
    ],
  )
})

test('filters select requests, and components only if they are wanted', () => {
  const status = (message: string) => ({ text: JSON.stringify({ kind: 'Status', message }), bytes: 9 })
  const requests = [
    request(1),
    request(2, { user: 'system:node:n', verb: 'patch', subresource: 'status' }),
    request(3, { user: 'jane', code: 403, response: status('no way') }),
    request(4, { user: 'system:serviceaccount:shop:app', code: 500, fault: 1 }),
  ]
  const numbers = (filter: object): number[] =>
    selectRequests(requests, { ...noFilter, ...filter }).map((one) => one.number)
  assert.deepEqual(numbers({}), [1, 3, 4])
  assert.deepEqual(numbers({ components: true }), [1, 2, 3, 4])
  assert.deepEqual(numbers({ user: 'system:node:n' }), [2])
  assert.deepEqual(numbers({ status: 'errors' }), [3, 4])
  assert.deepEqual(numbers({ status: '4' }), [3])
  assert.deepEqual(numbers({ status: 'faults' }), [4])
  assert.deepEqual(numbers({ text: 'JANE way' }), [3])
  assert.deepEqual(numbers({ resource: 'pods/status', components: true, verb: 'patch' }), [2])
  assert.deepEqual(numbers({ from: 1003, to: 1004 }), [3])
  assert.equal(messageOf(requests[2]!), 'no way')
})

test('pods wait for a node, for containers, for claims, and then no more', () => {
  const scheduled = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes' }
  const waiting = { name: 'c', ready: false, state: { waiting: { reason: 'ImagePullBackOff', message: 'no image' } } }
  const spec = { volumes: [{ persistentVolumeClaim: { claimName: 'data' } }] }
  const event = {
    involvedObject: { kind: 'Pod', namespace: 'd', name: 'web' },
    type: 'Warning',
    reason: 'Failed',
    count: 3,
  }
  const histories = historiesOf(
    data({
      objects: [stored('persistentvolumeclaims', 'data', 2, { spec: {}, status: { phase: 'Pending' } })],
      versions: [
        version(1001, 'pods', 'web', 3, { kind: 'Pod', spec }),
        version(1002, 'pods', 'web', 4, { kind: 'Pod', spec, status: { conditions: [scheduled] } }),
        version(1003, 'pods', 'done', 5, {
          kind: 'Pod',
          spec: { nodeName: 'n' },
          status: { containerStatuses: [waiting] },
        }),
        version(1004, 'pods', 'done', 6, {
          ...{ kind: 'Pod', spec: { nodeName: 'n' } },
          status: { conditions: [{ type: 'Ready', status: 'True' }] },
        }),
        version(1005, 'events', 'e', 7, event),
      ],
    }),
  )
  assert.deepEqual(
    waitingPods(histories).map(({ history, isWaiting, waits, events }) => [
      ...[history.name, isWaiting],
      ...waits.map(({ reason, from, until }) => [reason, from, until]),
      ...events.map(({ reason, count }) => [reason, count]),
    ]),
    [
      [
        ...['web', true],
        ...[
          ['Unschedulable', 1002, undefined],
          ['ClaimNotBound', undefined, undefined],
          ['NotScheduled', 1001, 1002],
        ],
        ['Failed', 3],
      ],
      ['done', false, ['ImagePullBackOff', 1003, 1004]],
    ],
  )
})

test('owners that cannot create pods have the reason of a condition or of an event', () => {
  const conditions = [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota' }]
  const involvedObject = { kind: 'Job', namespace: 'd', name: 'job' }
  const histories = historiesOf(
    data({
      objects: [
        stored('replicasets', 'web', 1, { kind: 'ReplicaSet', status: { conditions } }),
        stored('jobs', 'job', 2, { kind: 'Job' }),
        stored('events', 'e', 3, {
          kind: 'Event',
          involvedObject,
          type: 'Warning',
          reason: 'FailedCreate',
          message: 'denied',
        }),
      ],
    }),
  )
  assert.deepEqual(
    failedOwners(histories).map(({ history, reasons }) => [history.name, ...reasons]),
    [
      ['job', 'FailedCreate: denied'],
      ['web', 'FailedCreate: exceeded quota'],
    ],
  )
})

test('the timeline counts requests, errors and versions', () => {
  const bins = timeBins(
    data({
      requests: [request(1), request(2, { code: 404 }), request(900)],
      versions: [version(2000, 'pods', 'a', 1)],
    }),
    10,
  )
  assert.deepEqual(
    bins.map(({ requests, errors, versions }) => `${requests}${errors}${versions}`).join(' '),
    '210 000 000 000 000 000 000 000 100 001',
  )
})

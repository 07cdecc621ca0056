/** Tests of the conformance suite for events (`test/e2e/instrumentation/{core_events,events}.go`). */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { KubeObject } from '../../../src/machinery/object.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { names, Requests, refused } from '../support/requests.ts'

interface CoreEvent extends KubeObject {
  readonly message?: string
}

const cluster = testCluster({ after }, { controllers: ['serviceaccount-controller'] })
const constant = 'labelSelector=testevent-constant%3Dtrue'
const series = { count: 100, lastObservedTime: '2017-09-19T13:49:16.000000Z' }

/** Returns the object without its resourceVersion and managedFields. */
const withoutVersion = ({
  metadata: { resourceVersion: _, managedFields: __, ...metadata },
  ...rest
}: KubeObject): object => ({ ...rest, metadata })

test('Events should manage the lifecycle of an event', async () => {
  const api = await Requests.in(await cluster, 'core-event')
  const path = `${api.core}/events`
  const all = async () =>
    (await api.list(`/api/v1/events?${constant}`)).filter(({ metadata }) => metadata.namespace === api.namespace)
  await api.post(path, {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'event-test', creationTimestamp: null, labels: { 'testevent-constant': 'true' } },
    message: 'This is a test event',
    reason: 'Test',
    type: 'Normal',
    count: 1,
    involvedObject: { namespace: api.namespace },
    source: {},
    firstTimestamp: null,
    lastTimestamp: null,
    eventTime: null,
    reportingComponent: '',
    reportingInstance: '',
  })
  assert.deepEqual(names(await all()), ['event-test'])
  await api.patch(`${path}/event-test`, { message: 'This is a test event - patched' }, 'strategic')
  const event = await api.get<CoreEvent>(`${path}/event-test`)
  assert.equal(event.message, 'This is a test event - patched')
  const wanted = { ...withoutVersion(event), series }
  await api.put(`${path}/event-test`, wanted)
  assert.deepEqual(withoutVersion(await api.get(`${path}/event-test`)), wanted)
  await api.delete(`${path}/event-test`)
  assert.deepEqual(await all(), [])
})

const newEvent = (namespace: string, name: string, label: string) => ({
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata: { name, creationTimestamp: null, labels: { [label]: 'true' } },
  regarding: { namespace },
  eventTime: '2017-09-19T13:49:16.000000Z',
  note: `This is ${name}`,
  action: 'Do',
  reason: 'Test',
  type: 'Normal',
  reportingController: 'test-controller',
  reportingInstance: 'test-node',
  deprecatedSource: {},
  deprecatedFirstTimestamp: null,
  deprecatedLastTimestamp: null,
})

test('Events API should ensure that an event can be fetched, patched, deleted, and listed', async () => {
  const api = await Requests.in(await cluster, 'new-event')
  const path = `${api.group('events.k8s.io/v1')}/events`
  const everywhere = async () =>
    (await api.list(`/apis/events.k8s.io/v1/events?${constant}`)).filter(
      ({ metadata }) => metadata.namespace === api.namespace,
    )
  await api.post(path, newEvent(api.namespace, 'event-test', 'testevent-constant'))
  assert.deepEqual(names(await everywhere()), ['event-test'])
  assert.deepEqual(names(await api.list(`${path}?${constant}`)), ['event-test'])
  // The old API selects by the reporter if an event has no source.
  assert.deepEqual(names(await api.list(`${api.core}/events?fieldSelector=source%3Dtest-controller`)), ['event-test'])
  assert.deepEqual(names(await api.list(`${path}?fieldSelector=reportingController%3Dtest-controller`)), ['event-test'])
  const before = withoutVersion(await api.get(`${path}/event-test`))
  const second = { count: 2, lastObservedTime: '2017-09-19T13:49:11.000000Z' }
  await api.patch(`${path}/event-test`, { series: second }, 'strategic')
  assert.deepEqual(withoutVersion(await api.get(`${path}/event-test`)), { ...before, series: second })
  await api.put(`${path}/event-test`, { ...before, series })
  assert.deepEqual(withoutVersion(await api.get(`${path}/event-test`)), { ...before, series })
  // Nothing else of an event may change.
  await refused(422, api.patch(`${path}/event-test`, { note: 'This is another event' }, 'strategic'))
  await api.delete(`${path}/event-test`)
  assert.deepEqual([await everywhere(), await api.list(`${path}?${constant}`)], [[], []])
})

for (const [title, name, path, event] of [
  [
    'Events should delete a collection of events',
    'core-events',
    '/api/v1',
    (namespace: string, name: string) => ({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, labels: { 'testevent-set': 'true' } },
      message: `This is ${name}`,
      reason: 'Test',
      type: 'Normal',
      count: 1,
      involvedObject: { namespace },
    }),
  ],
  [
    'Events API should delete a collection of events',
    'new-events',
    '/apis/events.k8s.io/v1',
    (namespace: string, name: string) => newEvent(namespace, name, 'testevent-set'),
  ],
] as const)
  test(title, async () => {
    const api = await Requests.in(await cluster, name)
    const events = `${path}/namespaces/${name}/events`
    const set = `${events}?labelSelector=testevent-set%3Dtrue`
    const wanted = ['test-event-1', 'test-event-2', 'test-event-3']
    for (const one of wanted) await api.post(events, event(api.namespace, one))
    assert.deepEqual(names(await api.list(set)), wanted)
    await api.delete(set)
    assert.deepEqual(await api.list(set), [])
  })

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { Request } from '../http/exchange.ts'
import { requestInfo } from '../request-info/request-info.ts'
import { FlowControl } from './flow-control.ts'
import { FakeClock } from './queuing/fake-clock.fixture.ts'

/** Twenty seats, all of one level with queues, and lists that take three of them each. */
function oneLevel() {
  const metrics = new MetricsRegistry()
  const size = () => ({ objects: 1000, bytes: 1_000_000 })
  const control = new FlowControl({ seats: 20, requestTimeoutMs: 60_000, size, metrics, clock: new FakeClock() })
  const apiVersion = 'flowcontrol.apiserver.k8s.io/v1'
  const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true }
  const rules = [{ subjects: [{ kind: 'Group', group: { name: '*' } }], resourceRules: [everything] }]
  const queuing = { queues: 1, handSize: 1, queueLengthLimit: 50 }
  control.levels.configure(
    [
      {
        kind: 'FlowSchema',
        apiVersion,
        metadata: { name: 's' },
        spec: { matchingPrecedence: 5, priorityLevelConfiguration: { name: 'l' }, rules },
      },
    ],
    [
      {
        kind: 'PriorityLevelConfiguration',
        apiVersion,
        metadata: { name: 'l' },
        spec: {
          type: 'Limited',
          limited: { nominalConcurrencyShares: 10_000, limitResponse: { type: 'Queue', queuing } },
        },
      },
    ],
  )
  const query = new URLSearchParams()
  const list = {
    query,
    info: requestInfo('GET', '/api/v1/pods', query),
    received: performance.now(),
    onClose: () => () => {},
  }
  const valuesOf = (name: string): string[] =>
    metrics
      .render()
      .split('\n')
      .filter((line) => line.startsWith(`apiserver_flowcontrol_${name}{`) && line.includes('"s"'))
      .map((line) => line.slice(line.indexOf('} ') + 2))
  return { control, admit: () => control.admit(list as unknown as Request), valuesOf }
}

test(
  'each request of a level with queues is observed with its queue length, and those that found too few ' +
    'free seats are counted',
  async () => {
    const { control, admit, valuesOf } = oneLevel()
    const lists = Array.from({ length: 6 }, admit)
    assert.deepEqual([...new Set(lists.map(({ state, seats }) => `${state} ${seats}`))], ['execute 3'])
    assert.deepEqual(valuesOf('request_dispatch_no_accommodation_total'), [])
    // Two seats are free.
    const [next, last] = [admit(), admit()]
    assert.deepEqual([next.state, last.state], ['wait', 'wait'])
    const decisions = Promise.all([control.wait(next), control.wait(last)])
    assert.deepEqual(valuesOf('request_dispatch_no_accommodation_total'), ['2'])
    assert.deepEqual(
      [valuesOf('request_queue_length_after_enqueue_count'), valuesOf('request_queue_length_after_enqueue_sum')],
      [['8'], ['9']],
    )
    assert.deepEqual(valuesOf('current_inqueue_seats'), ['6'])
    for (const list of lists.slice(0, 2)) control.finish(list)
    assert.deepEqual(await decisions, ['execute', 'execute'])
    assert.deepEqual(valuesOf('current_inqueue_seats'), ['0'])
    control.stop()
  },
)

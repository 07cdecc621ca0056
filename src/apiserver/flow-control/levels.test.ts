import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type FlowSchema,
  mandatoryFlowSchemas,
  mandatoryPriorityLevels,
  type PriorityLevelConfiguration,
  suggestedFlowSchemas,
  suggestedPriorityLevels,
} from '../../api/flowcontrol/bootstrap-objects.ts'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { requestInfo } from '../request-info/request-info.ts'
import { Levels } from './levels.ts'
import type { PriorityLevel } from './priority-level.ts'
import { FakeClock } from './queuing/fake-clock.fixture.ts'
import { FlowMetrics } from './reporting/flow-metrics.ts'

const schemas = [...mandatoryFlowSchemas, ...suggestedFlowSchemas]
const configurations = [...mandatoryPriorityLevels, ...suggestedPriorityLevels]

function levelsOf(seats = 600): { levels: Levels; clock: FakeClock; level: (name: string) => PriorityLevel } {
  const clock = new FakeClock()
  const metrics = new FlowMetrics(new MetricsRegistry(), { levels: () => [], fairFraction: () => 0 })
  const levels = new Levels({
    clock,
    seats,
    tally: (level, schema) => metrics.tally(level, schema),
    useChanged: () => {},
  })
  const level = (name: string): PriorityLevel => [...levels.all].find((one) => one.name === name) ?? assert.fail(name)
  return { levels, clock, level }
}

const limited = (
  name: string,
  limitedSpec: NonNullable<NonNullable<PriorityLevelConfiguration['spec']>['limited']>,
): PriorityLevelConfiguration => ({
  kind: 'PriorityLevelConfiguration',
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  metadata: { name },
  spec: { type: 'Limited', limited: limitedSpec },
})

const ask = (name: string, path = '/api/v1/pods') => ({
  user: { name, groups: ['system:authenticated'] },
  info: requestInfo('GET', path, new URLSearchParams()),
})

test('the seats of the server are divided by shares as upstream does', () => {
  const { levels, level } = levelsOf()
  levels.configure(schemas, configurations)
  const table: readonly (readonly [name: string, nominal: number, least: number])[] = [
    ['system', 74, 50],
    ['node-high', 98, 73],
    ['leader-election', 25, 25],
    ['workload-high', 98, 49],
    ['workload-low', 245, 24],
    ['global-default', 49, 24],
    ['catch-all', 13, 13],
    ['exempt', 0, 0],
  ]
  for (const [name, nominal, least] of table)
    assert.deepEqual([name, level(name).nominal, level(name).least], [name, nominal, least])
  assert.equal(level('workload-low').maxSeats, 37)
  assert.equal(level('global-default').maxSeats, 8)
  assert.equal(level('catch-all').maxSeats, 0)
})

test('levels that need seats borrow them from others, and give them back', () => {
  const { levels, clock, level } = levelsOf()
  levels.configure(schemas, configurations)
  level('global-default').demand.set(400, clock.now())
  clock.advance(10_000)
  levels.borrow()
  const borrowed = level('global-default').queues.seats
  assert.ok(borrowed > 300, `${borrowed}`)
  assert.ok(level('workload-low').queues.seats >= 24)
  assert.equal(level('leader-election').queues.seats >= 25, true)
  const sum = [...levels.all].reduce((all, { queues }) => all + queues.seats, 0)
  assert.ok(Math.abs(sum - 602) <= 4, `${sum}`)
  // Now the lender needs its seats.
  level('workload-low').demand.set(245, clock.now())
  clock.advance(10_000)
  levels.borrow()
  assert.ok(level('workload-low').queues.seats >= 245, `${level('workload-low').queues.seats}`)
})

test('the borrowing limit is respected', () => {
  const { levels, clock, level } = levelsOf(100)
  const reject = { type: 'Reject' }
  levels.configure(
    [],
    [
      limited('a', { nominalConcurrencyShares: 50, lendablePercent: 100, limitResponse: reject }),
      limited('b', {
        nominalConcurrencyShares: 50,
        lendablePercent: 0,
        borrowingLimitPercent: 20,
        limitResponse: reject,
      }),
    ],
  )
  level('b').demand.set(1000, clock.now())
  clock.advance(10_000)
  levels.borrow()
  assert.equal(level('b').queues.seats, level('b').nominal + Math.round(level('b').nominal * 0.2))
})

test('exempt requests reduce the seats of other levels, but not below what those never lend', () => {
  const { levels, clock, level } = levelsOf()
  levels.configure(schemas, configurations)
  level('exempt').demand.set(1000, clock.now())
  for (const { demand, exempt } of levels.all) if (!exempt) demand.set(700, clock.now())
  clock.advance(10_000)
  levels.borrow()
  assert.equal(level('exempt').queues.seats, 1000)
  for (const { name, queues, least, exempt } of levels.all) if (!exempt) assert.equal(queues.seats, least, name)
})

test(
  'seats that exempt requests leave are divided before borrowing: first what is never lent, then the same part ' +
    'of the demand',
  () => {
    const { levels, clock, level } = levelsOf(870)
    levels.configure(
      [],
      configurations.filter(({ metadata: { name = '' } }) =>
        ['exempt', 'workload-high', 'workload-low', 'catch-all'].includes(name),
      ),
    )
    const names = ['exempt', 'workload-high', 'workload-low', 'catch-all']
    const seats = (): number[] => names.map((name) => level(name).queues.seats)
    const period = (): void => {
      clock.advance(10_000)
      levels.borrow()
    }
    for (const name of names) level(name).demand.set(970, clock.now())
    period()
    assert.deepEqual(seats(), [970, 120, 60, 30])
    // A demand still counts for the period in which it ended.
    level('exempt').demand.set(330, clock.now())
    period()
    period()
    assert.deepEqual(seats(), [330, 180, 330, 30])
    assert.equal(levels.fairFraction, 0)
    level('exempt').demand.set(540, clock.now())
    level('workload-low').demand.set(1, clock.now())
    period()
    period()
    assert.deepEqual(seats(), [540, 240, 60, 30])
  },
)

test('the mandatory levels exist without any objects', () => {
  const { levels } = levelsOf()
  assert.deepEqual(
    [...levels.all].map(({ name }) => name),
    ['exempt', 'catch-all'],
  )
  assert.equal(levels.find(ask('jane')).schema.name, 'catch-all')
  // Every user has a level, whatever the groups.
  assert.equal(levels.find({ ...ask('x'), user: { name: 'x', groups: [] } }).schema.name, 'catch-all')
})

test('a schema is ignored while its level is missing', () => {
  const { levels } = levelsOf()
  const own: FlowSchema = {
    ...mandatoryFlowSchemas[1]!,
    metadata: { name: 'own' },
    spec: { ...mandatoryFlowSchemas[1]!.spec!, matchingPrecedence: 5, priorityLevelConfiguration: { name: 'own' } },
  }
  levels.configure([...schemas, own], configurations)
  assert.equal(levels.find(ask('jane')).schema.name, 'global-default')
  levels.configure([...schemas, own], [...configurations, limited('own', { limitResponse: { type: 'Reject' } })])
  assert.equal(levels.find(ask('jane')).schema.name, 'own')
})

test('a deleted level still serves its waiting requests, and is removed when it is idle', () => {
  const { levels } = levelsOf()
  const own = limited('own', { limitResponse: { type: 'Reject' } })
  levels.configure([], [...configurations, own])
  const { queues } = [...levels.all].find(({ name }) => name === 'own')!
  const request = {
    initialSeats: 1,
    seats: 1,
    finalSeats: 0,
    lingerMs: 0,
    work: 0.003,
    waitLimitMs: 1000,
    hand: () => [0],
    narrow: () => {},
    unaccommodated: () => {},
    decided: () => {},
    queue: undefined,
    executes: false,
    arrivedAt: 0,
    arrivalR: 0,
    startedAt: 0,
  }
  queues.start(request)
  levels.configure([], configurations)
  assert.ok(!levels.has('own'))
  assert.ok([...levels.all].some(({ name, quiescing }) => name === 'own' && quiescing))
  queues.finish(request)
  levels.reap()
  assert.ok(![...levels.all].some(({ name }) => name === 'own'))
})

test('the cached schemas of a user are replaced when the configuration changes', () => {
  const { levels } = levelsOf()
  const jane = ask('jane')
  levels.configure(schemas, configurations)
  assert.equal(levels.find(jane).schema.name, 'global-default')
  const own: FlowSchema = {
    kind: 'FlowSchema',
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    metadata: { name: 'janes' },
    spec: {
      matchingPrecedence: 50,
      priorityLevelConfiguration: { name: 'workload-high' },
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: 'jane' } }],
          resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true }],
        },
      ],
    },
  }
  levels.configure([...schemas, own], configurations)
  assert.equal(levels.find(jane).schema.name, 'janes')
  levels.configure(schemas, configurations)
  assert.equal(levels.find(jane).schema.name, 'global-default')
})

test('a request takes at most 15 % of its level or what the hand of its flow leaves, and at least one seat', () => {
  const table: readonly (readonly [nominal: number, handSize: number, seats: number])[] = [
    [5, 6, 1],
    [10, 6, 1],
    [15, 6, 2],
    [20, 6, 3],
    [35, 6, 5],
    [100, 6, 15],
    [200, 6, 30],
    [10, 1, 2],
    [100, 20, 5],
  ]
  for (const [nominal, handSize, seats] of table) {
    const { levels, level } = levelsOf(nominal)
    const queuing = { queues: 64, handSize, queueLengthLimit: 50 }
    levels.configure(
      [],
      [limited('wide', { nominalConcurrencyShares: 10_000, limitResponse: { type: 'Queue', queuing } })],
    )
    assert.deepEqual([level('wide').nominal, level('wide').maxSeats], [nominal, seats])
  }
})

test('invalid configurations are ignored', () => {
  const { levels } = levelsOf()
  const queuing = { queues: 4, handSize: 1, queueLengthLimit: 5 }
  const broken: readonly PriorityLevelConfiguration[] = [
    { ...limited('exempted', { limitResponse: { type: 'Reject' } }), spec: { type: 'Exempt', exempt: {} } },
    {
      ...limited('both', { limitResponse: { type: 'Reject' } }),
      spec: { type: 'Exempt', exempt: {}, limited: { limitResponse: { type: 'Reject' } } },
    },
    { ...limited('neither', {}), spec: { type: 'Limited' } },
    limited('unqueued', { limitResponse: { type: 'Queue' } }),
    limited('rejecting', { limitResponse: { type: 'Reject', queuing } }),
  ]
  levels.configure([], broken)
  assert.deepEqual(
    [...levels.all].map(({ name }) => name),
    ['exempt', 'catch-all'],
  )
})

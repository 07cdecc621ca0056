import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changed, type History, type Limits, limit } from './limits.ts'

const now = 1_000_000_000
const none: History = { recommendations: [], changes: [] }
const limits = (more: Partial<Limits>): Limits => ({
  current: 4,
  min: 1,
  max: 100,
  behavior: undefined,
  downscaleMs: 300_000,
  now,
  ...more,
})

/** Recommendations by how many seconds ago they were. */
const recommended = (...entries: [replicas: number, secondsAgo: number][]): History => ({
  ...none,
  recommendations: entries.map(([replicas, secondsAgo]) => ({ replicas, at: now - secondsAgo * 1000 })),
})

const policy = (type: string, value: number, periodSeconds: number) => ({ type, value, periodSeconds })
const up = (more: object) => ({
  scaleUp: { stabilizationWindowSeconds: 0, selectPolicy: 'Max', policies: [policy('Percent', 900, 60)], ...more },
  scaleDown: {},
})
const down = (more: object) => ({
  scaleUp: {},
  scaleDown: { stabilizationWindowSeconds: 0, selectPolicy: 'Max', policies: [policy('Percent', 100, 60)], ...more },
})

const cases: {
  what: string
  wanted: number
  history?: History
  given?: Partial<Limits>
  replicas: number
  able?: string
  reason: string
}[] = [
  { what: 'within all bounds', wanted: 6, replicas: 6, reason: 'DesiredWithinRange' },
  { what: 'at most twice as many at once', wanted: 20, replicas: 8, reason: 'ScaleUpLimit' },
  { what: 'at most four of one', wanted: 9, given: { current: 1 }, replicas: 4, reason: 'ScaleUpLimit' },
  { what: 'no more than the maximum', wanted: 9, given: { max: 5 }, replicas: 5, reason: 'TooManyReplicas' },
  { what: 'no fewer than the minimum', wanted: 1, given: { min: 2 }, replicas: 2, reason: 'TooFewReplicas' },
  {
    what: 'down to the highest recent recommendation',
    wanted: 1,
    history: recommended([3, 200], [4, 400]),
    replicas: 3,
    able: 'ScaleDownStabilized',
    reason: 'DesiredWithinRange',
  },
  {
    what: 'down at once where the past is long ago',
    wanted: 1,
    history: recommended([3, 400]),
    replicas: 1,
    reason: 'DesiredWithinRange',
  },
  {
    what: 'policies replace the factor of two',
    wanted: 20,
    given: { behavior: up({}) },
    replicas: 20,
    reason: 'DesiredWithinRange',
  },
  {
    what: 'so many pods a period',
    wanted: 20,
    given: { behavior: up({ policies: [policy('Pods', 3, 60)] }) },
    replicas: 7,
    reason: 'ScaleUpLimit',
  },
  {
    what: 'what came in the period counts, what went in it too',
    wanted: 20,
    history: changed(changed(none, 3, now - 30_000), -1, now - 20_000),
    given: { behavior: up({ policies: [policy('Pods', 3, 60)] }) },
    replicas: 5,
    reason: 'ScaleUpLimit',
  },
  {
    what: 'what came before the period does not',
    wanted: 20,
    history: changed(none, 3, now - 61_000),
    given: { behavior: up({ policies: [policy('Pods', 3, 60)] }) },
    replicas: 7,
    reason: 'ScaleUpLimit',
  },
  {
    what: 'the policy that allows most, or least',
    wanted: 20,
    given: { behavior: up({ selectPolicy: 'Min', policies: [policy('Pods', 3, 60), policy('Percent', 200, 60)] }) },
    replicas: 7,
    reason: 'ScaleUpLimit',
  },
  {
    what: 'a direction that is off',
    wanted: 20,
    given: { behavior: up({ selectPolicy: 'Disabled' }) },
    replicas: 4,
    reason: 'ScaleUpLimit',
  },
  {
    what: 'up to the lowest recent recommendation',
    wanted: 9,
    history: recommended([6, 30], [5, 90]),
    given: { behavior: up({ stabilizationWindowSeconds: 60 }) },
    replicas: 6,
    able: 'ScaleUpStabilized',
    reason: 'DesiredWithinRange',
  },
  {
    what: 'a tenth at a time',
    wanted: 1,
    given: { current: 50, behavior: down({ policies: [policy('Percent', 10, 60)] }) },
    replicas: 45,
    reason: 'ScaleDownLimit',
  },
  {
    what: 'the least that policies let go',
    wanted: 1,
    given: {
      current: 50,
      behavior: down({ selectPolicy: 'Min', policies: [policy('Percent', 10, 60), policy('Pods', 4, 60)] }),
    },
    replicas: 46,
    reason: 'ScaleDownLimit',
  },
  {
    what: 'a direction down without a window has the one of the flags',
    wanted: 1,
    history: recommended([3, 200]),
    given: { behavior: down({ stabilizationWindowSeconds: undefined }) },
    replicas: 3,
    able: 'ScaleDownStabilized',
    reason: 'DesiredWithinRange',
  },
]

for (const { what, wanted, history = none, given = {}, replicas, able = 'ReadyForNewScale', reason } of cases) {
  test(`limits: ${what}`, () => {
    const result = limit(wanted, history, limits(given))
    assert.deepEqual([result.replicas, result.able.reason, result.limited.reason], [replicas, able, reason])
    assert.equal(result.limited.isLimited, reason !== 'DesiredWithinRange')
  })
}

test('what is recommended is remembered for as long as it may count', () => {
  const { history } = limit(6, recommended([3, 200], [4, 400]), limits({}))
  assert.deepEqual(
    history.recommendations.map(({ replicas }) => replicas),
    [3, 6],
  )
})

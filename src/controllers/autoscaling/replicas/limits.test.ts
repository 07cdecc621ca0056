import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type History, type Limits, limit, withChange } from './limits.ts'

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

/** A history of recommendations by age in seconds. */
const historyOf = (...entries: [replicas: number, secondsAgo: number][]): History => ({
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
  title: string
  recommended: number
  history?: History
  given?: Partial<Limits>
  replicas: number
  able?: string
  reason: string
}[] = [
  { title: 'no limit applies', recommended: 6, replicas: 6, reason: 'DesiredWithinRange' },
  { title: 'at most doubles by default', recommended: 20, replicas: 8, reason: 'ScaleUpLimit' },
  { title: 'at most to 4 from 1', recommended: 9, given: { current: 1 }, replicas: 4, reason: 'ScaleUpLimit' },
  { title: 'no more than the maximum', recommended: 9, given: { max: 5 }, replicas: 5, reason: 'TooManyReplicas' },
  { title: 'no fewer than the minimum', recommended: 1, given: { min: 2 }, replicas: 2, reason: 'TooFewReplicas' },
  {
    title: 'down to the highest recent recommendation',
    recommended: 1,
    history: historyOf([3, 200], [4, 400]),
    replicas: 3,
    able: 'ScaleDownStabilized',
    reason: 'DesiredWithinRange',
  },
  {
    title: 'old recommendations do not stabilize a scale-down',
    recommended: 1,
    history: historyOf([3, 400]),
    replicas: 1,
    reason: 'DesiredWithinRange',
  },
  {
    title: 'policies replace the factor of two',
    recommended: 20,
    given: { behavior: up({}) },
    replicas: 20,
    reason: 'DesiredWithinRange',
  },
  {
    title: 'a Pods policy limits the pods per period',
    recommended: 20,
    given: { behavior: up({ policies: [policy('Pods', 3, 60)] }) },
    replicas: 7,
    reason: 'ScaleUpLimit',
  },
  {
    title: 'changes within the period count, up and down',
    recommended: 20,
    history: withChange(withChange(none, 3, now - 30_000), -1, now - 20_000),
    given: { behavior: up({ policies: [policy('Pods', 3, 60)] }) },
    replicas: 5,
    reason: 'ScaleUpLimit',
  },
  {
    title: 'changes before the period do not count',
    recommended: 20,
    history: withChange(none, 3, now - 61_000),
    given: { behavior: up({ policies: [policy('Pods', 3, 60)] }) },
    replicas: 7,
    reason: 'ScaleUpLimit',
  },
  {
    title: 'selectPolicy Min uses the smallest change',
    recommended: 20,
    given: { behavior: up({ selectPolicy: 'Min', policies: [policy('Pods', 3, 60), policy('Percent', 200, 60)] }) },
    replicas: 7,
    reason: 'ScaleUpLimit',
  },
  {
    title: 'a disabled direction',
    recommended: 20,
    given: { behavior: up({ selectPolicy: 'Disabled' }) },
    replicas: 4,
    reason: 'ScaleUpLimit',
  },
  {
    title: 'up to the lowest recent recommendation',
    recommended: 9,
    history: historyOf([6, 30], [5, 90]),
    given: { behavior: up({ stabilizationWindowSeconds: 60 }) },
    replicas: 6,
    able: 'ScaleUpStabilized',
    reason: 'DesiredWithinRange',
  },
  {
    title: 'a Percent policy limits a scale-down',
    recommended: 1,
    given: { current: 50, behavior: down({ policies: [policy('Percent', 10, 60)] }) },
    replicas: 45,
    reason: 'ScaleDownLimit',
  },
  {
    title: 'selectPolicy Min uses the smallest scale-down',
    recommended: 1,
    given: {
      current: 50,
      behavior: down({ selectPolicy: 'Min', policies: [policy('Percent', 10, 60), policy('Pods', 4, 60)] }),
    },
    replicas: 46,
    reason: 'ScaleDownLimit',
  },
  {
    title: 'the default scale-down window is that of the flag',
    recommended: 1,
    history: historyOf([3, 200]),
    given: { behavior: down({ stabilizationWindowSeconds: undefined }) },
    replicas: 3,
    able: 'ScaleDownStabilized',
    reason: 'DesiredWithinRange',
  },
]

for (const { title, recommended, history = none, given = {}, replicas, able = 'ReadyForNewScale', reason } of cases) {
  test(`limit: ${title}`, () => {
    const result = limit(recommended, history, limits(given))
    assert.deepEqual([result.replicas, result.able.reason, result.limited.reason], [replicas, able, reason])
    assert.equal(result.limited.isLimited, reason !== 'DesiredWithinRange')
  })
}

test('recommendations are remembered for the stabilization window', () => {
  const { history } = limit(6, historyOf([3, 200], [4, 400]), limits({}))
  assert.deepEqual(
    history.recommendations.map(({ replicas }) => replicas),
    [3, 6],
  )
})

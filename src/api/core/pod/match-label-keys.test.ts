import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyMatchLabelKeys } from './match-label-keys.ts'
import type { Pod } from './model.ts'

test("matchLabelKeys add the new pod's label values to the selectors", () => {
  const term = () => ({
    topologyKey: 'zone',
    labelSelector: { matchLabels: { app: 'web' } },
    matchLabelKeys: ['rev', 'missing'],
    mismatchLabelKeys: ['tenant'],
  })
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { labels: { app: 'web', rev: '2', tenant: 'a' } },
    spec: {
      containers: [],
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [term(), { topologyKey: 'zone', matchLabelKeys: ['rev'] }],
        },
        podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term() }] },
      },
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'zone',
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: {},
          matchLabelKeys: ['rev'],
        },
      ],
    },
  }
  applyMatchLabelKeys(pod)
  const rev = { key: 'rev', operator: 'In', values: ['2'] }
  const merged = {
    matchLabels: { app: 'web' },
    matchExpressions: [rev, { key: 'tenant', operator: 'NotIn', values: ['a'] }],
  }
  const { podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {}
  assert.deepEqual(
    podAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.map(({ labelSelector }) => labelSelector),
    [merged, undefined],
  )
  assert.deepEqual(
    podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution?.[0]?.podAffinityTerm.labelSelector,
    merged,
  )
  assert.deepEqual(pod.spec?.topologySpreadConstraints?.[0]?.labelSelector, { matchExpressions: [rev] })
})

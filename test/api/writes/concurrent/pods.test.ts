/** Concurrent bindings and evictions of pods: one binding succeeds, and budgets are never exceeded. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { json } from '../../../support/api-client.ts'
import { podOf, podsPath } from '../../../support/objects.ts'
import { keys, merge, names, startClients, type Written } from './clients.ts'

const budgetsPath = '/apis/policy/v1/namespaces/default/poddisruptionbudgets'

test('one of many concurrent bindings of a pod succeeds, during other writes', async (t) => {
  const { call, create, read, sendConcurrently } = await startClients(t, 'log')
  const { metadata } = await create(podsPath, podOf(0))
  const pod = `${podsPath}/${metadata.name}`
  const binding = (i: number) => ({
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name: metadata.name },
    target: { kind: 'Node', name: `n${i}` },
  })
  const won: string[] = []
  const counts = await sendConcurrently(120, async (i) => {
    if (i % 2) return call('PATCH', pod, { metadata: { annotations: { [`k${i}`]: 'yes' } } }, merge, i)
    const answer = await call('POST', `${pod}/binding`, binding(i), undefined, i)
    if (answer.status === 201) won.push(`n${i}`)
    else
      assert.match(
        json<Written>(answer).message ?? '',
        /^Operation cannot be fulfilled on pods\/binding .* is already assigned to node/,
      )
    return answer
  })
  assert.deepEqual(counts, { 200: 60, 201: 1, 409: 59 })
  const bound = await read(pod)
  assert.deepEqual([bound.spec?.nodeName], won)
  assert.equal(keys(bound.metadata.annotations).length, 60)
})

test('concurrent evictions never exceed the budget, while its status and labels are written', async (t) => {
  const { call, create, read, sendConcurrently } = await startClients(t, 'log')
  const pods = names('p', 40)
  for (const name of pods) {
    await create(podsPath, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels: { app: 'a' } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    })
    await call(
      'PATCH',
      `${podsPath}/${name}/status`,
      { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } },
      merge,
    )
  }
  await create(budgetsPath, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'one' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } },
  })
  const budget = `${budgetsPath}/one`
  const status = {
    observedGeneration: 1,
    disruptionsAllowed: 15,
    currentHealthy: 40,
    desiredHealthy: 25,
    expectedPods: 40,
  }
  await call('PATCH', `${budget}/status`, { status }, merge)
  const evict = (name: string, by: number) =>
    call(
      'POST',
      `${podsPath}/${name}/eviction`,
      { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } },
      undefined,
      by,
    )
  const [evictions, labels] = await Promise.all([
    sendConcurrently(40, (i) => evict(pods[i]!, i)),
    sendConcurrently(40, (i) => call('PATCH', budget, { metadata: { labels: { [`k${i}`]: 'yes' } } }, merge, i)),
  ])
  assert.deepEqual(evictions, { 201: 15, 429: 25 })
  assert.deepEqual(labels, { 200: 40 })
  const after = await read(budget)
  assert.equal(after.status?.disruptionsAllowed, 0)
  assert.equal(keys(after.status?.disruptedPods).length, 15)
  const left = json(await call('GET', podsPath)).items.map(({ metadata }) => metadata.name)
  assert.deepEqual([...left, ...keys(after.status?.disruptedPods)].sort(), pods)
})

test('a pod that starts running during its eviction is protected by its budget', async (t) => {
  const { call, create } = await startClients(t)
  await create(budgetsPath, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'none' },
    spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'a' } } },
  })
  await call(
    'PATCH',
    `${budgetsPath}/none/status`,
    { status: { observedGeneration: 1, disruptionsAllowed: 0, desiredHealthy: 1 } },
    merge,
  )
  const pods = names('p', 30)
  for (const name of pods)
    await create(podsPath, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels: { app: 'a' } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    })
  const running = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } }
  const outcomes = await Promise.all(
    pods.map(async (name, i) => {
      const [start, eviction] = await Promise.all([
        call('PATCH', `${podsPath}/${name}/status`, running, merge, i),
        call(
          'POST',
          `${podsPath}/${name}/eviction`,
          { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } },
          undefined,
          i + 1,
        ),
      ])
      return { start: start.status, eviction: eviction.status }
    }),
  )
  // Either it was evicted before it ran, or it runs and was not evicted.
  for (const { start, eviction } of outcomes)
    assert.ok((start === 404 && eviction === 201) || (start === 200 && eviction === 429), `${start} ${eviction}`)
  const left = json(await call('GET', podsPath)).items.map(({ metadata }) => metadata.name)
  assert.deepEqual(
    left.sort(),
    pods.filter((_, i) => outcomes[i]!.start === 200),
  )
})

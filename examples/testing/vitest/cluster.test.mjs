/** A test file for Vitest: `npx vitest run`. */
import { pods } from 'typernetes/client'
import { startTestCluster } from 'typernetes/test'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'

let cluster
beforeAll(async () => {
  cluster = await startTestCluster({ nodes: 1, scheduler: true, trace: 'on-failure' })
}, 30_000)
afterAll(() => cluster?.stop())
beforeEach((context) => cluster.reset(context))

test('a Deployment becomes Available', async () => {
  const namespace = await cluster.namespace({ after: onTestFinished })
  await namespace.apply(new URL('../node-test/web.yaml', import.meta.url))
  await namespace.waitFor('deployment/web', 'Available')
  const { items } = await cluster.api.list(pods, { namespace: namespace.name })
  expect(items).toHaveLength(2)
}, 30_000)

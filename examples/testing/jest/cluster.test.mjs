/** A test file for Jest, which needs a flag for ES modules: `NODE_OPTIONS=--experimental-vm-modules npx jest`. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { pods } from 'typernetes/client'
import { jestTest, startTestCluster } from 'typernetes/test'

let cluster
beforeAll(async () => {
  cluster = await startTestCluster({ nodes: 1, scheduler: true, trace: 'on-failure' })
}, 30_000)
afterAll(() => cluster?.stop())
beforeEach(() => cluster.reset(jestTest()))

test('a Deployment becomes Available', async () => {
  const namespace = await cluster.namespace()
  await namespace.apply(new URL('../node-test/web.yaml', import.meta.url))
  await namespace.waitFor('deployment/web', 'Available')
  const { items } = await cluster.api.list(pods, { namespace: namespace.name })
  expect(items).toHaveLength(2)
  await namespace.delete()
}, 30_000)

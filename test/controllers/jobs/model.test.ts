/** A Job counts each pod once although its controller crashes between writes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Random } from '../../fuzz/random.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { succession } from './crashing-controller.ts'
import { playJob } from './job-model.ts'

for (const isIndexed of [false, true])
  for (const seed of [1, 2, 3])
    test(`${isIndexed ? 'an Indexed' : 'a'} Job counts each pod once despite crashes (seed ${seed})`, {
      timeout: 180_000,
    }, async (t) => {
      const random = new Random(seed)
      const cluster = await testCluster(t, { controllers: ['serviceaccount'] })
      const controllers = await succession(cluster, () => 1 + random.below(12))
      t.after(() => controllers.stop())
      await playJob({ cluster, isIndexed, random, disturb: async () => {}, rest: async () => controllers.live() })
      assert.ok(controllers.deaths() > 3, `only ${controllers.deaths()} controllers have died`)
    })

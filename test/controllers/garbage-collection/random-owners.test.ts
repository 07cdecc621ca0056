/** A random model of owners and deletions against the garbage collector, which is restarted at random points. */
import { test } from 'node:test'
import { Connection } from '../../../src/client/connection/connection.ts'
import { runController } from '../../../src/client/controller/controller.ts'
import { SharedInformers } from '../../../src/client/informers/shared-informers.ts'
import { RestClient } from '../../../src/client/rest/rest-client.ts'
import { garbageCollector } from '../../../src/controllers/garbage-collection/garbage-collector.ts'
import { Random } from '../../fuzz/random.ts'
import { bareServer } from '../../support/bare-server.ts'
import { type TestCluster, testCluster } from '../../support/test-cluster.ts'
import { RandomOwners } from './random-owners.ts'

const seeds = [1, 2, Date.now() % 1_000_000]
const steps = 400
const workers = 6

for (const seed of seeds) {
  test(`objects are deleted exactly with their owners despite restarts of the collector (seed ${seed})`, {
    timeout: 120_000,
  }, async (t) => {
    const cluster = await testCluster(t, bareServer)
    const random = new Random(seed)
    const model = new RandomOwners(cluster, random)
    let collector = startCollector(cluster)
    t.after(() => collector.cut())
    let left = steps
    await Promise.all(
      Array.from({ length: workers }, async () => {
        while (left-- > 0) {
          await model.step()
          if (!random.chance(0.02)) continue
          const cut = collector.cut()
          collector = startCollector(cluster)
          await cut
        }
      }),
    )
    await model.settled()
  })
}

/** Starts a collector with its own connection, which is closed in the middle of its work. */
function startCollector({ client: access }: TestCluster) {
  const connection = new Connection(access)
  const client = new RestClient(connection)
  const informers = new SharedInformers(client, () => {})
  const running = runController(garbageCollector({ workers: 20 }), { informers, client }, () => {})
  return {
    async cut() {
      connection.close()
      await running.stop()
    },
  }
}

/** A tour of kubectl's commands, with every kubectl of this machine against a cluster of its own. */
import { after, before, describe, test } from 'node:test'
import { type ClusterProcess, clusterProcess } from '../support/cluster-process.ts'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { reachable } from '../support/reachable-cluster.ts'
import { accessStops } from './kubectl/access.ts'
import { applyStops } from './kubectl/apply.ts'
import { changeStops } from './kubectl/change.ts'
import { createStops } from './kubectl/create.ts'
import { deleteStops } from './kubectl/delete.ts'
import { describeStops } from './kubectl/describe.ts'
import { discoveryStops } from './kubectl/discovery.ts'
import { getStops } from './kubectl/get.ts'
import { nameStops } from './kubectl/names.ts'
import type { Stops } from './kubectl/stop.ts'

const stops: Stops = {
  ...discoveryStops,
  ...createStops,
  ...getStops,
  ...applyStops,
  ...changeStops,
  ...describeStops,
  ...deleteStops,
  ...accessStops,
  ...nameStops,
}

const programs = installedKubectls()

// Three at a time keep two processors busy, and each version well below the time limit of a test.
describe('kubectl', { concurrency: 3, timeout: 300_000 }, () => {
  let server: ClusterProcess
  before(async () => {
    server = await clusterProcess(programs.length)
  })
  after(() => server.stop())

  for (const [position, program] of programs.entries()) {
    test(program.version, async (t) => {
      const cluster = reachable(t, server.clusters[position]!)
      for (const [index, [title, stop]] of Object.entries(stops).entries()) {
        const namespace = `stop-${index}`
        await cluster.call('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
        await t.test(`${program.version}: ${title}`, () => stop(new Kubectl(program, cluster.kubeconfigFile, cluster.folder, namespace), cluster))
      }
    })
  }
})

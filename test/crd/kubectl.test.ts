/** Custom resources with every kubectl of this machine, each against a cluster of its own. */
import { after, before, describe, test } from 'node:test'
import { type ClusterProcess, clusterProcess } from '../support/cluster-process.ts'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { reachable } from '../support/reachable-cluster.ts'
import { customStops } from './kubectl/stops.ts'

const programs = installedKubectls()

describe('kubectl and custom resources', { concurrency: 3, timeout: 300_000 }, () => {
  let server: ClusterProcess
  before(async () => {
    server = await clusterProcess(programs.length)
  })
  after(() => server.stop())

  for (const [position, program] of programs.entries()) {
    test(program.version, async (t) => {
      const cluster = reachable(t, server.clusters[position]!)
      for (const [index, [title, stop]] of Object.entries(customStops).entries()) {
        const namespace = `stop-${index}`
        await cluster.call('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
        await t.test(`${program.version}: ${title}`, () => stop(new Kubectl(program, cluster.kubeconfigFile, cluster.folder, namespace), cluster))
      }
    })
  }
})

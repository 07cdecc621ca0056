/** Tours: sequences of stops, run with every installed kubectl. Each version has a cluster of its own. */
import { after, before, describe, test } from 'node:test'
import type { Stops } from '../clients/kubectl/stop.ts'
import { type ClusterProcess, clusterProcess } from './cluster-process.ts'
import { installedKubectls, Kubectl } from './kubectl.ts'
import { reachable } from './reachable-cluster.ts'

/** One of several test files, each of which runs some of the versions. */
export interface TourPart {
  readonly index: number
  readonly of: number
}

/** Declares the tests of a tour: one per version. Each stop has a namespace of its own. */
export function kubectlTour(name: string, stops: Stops, part: TourPart = { index: 0, of: 1 }): void {
  const programs = installedKubectls().filter((_, position) => position % part.of === part.index)
  if (programs.length === 0) return
  // Three at a time keep two processors busy, and each version well below the time limit of a test.
  describe(name, { concurrency: 3, timeout: 600_000 }, () => {
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
          await cluster.call('POST', '/api/v1/namespaces', {
            apiVersion: 'v1',
            kind: 'Namespace',
            metadata: { name: namespace },
          })
          await t.test(`${program.version}: ${title}`, () =>
            stop(new Kubectl(program, cluster.kubeconfigFile, cluster.folder, namespace), cluster),
          )
        }
      })
    }
  })
}

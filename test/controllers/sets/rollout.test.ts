/** `kubectl rollout` of StatefulSets and DaemonSets with every installed kubectl. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { installedKubectls, Kubectl } from '../../support/kubectl.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { PlayedNamespace } from './played-namespace.ts'

const kinds = {
  statefulset: {
    complete: /partitioned roll out complete: 2 new pods have been updated/,
    spec: { replicas: 2, serviceName: 'web' },
  },
  daemonset: { complete: /daemon set "web" successfully rolled out/, spec: {} },
} as const

// Three concurrent tests use two CPUs fully.
describe('kubectl rollout', { concurrency: 3, timeout: 300_000 }, () => {
  const cluster = testCluster({ after }, { controllers: ['statefulset', 'daemonset', 'serviceaccount-controller'] })

  for (const program of installedKubectls()) {
    for (const [kind, { complete, spec }] of Object.entries(kinds)) {
      test(`${program.version}: ${kind}`, async () => {
        const all = await cluster
        const ns = await PlayedNamespace.in(all, `${kind}-${program.minor}`)
        const k = new Kubectl(program, all.kubeconfigFile, all.folder, ns.name)
        for (const node of ['a', 'b']) {
          const name = `${ns.name}-${node}`
          await ns.post('/api/v1/nodes', {
            apiVersion: 'v1',
            kind: 'Node',
            metadata: { name, labels: { of: ns.name } },
          })
          await ns.patch(`/api/v1/nodes/${name}`, { spec: { taints: null } })
        }
        await ns.post(`${ns.apps}/${kind}s`, {
          apiVersion: 'apps/v1',
          kind: kind === 'statefulset' ? 'StatefulSet' : 'DaemonSet',
          metadata: { name: 'web' },
          spec: {
            ...spec,
            selector: { matchLabels: { app: 'web' } },
            template: {
              metadata: { labels: { app: 'web' } },
              spec: { nodeSelector: { of: ns.name }, containers: [{ name: 'c', image: 'web:1' }] },
            },
          },
        })
        const rolledOut = async (): Promise<void> => {
          let isOver = false
          const status = k.ok(`rollout status ${kind}/web --timeout 60s`, complete).finally(() => {
            isOver = true
          })
          const playing = waitFor(
            'kubectl to see the rollout',
            async () => {
              await ns.play('web')
              return isOver
            },
            { deadlineMs: 60_000 },
          )
          await Promise.all([status, playing])
        }
        const images = async (): Promise<string> => Object.values(await ns.images('web')).join()

        await rolledOut()
        await k.ok(`set image ${kind}/web c=web:2`, /image updated/)
        await rolledOut()
        assert.equal(await images(), 'web:2,web:2')
        await k.ok(`rollout history ${kind}/web`, /REVISION\s+CHANGE-CAUSE\n1\s+<none>\n2\s+<none>/)
        await k.ok(`rollout history ${kind}/web --revision=1`, /Image:\s+web:1/)
        // Old kubectls do not detect that it is equal: they expect timestamps that servers no longer write.
        await k.ok(
          `rollout undo ${kind}/web --to-revision=2`,
          /skipped rollback \(current template already matches revision 2\)|rolled back/,
        )
        assert.equal((await ns.revisions('web')).length, 2)
        await k.ok(`rollout undo ${kind}/web`, new RegExp(`${kind}.apps/web rolled back`))
        await rolledOut()
        assert.equal(await images(), 'web:1,web:1')
        await k.ok(`rollout history ${kind}/web`, /\n2\s+<none>\n3\s+<none>/)
        await k.ok(`rollout restart ${kind}/web`, new RegExp(`${kind}.apps/web restarted`))
        await rolledOut()
        assert.deepEqual(
          (await ns.revisions('web')).map(({ revision }) => revision),
          [2, 3, 4],
        )
      })
    }
  }
})

/**
 * Typical commands on a cluster with nodes, with all installed versions of kubectl: create, roll out, scale, complete,
 * and drain.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor as eventually } from '../support/wait-for.ts'

const statefulSet = `
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: db }
spec:
  serviceName: db
  replicas: 2
  selector: { matchLabels: { app: db } }
  template:
    metadata: { labels: { app: db } }
    spec: { containers: [{ name: db, image: "i:1", volumeMounts: [{ name: data, mountPath: /data }] }] }
  volumeClaimTemplates:
  - metadata: { name: data }
    spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
`

const programs = installedKubectls()

describe('a tour over simulated nodes', { timeout: 600_000 }, () => {
  test('each kubectl in its own namespace', async (t) => {
    const cluster = await testCluster(t, { nodes: 1 })
    const manifest = join(cluster.folder, 'db.yaml')
    writeFileSync(manifest, statefulSet)
    for (const [index, program] of programs.entries()) {
      await t.test(program.version, async () => {
        const namespace = `tour-${index + 1}`
        const kubectl = new Kubectl(program, cluster.kubeconfigFile, cluster.folder, namespace)
        await kubectl.ok(`create namespace ${namespace}`)
        await kubectl.ok('create deployment web --image=nginx:1')
        await kubectl.ok('rollout status deployment/web --timeout=30s', /successfully rolled out/)
        await kubectl.ok('scale deployment web --replicas=3')
        await kubectl.ok('set image deployment/web nginx=nginx:2')
        await kubectl.ok('rollout status deployment/web --timeout=30s', /successfully rolled out/)
        await kubectl.ok('logs deployment/web', /is simulated/)
        await kubectl.ok('expose deployment web --port=80')
        await kubectl.ok('create job once --image=i:1')
        await kubectl.ok('wait --for=condition=complete job/once --timeout=30s', /condition met/)
        // Before 1.21 kubectl has no batch/v1 CronJob.
        if (program.minor >= 21) {
          await kubectl.ok("create cronjob tick --image=i:1 --schedule='* * * * *'")
          await kubectl.ok('create job tock --from=cronjob/tick')
          await kubectl.ok('wait --for=condition=complete job/tock --timeout=30s', /condition met/)
        }
        await kubectl.ok(`apply -f ${manifest}`)
        await kubectl.ok('rollout status statefulset/db --timeout=30s')
        await eventually('usage', async () => (await kubectl.run('top pods')).stdout.includes('web-'), {
          deadlineMs: 30_000,
          everyMs: 200,
        })
        await kubectl.ok('get endpoints web', /10\.\d+\.\d+\.\d+:80/)
        await kubectl.ok(
          'drain node-1 --ignore-daemonsets --delete-emptydir-data --force --timeout=35s',
          /drained|evicted/,
        )
        await kubectl.ok('get pods -l app=web --no-headers', /Pending/)
        await kubectl.ok('uncordon node-1')
        await kubectl.ok('rollout status deployment/web --timeout=30s', /successfully rolled out/)
        // Otherwise the next drain would evict its pods, too.
        await kubectl.ok(`delete namespace ${namespace} --wait=false`)
      })
    }
  })
})

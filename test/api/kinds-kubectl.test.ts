/**
 * kubectl with special fields: AppArmor annotations, time zones of CronJobs, suspended Jobs, and autoscalers of v1 and
 * v2.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { testCluster } from '../support/test-cluster.ts'

const cluster = testCluster({ after })
const kubectlOf = async (program: ReturnType<typeof installedKubectls>[number]): Promise<Kubectl> => {
  const { kubeconfigFile, folder } = await cluster
  return new Kubectl(program, kubeconfigFile, folder)
}
const input = (object: object): { input: string } => ({ input: JSON.stringify(object) })
const spec = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'app:1' }] }

describe('kubectl', { timeout: 180_000 }, () => {
  for (const program of installedKubectls()) {
    const name = `a-${program.minor}`

    test(`sets an AppArmor profile with the deprecated annotation (${program.version})`, async () => {
      const kubectl = await kubectlOf(program)
      const key = 'container.apparmor.security.beta.kubernetes.io/c'
      const made = await kubectl.run(
        'create -f -',
        input({ apiVersion: 'v1', kind: 'Pod', metadata: { name, annotations: { [key]: 'localhost/mine' } }, spec }),
      )
      assert.equal(made.stdout, `pod/${name} created\n`)
      assert.equal(
        made.stderr,
        `Warning: metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead\n`,
      )
      await kubectl.ok(
        `get pod ${name} -o jsonpath={.spec.containers[0].securityContext.appArmorProfile.localhostProfile}`,
        'mine',
      )
    })

    test(`shows errors about invalid time zones of a CronJob (${program.version})`, async () => {
      const kubectl = await kubectlOf(program)
      const create = `create cronjob ${name} --image=app:1`
      await kubectl.fails(
        `${create} --schedule='TZ=UTC 0 * * * *' -- true`,
        /cannot use TZ or CRON_TZ in schedule, use timeZone field instead/,
      )
      await kubectl.ok(`${create} --schedule='0 * * * *' -- true`)
      await kubectl.fails(
        `patch cronjob ${name} -p {"spec":{"timeZone":"europe/berlin"}}`,
        /spec.timeZone: Invalid value: "europe\/berlin": unknown time zone europe\/berlin/,
      )
      await kubectl.ok(`patch cronjob ${name} -p {"spec":{"timeZone":"Europe/Berlin"}}`)
    })

    test(`changes resource requests of a suspended Job (${program.version})`, async () => {
      const kubectl = await kubectlOf(program)
      await kubectl.ok(
        'create -f -',
        undefined,
        input({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name }, spec: { suspend: true, template: { spec } } }),
      )
      const ask = (field: string): string =>
        `patch job ${name} -p {"spec":{"template":{"spec":{"containers":[{"name":"c",${field}}]}}}}`
      await kubectl.ok(ask('"resources":{"requests":{"cpu":"2"}}'), `job.batch/${name} patched\n`)
      await kubectl.ok(`get job ${name} -o jsonpath={.spec.template.spec.containers[0].resources.requests.cpu}`, '2')
      await kubectl.fails(ask('"image":"app:2"'), /spec\.template\.spec: Invalid value: .*: field is immutable/s)
    })

    test(`writes an autoscaler in one version and reads it in the other (${program.version})`, async () => {
      const kubectl = await kubectlOf(program)
      const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
      const pods = { metric: { name: 'packets' }, target: { type: 'AverageValue', averageValue: '1k' } }
      const behavior = { scaleDown: { tolerance: '200m', policies: [{ type: 'Pods', value: 4, periodSeconds: 60 }] } }
      const v2 = {
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: { name },
        spec: { scaleTargetRef, maxReplicas: 5, behavior, metrics: [{ type: 'Pods', pods }] },
      }
      await kubectl.ok('create -f - --validate=false', undefined, input(v2))
      const v1 = await kubectl.json(`get horizontalpodautoscalers.v1.autoscaling ${name}`)
      await kubectl.ok('replace -f - --validate=false', undefined, input(v1))
      const { spec: back, metadata } = JSON.parse(
        await kubectl.ok(`get --raw /apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/${name}`),
      ) as {
        spec: { behavior: { scaleDown: object }; metrics: object[] }
        metadata: { annotations?: object }
      }
      assert.deepEqual(back.metrics, [{ type: 'Pods', pods }])
      assert.deepEqual(back.behavior.scaleDown, { selectPolicy: 'Max', ...behavior.scaleDown })
      assert.equal(metadata.annotations, undefined)
    })
  }
})

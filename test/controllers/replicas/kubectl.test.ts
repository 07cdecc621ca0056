/** Manual operations on Deployments with every installed kubectl. */
import { after, test } from 'node:test'
import { installedKubectls, Kubectl } from '../../support/kubectl.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { revisionOf, sizesOf, Workloads } from './workloads.ts'

const cluster = testCluster({ after }, { controllers: ['deployment', 'replicaset', 'serviceaccount'] })

for (const program of installedKubectls())
  test(`kubectl ${program.version} rolls out, shows history, rolls back, pauses and scales`, async () => {
    const { kubeconfigFile, folder } = await cluster
    const namespace = `kubectl-${program.minor}`
    const all = await Workloads.in(await cluster, namespace)
    const kubectl = new Kubectl(program, kubeconfigFile, folder, namespace)
    const rolledOut = async (): Promise<void> => {
      const watching = kubectl.run('rollout status deployment/web --timeout 30s')
      await all.rolledOut('web')
      const { code, stdout, stderr } = await watching
      if (code !== 0 || !stdout.includes('deployment "web" successfully rolled out'))
        throw new Error(`rollout status: ${stdout}${stderr}`)
    }
    await kubectl.ok(
      'create deployment web --image registry.example/app:1 --replicas 2',
      'deployment.apps/web created\n',
    )
    await rolledOut()
    await kubectl.ok('set image deployment/web app=registry.example/app:2', 'deployment.apps/web image updated\n')
    await kubectl.ok('annotate deployment/web kubernetes.io/change-cause=second', /^deployment.apps\/web annotated?\n/)
    await rolledOut()
    await waitFor('the cause', async () =>
      (await all.sets('web')).some(({ metadata }) => metadata.annotations?.['kubernetes.io/change-cause']),
    )
    await kubectl.ok('rollout history deployment/web', /REVISION +CHANGE-CAUSE\n1 +<none>\n2 +second\n/)
    await kubectl.ok('rollout history deployment/web --revision 1', /registry\.example\/app:1/)

    await kubectl.ok('rollout undo deployment/web', 'deployment.apps/web rolled back\n')
    await rolledOut()
    await kubectl.ok('rollout history deployment/web', /\n2 +second\n3 +/)
    await kubectl.ok(
      "get deployment web -o 'jsonpath={.spec.template.spec.containers[0].image}'",
      'registry.example/app:1',
    )
    await kubectl.ok('rollout undo deployment/web --to-revision 2', 'deployment.apps/web rolled back\n')
    await rolledOut()

    await kubectl.ok('rollout restart deployment/web', 'deployment.apps/web restarted\n')
    await rolledOut()
    const restarted = revisionOf(await all.deployment('web'))
    await kubectl.ok('rollout pause deployment/web', 'deployment.apps/web paused\n')
    await kubectl.ok('set image deployment/web app=registry.example/app:3', 'deployment.apps/web image updated\n')
    // A paused Deployment is scaled but not rolled out.
    await kubectl.ok('scale deployment/web --replicas 3', 'deployment.apps/web scaled\n')
    await waitFor('the size', async () => Math.max(...sizesOf(await all.sets('web'))) === 3)
    if (revisionOf(await all.deployment('web')) !== restarted) throw new Error('a paused Deployment rolled out')
    await kubectl.ok('rollout resume deployment/web', 'deployment.apps/web resumed\n')
    await rolledOut()

    await kubectl.ok(
      'autoscale deployment/web --min 1 --max 5 --cpu-percent 80',
      'horizontalpodautoscaler.autoscaling/web autoscaled\n',
    )
    await kubectl.ok(
      "get hpa web -o 'jsonpath={.spec.scaleTargetRef.kind}/{.spec.scaleTargetRef.name}'",
      'Deployment/web',
    )
    await kubectl.ok('get deployment web', /web +3\/3 +3 +3 /)
    await kubectl.ok('describe deployment web', /Scaled up replica set web-\w+ from 0 to 1/)
    await kubectl.ok(
      'wait --for condition=Available deployment/web --timeout 10s',
      'deployment.apps/web condition met\n',
    )
  })

/** Changing objects in place: labels, annotations, patches, images, scale. */
import assert from 'node:assert/strict'
import { configMap, deployment, pod } from './manifests.ts'
import { make, type Stops } from './stop.ts'

export const changeStops: Stops = {
  'label and annotate add, overwrite and remove': async (k, cluster) => {
    await make(k, cluster, configMap('a', {}), configMap('b', {}))
    await k.ok('label cm a tier=web', 'configmap/a labeled\n')
    await k.fails('label cm a tier=db', /'tier' already has a value \(web\), and --overwrite is false/)
    await k.ok('label cm a tier=db --overwrite', 'configmap/a labeled\n')
    await k.ok('label cm --all zone=1', 'configmap/a labeled\nconfigmap/b labeled\n')
    await k.ok('get cm -l tier=db,zone=1 -o name', 'configmap/a\n')
    await k.ok('label cm a tier-', /^configmap\/a (un)?labeled\n$/)
    await k.ok('get cm a -o jsonpath={.metadata.labels}', '{"zone":"1"}')
    await k.fails(`label cm a 'bad value=x'`, /invalid/)
    await k.ok(`annotate cm a note='two words' -o name`, 'configmap/a\n')
    await k.ok('get cm a -o jsonpath={.metadata.annotations.note}', 'two words')
    await k.ok('annotate cm a note-', /^configmap\/a annotated?\n$/)
    await k.ok('label cm a x=y --dry-run=server', /^configmap\/a labeled/)
    await k.ok('label --local -f - x=y -o name', 'configmap/local\n', { input: configMap('local', {}) })
  },

  'patch accepts three types': async (k, cluster) => {
    await make(k, cluster, deployment('web'))
    await k.ok(
      `patch deployment web -p '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"side:1"}]}}}}'`,
      'deployment.apps/web patched\n',
    )
    await k.ok('get deployment web -o jsonpath={.spec.template.spec.containers[*].name}', 'side main')
    await k.ok(`patch deployment web -p '{"spec":{"replicas":2}}'`, 'deployment.apps/web patched (no change)\n')
    await k.ok(
      'patch deployment web --type=merge -p ' +
        '\'{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"app:9"}]}}}}\'',
      'deployment.apps/web patched\n',
    )
    await k.ok('get deployment web -o jsonpath={.spec.template.spec.containers[*].image}', 'app:9')
    await k.ok(
      'patch deployment web --type=json -p ' +
        '\'[{"op":"test","path":"/spec/replicas","value":2},{"op":"replace","path":"/spec/replicas","value":3}]\' -o ' +
        'jsonpath={.spec.replicas}',
      '3',
    )
    await k.fails(
      `patch deployment web --type=json -p '[{"op":"remove","path":"/spec/nothing"}]'`,
      /^The request is invalid/,
    )
    await k.fails(`patch deployment web -p '{"spec":{"replicas":"many"}}'`, /unrecognized type: int32/)
    await k.fails(`patch deployment web -p '{"metadata":{"labels":"none"}}'`, /cannot restore map from string/)
    await k.fails(
      `patch deployment web --type=merge -p '{"metadata":{"labels":"none"}}'`,
      /cannot unmarshal string into Go struct field/,
    )
    await k.fails(
      `patch deployment web -p '{"spec":{"selector":{"matchLabels":{"app":"other"}}}}'`,
      /field is immutable/,
    )
    await k.ok(
      `patch deployment web --type=merge -p '{"metadata":{"labels":{"x":"y"}}}' --dry-run=server`,
      'deployment.apps/web patched\n',
    )
    await k.fails(`patch cm missing -p '{}'`, 'Error from server (NotFound): configmaps "missing" not found\n')
    await k.ok(`patch --local -f - -p '{"data":{"a":"b"}}' -o jsonpath={.data.a}`, 'b', {
      input: configMap('local', {}),
    })
    if (k.program.minor >= 24) {
      await k.ok(
        `patch deployment web --subresource=status --type=merge -p '{"status":{"replicas":3}}'`,
        'deployment.apps/web patched\n',
      )
      await k.ok('get deployment web --subresource=status -o jsonpath={.status.replicas}', '3')
    }
  },

  'scale and autoscale set numbers of pods': async (k, cluster) => {
    await make(k, cluster, deployment('web'))
    await k.ok('scale deployment web --replicas=4', 'deployment.apps/web scaled\n')
    await k.ok('get deployment web -o jsonpath={.spec.replicas},{.metadata.generation}', '4,2')
    await k.ok('scale deployment/web --current-replicas=4 --replicas=1', 'deployment.apps/web scaled\n')
    await k.fails('scale deployment web --current-replicas=4 --replicas=2', /Expected replicas to be 4, was 1/)
    await k.fails(
      'scale deployment missing --replicas=1',
      /deployments\.apps "missing" not found|no objects passed to scale/,
    )
    await k.ok(
      'autoscale deployment web --min=2 --max=5 --cpu-percent=80',
      'horizontalpodautoscaler.autoscaling/web autoscaled\n',
    )
    await k.ok('get hpa web -o jsonpath={.spec.minReplicas}-{.spec.maxReplicas}', '2-5')
    assert.match(await k.ok('get hpa --no-headers'), /^web +Deployment\/web +.*<unknown>\/80% +2 +5 +0 +\d+s\n$/)
    await k.ok('create -f -', undefined, {
      input:
        'apiVersion: apps/v1\nkind: StatefulSet\nmetadata: { name: db }\nspec: { serviceName: db, selector: { ' +
        'matchLabels: { app: db } }, template: { metadata: { labels: { app: db } }, spec: { containers: [{ name: ' +
        'db, image: "db:1" }] } } }\n',
    })
    await k.ok('scale statefulset --all --replicas=2', 'statefulset.apps/db scaled\n')
  },

  'set changes images, environment, resources and service accounts': async (k, cluster) => {
    await make(k, cluster, deployment('web'))
    await k.ok('set image deployment/web main=registry.example/app:2', 'deployment.apps/web image updated\n')
    await k.ok('set env deployment/web MODE=slow', 'deployment.apps/web env updated\n')
    await k.ok('set env deployment/web --list', /MODE=slow\n$/)
    await k.ok('set env deployment/web MODE-', 'deployment.apps/web env updated\n')
    await k.ok(
      'set resources deployment web --limits=cpu=200m,memory=64Mi',
      'deployment.apps/web resource requirements updated\n',
    )
    await k.ok('set serviceaccount deployment web robot', 'deployment.apps/web serviceaccount updated\n')
    await k.ok(
      'get deployment web -o ' +
        'jsonpath={..containers[0].image},{..containers[0].env},' +
        '{..containers[0].resources.limits.cpu},{..serviceAccountName}',
      'registry.example/app:2,,200m,robot',
    )
    await k.ok('create service clusterip web --tcp=80')
    await k.ok('set selector service web app=web,tier=x', 'service/web selector updated\n')
    await k.ok('create rolebinding readers --clusterrole=view --user=jane')
    await k.ok(
      'set subject rolebinding readers --user=joe',
      /^rolebinding\.rbac\.authorization\.k8s\.io\/readers subjects updated\n$/,
    )
  },

  'rollout annotates, pauses, and shows the status': async (k, cluster) => {
    await make(k, cluster, deployment('web'))
    await k.ok('rollout pause deployment/web', 'deployment.apps/web paused\n')
    await k.ok('rollout resume deployment/web', 'deployment.apps/web resumed\n')
    await k.ok('rollout restart deployment/web', 'deployment.apps/web restarted\n')
    const { metadata } = await cluster.call('GET', `/apis/apps/v1/namespaces/${k.namespace}/deployments/web`)
    assert.match(
      await k.ok('rollout status deployment/web --watch=false'),
      /^Waiting for deployment spec update to be observed\.\.\.\n/,
    )
    const status = {
      observedGeneration: metadata.generation,
      replicas: 2,
      updatedReplicas: 2,
      readyReplicas: 2,
      availableReplicas: 2,
    }
    await cluster.call(
      'PATCH',
      `/apis/apps/v1/namespaces/${k.namespace}/deployments/web/status`,
      { status },
      'application/merge-patch+json',
    )
    await k.ok('rollout status deployment/web', 'deployment "web" successfully rolled out\n')
    assert.match(await k.ok('get deployment web --no-headers'), /^web +2\/2 +2 +2 +\d+s\n$/)
    await k.ok('rollout history deployment/web', /^deployment\.apps\/web/)
  },

  'labels of a pod can change, its command cannot': async (k, cluster) => {
    await make(k, cluster, pod('web'))
    await k.ok('label pod web extra=1', 'pod/web labeled\n')
    await k.ok('set image pod/web main=registry.example/app:7', 'pod/web image updated\n')
    await k.fails(
      `patch pod web -p '{"spec":{"containers":[{"name":"main","command":["x"]}]}}'`,
      /^The Pod "web" is invalid: spec: Forbidden: pod updates may not change fields other than/,
    )
    if (k.program.minor >= 25) {
      await k.ok('debug web --image=debug:1 --container=looking --profile=general', '')
      await k.ok('get pod web -o jsonpath={.spec.ephemeralContainers[*].name}', 'looking')
    }
    await k.fails('logs missing', /pods "missing" not found/)
  },
}

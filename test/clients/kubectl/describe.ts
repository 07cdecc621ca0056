/** `kubectl describe`, which reads objects, their events, and objects that refer to them. */
import assert from 'node:assert/strict'
import { configMap, deployment, node, pod } from './manifests.ts'
import { apiPath, make, type Stops } from './stop.ts'

/** Checks that the output has lines of these forms in this order. Several spaces count as one. */
const lines = (text: string, ...expected: readonly string[]): void => {
  const squeezed = text.replaceAll(/[ \t]+/g, ' ')
  let from = 0
  for (const line of expected) {
    const at = squeezed.indexOf(line, from)
    assert.ok(at >= 0, `"${line}" is missing or out of order in:\n${text}`)
    from = at + line.length
  }
}

export const describeStops: Stops = {
  'describe shows pods with their events': async (k, cluster) => {
    await make(k, cluster, pod('web'))
    const { metadata } = await cluster.call('GET', apiPath(k, 'v1', 'pods/web'))
    await cluster.call('POST', apiPath(k, 'v1', 'events'), {
      metadata: { name: 'web.1' },
      involvedObject: { kind: 'Pod', apiVersion: 'v1', name: 'web', namespace: k.namespace, uid: metadata.uid },
      type: 'Warning',
      reason: 'FailedScheduling',
      message: 'no nodes available to schedule pods',
      source: { component: 'scheduler' },
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      count: 3,
    })
    lines(
      await k.ok('describe pod web'),
      'Name: web\n',
      `Namespace: ${k.namespace}\n`,
      'Labels: app=web\n',
      'Status: Pending\n',
      'Image: registry.example/app:1\n',
      'Port: 8080/TCP\n',
      'Limits:\n memory: 128Mi\n',
      'Requests:\n cpu: 100m\n memory: 64Mi\n',
      'MODE: fast\n',
      'QoS Class: Burstable\n',
      'Node-Selectors: <none>\n',
      'Events:\n',
      'Warning FailedScheduling ',
      'scheduler no nodes available to schedule pods\n',
    )
    assert.match(
      await k.ok('get events --no-headers'),
      /^\S+ +Warning +FailedScheduling +pod\/web +no nodes available to schedule pods\n$/,
    )
    await k.ok(`get events --field-selector involvedObject.name=web,reason=FailedScheduling -o name`, 'event/web.1\n')
    await k.ok(`get events --field-selector involvedObject.name=other -o name`, '')
    lines(
      await k.ok('describe event web.1'),
      'Name: web.1\n',
      'Involved Object:\n',
      'Message: no nodes available to schedule pods\n',
      'Type: Warning\n',
    )
    if (k.program.minor >= 26)
      assert.match(
        await k.ok('events --for pod/web --no-headers'),
        /Warning +FailedScheduling +Pod\/web +no nodes available/,
      )
  },

  'describe shows workloads': async (k, cluster) => {
    await make(k, cluster, deployment('web'))
    lines(
      await k.ok('describe deployment web'),
      'Name: web\n',
      'Selector: app=web\n',
      'Replicas: 2 desired | 0 updated | 0 total | 0 available | 0 unavailable\n',
      'StrategyType: RollingUpdate\n',
      'RollingUpdateStrategy: 25% max unavailable, 25% max surge\n',
      'Image: registry.example/app:1\n',
      'Events: <none>\n',
    )
    await k.ok('create job once --image=app:1')
    lines(await k.ok('describe job once'), 'Name: once\n', 'Parallelism: 1\n', 'Completions: 1\n', 'Image: app:1\n')
    await k.ok('autoscale deployment web --max=3 --cpu-percent=50')
    lines(await k.ok('describe hpa web'), 'Reference: Deployment/web\n', 'Max replicas: 3\n')
  },

  'describe shows configuration, Services and other kinds': async (k, cluster) => {
    await make(k, cluster, configMap('settings', { colour: 'blue' }))
    lines(
      await k.ok('describe configmap settings'),
      'Name: settings\n',
      'Data\n====\ncolour:\n----\nblue\n',
      'Events: <none>\n',
    )
    await k.ok('create secret generic login --from-literal=password=s3cret')
    lines(await k.ok('describe secret login'), 'Type: Opaque\n', 'Data\n====\npassword: 6 bytes\n')
    await k.ok('create service clusterip web --tcp=80:8080')
    lines(
      await k.ok('describe service web'),
      'Selector: app=web\n',
      'Type: ClusterIP\n',
      'Port: 80-8080 80/TCP\n',
      'TargetPort: 8080/TCP\n',
      'Session Affinity: None\n',
    )
    await k.ok('create quota small --hard=pods=2')
    await k.ok('create serviceaccount robot')
    await k.ok('create role reader --verb=get --resource=pods')
    await k.ok('create rolebinding readers --role=reader --serviceaccount=default:robot')
    lines(await k.ok('describe serviceaccount robot'), 'Name: robot\n', 'Tokens: <none>\n')
    lines(await k.ok('describe role reader'), 'PolicyRule:\n', 'pods [] [] [get]\n')
    lines(
      await k.ok('describe rolebinding readers'),
      'Role:\n Kind: Role\n Name: reader\n',
      'ServiceAccount robot default\n',
    )
    lines(
      await k.ok(`describe namespace ${k.namespace}`),
      `Name: ${k.namespace}\n`,
      `kubernetes.io/metadata.name=${k.namespace}\n`,
      'Status: Active\n',
      'Resource Quotas\n',
      'Name: small\n',
    )
    await k.fails('describe pod missing', 'Error from server (NotFound): pods "missing" not found\n')
    await k.ok('describe configmaps', /Name: +settings\n/)
  },

  'nodes are described, cordoned, tainted and labelled': async (k) => {
    const name = `node-${k.namespace}`
    await k.ok('create -f -', `node/${name} created\n`, { input: node(name) })
    assert.match(
      await k.ok(`get node ${name} --no-headers`),
      new RegExp(`^${name} +Ready +<none> +\\d+s +v1\\.36\\.0\\n$`),
    )
    assert.match(
      await k.ok(`get node ${name} -o wide --no-headers`),
      / 192\.0\.2\.7 +<none> +Test +6\.1 \(amd64\) +test:\/\/1\n$/,
    )
    await k.ok(`cordon ${name}`, `node/${name} cordoned\n`)
    assert.match(await k.ok(`get node ${name} --no-headers`), / Ready,SchedulingDisabled /)
    await k.ok(`cordon ${name}`, `node/${name} already cordoned\n`)
    await k.ok(`uncordon ${name}`, `node/${name} uncordoned\n`)
    await k.ok(`taint node ${name} dedicated=db:NoSchedule`, `node/${name} tainted\n`)
    await k.fails(
      `taint node ${name} dedicated=web:NoSchedule`,
      /already has dedicated taint\(s\) with same effect\(s\) and --overwrite is false/,
    )
    await k.ok(`taint node ${name} dedicated-`, `node/${name} untainted\n`)
    await k.ok(`label node ${name} node-role.kubernetes.io/worker=`, `node/${name} labeled\n`)
    assert.match(await k.ok(`get nodes -l node-role.kubernetes.io/worker --no-headers`), / Ready +worker /)
    lines(
      await k.ok(`describe node ${name}`),
      `Name: ${name}\n`,
      'Roles: worker\n',
      'Unschedulable: false\n',
      'Ready True ',
      'KubeletReady',
      'InternalIP: 192.0.2.7\n',
      'cpu: 4\n',
      'Kubelet Version: v1.36.0\n',
      'PodCIDR: 10.244.7.0/24\n',
      'Non-terminated Pods: (0 in total)\n',
    )
    await k.ok('create -f -', 'pod/stray created\n', {
      input: JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'stray' },
        spec: { nodeName: name, containers: [{ name: 'c', image: 'i' }] },
      }),
    })
    // No kubelet confirms the end of a pod, so its grace period is 0.
    await k.ok(`drain ${name} --ignore-daemonsets --force --grace-period=0`, /^pod\/stray evicted$/m)
    await k.ok(`delete node ${name}`, `node "${name}" deleted\n`)
  },
}

/**
 * Tests of the conformance suite for kubectl with pods (`test/e2e/kubectl/{kubectl,logs}.go`), on nodes of both types.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Kubectl, type KubectlProgram } from '../../support/kubectl.ts'
import { inNamespace, type PodNodes } from '../support/pod-nodes.ts'
import type { Requests } from '../support/requests.ts'
import { type Act, eventually, images, simulation, stays, succeeds, template } from '../support/workloads.ts'

/** A kubectl with a namespace for a test. */
export interface KubectlTest {
  readonly kubectl: Kubectl
  readonly namespace: string
  readonly nodes: PodNodes
  readonly api: Requests
}

/** Each call creates a namespace. */
export type StartKubectl = () => Promise<KubectlTest>

export function kubectlStart(nodes: Promise<PodNodes>, program: KubectlProgram): StartKubectl {
  let count = 0
  return async () => {
    const api = await inNamespace(nodes, `kubectl-${program.minor}-${count++}`)
    const { kubeconfigFile, folder } = api.nodes.cluster
    const kubectl = new Kubectl(program, kubeconfigFile, folder, api.namespace)
    return { kubectl, api, namespace: api.namespace, nodes: api.nodes }
  }
}

type Labels = Readonly<Record<string, string>>

/** The manifest of a ReplicationController whose containers listen on the port, as their declaration says. */
export const controller = (name: string, labels: Labels, replicas: number, port: number): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name, labels },
    spec: {
      replicas,
      selector: labels,
      template: template(labels, {
        container: { ports: [{ name: `${name}-port`.slice(0, 15), containerPort: port }] },
      }),
    },
  })

const primaryLabels = { app: 'agnhost', role: 'primary' }
const primary = controller('agnhost-primary', primaryLabels, 1, 6379)
const primaryService = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'agnhost-primary', labels: primaryLabels },
  spec: { ports: [{ port: 6379, targetPort: 'agnhost-primary' }], selector: primaryLabels },
})
const manifestOf = (name: string, labels: Labels, act: Act): string => {
  const pod = template(labels, { act, container: { name }, spec: { restartPolicy: 'Never' } })
  return JSON.stringify({ apiVersion: 'v1', kind: 'Pod', ...pod, metadata: { ...pod.metadata, name } })
}
const deployment = (image: string): string =>
  JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'httpd-deployment', labels: { app: 'httpd' } },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'httpd' } },
      template: template({ app: 'httpd' }, { image }),
    },
  })

/** Checks that each line has the words of one entry, in this order. */
function shows(output: string, wanted: readonly (readonly string[])[]): void {
  const lines = output.split('\n')
  for (const words of wanted)
    assert.ok(
      lines.some((line) => words.every((word) => line.includes(word))),
      `${words.join(' … ')} is not in\n${output}`,
    )
}

const isRunning = `'{{range .status.containerStatuses}}{{if .state.running}}true{{end}}{{end}}'`

/** Resolves with the names of the running pods with a label. */
export const running = ({ kubectl, api }: KubectlTest, label: string, wanted: number): Promise<string[]> =>
  eventually(api, `${wanted} pods of ${label}`, async () => {
    const pods = (
      await kubectl.ok(`get pods -l ${label} -o template '--template={{range .items}}{{.metadata.name}} {{end}}'`)
    )
      .split(' ')
      .filter(Boolean)
    if (pods.length !== wanted) return false
    for (const pod of pods)
      if ((await kubectl.ok(`get pods ${pod} -o template --template=${isRunning}`)) !== 'true') return false
    return pods
  })

/** The arguments of `kubectl run` after the image, for a pod that stays. */
const stayingCommand = `--command -- sh -c 'trap exit TERM; sleep 1000 & wait'`
const imageOf = `get pod e2e-test-httpd-pod -o 'jsonpath={.spec.containers[0].image}'`

export function kubectlSuite(start: StartKubectl): void {
  defineDemo(start)
  defineDescriptions(start)
  defineExposure(start)
  defineChanges(start)
  defineRuns(start)
  defineLogs(start)
}

function defineDemo(start: StartKubectl): void {
  const demo = controller('update-demo-nautilus', { name: 'update-demo' }, 2, 80)

  test('Kubectl client Update Demo should create and stop a replication controller', async () => {
    const t = await start()
    await t.kubectl.ok('create -f -', 'replicationcontroller/update-demo-nautilus created\n', { input: demo })
    await running(t, 'name=update-demo', 2)
    await t.kubectl.ok('delete --grace-period=0 --force -f -', /"update-demo-nautilus" force deleted/, { input: demo })
    assert.equal(await t.kubectl.ok('get rc,svc -l name=update-demo --no-headers'), '')
    await eventually(
      t.api,
      'the end of its pods',
      async () => (await t.kubectl.ok('get pods -l name=update-demo --no-headers')) === '',
    )
  })

  test('Kubectl client Update Demo should scale a replication controller', async () => {
    const t = await start()
    await t.kubectl.ok('create -f -', undefined, { input: demo })
    await running(t, 'name=update-demo', 2)
    for (const replicas of [1, 2]) {
      await t.kubectl.ok(
        `scale rc update-demo-nautilus --replicas=${replicas} --timeout=30s`,
        'replicationcontroller/update-demo-nautilus scaled\n',
      )
      await running(t, 'name=update-demo', replicas)
    }
  })
}

function defineDescriptions(start: StartKubectl): void {
  test(
    'Kubectl client Kubectl describe ' + 'should check if kubectl describe prints relevant information for rc and pods',
    async () => {
      const t = await start()
      const { kubectl, namespace } = t
      await kubectl.ok('create -f -', undefined, { input: primary })
      await kubectl.ok('create -f -', undefined, { input: primaryService })
      const [pod = ''] = await running(t, 'app=agnhost', 1)
      shows(await kubectl.ok(`describe pod ${pod}`), [
        ['Name:', 'agnhost-primary-'],
        ['Namespace:', namespace],
        ['Labels:', 'app=agnhost'],
        ['role=primary'],
        ['Annotations:'],
        ['Status:', 'Running'],
        ['IP:'],
        ['Controlled By:', 'ReplicationController/agnhost-primary'],
        ['Image:', images.busybox],
        ['State:', 'Running'],
        ['QoS Class:', 'BestEffort'],
      ])
      shows(await kubectl.ok('describe rc agnhost-primary'), [
        ['Name:', 'agnhost-primary'],
        ['Namespace:', namespace],
        ['Selector:', 'app=agnhost,role=primary'],
        ['Labels:', 'app=agnhost'],
        ['role=primary'],
        ['Annotations:'],
        ['Replicas:', '1 current', '1 desired'],
        ['Pods Status:', '1 Running', '0 Waiting', '0 Succeeded', '0 Failed'],
        ['Pod Template:'],
        ['Image:', images.busybox],
        ['Events:'],
      ])
      await describesOthers(t)
    },
  )
}

async function describesOthers({ kubectl, namespace }: KubectlTest): Promise<void> {
  shows(await kubectl.ok('describe service agnhost-primary'), [
    ['Name:', 'agnhost-primary'],
    ['Namespace:', namespace],
    ['Labels:', 'app=agnhost'],
    ['Annotations:'],
    ['Selector:', 'app=agnhost', 'role=primary'],
    ['Type:', 'ClusterIP'],
    ['IP:'],
    ['Port:', '<unset>', '6379/TCP'],
    ['Endpoints:'],
    ['Session Affinity:', 'None'],
  ])
  const node = await kubectl.ok(`get nodes -o 'jsonpath={.items[0].metadata.name}'`)
  shows(await kubectl.ok(`describe node ${node}`), [
    ['Name:', node],
    ['Labels:'],
    ['Annotations:'],
    ['CreationTimestamp:'],
    ['Conditions:'],
    ['Type', 'Status', 'LastHeartbeatTime', 'LastTransitionTime', 'Reason', 'Message'],
    ['Addresses:'],
    ['Capacity:'],
    ['Kubelet Version:'],
    ['Pods:'],
  ])
  shows(await kubectl.ok(`describe namespace ${namespace}`), [
    ['Name:', namespace],
    ['Labels:'],
    ['Annotations:'],
    ['Status:', 'Active'],
  ])
}

function defineExposure(start: StartKubectl): void {
  test('Kubectl client Kubectl expose should create services for rc', async () => {
    const t = await start()
    const { kubectl, api } = t
    await kubectl.ok('create -f -', undefined, { input: primary })
    await running(t, 'app=agnhost', 1)
    const serves = async (name: string, port: number) => {
      await eventually(api, `endpoints of ${name}`, async () =>
        /^\d+(\.\d+){3}:6379$/.test(
          await kubectl.ok(
            `get endpoints ${name} -o 'template={{range .subsets}}{{(index .addresses 0).ip}}:{{(index .ports ` +
              "0).port}}{{end}}'",
          ),
        ),
      )
      await kubectl.ok(
        `get service ${name} -o 'template={{(index .spec.ports 0).port}} {{(index .spec.ports 0).targetPort}}'`,
        `${port} 6379`,
      )
    }
    await kubectl.ok('expose rc agnhost-primary --name=rm2 --port=1234 --target-port=6379', 'service/rm2 exposed\n')
    await serves('rm2', 1234)
    await kubectl.ok('expose service rm2 --name=rm3 --port=2345 --target-port=6379', 'service/rm3 exposed\n')
    await serves('rm3', 2345)
  })
}

function defineChanges(start: StartKubectl): void {
  test('Kubectl client Kubectl diff should check if kubectl diff finds a difference for Deployments', async () => {
    const { kubectl } = await start()
    await kubectl.ok('create -f -', undefined, { input: deployment(images.busybox) })
    const { code, stdout } = await kubectl.run('diff -f -', { input: deployment(images.newBusybox) })
    assert.equal(code, 1, stdout)
    assert.match(stdout, new RegExp(`^-.*image: ${images.busybox}$`, 'm'))
    assert.match(stdout, new RegExp(`^\\+.*image: ${images.newBusybox}$`, 'm'))
  })

  test('Kubectl client Kubectl label should update the label on a resource', async () => {
    const t = await start()
    const { kubectl } = t
    await kubectl.ok('create -f -', undefined, { input: manifestOf('pause', { name: 'pause' }, stays) })
    await running(t, 'name=pause', 1)
    await kubectl.ok('label pods pause testing-label=testing-label-value', /^pod\/pause labell?ed\n$/)
    await kubectl.ok('get pod pause -L testing-label', /testing-label-value/)
    await kubectl.ok('label pods pause testing-label-', /^pod\/pause (un)?labell?ed\n$/)
    assert.doesNotMatch(await kubectl.ok('get pod pause -L testing-label'), /testing-label-value/)
  })

  test('Kubectl client Kubectl patch should add annotations for pods in rc', async () => {
    const t = await start()
    const { kubectl } = t
    await kubectl.ok('create -f -', undefined, { input: primary })
    for (const pod of await running(t, 'app=agnhost', 1)) {
      await kubectl.ok(`patch pod ${pod} -p '{"metadata":{"annotations":{"x":"y"}}}'`, `pod/${pod} patched\n`)
      await kubectl.ok(`get pod ${pod} -o 'jsonpath={.metadata.annotations.x}'`, 'y')
    }
  })
}

function defineRuns(start: StartKubectl): void {
  const runPod = ({ kubectl }: KubectlTest) =>
    kubectl.ok(
      `run e2e-test-httpd-pod --image=${images.busybox} --pod-running-timeout=2m0s --labels=run=e2e-test-httpd-pod ` +
        stayingCommand,
      'pod/e2e-test-httpd-pod created\n',
    )

  test("Kubectl client Kubectl replace should update a single-container pod's image", async () => {
    const t = await start()
    await runPod(t)
    await running(t, 'run=e2e-test-httpd-pod', 1)
    const json = await t.kubectl.ok('get pod e2e-test-httpd-pod -o json')
    await t.kubectl.ok('replace -f -', 'pod/e2e-test-httpd-pod replaced\n', {
      input: json.replaceAll(`"image": "${images.busybox}"`, `"image": "${images.newBusybox}"`),
    })
    await t.kubectl.ok(imageOf, images.newBusybox)
    if (!t.nodes.areReal) return
    // The container is restarted with the new image.
    const restarted = `get pod e2e-test-httpd-pod -o 'jsonpath={.status.containerStatuses[0].image}'`
    await eventually(t.api, 'the new image', async () => (await t.kubectl.ok(restarted)) === images.newBusybox)
  })

  test('Kubectl client Kubectl run pod should create a pod from an image when restart is Never', async () => {
    const { kubectl } = await start()
    await kubectl.ok(
      `run e2e-test-httpd-pod --restart=Never --pod-running-timeout=2m0s --image=${images.busybox} ${stayingCommand}`,
      'pod/e2e-test-httpd-pod created\n',
    )
    await kubectl.ok(
      `get pod e2e-test-httpd-pod -o 'jsonpath={.spec.containers[0].image} {.spec.restartPolicy}'`,
      `${images.busybox} Never`,
    )
  })

  test('Kubectl client Kubectl server-side dry-run should check if kubectl can dry-run update Pods', async () => {
    const t = await start()
    await runPod(t)
    const patch = `{"spec":{"containers":[{"name":"e2e-test-httpd-pod","image":"${images.newBusybox}"}]}}`
    await t.kubectl.ok(`patch pod e2e-test-httpd-pod -p '${patch}' --dry-run=server`, /patched/)
    await t.kubectl.ok(imageOf, images.busybox)
  })
}

function defineLogs(start: StartKubectl): void {
  test('Kubectl logs logs should be able to retrieve and filter logs', async () => {
    const { kubectl, api, nodes } = await start()
    const logs: Act = {
      script: 'i=0; while test $i -lt 100; do echo "$i line"; i=$((i + 1)); done',
      annotations: { ...succeeds.annotations, [`${simulation}log`]: '0 line\n1 line' },
    }
    await kubectl.ok('create -f -', undefined, { input: manifestOf('logs-generator', { run: 'logs' }, logs) })
    await eventually(api, 'the end of the pod', async () =>
      /^Succeeded$/.test(await kubectl.ok(`get pod logs-generator -o 'jsonpath={.status.phase}'`)),
    )
    const log = await kubectl.ok('logs logs-generator logs-generator')
    const lines = log.trimEnd().split('\n')
    if (nodes.areReal) assert.deepEqual([lines.length, lines[0], lines[99]], [100, '0 line', '99 line'])
    const last = lines.at(-1)
    await kubectl.ok('logs logs-generator logs-generator --tail=1', `${last}\n`)
    await kubectl.ok('logs logs-generator logs-generator --limit-bytes=1', log.slice(0, 1))
    const stamped = await kubectl.ok('logs logs-generator logs-generator --tail=1 --timestamps')
    const [time = '', ...rest] = stamped.split(' ')
    assert.ok(!Number.isNaN(Date.parse(time)))
    assert.equal(rest.join(' '), `${last}\n`)
    const recent = await kubectl.ok('logs logs-generator logs-generator --since=1s')
    assert.ok(recent.length <= log.length)
    await kubectl.ok('logs logs-generator logs-generator --since=24h', log)
  })
}

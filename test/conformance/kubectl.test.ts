/**
 * Tests of the conformance suite for kubectl (`test/e2e/kubectl/{kubectl,logs}.go`) as far as no container has to
 * answer, with the oldest and the newest of this machine, on simulated nodes.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { Requests } from './support/requests.ts'

const cluster = testCluster({ after }, { nodes: 2 })

const controller = (name: string, labels: Record<string, string>, replicas: number, port: number) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name, labels },
    spec: {
      replicas,
      selector: labels,
      template: {
        metadata: { labels },
        spec: {
          containers: [
            { name, image: 'agnhost:1', ports: [{ name: `${name}-port`.slice(0, 15), containerPort: port }] },
          ],
        },
      },
    },
  })
const primary = controller('agnhost-primary', { app: 'agnhost', role: 'primary' }, 1, 6379)
const primaryService = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'agnhost-primary', labels: { app: 'agnhost', role: 'primary' } },
  spec: { ports: [{ port: 6379, targetPort: 'agnhost-primary' }], selector: { app: 'agnhost', role: 'primary' } },
})
const pause = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'pause', labels: { name: 'pause' } },
  spec: { containers: [{ name: 'pause', image: 'pause:1', ports: [{ containerPort: 80 }] }] },
})
const deployment = (image: string) =>
  JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'httpd-deployment', labels: { app: 'httpd' } },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'httpd' } },
      template: {
        metadata: { labels: { app: 'httpd' } },
        spec: { containers: [{ name: 'httpd', image, ports: [{ containerPort: 80 }] }] },
      },
    },
  })

/** Each line has to have the words of one entry, in this order. */
function shows(output: string, wanted: readonly (readonly string[])[]): void {
  const lines = output.split('\n')
  for (const words of wanted)
    assert.ok(
      lines.some((line) => words.every((word) => line.includes(word))),
      `${words.join(' … ')} is not in\n${output}`,
    )
}

const isRunning = `'{{range .status.containerStatuses}}{{if .state.running}}true{{end}}{{end}}'`

const installed = installedKubectls()
const programs = installed.length > 1 ? [installed[0]!, installed.at(-1)!] : installed

for (const program of programs)
  describe(`kubectl ${program.version}`, () => {
    let count = 0
    const client = async (): Promise<{ kubectl: Kubectl; namespace: string }> => {
      const { kubeconfigFile, folder } = await cluster
      const { namespace } = await Requests.in(await cluster, `kubectl-${program.minor}-${count++}`)
      return { kubectl: new Kubectl(program, kubeconfigFile, folder, namespace), namespace }
    }
    /** Names of the pods that run, of a label. */
    const running = (kubectl: Kubectl, label: string, wanted: number): Promise<string[]> =>
      waitFor(`${wanted} pods of ${label}`, async () => {
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

    test(
      'Kubectl client Update Demo should create and stop a replication controller, and should scale a ' +
        'replication controller',
      async () => {
        const { kubectl } = await client()
        await kubectl.ok('create -f -', 'replicationcontroller/update-demo-nautilus created\n', {
          input: controller('update-demo-nautilus', { name: 'update-demo' }, 2, 80),
        })
        await running(kubectl, 'name=update-demo', 2)
        for (const replicas of [1, 2]) {
          await kubectl.ok(
            `scale rc update-demo-nautilus --replicas=${replicas} --timeout=30s`,
            'replicationcontroller/update-demo-nautilus scaled\n',
          )
          await running(kubectl, 'name=update-demo', replicas)
        }
        await kubectl.ok('delete --grace-period=0 --force -f -', /"update-demo-nautilus" force deleted/, {
          input: controller('update-demo-nautilus', { name: 'update-demo' }, 2, 80),
        })
        assert.equal(await kubectl.ok('get rc,svc -l name=update-demo --no-headers'), '')
        await waitFor(
          'its pods to go',
          async () => (await kubectl.ok('get pods -l name=update-demo --no-headers')) === '',
        )
      },
    )

    test('Kubectl client Kubectl api-versions should check if v1 is in available api versions', async () => {
      const { kubectl } = await client()
      await kubectl.ok('api-versions', /^v1$/m)
    })

    test(
      'Kubectl client Kubectl cluster-info should check if Kubernetes control plane services is included in ' +
        'cluster-info',
      async () => {
        const { kubectl } = await client()
        await kubectl.ok('cluster-info', /Kubernetes control plane.*is running at/)
      },
    )

    test(
      'Kubectl client Kubectl describe ' +
        'should check if kubectl describe prints relevant information for rc and pods',
      async () => {
        const { kubectl, namespace } = await client()
        await kubectl.ok('create -f -', undefined, { input: primary })
        await kubectl.ok('create -f -', undefined, { input: primaryService })
        const [pod = ''] = await running(kubectl, 'app=agnhost', 1)
        shows(await kubectl.ok(`describe pod ${pod}`), [
          ['Name:', 'agnhost-primary-'],
          ['Namespace:', namespace],
          ['Labels:', 'app=agnhost'],
          ['role=primary'],
          ['Annotations:'],
          ['Status:', 'Running'],
          ['IP:'],
          ['Controlled By:', 'ReplicationController/agnhost-primary'],
          ['Image:', 'agnhost:1'],
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
          ['Image:', 'agnhost:1'],
          ['Events:'],
        ])
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
        shows(await kubectl.ok('describe node node-1'), [
          ['Name:', 'node-1'],
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
      },
    )

    test('Kubectl client Kubectl diff should check if kubectl diff finds a difference for Deployments', async () => {
      const { kubectl } = await client()
      await kubectl.ok('create -f -', undefined, { input: deployment('httpd:1') })
      const { code, stdout } = await kubectl.run('diff -f -', { input: deployment('busybox:1') })
      assert.equal(code, 1, stdout)
      assert.match(stdout, /^-.*image: httpd:1$/m)
      assert.match(stdout, /^\+.*image: busybox:1$/m)
    })

    test('Kubectl client Kubectl expose should create services for rc', async () => {
      const { kubectl } = await client()
      await kubectl.ok('create -f -', undefined, { input: primary })
      await running(kubectl, 'app=agnhost', 1)
      const serves = async (name: string, port: number) => {
        await waitFor(`endpoints of ${name}`, async () =>
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

    test('Kubectl client Kubectl label should update the label on a resource', async () => {
      const { kubectl } = await client()
      await kubectl.ok('create -f -', undefined, { input: pause })
      await running(kubectl, 'name=pause', 1)
      await kubectl.ok('label pods pause testing-label=testing-label-value', /^pod\/pause labell?ed\n$/)
      await kubectl.ok('get pod pause -L testing-label', /testing-label-value/)
      await kubectl.ok('label pods pause testing-label-', /^pod\/pause (un)?labell?ed\n$/)
      assert.doesNotMatch(await kubectl.ok('get pod pause -L testing-label'), /testing-label-value/)
    })

    test('Kubectl client Kubectl patch should add annotations for pods in rc', async () => {
      const { kubectl } = await client()
      await kubectl.ok('create -f -', undefined, { input: primary })
      const pods = await running(kubectl, 'app=agnhost', 1)
      for (const pod of pods) {
        await kubectl.ok(`patch pod ${pod} -p '{"metadata":{"annotations":{"x":"y"}}}'`, `pod/${pod} patched\n`)
        await kubectl.ok(`get pod ${pod} -o 'jsonpath={.metadata.annotations.x}'`, 'y')
      }
    })

    test("Kubectl client Kubectl replace should update a single-container pod's image", async () => {
      const { kubectl } = await client()
      await kubectl.ok(
        'run e2e-test-httpd-pod --image=httpd:1 --pod-running-timeout=2m0s --labels=run=e2e-test-httpd-pod',
        'pod/e2e-test-httpd-pod created\n',
      )
      await running(kubectl, 'run=e2e-test-httpd-pod', 1)
      const json = await kubectl.ok('get pod e2e-test-httpd-pod -o json')
      await kubectl.ok('replace -f -', 'pod/e2e-test-httpd-pod replaced\n', {
        input: json.replaceAll('"image": "httpd:1"', '"image": "busybox:1"'),
      })
      await kubectl.ok(`get pod e2e-test-httpd-pod -o 'jsonpath={.spec.containers[0].image}'`, 'busybox:1')
    })

    test('Kubectl client Kubectl run pod should create a pod from an image when restart is Never', async () => {
      const { kubectl } = await client()
      await kubectl.ok(
        'run e2e-test-httpd-pod --restart=Never --pod-running-timeout=2m0s --image=httpd:1',
        'pod/e2e-test-httpd-pod created\n',
      )
      await kubectl.ok(
        `get pod e2e-test-httpd-pod -o 'jsonpath={.spec.containers[0].image} {.spec.restartPolicy}'`,
        'httpd:1 Never',
      )
    })

    test('Kubectl client Kubectl server-side dry-run should check if kubectl can dry-run update Pods', async () => {
      const { kubectl } = await client()
      await kubectl.ok(
        'run e2e-test-httpd-pod --image=httpd:1 --pod-running-timeout=2m0s --labels=run=e2e-test-httpd-pod',
      )
      const patch = '{"spec":{"containers":[{"name":"e2e-test-httpd-pod","image":"busybox:1"}]}}'
      await kubectl.ok(`patch pod e2e-test-httpd-pod -p '${patch}' --dry-run=server`, /patched/)
      await kubectl.ok(`get pod e2e-test-httpd-pod -o 'jsonpath={.spec.containers[0].image}'`, 'httpd:1')
    })

    test('Kubectl client Kubectl version should check is all data is printed', async () => {
      const { kubectl } = await client()
      const output = await kubectl.ok('version')
      assert.match(output, /Client Version: /)
      assert.match(output, /Server Version: .*v1\.36/)
    })

    test('Kubectl client Proxy server should support proxy with --port 0', async () => {
      const { kubectl } = await client()
      const proxy = kubectl.spawn('proxy -p 0 --disable-filter')
      try {
        const [line] = await once(proxy.stdout!, 'data')
        const [, port] = /Starting to serve on 127\.0\.0\.1:(\d+)/.exec(String(line)) ?? []
        const answer = (await (await fetch(`http://127.0.0.1:${port}/api/`)).json()) as { versions: string[] }
        assert.deepEqual(answer.versions, ['v1'])
      } finally {
        proxy.kill()
        await once(proxy, 'close')
      }
    })

    test('Kubectl client Proxy server should support --unix-socket=/path', async () => {
      const { kubectl } = await client()
      const socketPath = join((await cluster).folder, `proxy-${program.minor}.sock`)
      const proxy = kubectl.spawn(`proxy --unix-socket=${socketPath}`)
      try {
        await waitFor('the socket', async () => {
          const socket = createConnection(socketPath)
          await once(socket, 'connect')
          socket.destroy()
          return true
        })
        const [answer] = await once(request({ socketPath, path: '/api/' }).end(), 'response')
        const body = JSON.parse(Buffer.concat(await answer.toArray()).toString()) as { versions: string[] }
        assert.deepEqual(body.versions, ['v1'])
      } finally {
        proxy.kill()
        await once(proxy, 'close')
      }
    })

    test('Kubectl logs logs should be able to retrieve and filter logs', async () => {
      const { kubectl } = await client()
      const metadata = {
        name: 'logs-generator',
        labels: { run: 'logs' },
        annotations: { 'simulation.typernetes.io/log': '0 one\n1 two' },
      }
      const spec = { restartPolicy: 'Never', containers: [{ name: 'logs-generator', image: 'agnhost:1' }] }
      await kubectl.ok('create -f -', undefined, {
        input: JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec }),
      })
      await running(kubectl, 'run=logs', 1)
      const log = await kubectl.ok('logs logs-generator logs-generator')
      const last = log.trimEnd().split('\n').at(-1)
      await kubectl.ok('logs logs-generator logs-generator --tail=1', `${last}\n`)
      await kubectl.ok('logs logs-generator logs-generator --limit-bytes=1', log.slice(0, 1))
      const [time = '', ...rest] = (await kubectl.ok('logs logs-generator logs-generator --tail=1 --timestamps')).split(
        ' ',
      )
      assert.ok(!Number.isNaN(Date.parse(time)))
      assert.equal(rest.join(' '), `${last}\n`)
      await kubectl.ok('logs logs-generator logs-generator --since=24h', log)
    })
  })

/** Tests of the conformance suite for pods (`test/e2e/common/node/{pods,ephemeral_containers}.go`), on a real node. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Pod, pods, services } from '../../../src/client/kinds.ts'
import type { WatchEvent } from '../../../src/client/rest/rest-client.ts'
import { waitFor } from '../../support/wait-for.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { channelOf, messagesOf, pathOf, runIn } from '../support/pod-requests.ts'
import { images } from '../support/runtimes/test-images.ts'
import { shell, TestNode } from '../support/test-node.ts'

/** Ends on SIGTERM. */
const server = 'trap "exit 0" TERM; while true; do sleep 0.2; done'
const alive = 'echo container is alive; sleep 600'
const deadline = { deadlineMs: 120_000, everyMs: 50 }

const ephemeral = (name: string, script: string) => ({ ...shell(name, script), stdin: true, tty: true })

const conditionOf = ({ status }: Pod, type: string) => status?.conditions?.find((one) => one.type === type)

await inNamespaces(import.meta.filename, () =>
  describe('pods', { concurrency: 6 }, async () => {
    const started = TestNode.start()
    testLives(started)
    testStatuses(started)
    testReadinessGates(started)
    testServices(started)
    testStreams(started)
    testEphemeralContainers(started)
    testImageVolumes(started)
  }),
)

/** The events of the pods with a label from now on, until the signal. */
async function watched(node: TestNode, labelSelector: string, signal: AbortSignal): Promise<WatchEvent<Pod>[]> {
  const { items, resourceVersion } = await node.client.list(pods, { namespace: 'default', labelSelector })
  assert.deepEqual(items, [])
  const seen: WatchEvent<Pod>[] = []
  const follow = async (): Promise<void> => {
    const options = { namespace: 'default', labelSelector, resourceVersion, signal }
    for await (const event of node.client.watch(pods, options)) if (event.type !== 'BOOKMARK') seen.push(event)
  }
  follow().catch((error) => signal.aborted || seen.push(error as never))
  return seen
}

function testLives(started: Promise<TestNode>): void {
  test('Pods, lifecycle', async (t) => {
    const node = await started
    const seen = await watched(node, 'time=lifecycle', t.signal)
    const pod = await node.create({
      name: 'pod-submit-remove',
      labels: { name: 'foo', time: 'lifecycle' },
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      script: server,
    })
    await node.running(pod)
    assert.equal(seen[0]?.type, 'ADDED')
    await node.client.delete(pods, 'default', 'pod-submit-remove', { gracePeriodSeconds: 30 })
    const last = await waitFor('the deletion', () => seen.find(({ type }) => type === 'DELETED'), deadline)
    assert.ok(last.object.metadata.deletionTimestamp)
    assert.ok(last.object.spec?.terminationGracePeriodSeconds)
    assert.equal(last.object.status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 0)
    assert.deepEqual(
      (await node.client.list(pods, { namespace: 'default', labelSelector: 'time=lifecycle' })).items,
      [],
    )
  })

  test('Pods, update', async () => {
    const node = await started
    const pod = await node.create({ name: 'pod-update', labels: { time: 'before' }, script: server })
    const { status } = await node.running(pod)
    await node.client.patch(pods, 'default', 'pod-update', { metadata: { labels: { time: 'after' } } })
    const { items } = await node.client.list(pods, { namespace: 'default', labelSelector: 'time=after' })
    assert.equal(items.length, 1)
    const { containerStatuses } = (await node.running(pod)).status ?? {}
    assert.equal(containerStatuses?.[0]?.containerID, status?.containerStatuses?.[0]?.containerID)
  })

  test('Pods, delete a collection', async () => {
    const node = await started
    const labels = { type: 'Testing' }
    const options = { namespace: 'default', labelSelector: 'type=Testing' }
    const created = await Promise.all(
      [1, 2, 3].map((n) =>
        node.create({ name: `test-pod-${n}`, labels, terminationGracePeriodSeconds: 1, script: server }),
      ),
    )
    await Promise.all(created.map((pod) => node.running(pod)))
    await node.client.deleteCollection(pods, options, { gracePeriodSeconds: 1 })
    const areGone = async () => (await node.client.list(pods, options)).items.length === 0
    await waitFor('the pods are deleted', areGone, deadline)
  })
}

function testStatuses(started: Promise<TestNode>): void {
  test('Pods, completes the lifecycle of a Pod and the PodStatus', async (t) => {
    const node = await started
    const seen = await watched(node, 'test-pod-static=true', t.signal)
    const pod = await node.create({
      name: 'pod-test',
      labels: { 'test-pod-static': 'true' },
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 1,
      script: server,
    })
    await node.until(pod, 'is ready', (current) => conditionOf(current, 'Ready')?.status === 'True')
    const containers = [{ name: 'main', image: images.pause }]
    const patch = { metadata: { labels: { 'test-pod': 'patched' } }, spec: { containers } }
    const patched = await node.client.patch(pods, 'default', 'pod-test', patch)
    assert.equal(patched.metadata.labels?.['test-pod'], 'patched')
    assert.equal(patched.spec?.containers[0]?.image, images.pause)
    // The container restarts with its new image.
    const current = await node.until(
      pod,
      'runs the other image',
      (one) =>
        one.status?.containerStatuses?.[0]?.image === images.pause &&
        conditionOf(one, 'Ready')?.status === 'True' &&
        one.status.observedGeneration === 2,
    )
    await replaceReadiness(node, current)
    // The kubelet sets them to its own values again.
    await node.until(pod, 'is ready again', (one) => conditionOf(one, 'Ready')?.status === 'True')
    const selection = { namespace: 'default', labelSelector: 'test-pod-static=true' }
    await node.client.deleteCollection(pods, selection, { gracePeriodSeconds: 1 })
    await waitFor('the deletion', () => seen.some(({ type }) => type === 'DELETED'), deadline)
    assert.equal(await node.client.find(pods, 'default', 'pod-test'), undefined)
  })

  test('Pods, patching status', async () => {
    const node = await started
    const pod = await node.create({ name: 'pod-status', script: server })
    await node.running(pod)
    const patch = {
      metadata: { annotations: { patchedstatus: 'true' } },
      status: { message: 'Patched by e2e test', reason: 'E2E' },
    }
    const { status } = await node.client.patch(pods, 'default', 'pod-status', patch, 'merge', 'status')
    assert.deepEqual([status?.message, status?.reason, status?.phase], ['Patched by e2e test', 'E2E', 'Running'])
  })
}

/** Writes the conditions of readiness as False. */
async function replaceReadiness({ client }: TestNode, { metadata }: Pod): Promise<void> {
  const current = await client.get(pods, 'default', metadata.name ?? '', 'status')
  const readiness = ['Ready', 'ContainersReady']
  const conditions = (current.status?.conditions ?? []).map((one) =>
    readiness.includes(one.type) ? { ...one, status: 'False' } : one,
  )
  const {
    metadata: { resourceVersion: _, ...rest },
  } = current
  const status = { ...current.status, conditions }
  const replaced = await client.updateStatus(pods, { ...current, metadata: rest, status })
  assert.deepEqual(
    readiness.map((type) => conditionOf(replaced, type)?.status),
    ['False', 'False'],
  )
}

function testReadinessGates(started: Promise<TestNode>): void {
  test('a pod with readiness gates is ready while all of their conditions are true', async () => {
    const node = await started
    const gates = ['example.com/one', 'example.com/two']
    const pod = await node.create({
      name: 'pod-ready',
      readinessGates: gates.map((conditionType) => ({ conditionType })),
      script: server,
    })
    const patch = (type: string, status: string) => {
      const body = { status: { conditions: [{ type, status }] } }
      return node.client.patch(pods, 'default', 'pod-ready', body, 'strategic', 'status')
    }
    const readyIs = (status: string, message: RegExp) => (current: Pod) => {
      const ready = conditionOf(current, 'Ready')
      return ready?.status === status && message.test(ready.message ?? '')
    }
    await node.until(pod, 'waits for both gates', readyIs('False', /one.*does not exist.*two.*does not exist/))
    await patch(gates[0]!, 'True')
    await node.until(pod, 'waits for the other gate', readyIs('False', /^corresponding condition of pod .*two/))
    await patch(gates[1]!, 'True')
    await node.until(pod, 'is ready', readyIs('True', /^$/))
    await patch(gates[0]!, 'False')
    await node.until(pod, 'is not ready', readyIs('False', /one" is not "True", but False$/))
    const { status } = await node.read(pod)
    assert.deepEqual(
      gates.map((type) => status?.conditions?.find((one) => one.type === type)?.status),
      ['False', 'True'],
    )
  })
}

function testServices(started: Promise<TestNode>): void {
  test('Pods, service environment variables', async () => {
    const node = await started
    const service = await node.client.create(services, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: 'default', name: 'fooservice', labels: { name: 'fooservice' } },
      spec: { ports: [{ port: 8765, targetPort: 8080 }], selector: { name: 'server-envvars' } },
    })
    const { clusterIP = '' } = service.spec ?? {}
    const script = 'env'
    const expected = {
      FOOSERVICE_SERVICE_HOST: clusterIP,
      FOOSERVICE_SERVICE_PORT: '8765',
      FOOSERVICE_PORT: `tcp://${clusterIP}:8765`,
      FOOSERVICE_PORT_8765_TCP: `tcp://${clusterIP}:8765`,
      FOOSERVICE_PORT_8765_TCP_PORT: '8765',
      FOOSERVICE_PORT_8765_TCP_PROTO: 'tcp',
      FOOSERVICE_PORT_8765_TCP_ADDR: clusterIP,
    }
    // The kubelet may learn of the Service after the first pod.
    for (let attempt = 0; ; attempt++) {
      const output = await node.ended(await node.create({ name: `client-envvars-${attempt}`, script }))
      if (attempt < 2 && !output.includes('FOOSERVICE_SERVICE_HOST')) continue
      const variables = Object.fromEntries(output.split('\n').map((line) => line.split(/=(.*)/).slice(0, 2)))
      assert.partialDeepStrictEqual(variables, expected)
      break
    }
  })
}

function testStreams(started: Promise<TestNode>): void {
  test('Pods, remote command execution over websocket', async () => {
    const node = await started
    const pod = await node.create({ name: 'pod-exec-websocket', script: alive })
    await node.running(pod)
    const query = new URLSearchParams('stderr=1&stdout=1&container=main&command=echo&command=remote+execution+test')
    const messages = await messagesOf(node, `${pathOf(pod, 'exec')}?${query}`, 'channel.k8s.io')
    assert.equal(channelOf(messages, 1), 'remote execution test\n')
    for (const message of messages) assert.ok(message[0] === 1 || message.length === 1, message.toString())
  })

  test('Pods, logs from websockets', async () => {
    const node = await started
    const pod = await node.create({ name: 'pod-logs-websocket', script: alive })
    await node.running(pod)
    await node.outputWith(pod, 'alive')
    const messages = await messagesOf(node, `${pathOf(pod, 'log')}?container=main`, 'binary.k8s.io')
    assert.equal(Buffer.concat(messages).toString(), 'container is alive\n')
  })
}

/** Resolves with the pod when its ephemeral container `debugger` runs, and answers. */
async function debugged(node: TestNode, name: string): Promise<Pod> {
  const pod = await node.create({ name, restartPolicy: 'Always', script: server })
  assert.equal((await node.running(pod)).metadata.generation, 1)
  const patch = { spec: { ephemeralContainers: [ephemeral('debugger', 'while true; do echo polo; sleep 2; done')] } }
  await node.client.patch(pods, 'default', name, patch, 'strategic', 'ephemeralcontainers')
  const isDebugged = ({ status }: Pod) => status?.ephemeralContainerStatuses?.[0]?.state?.running !== undefined
  const { metadata } = await node.until(pod, 'is debugged', isDebugged)
  assert.equal(metadata.generation, 2)
  assert.match(await runIn(node, pod, ['/bin/echo', 'marco'], 'debugger'), /marco/)
  await node.outputWith(pod, 'polo', 'debugger')
  const log = await messagesOf(node, `${pathOf(pod, 'log')}?container=debugger`, 'binary.k8s.io')
  assert.match(Buffer.concat(log).toString(), /polo/)
  return pod
}

function testEphemeralContainers(started: Promise<TestNode>): void {
  test('Ephemeral Container Creation', async () => {
    await debugged(await started, 'ephemeral-containers-target-pod-1')
  })

  test('Ephemeral Container, update ephemeral containers', async () => {
    const node = await started
    const { client } = node
    const name = 'ephemeral-containers-target-pod-2'
    const pod = await debugged(node, name)
    const one = await client.get(pods, 'default', name, 'ephemeralcontainers')
    assert.equal(one.spec?.ephemeralContainers?.length, 1)
    const { resourceVersion: _, ...metadata } = one.metadata
    const another = { name: 'debugger2', image: images.busybox, command: ['sleep', '600'] }
    const ephemeralContainers = [...(one.spec?.ephemeralContainers ?? []), another]
    const wanted = { ...one, metadata, spec: { ...one.spec!, ephemeralContainers } }
    await client.update(pods, wanted, 'ephemeralcontainers')
    const two = await client.get(pods, 'default', name, 'ephemeralcontainers')
    assert.equal(two.spec?.ephemeralContainers?.length, 2)
    await node.until(pod, 'is debugged twice', ({ status }) =>
      (status?.ephemeralContainerStatuses ?? []).every(({ state }) => state?.running !== undefined),
    )
  })
}

function testImageVolumes(started: Promise<TestNode>): void {
  // containerd mounts images from 2.1 on; Debian's is older. The kubelet pulls the image, and reports the refusal.
  test('Image Volume', async () => {
    const node = await started
    const pod = await node.create({
      name: 'image-volume',
      restartPolicy: 'Always',
      volumes: [{ name: 'volume', image: { reference: images.pause, pullPolicy: 'IfNotPresent' } }],
      script: server,
      container: { volumeMounts: [{ name: 'volume', mountPath: '/volume' }] },
    })
    if (node.runtime.name === 'typernetes') {
      await node.running(pod)
      return
    }
    const { status } = await node.until(
      pod,
      'waits',
      (one) => one.status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CreateContainerError',
    )
    const { message = '' } = status?.containerStatuses?.[0]?.state?.waiting ?? {}
    assert.match(
      message,
      node.runtime.name === 'docker'
        ? /^failed to create container: volumes of images need another container runtime than Docker$/
        : /^failed to generate container "[0-9a-f]+" spec: .*: no such file or directory$/,
    )
    const pulled = await node.messages(pod, 'Pulled')
    const present = 'already present on machine and can be accessed by the pod'
    assert.ok(pulled.includes(`Container image ${JSON.stringify(images.pause)} ${present}`), pulled.join('\n'))
    await waitFor('the event', async () => (await node.messages(pod, 'Failed')).length > 0)
    assert.equal((await node.messages(pod, 'Failed'))[0], `Error: ${message}`)
  })
}

/** The real node of `t8s up --node-type=real`, alone and beside simulated nodes, on a container runtime. Needs root. */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { before, test } from 'node:test'
import { waitFor } from '../support/wait-for.ts'
import { kubectl, type Running, repository, stop, t8s, temporaryFolder, up } from '../up/t8s-process.ts'
import { inNamespaces } from './support/in-namespaces.ts'
import { type NodeRuntime, startNodeRuntime } from './support/runtimes/node-runtime.ts'
import { cgroupRootOf } from './support/runtimes/runtime-process.ts'
import { images } from './support/runtimes/test-images.ts'

const name = hostname().trim().toLowerCase()
const patient = { deadlineMs: 120_000 }

/** Standard output of a command that succeeds. */
function run(cluster: Running, ...args: readonly string[]): string {
  const { code, stdout, stderr } = kubectl(cluster.kubeconfig, ...args)
  assert.equal(code, 0, `kubectl ${args.join(' ')}: ${stderr}`)
  return stdout
}

const nodeOf = (cluster: Running, pod: string): string =>
  run(cluster, 'get', 'pod', pod, '-o', 'jsonpath={.spec.nodeName}')

const isReady = (cluster: Running, pod: string) =>
  waitFor(
    `${pod} is ready`,
    () =>
      /True/.test(run(cluster, 'get', 'pod', pod, '-o', 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')),
    patient,
  )

/** Writes a KubeletConfiguration into a folder. */
function configurationIn(folder: string, name: string, fields: object): string {
  const file = join(folder, name)
  const configuration = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' }
  writeFileSync(file, JSON.stringify({ ...configuration, ...fields }))
  return file
}

/** The flags of a cluster with a real node, whose kubelet has cgroups of its own. */
function flagsFor({ endpoint }: NodeRuntime, folder: string): string[] {
  const file = configurationIn(folder, 'kubelet.json', { cgroupRoot: cgroupRootOf(endpoint), maxPods: 50 })
  const flags = ['--node-type=real', '--container-runtime-endpoint', endpoint, '--kubelet-config', file]
  return [...flags, '--data-dir', folder, '--secure-port=0']
}

const daemonSet = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'everywhere' },
  spec: {
    selector: { matchLabels: { app: 'everywhere' } },
    template: {
      metadata: { labels: { app: 'everywhere' } },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [{ name: 'c', image: images.busybox, command: ['sleep', '1000'] }],
      },
    },
  },
}

function manifestIn(folder: string, object: object): string {
  const file = join(folder, 'manifest.json')
  writeFileSync(file, JSON.stringify(object))
  return file
}

await inNamespaces(import.meta.filename, () => {
  let nodeRuntime: NodeRuntime
  before(async () => {
    nodeRuntime = await startNodeRuntime()
  })
  test.after(() => nodeRuntime.stop())
  const started = (): NodeRuntime => nodeRuntime
  testBothTypes(started)
  testMissingNetwork(started)
  testRefusals(started)
})

function testBothTypes(started: () => NodeRuntime): void {
  test('kubectl works with the pods of a real node, and with simulated nodes beside it', async (t) => {
    const nodeRuntime = started()
    const folder = temporaryFolder(t)
    const dropIns = join(folder, 'kubelet.d')
    mkdirSync(dropIns)
    configurationIn(dropIns, '10-pods.conf', { maxPods: 42 })
    const flags = [...flagsFor(nodeRuntime, folder), '--nodes=2', '--kubelet-config-dir', dropIns]
    const cluster = await up(t, flags)
    const types = '{range .items[*]}{.metadata.labels.t8s\\.dev/node-type}:{.spec.taints[*].effect} {end}'
    await waitFor(
      'three nodes, of which the simulated ones have a taint',
      () => {
        const found = run(cluster, 'get', 'nodes', '-o', `jsonpath=${types}`).trim().split(' ')
        return found.sort().join() === 'real:,simulated:PreferNoSchedule,simulated:PreferNoSchedule'
      },
      patient,
    )
    run(cluster, 'wait', 'node', name, '--for=condition=Ready', '--timeout=50s')
    run(cluster, 'run', 'web', `--image=${images.busybox}`, '--command', '--', 'sh', '-c', 'echo hello; sleep 1000')
    const chosen = JSON.stringify({ spec: { nodeSelector: { 't8s.dev/node-type': 'simulated' } } })
    run(cluster, 'run', 'shadow', `--image=${images.busybox}`, `--overrides=${chosen}`)
    await Promise.all([isReady(cluster, 'web'), isReady(cluster, 'shadow')])
    assert.equal(nodeOf(cluster, 'web'), name)
    assert.match(nodeOf(cluster, 'shadow'), /^node-[123]$/)
    assert.equal(run(cluster, 'logs', 'web'), 'hello\n')
    assert.equal(run(cluster, 'exec', 'web', '--', 'echo', 'from inside'), 'from inside\n')
    const arpOf = (pod: string): string =>
      t8s(['arp', '-i', 'x', '--pod', `default/${pod}`, '--container-runtime-endpoint', nodeRuntime.endpoint]).stderr
    assert.match(arpOf('web'), /^t8s: there is no interface x: choose one of lo, eth0$/m)
    assert.match(arpOf('shadow'), /^t8s: the pod default\/shadow was not found on this node \(runtimes without/)
    assert.match(run(cluster, 'logs', 'shadow'), /is simulated on node-/)
    assert.equal(run(cluster, 'get', 'node', name, '-o', 'jsonpath={.spec.podCIDR}').slice(0, 4), '10.1')
    assert.equal(run(cluster, 'get', 'node', name, '-o', 'jsonpath={.status.capacity.pods}'), '42')
    run(cluster, 'create', '-f', manifestIn(folder, daemonSet))
    run(cluster, 'rollout', 'status', 'daemonset/everywhere', '--timeout=50s')
    const daemons = run(cluster, 'get', 'pods', '-l', 'app=everywhere', '-o', 'jsonpath={.items[*].spec.nodeName}')
    assert.deepEqual(daemons.split(' ').sort(), [name, 'node-1', 'node-2'].sort())
    run(cluster, 'delete', 'daemonset', 'everywhere', '--timeout=50s')
    assert.equal(statSync(join(folder, 'node')).mode & 0o777, 0o700)

    // A second cluster must not remove the pods of this machine.
    const other = t8s(['up', ...flags, '--data-dir', join(folder, 'other')])
    assert.match(other.stderr, /^t8s: port 10250 is in use, probably by another kubelet/)

    const pid = run(cluster, 'exec', 'web', '--', 'sh', '-c', 'echo $PPID; touch /marker')
    await stop(cluster)
    const again = await up(t, flags)
    // The kubelet takes a moment to know its pods.
    const inside = ['exec', 'web', '--', 'sh', '-c', 'echo $PPID; ls /marker'] as const
    await waitFor('the kubelet knows the pod', () => kubectl(again.kubeconfig, ...inside).code === 0, patient)
    assert.equal(run(again, ...inside), `${pid}/marker\n`)
    assert.equal(run(again, 'get', 'pod', 'web', '-o', 'jsonpath={.status.containerStatuses[0].restartCount}'), '0')
    run(again, 'delete', 'pod', 'web', 'shadow', '--grace-period=1')
    await stop(again)
  })
}

function testMissingNetwork(started: () => NodeRuntime): void {
  test('a real node without a network of pods is not ready, and becomes ready with one', async (t) => {
    const nodeRuntime = started()
    const folder = temporaryFolder(t)
    const network = join(dirname(nodeRuntime.endpoint.slice('unix://'.length)), 'cni/10-pods.conflist')
    renameSync(network, `${network}.away`)
    let missing = true
    const restore = (): void => {
      if (missing) renameSync(`${network}.away`, network)
      missing = false
    }
    t.after(restore)
    const cluster = await up(t, flagsFor(nodeRuntime, folder))
    const ready = () =>
      run(cluster, 'get', 'node', name, '-o', 'jsonpath={.status.conditions[?(@.type=="Ready")].message}')
    await waitFor('the reason', () => /NetworkReady=false reason:NetworkPluginNotReady/.test(ready()), patient)
    assert.match(cluster.output(), /pods of the real node have no network yet, so it is not ready \(.*\): put a CNI/)
    restore()
    await waitFor('readiness', () => ready() === 'kubelet is posting ready status', patient)
    await stop(cluster)
  })
}

function testRefusals(started: () => NodeRuntime): void {
  test('t8s up names what a real node is missing, and starts nothing', (t) => {
    const nodeRuntime = started()
    const folder = temporaryFolder(t)
    chmodSync(folder, 0o755)
    const refusal = (args: readonly string[], program?: string, before: readonly string[] = []): string => {
      const data = join(folder, 'data')
      const { code, stdout, stderr } = t8s([...before, 'up', '--node-type=real', '--data-dir', data, ...args], {
        ...(program && { program }),
        env: { HOME: folder },
      })
      assert.deepEqual([code, stdout], [1, ''], stderr)
      assert.throws(() => statSync(data), { code: 'ENOENT' })
      return stderr
    }
    assert.equal(
      refusal(['--container-runtime-endpoint', nodeRuntime.endpoint], 'setpriv', [
        '--reuid=65534',
        '--regid=65534',
        '--clear-groups',
        join(repository, 't8s'),
      ]),
      't8s: this machine cannot be a real node, because t8s runs without root: use sudo, or leave out ' +
        '--node-type=real\n',
    )
    assert.equal(
      refusal(['--container-runtime-endpoint=unix:///nowhere.sock']),
      't8s: the socket /nowhere.sock of the container runtime does not exist: start the runtime, or name its socket ' +
        'with --container-runtime-endpoint, or leave that out for the runtime of Typernetes\n',
    )
    const file = configurationIn(folder, 'kubelet.json', { tlsCertFile: '/a.crt' })
    assert.equal(
      refusal(['--container-runtime-endpoint', nodeRuntime.endpoint, '--kubelet-config', file]),
      "t8s: the real node cannot use these fields of --kubelet-config: tlsCertFile (the cluster issues the kubelet's " +
        'certificate): leave them out, or run t8s kubelet\n',
    )
  })
}

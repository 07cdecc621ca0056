/** A cluster of `t8s up` whose real node serves Services, on a runtime and with a mode of kube-proxy. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { Pod } from '../../../../src/client/kinds.ts'
import { accessOf } from '../../../../src/cluster/kubeconfig-access.ts'
import { nodesReady } from '../../../conformance/support/pod-nodes.ts'
import { deadlineMs, Requests } from '../../../conformance/support/requests.ts'
import { startDns } from '../../../dns/dns-process.ts'
import { runIn } from '../../../kubelet/support/pod-requests.ts'
import { runtimeKind } from '../../../kubelet/support/runtimes/node-runtime.ts'
import { cgroupRootOf } from '../../../kubelet/support/runtimes/runtime-process.ts'
import { writeTestImages } from '../../../kubelet/support/runtimes/test-images.ts'
import { type ReachableCluster, reachable } from '../../../support/reachable-cluster.ts'
import { waitFor } from '../../../support/wait-for.ts'
import { t8s } from '../../../up/t8s-process.ts'
import { machineAddress, prepareMachine, startRealCluster } from '../../machine.ts'
import { writeProbeImage } from './probe-image.ts'

/** The variable with the mode of kube-proxy for the process of the tests. */
export const modeVariable = 'T8S_TEST_PROXY_MODE'

/** The address of DNS in the range of Services. */
export const dnsAddress = '10.96.0.10'

export interface ServedCluster {
  readonly cluster: ReachableCluster
  /** The name of the node. */
  readonly node: string
  /** The data directory. */
  readonly data: string
}

/** Called in `inNamespaces`; the cluster ends after the tests of the file. */
export async function servedCluster(...flags: readonly string[]): Promise<ServedCluster> {
  prepareMachine()
  const folder = mkdtempSync(join(tmpdir(), 't8s-served-'))
  const mode = process.env[modeVariable]
  const all = [...(mode ? ['--proxy-mode', mode] : []), ...flags, ...(await runtimeFlags(folder))]
  const data = join(folder, 'data')
  const running = await startRealCluster({ after }, data, all)
  // Mounts of volumes end with the namespace.
  after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  const { url, ca = '', cert = '', key = '' } = await accessOf(running.kubeconfig)
  const kubeconfigYaml = readFileSync(running.kubeconfig, 'utf8')
  const address = url.replace(/\/$/, '')
  const cluster = reachable({ after }, { url: address, client: { url: address, ca, cert, key }, kubeconfigYaml })
  if (runtimeKind() !== 'embedded') await serveNames(cluster)
  await nodesReady(cluster, 1).catch((error) => assert.fail(`${error}\n${running.output()}`))
  return { cluster, node: hostname().trim().toLowerCase(), data }
}

/** Starts `t8s dns` on the machine, for pods of a runtime that has no DNS of the cluster. */
async function serveNames(cluster: ReachableCluster): Promise<void> {
  await startDns(cluster.kubeconfigFile, 53, '--bind-address', machineAddress)
  const core = '/api/v1/namespaces/kube-system'
  const ports = [
    { name: 'dns', port: 53, protocol: 'UDP' },
    { name: 'dns-tcp', port: 53, protocol: 'TCP' },
  ]
  await cluster.call('POST', `${core}/services`, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'kube-dns' },
    spec: { clusterIP: dnsAddress, ports },
  })
  await cluster.call('POST', '/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices', {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'kube-dns', labels: { 'kubernetes.io/service-name': 'kube-dns' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [machineAddress] }],
    ports,
  })
}

/** Imports the images into the runtime of the test, and returns the flags that choose it. */
async function runtimeFlags(folder: string): Promise<readonly string[]> {
  if (runtimeKind() === 'embedded') {
    for (const file of [...writeTestImages(folder), writeProbeImage(folder)]) {
      const { code, stderr } = t8s(['image', 'import', file])
      assert.equal(code, 0, stderr)
    }
    return []
  }
  const { startContainerd } = await import('../../../kubelet/support/runtimes/containerd.ts')
  const runtime = await startContainerd()
  after(() => runtime.stop())
  await runtime.importImage(writeProbeImage(folder))
  const configuration = join(folder, 'kubelet.json')
  const fields = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    cgroupRoot: cgroupRootOf(runtime.endpoint),
    clusterDNS: [dnsAddress],
    clusterDomain: 'cluster.local',
  }
  writeFileSync(configuration, JSON.stringify(fields))
  return [
    ...['--container-runtime-endpoint', runtime.endpoint, '--kubelet-config', configuration],
    // The network of these pods is not the cluster's, so they reach the server at the machine's address.
    ...['--bind-address', machineAddress],
  ]
}

/** Requests of a test in a namespace of its own, and its pods. */
export interface ServedRequests {
  readonly api: Requests
  readonly served: ServedCluster
  /** Creates a pod, and resolves when it is ready. */
  pod(name: string, spec: Partial<NonNullable<Pod['spec']>>, labels?: Readonly<Record<string, string>>): Promise<Pod>
  /** Deletes a pod; it may terminate for a moment. */
  remove(name: string): Promise<void>
}

export async function inServedNamespace(served: Promise<ServedCluster>, name: string): Promise<ServedRequests> {
  const started = await served
  const api = await Requests.in(started.cluster, name)
  return {
    api,
    served: started,
    async pod(name, spec, labels = {}) {
      await api.post(`${api.core}/pods`, podOf(name, spec, labels))
      return waitFor(
        `${name} is ready`,
        async () => {
          const pod = await api.get<Pod>(`${api.core}/pods/${name}`)
          return isReady(pod) && pod
        },
        { deadlineMs, everyMs: 100 },
      )
    },
    async remove(name) {
      await api.delete(`${api.core}/pods/${name}`)
    },
  }
}

const podOf = (name: string, spec: Partial<NonNullable<Pod['spec']>>, labels: Readonly<Record<string, string>>) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels },
  spec: { terminationGracePeriodSeconds: 0, automountServiceAccountToken: false, ...spec },
})

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false

/** Runs a command in the first container of a pod. Resolves with its output, and rejects with its errors. */
export const execIn = ({ cluster }: ServedCluster, pod: Pod, ...command: readonly string[]): Promise<string> =>
  runIn({ cluster }, pod, command)

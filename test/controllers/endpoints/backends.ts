/**
 * A cluster with the controllers of endpoints, in which the test plays kubelets: pods have the addresses and states
 * that it says.
 */
import type { ClusterOptions } from '../../../src/cluster/start-cluster.ts'
import { type Lifetime, type TestCluster, testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

export interface Endpoint {
  readonly addresses: readonly string[]
  readonly conditions: { readonly ready?: boolean; readonly serving?: boolean; readonly terminating?: boolean }
  readonly nodeName?: string
  readonly zone?: string
  readonly hints?: { readonly forZones?: readonly { readonly name: string }[] }
}

export interface Slice {
  readonly metadata: {
    readonly name: string
    readonly resourceVersion: string
    readonly labels: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly ownerReferences?: readonly { readonly kind: string; readonly name: string }[]
  }
  readonly addressType: string
  readonly endpoints: readonly Endpoint[] | null
  readonly ports: readonly { readonly name: string; readonly port: number }[] | null
}

interface Subset {
  readonly addresses?: readonly { readonly ip: string }[]
  readonly notReadyAddresses?: readonly { readonly ip: string }[]
  readonly ports?: readonly { readonly name?: string; readonly port: number }[]
}

export const core = '/api/v1/namespaces/default'
export const slicesPath = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'
const merge = 'application/merge-patch+json'

export interface PodTraits {
  readonly ips: readonly string[]
  readonly labels?: Readonly<Record<string, string>>
  readonly ready?: boolean
  readonly node?: string
  /** Names of ports and their numbers. */
  readonly ports?: Readonly<Record<string, number>>
}

export class Backends {
  readonly cluster: TestCluster

  constructor(cluster: TestCluster) {
    this.cluster = cluster
  }

  async node(name: string, zone?: string): Promise<void> {
    const labels = zone ? { 'topology.kubernetes.io/zone': zone } : {}
    await this.cluster.call('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } })
    const status = {
      allocatable: { cpu: '4' },
      capacity: { cpu: '4' },
      conditions: [{ type: 'Ready', status: 'True' }],
    }
    await this.cluster.call('PATCH', `/api/v1/nodes/${name}/status`, { status }, merge)
  }

  async service(name: string, spec: object = {}, metadata: object = {}): Promise<void> {
    const ports = [{ name: 'http', port: 80, targetPort: 8080 }]
    await this.cluster.call('POST', `${core}/services`, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, ...metadata },
      spec: { selector: { app: name }, ports, ...spec },
    })
  }

  async pod(
    name: string,
    { ips, labels = { app: 'web' }, ready = true, node = 'n', ports = {} }: PodTraits,
  ): Promise<void> {
    const containers = [
      {
        name: 'c',
        image: 'i',
        ports: Object.entries(ports).map(([port, containerPort]) => ({ name: port, containerPort })),
      },
    ]
    await this.cluster.call('POST', `${core}/pods`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels },
      spec: { nodeName: node, containers },
    })
    await this.runs(name, ips, ready)
  }

  async runs(name: string, ips: readonly string[], ready: boolean): Promise<void> {
    const conditions = [
      {
        type: 'Ready',
        status: ready ? 'True' : 'False',
        lastTransitionTime: `${new Date().toISOString().slice(0, 19)}Z`,
      },
    ]
    await this.cluster.call(
      'PATCH',
      `${core}/pods/${name}/status`,
      { status: { phase: 'Running', podIPs: ips.map((ip) => ({ ip })), podIP: ips[0], conditions } },
      merge,
    )
  }

  async delete(path: string): Promise<void> {
    await this.cluster.call('DELETE', `${core}/${path}`)
  }

  async slices(service: string): Promise<Slice[]> {
    const { items } = await this.cluster.call(
      'GET',
      `${slicesPath}?labelSelector=kubernetes.io/service-name%3D${service}`,
    )
    return items as Slice[]
  }

  /**
   * `10.0.0.1` for an endpoint that is ready, with a dash before one that is not; then the ports: `10.0.0.1,-10.0.0.2:
   * http 8080`.
   */
  async shown(service: string): Promise<string> {
    const slices = (await this.slices(service)).map(({ endpoints, ports }) => {
      const addresses = (endpoints ?? []).map(
        ({ addresses, conditions }) => `${conditions.ready ? '' : '-'}${addresses}`,
      )
      return lineOf(addresses, ports ?? [])
    })
    return slices.sort().join(' | ')
  }

  /** The same of the Endpoints object; `none` where there is none. */
  async shownAsEndpoints(name: string): Promise<string> {
    const found = await this.cluster.call('GET', `${core}/endpoints/${name}`).catch((error: Error) => {
      if (!error.message.includes(' 404 ')) throw error
    })
    if (!found) return 'none'
    const subsets = ((found.subsets ?? []) as readonly Subset[]).map(
      ({ addresses = [], notReadyAddresses = [], ports = [] }) =>
        lineOf([...addresses.map(({ ip }) => ip), ...notReadyAddresses.map(({ ip }) => `-${ip}`)], ports),
    )
    return subsets.sort().join(' | ')
  }

  /** Waits until slices and Endpoints show the same. */
  async show(service: string, expected: string): Promise<void> {
    await waitFor(`the slices of ${service} show ${expected}`, async () => isShown(await this.shown(service), expected))
    await waitFor(`the Endpoints of ${service} show ${expected}`, async () =>
      isShown(await this.shownAsEndpoints(service), expected === ': ' ? '' : expected),
    )
  }
}

function isShown(shown: string, expected: string): true {
  if (shown !== expected) throw new Error(`they show ${shown}`)
  return true
}

const lineOf = (
  addresses: readonly string[],
  ports: readonly { readonly name?: string; readonly port: number }[],
): string =>
  `${addresses.toSorted((a, b) => (a.replace('-', '') < b.replace('-', '') ? -1 : 1))}: ${ports
    .map(({ name = '', port }) => `${name} ${port}`.trim())
    .sort()
    .join()}`

/** With a node `n`. */
export async function backends(t: Lifetime, options: ClusterOptions = {}): Promise<Backends> {
  const controllers = [
    'endpoints-controller',
    'endpointslice-controller',
    'endpointslice-mirroring-controller',
    'serviceaccount-controller',
  ]
  const cluster = await testCluster(t, { controllers, ...options })
  const made = new Backends(cluster)
  await made.node('n')
  await waitFor('the account of pods', () => cluster.call('GET', `${core}/serviceaccounts/default`))
  return made
}

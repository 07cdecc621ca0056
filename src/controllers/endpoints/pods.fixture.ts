/** Pods and Services for the tests of this folder. */
import type { Pod, Service } from '../../client/kinds.ts'

export interface PodTraits {
  readonly ip?: string
  readonly ips?: readonly string[]
  readonly isReady?: boolean
  readonly phase?: string
  readonly isDeleted?: boolean
  readonly nodeName?: string
  readonly hostname?: string
  readonly subdomain?: string
  /** Numbers of the container's ports by name. */
  readonly ports?: Readonly<Record<string, number>>
  readonly readySince?: string
}

export const podNamed = (name: string, traits: PodTraits = {}): Pod => {
  const {
    ip = '10.0.0.1',
    ips = [ip],
    isReady = true,
    phase = 'Running',
    nodeName = 'n',
    hostname,
    subdomain,
    ports = {},
    readySince,
  } = traits
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'ns',
      uid: `uid-${name}`,
      labels: { app: 'web' },
      ...(traits.isDeleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: {
      nodeName,
      hostname,
      subdomain,
      containers: [
        {
          name: 'c',
          image: 'i',
          ports: Object.entries(ports).map(([port, containerPort]) => ({ name: port, containerPort })),
        },
      ],
    },
    status: {
      phase,
      podIP: ips[0],
      podIPs: ips.filter((address) => address !== '').map((address) => ({ ip: address })),
      conditions: [
        { type: 'Ready', status: isReady ? 'True' : 'False', ...(readySince && { lastTransitionTime: readySince }) },
      ],
    },
  }
}

export const serviceWith = (spec: NonNullable<Service['spec']> = {}, labels: Record<string, string> = {}): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'ns', uid: 'uid-web', creationTimestamp: '2026-01-01T00:00:00Z', labels },
  spec: {
    selector: { app: 'web' },
    clusterIP: '10.96.0.7',
    ipFamilies: ['IPv4'],
    ports: [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }],
    ...spec,
  },
})

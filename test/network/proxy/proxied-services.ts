/** A picture of Services for tests of a mode of kube-proxy: changed by specs, as the API server would. */
import type { EndpointSlice, Service } from '../../../src/client/kinds.ts'
import type { ProxyMode } from '../../../src/network/proxy/modes/proxy-mode.ts'
import { PictureOfServices } from '../../../src/network/proxy/picture/service-picture.ts'
import { podPort } from './node-lab.ts'

/** The node of local endpoints. */
export const nodeName = 'here'

export interface ServiceSpec {
  readonly spec: NonNullable<Service['spec']>
  readonly status?: Service['status']
  /** Addresses of ready pods on this node. */
  readonly pods?: readonly string[]
  /** Addresses of ready pods on another node. */
  readonly remotePods?: readonly string[]
}

export class ProxiedServices {
  readonly services: PictureOfServices = new PictureOfServices(4, { node: nodeName, zone: '' })
  readonly #known = new Map<string, { service: Service; slice: EndpointSlice }>()

  /** Sets, or without a spec deletes, a Service of the namespace `default`, whose only port is `http`. */
  set(name: string, spec: ServiceSpec | undefined): void {
    const old = this.#known.get(name)
    const objects = spec && { service: serviceOf(name, spec), slice: sliceOf(name, spec) }
    this.services.setService(objects?.service, old?.service)
    this.services.setSlice(objects?.slice, old?.slice)
    if (objects) this.#known.set(name, objects)
    else this.#known.delete(name)
  }

  /** Brings changes into effect as one sync. */
  async sync(mode: ProxyMode): Promise<void> {
    const changed = this.services.update()
    await mode.sync(this.services.picture, changed)
  }
}

function serviceOf(name: string, { spec, status }: ServiceSpec): Service {
  const ports = spec.ports ?? [{ name: 'http', port: 80, protocol: 'TCP' }]
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name },
    spec: { ...spec, clusterIPs: [spec.clusterIP ?? ''], ports },
    status,
  }
}

function sliceOf(name: string, { spec, pods = [], remotePods = [] }: ServiceSpec): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'default', name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    ports: (spec.ports ?? [{ name: 'http' }]).map((port) => ({ name: port.name, port: podPort, protocol: 'TCP' })),
    endpoints: [
      ...pods.map((address) => ({ addresses: [address], nodeName })),
      ...remotePods.map((address) => ({ addresses: [address], nodeName: 'there' })),
    ],
  }
}

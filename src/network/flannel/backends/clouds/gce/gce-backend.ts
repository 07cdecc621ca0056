/** The backend gce: a route of the project's network to the instance, in place of a device. */
import { textOf } from '../../../config/network-config.ts'
import type { Backend } from '../../backend.ts'
import { acquireCloudLease, cloudNetwork } from '../cloud-lease.ts'
import type { CloudMachine } from '../cloud-machine.ts'
import { MetadataService } from '../metadata-service.ts'
import { ComputeApi } from './compute-api.ts'

const type = 'gce'
const metadataHost = 'metadata.google.internal'
const computeAddress = 'https://compute.googleapis.com'
const routePriority = 1000

/** The backend on a machine. */
export const gceBackend = (machine: CloudMachine): Backend => ({
  type,
  async register(context) {
    const { config, environment, log, signal } = context
    const lease = await acquireCloudLease(context, type)
    const host = environment.GCE_METADATA_HOST || metadataHost
    const address = (textOf(config.backend, 'MetadataEndpoint') ?? `http://${host}`).replace(/\/+$/, '')
    const headers = { 'metadata-flavor': 'Google' }
    const metadata = new MetadataService({ machine, cloud: 'Google Compute Engine', address, headers, signal })
    const lastPart = async (path: string): Promise<string> =>
      baseName(await metadata.get(`/computeMetadata/v1/${path}`))
    const network = await lastPart('instance/network-interfaces/0/network')
    const project = await lastPart('project/project-id')
    const zone = await lastPart('instance/zone')
    // A name of an instance has no dots.
    const instance = (await lastPart('instance/hostname')).split('.')[0] ?? ''
    const endpoint = (textOf(config.backend, 'Endpoint') ?? computeAddress).replace(/\/+$/, '')
    const api = new ComputeApi({ machine, metadata, project, endpoint, signal })
    const networkLink = await api.selfLink(`global/networks/${network}`)
    const nextHopInstance = await api.selfLink(`zones/${zone}/instances/${instance}`)
    const name = routeName(lease.subnet)
    const present = await api.nextHop(name)
    if (present === nextHopInstance) {
      log('Exact pre-existing route found')
      return cloudNetwork(context, lease)
    }
    if (present !== undefined) {
      log('Deleting conflicting route')
      await api.deleteRoute(name)
    }
    log(`Inserting route for subnet: ${lease.subnet}`)
    await api.insertRoute({
      name,
      destRange: lease.subnet,
      network: networkLink,
      nextHopInstance,
      priority: routePriority,
      tags: [],
    })
    return cloudNetwork(context, lease)
  },
})

/** `flannel-10-244-1-0-24`. */
const routeName = (subnet: string): string => `flannel-${subnet.replace(/[./]/g, '-')}`

const baseName = (path: string): string => path.split('/').at(-1) ?? ''

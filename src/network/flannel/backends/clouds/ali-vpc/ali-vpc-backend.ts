/** The backend ali-vpc: a route of the VPC's table to the instance, in place of a device. */
import { randomUUID } from 'node:crypto'
import { textOf } from '../../../config/network-config.ts'
import type { Backend, BackendContext } from '../../backend.ts'
import { acquireCloudLease, cloudNetwork } from '../cloud-lease.ts'
import type { CloudMachine } from '../cloud-machine.ts'
import { MetadataService } from '../metadata-service.ts'
import { aliCredentials } from './ali-credentials.ts'
import { type AliRouter, VpcApi } from './vpc-api.ts'

const type = 'ali-vpc'
const metadataAddress = 'http://100.100.100.200'
const session = { lifetime: 'x-aliyun-ecs-metadata-token-ttl-seconds', token: 'x-aliyun-ecs-metadata-token' } as const
/** How often the table is read until its routes are available, and for how long, in ms: upstream's minute. */
const waitMs = { each: 1000, all: 60_000 } as const

/** The backend on a machine. */
export const aliVpcBackend = (machine: CloudMachine): Backend => ({
  type,
  async register(context) {
    const { config, signal } = context
    const lease = await acquireCloudLease(context, type)
    const address = (textOf(config.backend, 'MetadataEndpoint') ?? metadataAddress).replace(/\/+$/, '')
    const metadata = new MetadataService({ machine, cloud: 'Alibaba Cloud', address, session, signal })
    const credentials = aliCredentials(context, machine, metadata)
    const region = await metadata.get('/latest/meta-data/region-id')
    const instance = await metadata.get('/latest/meta-data/instance-id')
    const vpc = await metadata.get('/latest/meta-data/vpc-id')
    const endpoint = (textOf(config.backend, 'Endpoint') ?? `https://vpc.${region}.aliyuncs.com`).replace(/\/+$/, '')
    const api = new VpcApi({ machine, region, endpoint, credentials, nonce: randomUUID, signal })
    const router = await api.router(vpc)
    await setRoute(context, api, router, lease.subnet, instance)
    await waitUntilAvailable(machine, api, router, signal)
    return cloudNetwork(context, lease)
  },
})

/** As upstream, an instance has one route: earlier ones are removed. */
async function setRoute(
  { log }: BackendContext,
  api: VpcApi,
  router: AliRouter,
  subnet: string,
  instance: string,
): Promise<void> {
  let exists = false
  for (const { table, type: kind, instance: hop, destination, status } of await api.routes(router)) {
    if (table !== router.table || kind !== 'Custom' || hop !== instance) continue
    const name = `rtableid=${table}, CIDR=${destination}, NextHop=${hop}`
    if (destination === subnet && status === 'Available') {
      exists = true
      log(`Keep target entry: ${name}`)
    } else if (destination === '0.0.0.0/0') log(`Keep route entry: ${name} For DNAT`)
    else {
      await api.deleteRoute(table, destination, hop)
      log(`Remove old route entry: ${name}`)
    }
  }
  if (exists) return
  await api.createRoute(router.table, subnet, instance)
  log(`Route added to table ${router.table}: ${subnet} - ${instance}.`)
}

async function waitUntilAvailable(
  machine: CloudMachine,
  api: VpcApi,
  router: AliRouter,
  signal: AbortSignal,
): Promise<void> {
  for (let waited = 0; ; waited += waitMs.each) {
    const pending = (await api.routes(router)).filter(({ status }) => status !== 'Available')
    if (pending.length === 0) return
    if (waited >= waitMs.all) {
      const names = pending.map(({ destination, status }) => `${destination} is ${status}`).join(', ')
      throw new Error(`routes of the table ${router.table} are not available after a minute: ${names}`)
    }
    await machine.pause(waitMs.each, signal)
  }
}

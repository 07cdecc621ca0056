/** The backend aws-vpc: a route of the VPC's tables to the instance's interface, in place of a device. */
import { rangeHas } from '../../../../../lib/cidr.ts'
import { messageOf } from '../../../../../lib/message-of.ts'
import { type BackendSettings, fieldOf, textOf } from '../../../config/network-config.ts'
import type { Backend, BackendContext } from '../../backend.ts'
import { CloudError } from '../cloud-calls.ts'
import { acquireCloudLease, cloudNetwork } from '../cloud-lease.ts'
import type { CloudMachine } from '../cloud-machine.ts'
import { MetadataService } from '../metadata-service.ts'
import { awsCredentials } from './aws-credentials.ts'
import { Ec2Api, type Ec2Interface } from './ec2-api.ts'

const type = 'aws-vpc'
const metadataAddress = 'http://169.254.169.254'
const session = { lifetime: 'x-aws-ec2-metadata-token-ttl-seconds', token: 'x-aws-ec2-metadata-token' } as const

/** The backend on a machine. */
export const awsVpcBackend = (machine: CloudMachine): Backend => ({
  type,
  async register(context) {
    const { config, environment, external, log, signal } = context
    const configured = routeTableIds(config.backend)
    const lease = await acquireCloudLease(context, type)
    const address =
      textOf(config.backend, 'MetadataEndpoint') ?? environment.AWS_EC2_METADATA_SERVICE_ENDPOINT ?? metadataAddress
    const metadata = new MetadataService({ machine, cloud: 'AWS', address: origin(address), session, signal })
    const region = await regionOf(metadata)
    const endpoint =
      textOf(config.backend, 'Endpoint') ??
      environment.AWS_ENDPOINT_URL_EC2 ??
      environment.AWS_ENDPOINT_URL ??
      `https://ec2.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
    const credentials = awsCredentials(environment, machine, metadata)
    const api = new Ec2Api({ machine, region, endpoint: origin(endpoint), credentials, signal })
    const instance = await metadata.get('/latest/meta-data/instance-id')
    const found = (await api.interfaces(instance)).find(({ addresses }) => addresses.includes(external.address ?? ''))
    if (!found)
      throw new Error(
        `unable to find ENI that matches the ${external.address} IP address: the instance ${instance} has no ` +
          'interface with it; choose the interface with --iface',
      )
    log(`Found ${found.id} that has ${external.address} IP address.`)
    await api
      .disableSourceDestCheck(found.id)
      .catch((error) => log(`failed to disable SourceDestCheck on ${found.id}: ${messageOf(error)}`))
    for (const table of configured ?? [await detectTable(api, found, log)])
      await setRoute(context, api, table, lease.subnet, found.id)
    return cloudNetwork(context, lease)
  },
})

const origin = (url: string): string => url.replace(/\/+$/, '')

/** `RouteTableID` is one ID or several. */
function routeTableIds(backend: BackendSettings): readonly string[] | undefined {
  const value = fieldOf(backend, 'RouteTableID')
  if (value === undefined) return undefined
  if (typeof value === 'string') return [value]
  if (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string')) return value
  throw new Error(`RouteTableID is ${JSON.stringify(value)}: it must be an ID such as "rtb-abc00001", or several in []`)
}

async function regionOf(metadata: MetadataService): Promise<string> {
  const document: unknown = JSON.parse(await metadata.get('/latest/dynamic/instance-identity/document'))
  if (typeof document === 'object' && document !== null && 'region' in document && typeof document.region === 'string')
    return document.region
  throw new Error('error getting EC2 region name: the identity document of the instance has none')
}

/** The table of the interface's subnet: its own, or the main one of the VPC. */
async function detectTable(
  api: Ec2Api,
  { subnetId, vpcId }: Ec2Interface,
  log: BackendContext['log'],
): Promise<string> {
  const own = await api.routeTables({ 'association.subnet-id': subnetId })
  const [table] = own.length > 0 ? own : await api.routeTables({ 'association.main': 'true', 'vpc-id': vpcId })
  if (!table) throw new Error(`main route table not found: name a table of the VPC ${vpcId} in RouteTableID`)
  log(`Found route table ${table.id}.`)
  return table.id
}

/** Removes routes to instances that do not exist any more, and adds that of this node. */
async function setRoute(
  { config, log }: BackendContext,
  api: Ec2Api,
  table: string,
  subnet: string,
  interfaceId: string,
): Promise<void> {
  const { routes } = await api.routeTable(table)
  for (const { destination, state } of routes) {
    if (state !== 'blackhole' || destination === subnet || !isPartOf(config.network, destination)) continue
    log(`Removing blackhole route: ${destination}`)
    await api
      .deleteRoute(table, destination)
      .catch((error) => log(`Error cleaning up blackhole routes: ${messageOf(error)}`))
  }
  const present = routes.find(({ destination }) => destination === subnet)
  if (present?.state === 'active' && present.interfaceId === interfaceId) {
    log(`Table ${table} has the route: ${subnet} - ${interfaceId}.`)
    return
  }
  if (present) await replace(api, table, subnet, interfaceId)
  else await api.createRoute(table, subnet, interfaceId)
  log(`Route added to table ${table}: ${subnet} - ${interfaceId}.`)
}

/** Policies for upstream's flannel may lack ec2:ReplaceRoute. */
async function replace(api: Ec2Api, table: string, subnet: string, interfaceId: string): Promise<void> {
  try {
    await api.replaceRoute(table, subnet, interfaceId)
  } catch (error) {
    if (!(error instanceof CloudError) || error.code !== 'UnauthorizedOperation') throw error
    await api.deleteRoute(table, subnet)
    await api.createRoute(table, subnet, interfaceId)
  }
}

const isPartOf = (network: string | undefined, destination: string): boolean =>
  network !== undefined && rangeHas(network, destination.split('/')[0] ?? '')

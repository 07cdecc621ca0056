/** The query API of EC2, as far as routes need it. */
import { CloudError, isBusy, retried, send } from '../cloud-calls.ts'
import type { CloudMachine } from '../cloud-machine.ts'
import { type AwsCredentials, percentEncoded, signedHeaders } from './signature-v4.ts'
import { parseXml, type XmlElement } from './xml-element.ts'

export interface Ec2Options {
  readonly machine: CloudMachine
  readonly region: string
  /** `https://ec2.eu-west-1.amazonaws.com`. */
  readonly endpoint: string
  /** Resolves with credentials that have not expired. */
  readonly credentials: () => Promise<AwsCredentials>
  readonly signal: AbortSignal
}

/** A network interface of an instance. */
export interface Ec2Interface {
  readonly id: string
  readonly subnetId: string
  readonly vpcId: string
  readonly addresses: readonly string[]
}

export interface Ec2Route {
  /** `10.244.1.0/24`; empty for routes of IPv6 and prefix lists. */
  readonly destination: string
  readonly interfaceId: string
  readonly state: string
}

export interface Ec2RouteTable {
  readonly id: string
  readonly routes: readonly Ec2Route[]
}

const version = '2016-11-15'
const throttlingCodes: readonly string[] = ['RequestLimitExceeded', 'Throttling', 'ThrottlingException', 'Unavailable']

const remedies: Readonly<Record<string, string>> = {
  UnauthorizedOperation: 'allow the action in the IAM role of the instance, or of the user of AWS_ACCESS_KEY_ID',
  AuthFailure: 'correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the instance an IAM role',
  InvalidClientTokenId: 'correct AWS_ACCESS_KEY_ID, or give the instance an IAM role',
  SignatureDoesNotMatch: 'correct AWS_SECRET_ACCESS_KEY',
  RequestExpired: "correct this machine's clock",
  RouteLimitExceeded: 'ask AWS for more routes in a table, or use the backend vxlan',
  'InvalidRouteTableID.NotFound': "correct RouteTableID; tables are in the instance's region",
}

export class Ec2Api {
  readonly #options: Ec2Options

  constructor(options: Ec2Options) {
    this.#options = options
  }

  /** The interfaces of an instance. */
  async interfaces(instanceId: string): Promise<readonly Ec2Interface[]> {
    const answer = await this.#call('DescribeInstances', { 'InstanceId.1': instanceId })
    return answer
      .items('reservationSet')
      .flatMap((reservation) => reservation.items('instancesSet'))
      .flatMap((instance) => instance.items('networkInterfaceSet'))
      .map((item) => ({
        id: item.textOf('networkInterfaceId'),
        subnetId: item.textOf('subnetId'),
        vpcId: item.textOf('vpcId'),
        addresses: item.items('privateIpAddressesSet').map((address) => address.textOf('privateIpAddress')),
      }))
  }

  /** Lets an interface send and receive packets with addresses of pods. */
  async disableSourceDestCheck(interfaceId: string): Promise<void> {
    await this.#call('ModifyNetworkInterfaceAttribute', {
      NetworkInterfaceId: interfaceId,
      'SourceDestCheck.Value': 'false',
    })
  }

  async routeTable(id: string): Promise<Ec2RouteTable> {
    const [table] = tablesOf(await this.#call('DescribeRouteTables', { 'RouteTableId.1': id }))
    if (table) return table
    throw new CloudError(`AWS has no route table ${id}: correct RouteTableID`, { code: '', isTemporary: false })
  }

  /** The route tables to which all filters apply: `{ 'vpc-id': 'vpc-1' }`. */
  async routeTables(filters: Readonly<Record<string, string>>): Promise<readonly Ec2RouteTable[]> {
    const parameters = Object.entries(filters).flatMap(([name, value], i) => [
      [`Filter.${i + 1}.Name`, name],
      [`Filter.${i + 1}.Value.1`, value],
    ])
    return tablesOf(await this.#call('DescribeRouteTables', Object.fromEntries(parameters)))
  }

  async createRoute(tableId: string, destination: string, interfaceId: string): Promise<void> {
    await this.#call('CreateRoute', routeParameters(tableId, destination, interfaceId))
  }

  /** Gives an existing route another interface, without a gap. */
  async replaceRoute(tableId: string, destination: string, interfaceId: string): Promise<void> {
    await this.#call('ReplaceRoute', routeParameters(tableId, destination, interfaceId))
  }

  /** A route that does not exist is no error. */
  async deleteRoute(tableId: string, destination: string): Promise<void> {
    try {
      await this.#call('DeleteRoute', { RouteTableId: tableId, DestinationCidrBlock: destination })
    } catch (error) {
      if (!(error instanceof CloudError) || error.code !== 'InvalidRoute.NotFound') throw error
    }
  }

  #call(action: string, parameters: Readonly<Record<string, string>>): Promise<XmlElement> {
    const { machine, region, endpoint, credentials, signal } = this.#options
    const body = Object.entries({ Action: action, Version: version, ...parameters })
      .map((pair) => pair.map(percentEncoded).join('='))
      .join('&')
    return retried(machine, signal, async () => {
      const url = new URL(`${endpoint}/`)
      const parts = {
        method: 'POST',
        url,
        headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
        body,
      } as const
      const scope = { region, service: 'ec2', time: machine.now() }
      const { host: _, ...headers } = signedHeaders(parts, await credentials(), scope)
      const request = { name: `${action} of AWS`, url: url.href, method: 'POST', headers, body } as const
      const { status, text } = await send(machine, request, signal)
      if (status === 200) return parseXml(text)
      throw errorOf(action, status, text)
    })
  }
}

const routeParameters = (tableId: string, destination: string, interfaceId: string) => ({
  RouteTableId: tableId,
  DestinationCidrBlock: destination,
  NetworkInterfaceId: interfaceId,
})

const tablesOf = (answer: XmlElement): Ec2RouteTable[] =>
  answer.items('routeTableSet').map((table) => ({
    id: table.textOf('routeTableId'),
    routes: table.items('routeSet').map((route) => ({
      destination: route.textOf('destinationCidrBlock'),
      interfaceId: route.textOf('networkInterfaceId'),
      state: route.textOf('state'),
    })),
  }))

function errorOf(action: string, status: number, text: string): CloudError {
  let [code, message] = ['', text.slice(0, 200)]
  try {
    const error = parseXml(text).find('Errors/Error')
    if (error) [code, message] = [error.textOf('Code'), error.textOf('Message')]
  } catch {
    // A proxy may answer with anything.
  }
  const remedy = remedies[code]
  const reason = [code || `status ${status}`, message].filter(Boolean).join(': ').replace(/\.$/, '')
  return new CloudError(`AWS rejects ${action} with ${reason}${remedy === undefined ? '' : `; ${remedy}`}`, {
    code,
    isTemporary: isBusy(status) || throttlingCodes.includes(code),
  })
}

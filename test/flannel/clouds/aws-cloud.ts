/** A stand-in for AWS: EC2's query API with routes, signatures that it checks itself, and metadata with sessions. */
import { createHash, createHmac } from 'node:crypto'
import type { Lifetime } from '../../support/test-cluster.ts'
import { type CloudInstance, type CloudQuestion, type CloudReply, serveCloud } from './cloud-server.ts'

export interface AwsRoute {
  readonly destination: string
  readonly networkInterface: string
}

const role = { AccessKeyId: 'ASIAROLE', SecretAccessKey: 'role/secret+key', Token: 'session//token=' }
const session = 'a-session'

export class AwsCloud {
  /** The routes of the table `rtb-main`. */
  routes: AwsRoute[] = []
  /** The actions of all accepted calls. */
  readonly calls: string[] = []
  /** Interfaces that may send packets with other addresses. */
  readonly unchecked = new Set<string>()
  /** How many of the next calls are rejected because there are too many. */
  throttled = 0
  /** Actions that the role lacks. */
  readonly denied = new Set<string>()
  url = ''
  readonly #instances: readonly CloudInstance[]
  readonly #changed: () => void

  /** `changed` is called after each change of routes. */
  constructor(instances: readonly CloudInstance[], changed: () => void = () => {}) {
    this.#instances = instances
    this.#changed = changed
  }

  async start(t: Lifetime, address: string): Promise<this> {
    this.url = await serveCloud(t, address, (question) =>
      question.url.pathname.startsWith('/latest/') ? this.#metadata(question) : this.#api(question),
    )
    return this
  }

  #metadata({ method, url, headers, client }: CloudQuestion): CloudReply {
    const path = url.pathname.replace('/latest/', '')
    if (method === 'PUT' && path === 'api/token')
      return headers['x-aws-ec2-metadata-token-ttl-seconds'] ? reply(session) : { status: 400, text: '' }
    if (headers['x-aws-ec2-metadata-token'] !== session) return { status: 401, text: '' }
    const values: Readonly<Record<string, string | undefined>> = {
      'dynamic/instance-identity/document': JSON.stringify({ region: 'eu-west-1' }),
      'meta-data/instance-id': this.#instances.find((instance) => instance.address === client)?.id,
      'meta-data/iam/security-credentials/': 'nodes',
      'meta-data/iam/security-credentials/nodes': JSON.stringify({ ...role, Expiration: '2100-01-01T00:00:00Z' }),
    }
    const value = values[path]
    return value === undefined ? { status: 404, text: '' } : reply(value)
  }

  #api(question: CloudQuestion): CloudReply {
    const parameters = new URLSearchParams(question.body)
    const action = parameters.get('Action') ?? ''
    if (expectedSignature(question) !== signatureOf(question)) return fault(403, 'SignatureDoesNotMatch')
    if (this.throttled > 0) {
      this.throttled--
      return fault(503, 'RequestLimitExceeded')
    }
    if (this.denied.has(action)) return fault(403, 'UnauthorizedOperation')
    this.calls.push(action)
    return this.#act(action, parameters)
  }

  #act(action: string, parameters: URLSearchParams): CloudReply {
    const destination = parameters.get('DestinationCidrBlock') ?? ''
    const networkInterface = parameters.get('NetworkInterfaceId') ?? ''
    const exists = this.routes.some((route) => route.destination === destination)
    const others = this.routes.filter((route) => route.destination !== destination)
    switch (action) {
      case 'DescribeInstances':
        return this.#describeInstances(parameters.get('InstanceId.1') ?? '')
      case 'ModifyNetworkInterfaceAttribute':
        if (parameters.get('SourceDestCheck.Value') === 'false') this.unchecked.add(networkInterface)
        return answer('<return>true</return>')
      case 'DescribeRouteTables':
        // The subnet has no table of its own: the VPC's main one is used.
        return answer(parameters.get('Filter.1.Name') === 'association.subnet-id' ? '<routeTableSet/>' : this.#table())
      case 'CreateRoute':
        if (exists) return fault(400, 'RouteAlreadyExists')
        return this.#set([...others, { destination, networkInterface }])
      case 'ReplaceRoute':
        if (!exists) return fault(400, 'InvalidParameterValue')
        return this.#set([...others, { destination, networkInterface }])
      case 'DeleteRoute':
        return exists ? this.#set(others) : fault(400, 'InvalidRoute.NotFound')
    }
    return fault(400, 'InvalidAction')
  }

  #set(routes: AwsRoute[]): CloudReply {
    this.routes = routes
    this.#changed()
    return answer('<return>true</return>')
  }

  #describeInstances(id: string): CloudReply {
    const instance = this.#instances.find((one) => one.id === id)
    if (!instance) return fault(400, 'InvalidInstanceID.NotFound')
    return answer(`<reservationSet><item><instancesSet><item><instanceId>${id}</instanceId><networkInterfaceSet>
      <item><networkInterfaceId>eni-other</networkInterfaceId><privateIpAddressesSet/></item>
      <item><networkInterfaceId>eni-${id}</networkInterfaceId><subnetId>subnet-1</subnetId><vpcId>vpc-1</vpcId>
      <privateIpAddressesSet><item><privateIpAddress>${instance.address}</privateIpAddress></item>
      </privateIpAddressesSet></item></networkInterfaceSet></item></instancesSet></item></reservationSet>`)
  }

  #table(): string {
    const isAlive = (id: string): boolean => this.#instances.some((instance) => id === `eni-${instance.id}`)
    const items = this.routes.map(
      ({ destination, networkInterface }) => `<item><destinationCidrBlock>${destination}</destinationCidrBlock>
        <networkInterfaceId>${networkInterface}</networkInterfaceId>
        <state>${isAlive(networkInterface) ? 'active' : 'blackhole'}</state></item>`,
    )
    return `<routeTableSet><item><routeTableId>rtb-main</routeTableId><routeSet>
      <item><destinationIpv6CidrBlock>::/0</destinationIpv6CidrBlock><state>active</state></item>
      ${items.join('')}</routeSet></item></routeTableSet>`
  }
}

const reply = (text: string): CloudReply => ({ status: 200, text })
const answer = (content: string): CloudReply => reply(`<?xml version="1.0"?>\n<Answer>${content}</Answer>`)
const fault = (status: number, code: string): CloudReply => ({
  status,
  text: `<Response><Errors><Error><Code>${code}</Code><Message>no &quot;luck&quot;.</Message></Error></Errors>
    </Response>`,
})

const signatureOf = ({ headers }: CloudQuestion): string | undefined =>
  /Signature=([0-9a-f]{64})$/.exec(headers.authorization ?? '')?.[1]

/** Computes the signature of a request from its own list of signed headers; undefined for credentials of others. */
function expectedSignature({ method, url, headers, body }: CloudQuestion): string | undefined {
  const pattern = /Credential=([^/]+)\/(\d+)\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+),/
  const [, id, day, region, service, names = ''] = pattern.exec(headers.authorization ?? '') ?? []
  const time = headers['x-amz-date'] ?? ''
  if (id !== role.AccessKeyId || headers['x-amz-security-token'] !== role.Token) return undefined
  if (region !== 'eu-west-1' || service !== 'ec2' || !time.startsWith(day ?? '-')) return undefined
  let request = `${method}\n${url.pathname}\n${url.search.slice(1)}\n`
  for (const name of names.split(';')) request += `${name}:${headers[name]}\n`
  request += `\n${names}\n${createHash('sha256').update(body).digest('hex')}`
  const hash = createHash('sha256').update(request).digest('hex')
  let key: Buffer | string = `AWS4${role.SecretAccessKey}`
  for (const part of [day!, region, service, 'aws4_request']) key = createHmac('sha256', key).update(part).digest()
  const text = `AWS4-HMAC-SHA256\n${time}\n${day}/${region}/${service}/aws4_request\n${hash}`
  return createHmac('sha256', key).update(text).digest('hex')
}

/** A stand-in for Alibaba Cloud: the VPC's API with routes, signatures that it checks itself, and metadata. */
import { createHmac } from 'node:crypto'
import type { Lifetime } from '../../support/test-cluster.ts'
import { type CloudInstance, type CloudQuestion, type CloudReply, serveCloud } from './cloud-server.ts'

export interface AliEntry {
  readonly destination: string
  readonly instance: string
  status: 'Pending' | 'Available'
}

const secret = 'ali-secret'

export class AliCloud {
  /** The routes of the table `vtb-1`. */
  routes: AliEntry[] = []
  readonly calls: string[] = []
  /** Codes with which the next calls are rejected. */
  readonly rejections: string[] = []
  readonly #nonces = new Set<string>()
  url = ''
  readonly #instances: readonly CloudInstance[]

  constructor(instances: readonly CloudInstance[]) {
    this.#instances = instances
  }

  async start(t: Lifetime, address: string): Promise<this> {
    this.url = await serveCloud(t, address, (question) =>
      question.url.pathname.startsWith('/latest/') ? this.#metadata(question) : this.#api(question),
    )
    return this
  }

  #metadata({ method, url, client }: CloudQuestion): CloudReply {
    // This instance has no sessions.
    if (method !== 'GET') return { status: 405, text: '' }
    const values: Readonly<Record<string, string | undefined>> = {
      'region-id': 'cn-hangzhou',
      'vpc-id': 'vpc-1',
      'instance-id': this.#instances.find((instance) => instance.address === client)?.id,
    }
    const value = values[url.pathname.replace('/latest/meta-data/', '')]
    return value === undefined ? { status: 404, text: '' } : { status: 200, text: value }
  }

  #api({ url }: CloudQuestion): CloudReply {
    const parameters = Object.fromEntries(url.searchParams)
    const { Signature, SignatureNonce = '', Action = '' } = parameters
    if (Signature !== expectedSignature(url)) return fault('SignatureDoesNotMatch')
    if (this.#nonces.has(SignatureNonce)) return fault('SignatureNonceUsed')
    this.#nonces.add(SignatureNonce)
    const rejection = this.rejections.shift()
    if (rejection) return fault(rejection)
    this.calls.push(Action)
    return this.#act(Action, parameters)
  }

  #act(action: string, parameters: Readonly<Record<string, string | undefined>>): CloudReply {
    const { DestinationCidrBlock: destination = '', NextHopId: instance = '', RegionId, Version } = parameters
    if (RegionId !== 'cn-hangzhou' || Version !== '2016-04-28') return fault('InvalidRegionId.NotFound')
    switch (action) {
      case 'DescribeVpcs':
        return answer({ Vpcs: { Vpc: [{ VpcId: parameters.VpcId, VRouterId: 'vrt-1' }] } })
      case 'DescribeVRouters':
        return answer({ VRouters: { VRouter: [{ RouteTableIds: { RouteTableId: ['vtb-1'] } }] } })
      case 'DescribeRouteTables':
        return this.#tables()
      case 'CreateRouteEntry':
        if (this.routes.some((route) => route.destination === destination))
          return fault('RouterEntryConflict.Duplicated')
        this.routes.push({ destination, instance, status: 'Pending' })
        return answer({})
      case 'DeleteRouteEntry':
        this.routes = this.routes.filter((route) => route.destination !== destination || route.instance !== instance)
        return answer({})
    }
    return fault('InvalidAction.NotFound')
  }

  /** A route that was Pending in one answer is Available in the next one. */
  #tables(): CloudReply {
    const RouteEntry = this.routes.map(({ destination, instance, status }) => ({
      RouteTableId: 'vtb-1',
      Type: 'Custom',
      InstanceId: instance,
      DestinationCidrBlock: destination,
      Status: status,
    }))
    for (const route of this.routes) route.status = 'Available'
    return answer({ RouteTables: { RouteTable: [{ RouteTableId: 'vtb-1', RouteEntrys: { RouteEntry } }] } })
  }
}

const answer = (value: object): CloudReply => ({ status: 200, text: JSON.stringify(value) })
const fault = (code: string): CloudReply => ({
  status: code.startsWith('Throttling') ? 503 : 400,
  text: JSON.stringify({ Code: code, Message: 'the request is rejected.' }),
})

/** Computes the signature from the query as it was sent: its parameters are sorted here, not decoded. */
function expectedSignature(url: URL): string {
  const pairs = url.search.slice(1).split('&')
  const signed = pairs.filter((pair) => !pair.startsWith('Signature=')).sort()
  const text = `GET&%2F&${encodeURIComponent(signed.join('&'))}`
  return createHmac('sha1', `${secret}&`).update(text).digest('base64')
}

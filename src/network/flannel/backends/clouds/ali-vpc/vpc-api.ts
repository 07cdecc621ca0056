/** The API of Alibaba Cloud's VPC, as far as routes need it. */

import { CloudError, isBusy, retried, send } from '../cloud-calls.ts'
import type { CloudMachine } from '../cloud-machine.ts'
import { isObject } from '../json-object.ts'
import { signedQuery } from './rpc-signature.ts'

export interface AliCredentials {
  readonly accessKeyId: string
  readonly accessKeySecret: string
  /** Of temporary credentials, such as those of a RAM role. */
  readonly securityToken: string | undefined
}

export interface VpcOptions {
  readonly machine: CloudMachine
  readonly region: string
  /** `https://vpc.cn-hangzhou.aliyuncs.com`. */
  readonly endpoint: string
  readonly credentials: () => Promise<AliCredentials>
  /** Returns a text that no other request has. */
  readonly nonce: () => string
  readonly signal: AbortSignal
}

export interface AliRoute {
  readonly table: string
  /** `Custom` for those that users add. */
  readonly type: string
  readonly instance: string
  readonly destination: string
  /** `Available`, `Pending`. */
  readonly status: string
}

export interface AliRouter {
  readonly id: string
  readonly table: string
}

const version = '2016-04-28'
/** The cloud is busy. */
const busyCodes = /^(?:Throttling|ServiceUnavailable|InternalError|SystemBusy)/
/** Another change of the table is in progress. */
const conflictCodes =
  /^(?:TaskConflict|OperationConflict|LastTokenProcessing|Incorrect(?:RouteEntry|Vpc|RouteTable)Status)/

const remedies: Readonly<Record<string, string>> = {
  'InvalidAccessKeyId.NotFound': 'correct AccessKeyID, or ACCESS_KEY_ID',
  SignatureDoesNotMatch: 'correct AccessKeySecret, or ACCESS_KEY_SECRET',
  'Forbidden.RAM': 'allow the action in the policy of the RAM user or role',
  InvalidTimeStamp: "correct this machine's clock",
  'InvalidTimeStamp.Expired': "correct this machine's clock",
  'QuotaExceeded.RouteEntry': 'ask Alibaba Cloud for more routes in a table, or use the backend vxlan',
}

export class VpcApi {
  readonly #options: VpcOptions

  constructor(options: VpcOptions) {
    this.#options = options
  }

  /** The router of a VPC and its table. */
  async router(vpcId: string): Promise<AliRouter> {
    const vpcs = await this.#call('DescribeVpcs', { VpcId: vpcId })
    const [vpc] = listIn(vpcs, 'Vpcs', 'Vpc')
    const id = vpc && textIn(vpc, 'VRouterId')
    if (!id) throw new Error(`Alibaba Cloud has no VPC ${vpcId} in the region ${this.#options.region}`)
    const routers = await this.#call('DescribeVRouters', { VRouterId: id })
    const [router] = listIn(routers, 'VRouters', 'VRouter')
    const tables = router?.RouteTableIds
    const ids = isObject(tables) && Array.isArray(tables.RouteTableId) ? tables.RouteTableId : []
    if (typeof ids[0] !== 'string') throw new Error(`the router ${id} of the VPC ${vpcId} has no route table`)
    return { id, table: ids[0] }
  }

  async routes({ id, table }: AliRouter): Promise<readonly AliRoute[]> {
    const answer = await this.#call('DescribeRouteTables', { VRouterId: id, RouteTableId: table })
    return listIn(answer, 'RouteTables', 'RouteTable').flatMap((found) =>
      listIn(found, 'RouteEntrys', 'RouteEntry').map((entry) => ({
        table: textIn(entry, 'RouteTableId'),
        type: textIn(entry, 'Type'),
        instance: textIn(entry, 'InstanceId'),
        destination: textIn(entry, 'DestinationCidrBlock'),
        status: textIn(entry, 'Status'),
      })),
    )
  }

  async createRoute(table: string, destination: string, instance: string): Promise<void> {
    const parameters = { RouteTableId: table, DestinationCidrBlock: destination }
    await this.#call('CreateRouteEntry', { ...parameters, NextHopType: 'Instance', NextHopId: instance })
  }

  async deleteRoute(table: string, destination: string, instance: string): Promise<void> {
    const parameters = { RouteTableId: table, DestinationCidrBlock: destination, NextHopId: instance }
    await this.#call('DeleteRouteEntry', parameters)
  }

  #call(action: string, parameters: Readonly<Record<string, string>>): Promise<Readonly<Record<string, unknown>>> {
    const { machine, region, endpoint, credentials, nonce, signal } = this.#options
    return retried(machine, signal, async () => {
      const { accessKeyId, accessKeySecret, securityToken } = await credentials()
      const all = {
        Action: action,
        RegionId: region,
        ...parameters,
        Format: 'JSON',
        Version: version,
        AccessKeyId: accessKeyId,
        ...(securityToken !== undefined && { SecurityToken: securityToken }),
        SignatureMethod: 'HMAC-SHA1',
        SignatureVersion: '1.0',
        SignatureNonce: nonce(),
        Timestamp: new Date(machine.now()).toISOString().replace(/\.\d+/, ''),
      }
      const url = `${endpoint}/?${signedQuery('GET', all, accessKeySecret)}`
      const name = `${action} of Alibaba Cloud`
      const { status, text } = await send(machine, { name, url, method: 'GET', headers: {} }, signal)
      const answer = objectOf(text)
      if (status === 200 && answer) return answer
      throw errorOf(action, status, answer)
    })
  }
}

function objectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The objects of a list such as `{ "Vpcs": { "Vpc": [] } }`. */
function listIn(
  object: Readonly<Record<string, unknown>>,
  outer: string,
  inner: string,
): readonly Readonly<Record<string, unknown>>[] {
  const holder = object[outer]
  const list = isObject(holder) ? holder[inner] : undefined
  return Array.isArray(list) ? list.filter(isObject) : []
}

function textIn(object: Readonly<Record<string, unknown>>, name: string): string {
  const value = object[name]
  return typeof value === 'string' ? value : ''
}

function errorOf(action: string, status: number, answer: Readonly<Record<string, unknown>> | undefined): CloudError {
  const [code, message] = [textIn(answer ?? {}, 'Code'), textIn(answer ?? {}, 'Message')]
  const remedy = remedies[code]
  const reason = [code || `status ${status}`, message].filter(Boolean).join(': ').replace(/\.$/, '')
  return new CloudError(`Alibaba Cloud rejects ${action} with ${reason}${remedy === undefined ? '' : `; ${remedy}`}`, {
    code,
    isTemporary: isBusy(status) || busyCodes.test(code) || conflictCodes.test(code),
  })
}

/** The backends of clouds against stand-ins that check signatures and have route tables. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { systemCalls } from '../../../src/lib/linux/system-calls.ts'
import type { Backend, BackendContext } from '../../../src/network/flannel/backends/backend.ts'
import { aliVpcBackend } from '../../../src/network/flannel/backends/clouds/ali-vpc/ali-vpc-backend.ts'
import { awsVpcBackend } from '../../../src/network/flannel/backends/clouds/aws-vpc/aws-vpc-backend.ts'
import { signedHeaders } from '../../../src/network/flannel/backends/clouds/aws-vpc/signature-v4.ts'
import type { CloudMachine } from '../../../src/network/flannel/backends/clouds/cloud-machine.ts'
import { gceBackend } from '../../../src/network/flannel/backends/clouds/gce/gce-backend.ts'
import { parseNetworkConfig } from '../../../src/network/flannel/config/network-config.ts'
import type { LeaseAttributes } from '../../../src/network/flannel/subnets/subnet-manager.ts'
import { AliCloud } from './ali-cloud.ts'
import { AwsCloud } from './aws-cloud.ts'
import { GceCloud } from './gce-cloud.ts'

const address = '127.0.0.1'
const instances = [{ id: 'i-1', address }]
const subnet = '10.5.1.0/24'

/** A machine whose pauses take no time. */
const machine: CloudMachine = {
  fetch,
  now: Date.now,
  pause: async () => {},
  random: () => 0.5,
}

/** Registers a node of the address with a backend. Resolves with what it published and the lines of its log. */
async function register(
  backend: Backend,
  settings: object,
  environment: BackendContext['environment'] = {},
): Promise<{ readonly attributes: LeaseAttributes; readonly log: readonly string[]; readonly mtu: number }> {
  const log: string[] = []
  let published: LeaseAttributes | undefined
  const context: BackendContext = {
    config: parseNetworkConfig(JSON.stringify({ Network: '10.5.0.0/16', Backend: settings })),
    external: {
      name: 'eth0',
      index: 2,
      mtu: 9001,
      address,
      ipv6Address: undefined,
      publicIP: address,
      publicIPv6: undefined,
    },
    subnets: {
      acquireLease: async (attributes) => {
        published = attributes
        return { node: 'node', subnet, ipv6Subnet: undefined, attributes }
      },
      storedNode: async () => ({}),
      recordEvent() {},
    },
    calls: systemCalls(),
    environment,
    log: (line) => log.push(line),
    random: () => new Uint8Array(),
    signal: AbortSignal.timeout(30_000),
  }
  const { mtu } = await backend.register(context)
  assert.ok(published)
  return { attributes: published, log, mtu }
}

test('aws-vpc: a node gets a route to its interface, with the credentials of its role', async (t) => {
  const cloud = await new AwsCloud(instances).start(t, address)
  const settings = { Type: 'aws-vpc', Endpoint: cloud.url, MetadataEndpoint: cloud.url }
  cloud.routes = [
    { destination: '0.0.0.0/0', networkInterface: 'igw-gone' },
    { destination: '10.5.9.0/24', networkInterface: 'eni-i-gone' },
  ]
  cloud.throttled = 2
  const { attributes, mtu, log } = await register(awsVpcBackend(machine), settings)
  assert.deepEqual(attributes, { publicIP: address, backendType: '' })
  assert.equal(mtu, 9001)
  assert.ok(log.includes('Removing blackhole route: 10.5.9.0/24'))
  assert.ok(cloud.unchecked.has('eni-i-1'))
  const expected = [
    { destination: '0.0.0.0/0', networkInterface: 'igw-gone' },
    { destination: subnet, networkInterface: 'eni-i-1' },
  ]
  assert.deepEqual(cloud.routes, expected)
  assert.deepEqual(cloud.calls, [
    'DescribeInstances',
    'ModifyNetworkInterfaceAttribute',
    'DescribeRouteTables',
    'DescribeRouteTables',
    'DescribeRouteTables',
    'DeleteRoute',
    'CreateRoute',
  ])

  // A second start changes nothing.
  cloud.calls.length = 0
  await register(awsVpcBackend(machine), { ...settings, RouteTableID: ['rtb-main', 'rtb-main'] })
  assert.ok(!cloud.calls.some((call) => /^(?:Create|Replace|Delete)/.test(call)))
})

test('aws-vpc: a subnet of another instance is replaced, also without ec2:ReplaceRoute', async (t) => {
  const cloud = await new AwsCloud(instances).start(t, address)
  const settings = { Type: 'aws-vpc', Endpoint: cloud.url, MetadataEndpoint: cloud.url, RouteTableID: 'rtb-main' }
  for (const changes of [['ReplaceRoute'], ['DeleteRoute', 'CreateRoute']]) {
    cloud.routes = [{ destination: subnet, networkInterface: 'eni-i-gone' }]
    cloud.calls.length = 0
    await register(awsVpcBackend(machine), settings)
    assert.deepEqual(cloud.routes, [{ destination: subnet, networkInterface: 'eni-i-1' }])
    assert.deepEqual(cloud.calls.slice(-changes.length), changes)
    cloud.denied.add('ReplaceRoute')
  }
})

test('aws-vpc: errors are sentences with a remedy', async (t) => {
  const cloud = await new AwsCloud(instances).start(t, address)
  const settings = { Type: 'aws-vpc', Endpoint: cloud.url, MetadataEndpoint: cloud.url }
  const wrong = { AWS_ACCESS_KEY_ID: 'AKIAOTHER', AWS_SECRET_ACCESS_KEY: 'other' }
  await assert.rejects(
    register(awsVpcBackend(machine), settings, wrong),
    /^CloudError: AWS rejects DescribeInstances with SignatureDoesNotMatch: no "luck"; correct AWS_SECRET_ACCESS_KEY$/,
  )
  await assert.rejects(register(awsVpcBackend(machine), { ...settings, RouteTableID: 7 }), /it must be an ID such as/)
  cloud.denied.add('CreateRoute')
  await assert.rejects(register(awsVpcBackend(machine), settings), /allow the action in the IAM role of the instance/)
})

const python = '/usr/bin/python3'
const withoutBotocore =
  spawnSync(python, ['-c', 'import botocore']).status !== 0 && 'botocore is missing (Debian: python3-botocore)'

test('aws-vpc: a signature is that of botocore', { skip: withoutBotocore }, () => {
  const body = 'Action=CreateRoute&Version=2016-11-15&DestinationCidrBlock=10.5.1.0%2F24'
  const program = `
import json
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
headers = {'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8', 'Host': 'ec2.eu-west-1.example:8080'}
request = AWSRequest('POST', 'http://ec2.eu-west-1.example:8080/', headers=headers, data='${body}')
SigV4Auth(Credentials('AKID', 'a/secret+key', 'a//token='), 'ec2', 'eu-west-1').add_auth(request)
print(json.dumps({name.lower(): value for name, value in request.headers.items()}))`
  const theirs: Record<string, string> = JSON.parse(execFileSync(python, ['-c', program], { encoding: 'utf8' }))
  const time = theirs['x-amz-date']!.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z')
  const ours = signedHeaders(
    {
      method: 'POST',
      url: new URL('http://ec2.eu-west-1.example:8080/'),
      headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
      body,
    },
    { accessKeyId: 'AKID', secretAccessKey: 'a/secret+key', sessionToken: 'a//token=' },
    { region: 'eu-west-1', service: 'ec2', time: Date.parse(time) },
  )
  assert.equal(ours.authorization, theirs.authorization)
})

test('ali-vpc: a node has one route, which becomes available', async (t) => {
  const cloud = await new AliCloud(instances).start(t, address)
  const keys = { AccessKeyID: 'ali-id', AccessKeySecret: 'ali-secret' }
  const settings = { Type: 'ali-vpc', Endpoint: cloud.url, MetadataEndpoint: cloud.url }
  cloud.routes = [
    { destination: '0.0.0.0/0', instance: 'i-1', status: 'Available' },
    { destination: '10.5.7.0/24', instance: 'i-1', status: 'Available' },
    { destination: '10.5.8.0/24', instance: 'i-2', status: 'Available' },
  ]
  cloud.rejections.push('Throttling.User', 'TaskConflict')
  await register(aliVpcBackend(machine), { ...settings, ...keys })
  assert.deepEqual(
    cloud.routes.map(({ destination, instance, status }) => `${destination} ${instance} ${status}`),
    ['0.0.0.0/0 i-1 Available', '10.5.8.0/24 i-2 Available', `${subnet} i-1 Available`],
  )
  assert.deepEqual(cloud.calls.slice(0, 5), [
    'DescribeVpcs',
    'DescribeVRouters',
    'DescribeRouteTables',
    'DeleteRouteEntry',
    'CreateRouteEntry',
  ])
  cloud.calls.length = 0
  const environment = { ACCESS_KEY_ID: 'ali-id', ACCESS_KEY_SECRET: 'ali-secret' }
  const { log } = await register(aliVpcBackend(machine), settings, environment)
  assert.ok(!cloud.calls.some((call) => /^(?:Create|Delete)/.test(call)))
  assert.ok(log.some((line) => line.startsWith('Keep target entry')))

  await assert.rejects(register(aliVpcBackend(machine), settings), /ACCESS_KEY_ID and ACCESS_KEY_SECRET must be/)
  const wrong = { ...settings, AccessKeyID: 'ali-id', AccessKeySecret: 'other' }
  await assert.rejects(register(aliVpcBackend(machine), wrong), /SignatureDoesNotMatch.*correct AccessKeySecret/)
})

test('gce: a route to the instance is inserted, and one to another instance replaced', async (t) => {
  const cloud = await new GceCloud(instances).start(t, address)
  const settings = { Type: 'gce', Endpoint: cloud.url, MetadataEndpoint: cloud.url }
  const name = 'flannel-10-5-1-0-24'
  const route = {
    name,
    destRange: subnet,
    network: 'https://compute.example/global/networks/pods',
    nextHopInstance: 'https://compute.example/zones/europe-west1-b/instances/i-1',
    priority: 1000,
    tags: [],
  }
  await register(gceBackend(machine), settings)
  assert.deepEqual(cloud.routes.get(name), route)
  assert.ok(cloud.calls.includes('GET global/operations/operation-1'))

  const { log } = await register(gceBackend(machine), settings)
  assert.deepEqual(log, ['Exact pre-existing route found'])

  cloud.routes.set(name, { ...route, nextHopInstance: 'https://compute.example/zones/europe-west1-b/instances/i-2' })
  await register(gceBackend(machine), settings)
  assert.deepEqual(cloud.routes.get(name), route)

  cloud.routes.clear()
  cloud.operationErrors.push('QUOTA_EXCEEDED')
  await assert.rejects(register(gceBackend(machine), settings), /error running operation: QUOTA_EXCEEDED: no/)
})
